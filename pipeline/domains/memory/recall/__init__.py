"""Recall: dual-level retrieval of entities, themes and texts, fused.

LightRAG (Guo et al. 2024, arXiv 2410.05779) asks a graph at two levels: the entities of a question and what relates to
them (low), and the themes that it is about (high). The texts themselves are a third.
"""
