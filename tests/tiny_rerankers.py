"""Rerankers of a few thousand random weights, made in the test: what they score is any order, but always the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from sentence_transformers import CrossEncoder, MultiVectorEncoder
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast

from pipeline.embedding.reranker import Read, Reranker
from tests.conftest import LIBRARY

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    *_SPECIAL,
    *sorted({word for texts in LIBRARY.values() for word in re.findall(r"\w+", " ".join(texts).lower())}),
)
LONGEST = 64  # tokens of a text, or of a pair


def noted_loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the rerankers that are loaded from now on."""
    loads: list[str] = []
    load = Reranker._load

    def noted(self: Reranker) -> Read:
        loads.append(self.name)
        return load(self)

    monkeypatch.setattr(Reranker, "_load", noted)
    return loads


def cross_encoder(folder: Path, *, plain: bool = False, labels: int = 1) -> str:
    """Make a cross-encoder in ``folder``; a ``plain`` one has the files of transformers alone."""
    _save(folder / "bert" if not plain else folder, BertForSequenceClassification, num_labels=labels)
    if not plain:
        CrossEncoder(str(folder / "bert"), device="cpu").save_pretrained(str(folder))
    return str(folder)


def multi_vector(folder: Path, **transformer: Any) -> str:
    """Make a multi-vector model in ``folder``; ``transformer`` are arguments of its first module."""
    _save(folder / "bert", BertModel)
    model = MultiVectorEncoder(str(folder / "bert"), device="cpu")
    for name, value in transformer.items():
        setattr(model[0], name, value)
    model[2].skiplist_words = ["the", "of"]  # tokens of passages that don't count
    model.save_pretrained(str(folder))
    return str(folder)


def _save(folder: Path, kind: Any, **changed: Any) -> None:
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(
        vocab_size=len(WORDS), max_position_embeddings=LONGEST, initializer_range=0.5, **sizes, **changed
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        kind(config).save_pretrained(folder)
    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(token, WORDS.index(token)) for token in ("[CLS]", "[SEP]")]
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    named = {f"{token[1:-1].lower()}_token": token for token in _SPECIAL}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        model_max_length=LONGEST,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **named,
    )
    tokenizer.save_pretrained(folder)
