"""Declared fields: metadata that a corpus filters by, as its chunks carry it for the vector and full-text indexes.

A chunk of a corpus that declares fields has the value of each as ``declared.NAME``, its own or its document's; the key
of the value as ``filter_N``, N being the place of the field, which the model's vector index filters by; and as
``filterable`` the terms of all values, which its full-text index holds. A key is a run of digits whose order is that of
the values: every analyser but two keeps digits as they are, and the server's types compare otherwise than filters do.
"""

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pipeline.errors import ConfigurationError, InputError
from pipeline.ids import digest
from pipeline.records import METADATA, Metadata, Scalar

MOST_FIELDS = 8
"""Maximum number of declared fields: as many properties the vector index of a model has room for."""

DECLARED = "declared."
"""Prefix of the values of declared fields among the properties of a chunk."""

EXACT_BELOW = 2**53
"""Numbers of a smaller size have a key of their own; larger integers share that of the nearest float."""

TEXT_BYTES = 60
"""Bytes of a text in its key, three digits each; index analysers end a word after 255 characters."""

_DIGITS = 20  # of 64 bits, and of the hash behind a longer text
_BOOLEAN, _NUMBER, _TEXT, _END = "1", "2", "3", "4"
_SEVERAL, _ANY = "8", "9"
_LETTERS_ONLY = ("simple", "stop")  # analysers of the server that drop digits; measured with all of 2026.02


def check_filterable(names: Iterable[object]) -> tuple[str, ...]:
    """Return the names of declared fields, each once and in order; raises InputError for what can't be one."""
    fields: dict[str, None] = {}
    for name in names:
        field = name.strip().removeprefix(METADATA) if isinstance(name, str) else ""
        if not field or len(field) > 200 or not field.isprintable():
            raise InputError(f"No field can be named {str(name)[:60]!r}.", "Name fields of the metadata: year,lang.")
        fields[field] = None
    if len(fields) > MOST_FIELDS:
        raise InputError(
            f"{len(fields)} fields are declared to filter by.",
            f"Declare {MOST_FIELDS} at most; filters on others work too, and are streamed.",
        )
    return tuple(sorted(fields))


def check_keeps_digits(analyzer: str) -> None:
    """Raise ConfigurationError if a full-text index of this analyser can't hold the terms of declared fields."""
    if analyzer in _LETTERS_ONLY:
        raise ConfigurationError(
            f"The full-text analyser {analyzer!r} keeps letters alone, and can't hold the fields to filter by.",
            "Set fulltext.analyzer to standard or english, or declare no fields.",
        )


def declared_values(fields: Sequence[str], document: Metadata, chunk: Metadata) -> dict[str, Any]:
    """Return the values that a chunk has of declared fields: its own come before its document's."""
    effective = {**document, **chunk}
    return {field: effective[field] for field in fields if field in effective}


def chunk_properties(fields: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a chunk with these values of declared fields; None where it has none."""
    properties: dict[str, Any] = {slot(place): None for place in range(len(fields))}
    terms: list[str] = []
    for place, field in enumerate(fields):
        value = values.get(field)
        properties[DECLARED + field] = value
        if value is None:
            continue
        keys = [key_of(item) for item in (value if isinstance(value, list | tuple) else [value])]
        if len(keys) == 1:
            properties[slot(place)] = keys[0]
        elif keys:
            terms.append(term_of_several(place))
        terms += [term_of_any(place), *(term(place, key) for key in dict.fromkeys(keys) if key)]
    return {**properties, "filterable": terms or None}


def slot(place: int) -> str:
    """Return the property of a chunk that holds the key of the field at a place; a list of several values has none."""
    return f"filter_{place}"


def term(place: int, key: str) -> str:
    """Return the term of a value in the full-text index."""
    return f"7{place}{key}"


def term_of_any(place: int) -> str:
    """Return the term of the chunks that have any value of the field."""
    return term(place, _ANY)


def term_of_several(place: int) -> str:
    """Return the term of the chunks whose value is a list of several."""
    return term(place, _SEVERAL)


def key_of(value: Scalar) -> str | None:
    """Return the key of a value; None of a number that is none (NaN), which equals nothing."""
    if isinstance(value, bool):
        return _BOOLEAN + str(int(value))
    if isinstance(value, str):
        return _key_of_text(value)
    try:
        number = float(value) + 0.0  # -0.0 becomes 0.0
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        return None
    (bits,) = struct.unpack(">Q", struct.pack(">d", number))
    ordered = bits ^ (2**64 - 1) if bits >> 63 else bits | 1 << 63
    return f"{_NUMBER}{ordered:0{_DIGITS}d}"


def _key_of_text(text: str) -> str:
    encoded = text.encode("utf-8", "surrogatepass")
    key = _prefix_of_text(encoded)
    if len(encoded) > TEXT_BYTES:
        key += f"{int(digest(text), 16) % 10**_DIGITS:0{_DIGITS}d}"
    return key


def _prefix_of_text(encoded: bytes) -> str:
    return _TEXT + "".join(f"{byte:03d}" for byte in encoded[:TEXT_BYTES])


_LAST: Final = "9" * (_DIGITS + 1)  # behind the prefix of a longer text: after the hash of any


def same(value: Scalar) -> tuple[str, str]:
    """Return the first key of those equal to a value, and the first one after them."""
    key = key_of(value) or _END
    return key, key + "0"


def kind_bounds(value: Scalar) -> tuple[str, str]:
    """Return the first key of a number's or text's kind, and the first one after the kind."""
    return (_TEXT, _END) if isinstance(value, str) else (_NUMBER, _TEXT)


def lower(value: Scalar, *, included: bool) -> str:
    """Return the first key of the values from a number or text on; where keys can't tell, of a few before it too."""
    if not is_sharp(value):
        return _prefix_of_text(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else same(value)[0]
    return same(value)[0 if included else 1]


def upper(value: Scalar, *, included: bool) -> str:
    """Return the first key after the values up to a number or text; where keys can't tell, after a few more."""
    if not is_sharp(value):
        if isinstance(value, str):
            return _prefix_of_text(value.encode("utf-8", "surrogatepass")) + _LAST
        return same(value)[1]
    return same(value)[1 if included else 0]


def is_sharp(value: Scalar, *, equality: bool = False) -> bool:
    """Return whether keys tell exactly which values come before a value, and which after it, or which equal it."""
    if isinstance(value, str):
        return equality or len(value.encode("utf-8", "surrogatepass")) <= TEXT_BYTES
    return abs(value) < EXACT_BELOW
