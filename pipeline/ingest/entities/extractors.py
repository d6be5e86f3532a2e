"""What finds names in texts: the built-in extractor, which goes by capitals, or a spaCy model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from pipeline.errors import ConfigurationError
from pipeline.settings import LinkSettings
from pipeline.text.names import Casing, Name, Word, name_key, spans

_NO_NAMES = frozenset(("CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME"))
"""Labels of spaCy's models for figures, which name nothing."""


class Extractor(Protocol):
    """Finds names in texts. What it finds depends on the text alone, and on the corpus's casing; safe to share."""

    def names(self, texts: Sequence[str], found: Sequence[Sequence[Word]], casing: Casing) -> Iterator[Iterable[Name]]:
        """Yield the names in each of ``texts``, whose words are ``found``; those of one text don't overlap."""


class Builtin:
    """Runs of capitalised words, years and identifiers: see :func:`pipeline.text.names.spans`."""

    def names(self, texts: Sequence[str], found: Sequence[Sequence[Word]], casing: Casing) -> Iterator[Iterable[Name]]:
        """As :class:`Extractor` has it."""
        return (spans(text, in_text, casing) for text, in_text in zip(texts, found, strict=True))


BUILTIN = Builtin()


class Spacy:
    """The entities of a spaCy model, by name or path; figures and times of day are left out.

    Raises ConfigurationError if spaCy or the model isn't installed, or the model finds no entities.
    """

    def __init__(self, model: str) -> None:
        self._model = _load(model)

    def names(
        self,
        texts: Sequence[str],
        found: Sequence[Sequence[Word]],  # noqa: ARG002 - the protocol's
        casing: Casing,  # noqa: ARG002
    ) -> Iterator[Iterable[Name]]:
        """As :class:`Extractor` has it."""
        for read in self._model.pipe(texts):
            named = [one for one in read.ents if one.label_ not in _NO_NAMES]
            keyed = (Name(name_key(one.text), one.text, one.start_char, one.end_char) for one in named)
            yield [name for name in keyed if len(name.key) > 1]


def extractor_fingerprint(settings: LinkSettings) -> str:
    """Return what decides which names are found; those of two fingerprints don't mix. Raises ConfigurationError.

    It is asked before anything is written, and so an extractor that can't be had is told of in time.
    """
    make_extractor(settings)
    return settings.extractor if settings.extractor == "builtin" else f"spacy:{settings.spacy_model}"


def make_extractor(settings: LinkSettings) -> Extractor:
    """Return the extractor that is set; raises ConfigurationError as :class:`Spacy` does."""
    return BUILTIN if settings.extractor == "builtin" else _spacy(settings.spacy_model)


@lru_cache(maxsize=1)
def _spacy(model: str) -> Spacy:
    return Spacy(model)


def _load(model: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise ConfigurationError(
            "link.extractor is spacy, and spaCy isn't installed.",
            'Install it (pip install "hoprank[spacy]"), or set link.extractor to builtin.',
        ) from error
    try:
        loaded = spacy.load(model)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"spaCy can't load the model {model!r}: {error}",
            f"Install it (python -m spacy download {model}), or set link.spacy_model to one that is, or to a folder.",
        ) from error
    if not {"ner", "entity_ruler"} & set(loaded.pipe_names):
        raise ConfigurationError(
            f"The spaCy model {model!r} finds no entities: it has {', '.join(loaded.pipe_names) or 'nothing'}.",
            "Set link.spacy_model to one with the component ner or entity_ruler.",
        )
    return loaded
