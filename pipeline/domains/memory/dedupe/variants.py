"""Variants of names: two ways to write one name, how strong a sign that is from 0 to 1, and why, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.domains.memory.dedupe.persons import PersonName, address_of
from pipeline.domains.memory.dedupe.words import ECOSYSTEMS, GENERIC, SUFFIXES, folded, numbers_of, words_of
from pipeline.text.names import singular

_PARENTHESES = re.compile(r"\s*\(([^()]*)\)\s*$")
_REGISTRY = re.compile(r"^([A-Za-z.]+):(?!/)(?=\S)")
_SCOPED = re.compile(r"^@([^/\s]+)/([^\s]+)$")
_FILE = re.compile(r"(?<=\w)\.([A-Za-z]{1,5})$")
_UNCOUNTED = frozenset(("library", "config", "person"))
"""Types of which ``request`` and ``requests`` are two."""

_EXACT, _SEPARATED, _ACCENTED, _GENERIC, _STRICT, _PLURAL, _JOINED, _ADDRESS, _WEAK, _SHORT = (
    1.0,
    0.95,
    0.9,
    0.9,
    0.85,
    0.85,
    0.8,
    0.75,
    0.7,
    0.5,
)  # fmt: skip
_SHORTEST = 3
_SHORTEST_PLURAL = 5


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
    """A name that was read: its forms, and the parts that tell it from others.

    ``kinds`` are what its generic words tell, as ``npm``; ``qualifier`` what stands in parentheses; ``suffix`` the
    ending of a file; ``owner`` the scope of ``@scope/name``; ``person`` is None for all but persons.
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
    known = [Form(words, _GENERIC, f"known as {alias!r}", weak=True) for alias in aliases for words in _readings(alias)]
    if type_ == "person":
        person = PersonName.of(text)
        addresses = {address_of(alias) for alias in aliases} - {""}
        known += [Form((address,), _GENERIC, f"known by {address}", weak=True) for address in sorted(addresses)]
        forms = _unique([*_person_forms(person), *known])
        return Name(text, type_, forms, person.words, () if person.bare else numbers_of(text), person=person)
    head, kinds, qualifier = _without_generic(text, type_)
    forms = _unique([*_forms(text, type_), *_derived(text, head, qualifier, type_), *known])
    scoped, ending = _SCOPED.match(text), _FILE.search(head)
    return Name(
        text,
        type_,
        forms,
        words_of(head),
        numbers_of(text),
        kinds,
        qualifier,
        ending[1].casefold() if ending and ending[1].casefold() in SUFFIXES else "",
        scoped[1].casefold() if scoped else "",
    )


def variant(first: Name, second: Name) -> Variant | None:
    """Return how two names of one type are variants of each other, by their strongest common form; None if not."""
    strict = first.type in ("library", "config")
    if folded(first.text) == folded(second.text):
        # DEBUG and debug may be a variable and a setting.
        case = _STRICT if first.type == "config" and first.text != second.text else _EXACT
        return Variant(
            _limited(case, first.words), "the same but for case" if first.text != second.text else "the same"
        )
    matches = [
        _match(own, other, strict=strict)
        for own in first.forms
        for other in second.forms
        if own.key and own.key == other.key and not (own.weak and other.weak)
    ]
    found = max(matches, default=None)
    if found and first.text.startswith("_") != second.text.startswith("_"):
        # In code, _kind and kind are two.
        return Variant(min(found.strength, _STRICT), found.reason)
    return found


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
        if counted and (one := singular(words[-1])) != words[-1]:
            yield Form((*words[:-1], one), _PLURAL, "singular and plural")


def _derived(text: str, head: str, qualifier: tuple[str, ...], type_: str) -> Iterator[Form]:
    """Yield the forms of a name without its generic words, its file's ending or its scope."""
    if head != text:
        removed = " ".join(text.replace(head, " ", 1).split()).strip("() ")
        strength = _WEAK if qualifier else _GENERIC if type_ == "library" else _STRICT
        for form in _forms(head, type_):
            yield replace(
                form, strength=min(form.strength, strength), reason=f"without {removed!r}", weak=bool(qualifier)
            )
    if qualifier and "".join(word[0] for word in words_of(head)) == "".join(qualifier):
        yield Form(qualifier, _STRICT, "the abbreviation in parentheses")
    if scoped := _SCOPED.match(text):
        yield from (Form(words, _STRICT, "without the @") for words in _readings(f"{scoped[1]}/{scoped[2]}"))
        yield from (Form(words, _SHORT, f"without @{scoped[1]}/", weak=True) for words in _readings(scoped[2]))
    elif (ending := _FILE.search(head)) and ending[1].casefold() in SUFFIXES:
        strength = _ADDRESS if type_ == "library" else _SHORT
        for words in _readings(head[: ending.start()]):
            yield Form(words, strength, f"without .{ending[1]}", weak=True)


def _without_generic(text: str, type_: str) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Return a name without what only says its kind; the kinds; and the words of other parentheses."""
    generic, kinds, head = GENERIC.get(type_, {}), set[str](), text.strip()
    if (found := _PARENTHESES.search(head)) and head[: found.start()]:
        inside = words_of(found[1])
        if not set(inside) <= generic.keys():
            return head[: found.start()], frozenset(), inside
        head = head[: found.start()]
        kinds |= {generic[word] for word in inside}
    if type_ == "library" and (prefix := _REGISTRY.match(head)) and prefix[1].casefold() in ECOSYSTEMS:
        kinds.add(ECOSYSTEMS[prefix[1].casefold()])
        head = head[prefix.end() :]
    while (parts := head.rsplit(None, 1))[1:] and parts[1].casefold() in generic:
        kinds.add(generic[parts[1].casefold()])
        head = parts[0]
    return head, frozenset(kinds - {""}), ()


def _person_forms(person: PersonName) -> Iterator[Form]:
    words = person.words
    if person.bare:
        yield Form((person.address,))
        yield Form(words, _ADDRESS, "the local part of an e-mail address")
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
    best: dict[tuple[str, ...], Form] = {}
    for form in forms:
        if form.words not in best or (form.strength, not form.weak) > (
            best[form.words].strength,
            not best[form.words].weak,
        ):
            best[form.words] = form
    return tuple(best.values())
