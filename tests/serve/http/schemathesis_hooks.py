"""Hooks of schemathesis: all requests are about a few corpora, so that they meet what others made."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

_CORPORA = os.environ["SCHEMATHESIS_CORPORA"].split()


@schemathesis.hook
def map_path_parameters(_context: Any, path_parameters: Any) -> Any:
    """Replace the corpus of a path."""
    return _of_few_corpora(path_parameters)


@schemathesis.hook
def map_body(_context: Any, body: Any) -> Any:
    """Replace the corpus of a body."""
    return _of_few_corpora(body)


def _of_few_corpora(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(name := value.get("corpus"), str) and 0 < len(name) <= 200:
        return {**value, "corpus": _CORPORA[len(name) % len(_CORPORA)]}
    return value
