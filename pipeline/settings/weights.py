"""The learned weights: of names, of the scorer and of relevance, as HopRank brings them or a file has them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from pipeline.settings.sections import Section


class NameSettings(Section):
    """Weights of the logistic regression that estimates whether a name in the question leads to the answer."""

    intercept: float
    cosine: float
    agreement: float
    frequency: float
    capitals: float


class ScorerSettings(Section):
    """Weights of the scorer's features, by name; see :class:`pipeline.retrieve.scoring.scorer.Scorer`."""

    unnamed: dict[str, float]
    confident: dict[str, float]
    named: dict[str, float]


class RelevanceSettings(Section):
    """Weights of the logistic regressions of relevance: whether a corpus knows about a question, and of a hit if so.

    Each is fitted three times: with all signs, without words, and without a vector. ``intercept`` is a weight too; see
    :mod:`pipeline.retrieve.scoring.relevance`.
    """

    question: dict[str, float]
    question_by_meaning: dict[str, float]
    question_by_words: dict[str, float]
    hit: dict[str, float]
    hit_by_meaning: dict[str, float]
    hit_by_words: dict[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """All that was learned; ``file`` is where, empty for what HopRank brings."""

    names: NameSettings
    scorer: ScorerSettings
    relevance: RelevanceSettings
    file: str = ""


def read_weights(file: str = "") -> Weights:
    """Return the weights of a file that ``hoprank tune`` wrote, and those that it doesn't have as HopRank brings them.

    Raises PydanticCustomError if it can't be read, or has other weights, for the setting to be refused by.
    """
    try:
        own = tomllib.loads(Path(file).expanduser().read_text(encoding="utf-8")) if file else {}
        return Weights(**_Tables.model_validate(_merged(_shipped(), own)).tables(), file=file)
    except ValidationError as error:
        fault = error.errors()[0]
        raise _unreadable(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise _unreadable(str(error)) from None


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("weights.toml").read_text(encoding="utf-8"))


class _Tables(Section):
    """A file of weights."""

    names: NameSettings
    scorer: ScorerSettings
    relevance: RelevanceSettings

    def tables(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}


def _unreadable(problem: str) -> PydanticCustomError:
    return PydanticCustomError("weights", "that is no file of weights: {problem}", {"problem": problem})


def _merged(base: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables with the values of others added."""
    tables = {
        name: value for name, value in added.items() if isinstance(value, dict) and isinstance(base.get(name), dict)
    }
    return {**base, **added, **{name: _merged(base[name], value) for name, value in tables.items()}}
