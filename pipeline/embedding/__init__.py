"""Embedding: the model, its ONNX export and files, and what the processor computes in.

Imports text, errors and resources.
"""
