"""Variants of names: two ways to write one name, how strong a sign that is from 0 to 1, and why, in words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from pipeline.grouping import grouped
from pipeline.resources import word_lists
from pipeline.text.names import folded, singular

_WORDS = word_lists(__file__)

_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s*[\s_.,:\-–]\s*(?=\d)")
_CAMEL = re.compile(r"(?<=[^\W\dA-Z_])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DROPPED = r"\s_\-–—.,:;'’‘\"“”`()\[\]{}?!"
# Kept: a sign before a number, the dot of .NET, the dot in 3.11, and all symbols that may tell names apart (C++, C#).
_WORD = re.compile(rf"(?:(?<!\S)-(?=\d)|^\.(?=[^\W\d_]))?(?:[^{_DROPPED}]|(?<=\d)\.(?=\d)|!(?==))+")
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")  # those of Latin letters: other scripts keep their marks
_NUMBER = re.compile(r"\d+(?:\.\d+)*")

_GENERIC_WORDS: Mapping[str, Mapping[str, str]] = _WORDS["generic"]
"""Generic words by entity type, each with the ecosystem or kind that it implies; "" for none."""

LANGUAGES: Mapping[str, str] = {word: words.split()[0] for words in _WORDS["languages"] for word in words.split()}
"""Programming languages by the words that name them."""

_GROUPS = tuple(frozenset(group.split()) for group in _WORDS["opposites"])
_NEGATIONS = ("un", "in", "im", "ir", "non", "dis", "de", "anti", "a")
NEGATIVES = frozenset("not no non without never anti".split())
"""Words whose presence alone turns a name into its opposite."""

_ADDRESS = re.compile(r"<?(?<![^\s<>@,;])([^\s<>@,;]++)@([^\s<>@,;]+\.[^\s<>@,;]+)>?")
_TITLES = frozenset("dr mr mrs ms prof professor sir".split())
_GENERATIONS = frozenset("jr sr junior senior ii iii iv".split())
_DEGREES = frozenset("phd md msc bsc".split())

_PARENTHESES = re.compile(r"(?<!\s)\s*+\(([^()]*)\)\s*$")
_REGISTRY = re.compile(r"^([A-Za-z.]+):(?!/)(?=\S)")
_SCOPED = re.compile(r"^@([^/\s]+)/([^\s]+)$")
_FILE = re.compile(
    r"(?<=\w)\.((?ai:js|ts|jsx|tsx|mjs|py|rs|go|rb|java|jsonc?|toml|ya?ml|ini|cfg|conf|md|txt|xml|lock))$"
)
_UNCOUNTED = frozenset(("library", "config", "person"))  # types of which ``request`` and ``requests`` are two

# How sure a sign is that two names are one, up to 1 for names that are the same. Chosen by hand in this order, not
# measured, so that with the threshold dedupe_strength of 0.9 the first four merge alone; from _SUPPORTED (0.7) on,
# another sign must join them.
_EXACT = 1.0
_SEPARATED = 0.95
_ACCENTED = _GENERIC = 0.9
_STRICT = _PLURAL = 0.85
_JOINED = 0.8
_LOCAL_PART = 0.75
_WEAK = 0.7
_SHORT = 0.5

_SHORTEST = 3  # letters of a name; a match of a shorter one says little
_SHORTEST_PLURAL = 5  # letters of a word that has a plural: gas is none


@dataclass(frozen=True, slots=True)
class PersonName:
    """The parts of a person's name, in lower case.

    ``words`` are the names, first name first; ``generation`` is Jr., Sr. or the like. ``address`` is an e-mail address
    in the name; ``bare``: the name is nothing else, so that its words come from the address.
    """

    words: tuple[str, ...]
    generation: str = ""
    address: str = ""
    bare: bool = False
    reversed: bool = False

    @classmethod
    def read(cls, name: str) -> Self:
        """Read a name such as ``Jane Doe <jane@example.com>``, ``Doe, Jane``, ``Dr. J. Doe`` or an address."""
        written = _ADDRESS.search(name)
        address = address_of(name)
        rest = _ADDRESS.sub("", name).strip().strip("\"'")
        if written and not words_of(rest):
            return cls(words_of(written[1].partition("+")[0]), address=address, bare=True)
        last, comma, first = rest.partition(",")
        turned = bool(comma) and not set(words_of(first)) <= _GENERATIONS | _DEGREES
        words = words_of(f"{first} {last}" if turned else rest)
        generation = "".join(word for word in words[1:] if word in _GENERATIONS)
        dropped = _TITLES | _GENERATIONS | _DEGREES
        kept = tuple(word for word in words if word not in dropped) or words
        return cls(kept, generation, address, reversed=turned)


class Variant(NamedTuple):
    """The relation of two names: its strength from 0 to 1, and the reason."""

    strength: float
    reason: str


@dataclass(frozen=True, slots=True)
class Form:
    """A way to read a name: the words that are left of it, the strength of a match, and what was done to it.

    Two ``weak`` forms don't match each other: ``Mercury (planet)`` and ``Mercury (element)`` both leave Mercury.
    """

    words: tuple[str, ...]
    strength: float = _EXACT
    reason: str = ""
    weak: bool = False

    @property
    def key(self) -> str:
        """The words without the spaces between them; forms with the same key match."""
        return "".join(self.words)


@dataclass(frozen=True, slots=True)
class Name:
    """A name that was read: its forms, and the parts that distinguish it from others.

    ``kinds`` are the kinds that its generic words imply, as ``npm``; ``qualifier`` what stands in parentheses;
    ``suffix`` the ending of a file; ``owner`` the scope of ``@scope/name``; ``person`` is None for all but persons.
    """

    text: str
    type: str
    forms: tuple[Form, ...]
    words: tuple[str, ...]
    numbers: tuple[str, ...]
    kinds: frozenset[str] = frozenset()
    qualifier: tuple[str, ...] = ()
    suffix: str = ""
    owner: str = ""
    person: PersonName | None = None

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its forms: only names that share one can be variants."""
        return frozenset(form.key for form in self.forms if form.key)


def read_name(text: str, type_: str, aliases: Iterable[str] = ()) -> Name:
    """Read the name of an entity of a type; ``aliases`` are other names that lead to it."""
    aliases = list(aliases)
    known_as = ((alias, words) for alias in aliases for words in _readings(alias))
    others = [Form(words, _GENERIC, f"known as {alias!r}", weak=True) for alias, words in known_as]
    numbers = tuple(_NUMBER.findall(_BETWEEN_DIGITS.sub(".", text)))
    if type_ == "person":
        person = PersonName.read(text)
        addresses = {address_of(alias) for alias in aliases} - {""}
        others += [Form((address,), _GENERIC, f"known by {address}", weak=True) for address in sorted(addresses)]
        forms = _unique([*_person_forms(person), *others])
        return Name(text, type_, forms, person.words, () if person.bare else numbers, person=person)
    head, kinds, qualifier = _without_generic(text, type_)
    forms = _unique([*_forms(text, type_), *_derived(text, head, qualifier, type_), *others])
    scoped, ending = _SCOPED.match(text), _FILE.search(head)
    suffix, owner = ending[1].casefold() if ending else "", scoped[1].casefold() if scoped else ""
    return Name(text, type_, forms, words_of(head), numbers, kinds, qualifier, suffix, owner)


def variant(first: Name, second: Name) -> Variant | None:
    """Return how two names of one type are variants of each other, by their strongest common form; None if not."""
    strict = first.type in ("library", "config")
    if first.text == second.text:
        return Variant(_limited(_EXACT, first.words), "the same")
    if folded(first.text) == folded(second.text):
        # DEBUG and debug may be a variable and a setting.
        case = _STRICT if first.type == "config" else _EXACT
        return Variant(_limited(case, first.words), "the same but for case")
    matches = [
        _match(own, other, strict=strict)
        for own in first.forms
        for other in second.forms
        if own.key and own.key == other.key and not (own.weak and other.weak)
    ]
    best = max(matches, default=None)
    if best and first.text.startswith("_") != second.text.startswith("_"):
        # In code, _kind and kind are two.
        return Variant(min(best.strength, _STRICT), best.reason)
    return best


def _match(first: Form, second: Form, *, strict: bool) -> Variant:
    reasons = sorted({form.reason for form in (first, second) if form.reason})
    strength = min(first.strength, second.strength, _STRICT if strict and not reasons else _SEPARATED)
    if first.words != second.words:
        strength = min(strength, _SHORT if first.weak or second.weak else _JOINED)
    return Variant(_limited(strength, first.words), "; ".join(reasons) or "the same but for separators or accents")


def _limited(strength: float, words: Sequence[str]) -> float:
    """Return the strength of a match of these words: a name of one or two letters says little."""
    return min(strength, _SHORT) if len("".join(words)) < _SHORTEST else strength


def _readings(text: str) -> list[tuple[str, ...]]:
    return list(dict.fromkeys((words_of(text), words_of(text, camel=True))))


def _forms(text: str, type_: str) -> Iterator[Form]:
    accented = any(not word.isascii() for word in folded(text).split()) and "".join(words_of(text)).isascii()
    for words in _readings(text):
        yield Form(words, _ACCENTED if accented else _EXACT)
        counted = words and type_ not in _UNCOUNTED and len(words[-1]) >= _SHORTEST_PLURAL
        if counted and (base := singular(words[-1])) != words[-1]:
            yield Form((*words[:-1], base), _PLURAL, "singular and plural")


def _derived(text: str, head: str, qualifier: tuple[str, ...], type_: str) -> Iterator[Form]:
    """Yield the forms of a name without its generic words, its file's ending or its scope."""
    if head != text:
        removed = " ".join(text.replace(head, " ", 1).split()).strip("() ")
        strength = _WEAK if qualifier else _GENERIC if type_ == "library" else _STRICT
        for form in _forms(head, type_):
            yield Form(form.words, min(form.strength, strength), f"without {removed!r}", weak=bool(qualifier))
    if qualifier and "".join(word[0] for word in words_of(head)) == "".join(qualifier):
        yield Form(qualifier, _STRICT, "the abbreviation in parentheses")
    if scoped := _SCOPED.match(text):
        yield from (Form(words, _STRICT, "without the @") for words in _readings(f"{scoped[1]}/{scoped[2]}"))
        yield from (Form(words, _SHORT, f"without @{scoped[1]}/", weak=True) for words in _readings(scoped[2]))
    elif ending := _FILE.search(head):
        strength = _LOCAL_PART if type_ == "library" else _SHORT
        for words in _readings(head[: ending.start()]):
            yield Form(words, strength, f"without .{ending[1]}", weak=True)


def _without_generic(text: str, type_: str) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Return a name without its generic words; the kinds that these imply; and the words of other parentheses."""
    generic, kinds, head = _GENERIC_WORDS.get(type_, {}), set[str](), text.strip()
    if (ending := _PARENTHESES.search(head)) and head[: ending.start()]:
        inside = words_of(ending[1])
        if not set(inside) <= generic.keys():
            return head[: ending.start()], frozenset(), inside
        head = head[: ending.start()]
        kinds |= {generic[word] for word in inside}
    prefix = _REGISTRY.match(head) if type_ == "library" else None
    if prefix and (registry := generic.get(prefix[1].casefold())):
        kinds.add(registry)
        head = head[prefix.end() :]
    while (parts := head.rsplit(None, 1))[1:] and parts[1].casefold() in generic:
        kinds.add(generic[parts[1].casefold()])
        head = parts[0]
    return head, frozenset(kinds - {""}), ()


def _person_forms(person: PersonName) -> Iterator[Form]:
    words = person.words
    if person.bare:
        yield Form((person.address,))
        yield Form(words, _LOCAL_PART, "the local part of an e-mail address")
    else:
        yield Form(words, _EXACT, "written last name first" if person.reversed else "")
        if person.address:
            yield Form((person.address,), _GENERIC, f"known by {person.address}", weak=True)
    if len(words) < 2:
        return
    if any(len(word) == 1 for word in words[1:-1]):
        yield Form((words[0], words[-1]), _STRICT, "without middle initials")
    elif words[1:-1]:
        yield Form((words[0], words[-1]), _WEAK, "without middle names", weak=True)
    if len(words[0]) > 1 and not person.bare:
        yield Form((words[0][0], words[-1]), _WEAK, "the first name as an initial", weak=True)


def _unique(forms: Iterable[Form]) -> tuple[Form, ...]:
    """Return the strongest form of each sequence of words."""
    by_words = grouped((form.words, form) for form in forms)
    return tuple(max(same, key=lambda form: (form.strength, not form.weak)) for same in by_words.values())


def words_of(name: str, *, camel: bool = False) -> tuple[str, ...]:
    """Return the words of a name without case, accents and punctuation; ``camel`` splits ``camelCase`` as well.

    Numbers keep the dots between their parts, and symbols that may tell names apart stay, as in ``C++``.
    """
    composed = unicodedata.normalize("NFC", name).strip()
    if camel:
        composed = _CAMEL.sub(" ", composed)
    words = " ".join(_WORD.findall(_BETWEEN_DIGITS.sub(".", composed))).casefold()
    without_accents = _ACCENTS.sub("", unicodedata.normalize("NFD", words))
    return tuple(unicodedata.normalize("NFC", without_accents).split())


def opposites(first: str, second: str) -> bool:
    """Return whether two words exclude each other: ``client`` and ``server``, ``sync`` and ``async``."""
    if any(first in group and second in group for group in _GROUPS):
        return first != second
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) > 2 and any(longer == prefix + shorter for prefix in _NEGATIONS)


def difference(first: PersonName, second: PersonName) -> str:
    """Return what shows that two names are of different persons; "" if nothing does."""
    if first.address and second.address and first.address != second.address:
        return f"their e-mail addresses differ: {first.address} and {second.address}"
    if first.bare or second.bare:
        return ""  # the words of an address need not be a name
    if first.generation != second.generation:
        return "one of them is the younger or elder"
    if min(len(first.words), len(second.words)) < 2 or set(first.words) == set(second.words):
        return ""
    if first.words[-1] != second.words[-1]:
        return f"their last names differ: {first.words[-1]} and {second.words[-1]}"
    if not _same_given_name(first.words[0], second.words[0]):
        return f"their first names differ: {first.words[0]} and {second.words[0]}"
    middle = zip(first.words[1:-1], second.words[1:-1], strict=False)
    return "" if all(_same_given_name(*pair) for pair in middle) else "their middle names differ"


def address_of(text: str) -> str:
    """Return the e-mail address that a text is or holds, in lower case; "" if there is none."""
    address = _ADDRESS.search(text)
    return f"{address[1]}@{address[2]}".casefold() if address else ""


def _same_given_name(first: str, second: str) -> bool:
    """Return whether one may be short for the other: ``j`` or ``jon`` for ``jonathan``."""
    return first.startswith(second) or second.startswith(first)
