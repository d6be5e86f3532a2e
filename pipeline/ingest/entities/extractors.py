"""Extractors of names from texts: the built-in extractor, based on capitals, or a spaCy model."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from pipeline.errors import ConfigurationError
from pipeline.settings import LinkSettings
from pipeline.text.names import Casing, Name, Word, name_key, spans

_NO_NAMES = frozenset(("CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME"))
"""Labels of spaCy's models for numbers and quantities, which name nothing."""


class Extractor(Protocol):
    """Finds names in texts. The result depends on the text and the corpus's casing only; thread-safe."""

    def names(self, texts: Sequence[str], words: Sequence[Sequence[Word]], casing: Casing) -> Iterator[Iterable[Name]]:
        """Yield the names in each of ``texts``, given their ``words``; the names in a text don't overlap."""


class Builtin:
    """Finds runs of capitalised words, years and identifiers: see :func:`pipeline.text.names.spans`."""

    def names(self, texts: Sequence[str], words: Sequence[Sequence[Word]], casing: Casing) -> Iterator[Iterable[Name]]:
        """Implement :meth:`Extractor.names`."""
        return (spans(text, text_words, casing) for text, text_words in zip(texts, words, strict=True))


BUILTIN = Builtin()


class Spacy:
    """Finds the entities of a spaCy model, given by name or path, except numbers and times of day.

    Raises ConfigurationError if spaCy or the model isn't installed, or if the model has no entity recogniser.
    """

    def __init__(self, model: str) -> None:
        self._model = _load(model)

    def names(
        self,
        texts: Sequence[str],
        words: Sequence[Sequence[Word]],  # noqa: ARG002 - required by the protocol
        casing: Casing,  # noqa: ARG002
    ) -> Iterator[Iterable[Name]]:
        """Implement :meth:`Extractor.names`."""
        for document in self._model.pipe(texts):
            entities = [entity for entity in document.ents if entity.label_ not in _NO_NAMES]
            names = (Name(name_key(span.text), span.text, span.start_char, span.end_char) for span in entities)
            yield [name for name in names if len(name.key) > 1]


def extractor_fingerprint(settings: LinkSettings) -> str:
    """Return the identity of the extractor; a corpus holds names of a single fingerprint. Raises ConfigurationError.

    It loads the extractor, so that a missing one is reported before anything is written.
    """
    make_extractor(settings)
    return settings.extractor if settings.extractor == "builtin" else f"spacy:{settings.spacy_model}"


def make_extractor(settings: LinkSettings) -> Extractor:
    """Return the extractor that the settings name; raises ConfigurationError as :class:`Spacy` does."""
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
