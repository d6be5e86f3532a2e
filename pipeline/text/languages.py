"""The language of texts, and the full-text analyser for it."""

from collections.abc import Iterable
from itertools import islice

from pipeline.text.names import FUNCTION_WORDS

AUTO = "auto"
"""In the place of an analyser: the one for the language of the first texts."""

ENGLISH = "english"
STANDARD = "standard"
"""The analyser for languages of which the server knows no endings."""

_ANALYZERS = {
    **dict.fromkeys(("ja", "ko", "zh"), "cjk"),
    "ar": "arabic",
    "bg": "bulgarian",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": ENGLISH,
    "es": "spanish",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "gl": "galician",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "ku": "sorani",
    "lv": "latvian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "th": "thai",
    "tr": "turkish",
}
"""Neo4j's analysers by language, an ISO 639-1 code."""

_TEXTS, _CHARACTERS, _ENOUGH = 200, 1_000, 20_000
"""Texts that are looked at, what is read of each, and of all. Chosen by hand; not measured."""

_LEAST = 8  # words in Latin letters that tell a language; chosen by hand, not measured
_SHARE = 0.2
"""Share of function words that only English has: of 14 sets in English 0.24 to 0.47, of one in German 0.02."""


def analyzer_for(texts: Iterable[str]) -> str:
    """Return the full-text analyser for the language of most of ``texts``; of few words in Latin letters English's."""
    sample = " ".join(text[:_CHARACTERS] for text in islice(texts, _TEXTS))[:_ENOUGH]
    words = sample.lower().split()
    of_english = sum(word in FUNCTION_WORDS for word in words)
    if of_english >= _SHARE * len(words) or (len(words) < _LEAST and sample.isascii()):
        return ENGLISH
    import py3langid  # its model takes half a second, which most corpora needn't wait for

    language, _ = py3langid.classify(sample)
    return _ANALYZERS.get(language, STANDARD)
