"""Embedding: the model, its files and ONNX export, and the check of the processor's matrix unit."""
