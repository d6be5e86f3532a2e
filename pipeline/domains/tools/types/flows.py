"""Flows of data between tools: which outputs of one tool fit which inputs of another, by type and by meaning.

That a string fits where a string is expected says little. So two fields match if their types fit and their words agree:
the cosine of the words of both, weighted by rarity.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.types.datatypes import Kind
from pipeline.domains.tools.types.fields import Evidence, Field, inferred, inputs, outputs
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.domains.tools.types.words import CHANGING, CREATING, GENERIC, HANDLES, stems, subject
from pipeline.grouping import grouped

# The factors below were chosen by hand; none is measured.

TEXT = 0.5
"""Factor for fields inferred from text, or of unknown type."""

COMMON = 1 / 20
"""Share of all tools above which a word in their fields counts less than a rare one."""

NAMED_TYPE = 0.75
"""Least agreement of fields of the same named type: above that of a sure flow (0.7), below that of the same words."""

HANDLE = 0.5
"""Highest rarity of a word such as id or name, as a share of the rarity at ``COMMON``."""

_OTHER_HEAD = 0.4  # factor for fields whose last words differ: a ``user id`` is no ``user name``

_BARE = 0.9  # factor for the identifier of a thing where the bare thing is named: ``depot`` takes a ``depot id``

_OTHER_SERVICE = 0.5
"""Factor for an identifier of another service (``_OWN``): one service's ids mean nothing to another."""

_OTHER_SERVICE_TEXT, _PORTABLE_TEXT = 0.5, 0.7
"""Factors for a field inferred from the text of another service, and for one that means the same in each service."""

_SOURCES = 10  # most tools whose output flows into one input, the most confident ones; chosen by hand

_DEEP = 2  # levels down an input is only a part of what is given, and an output of its name no echo of it; by hand

_DIGITS = 4  # of a confidence, so that it doesn't depend on the machine
_OWN = frozenset("id key token slug index handle session number hash code name".split())
_STEMMED_HANDLES = stems(HANDLES)
_STEMMED_GENERIC = stems(GENERIC)
_IDENTIFYING = stems("id name title key code number index slug path url token handle hash email".split())
"""Field names that identify a thing: a tool that returns the thing returns them, too."""

_PORTABLE = stems(
    "address city code coordinate country currency date doi email isbn latitude longitude phone sql svg symbol "
    "timezone url zip".split()
)
"""Field names that mean the same in each service."""

_NAME_IN_TEXT = re.compile(
    r"(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+(?![\w-])|(?<![\w-])[a-z]+(?:[A-Z][a-z0-9]+)+(?![\w-])"
)
_INSTEAD = re.compile(r"\b(?:instead|not|don't|unlike|rather|similar to|like)\b", re.IGNORECASE)

Way = Literal["direct", "inheritance", "rule", "any", "mention"]


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """An output that fills an input; ``how`` their types fit, or "mention" if the input's text names the tool."""

    output: str
    input: str
    confidence: float
    how: Way
    converter: str = ""
    evidence: Evidence = "schema"


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of data from one tool to another, by id; the most confident mapping first."""

    source: str
    target: str
    confidence: float
    mappings: tuple[FieldMapping, ...]
    evidence: Evidence


def flows(tools: Sequence[Tool], system: TypeSystem, *, threshold: float = 0.3, sources: int = _SOURCES) -> list[Flow]:
    """Return the flows between tools, ordered by id.

    Each input keeps its ``sources`` most confident mappings at or above ``threshold``, by default that of the settings.
    """
    matcher = _Matcher(tools, system, threshold)
    by_pair: dict[tuple[str, str], list[FieldMapping]] = defaultdict(list)
    for target in tools:
        for taken in matcher.taken[target.id]:
            ranked = sorted(matcher.sources_of(target, taken), key=lambda pair: (-pair[1].confidence, pair[0]))
            for source, mapping in ranked[:sources]:
                by_pair[source, target.id].append(mapping)
    found = []
    for (source, target_id), mappings in sorted(by_pair.items()):
        best, *others = sorted(mappings, key=lambda each: (-each.confidence, each.input, each.output))
        found.append(Flow(source, target_id, best.confidence, (best, *others), best.evidence))
    return found


class _Matcher:
    """The fields of all tools, found by their words."""

    def __init__(self, tools: Sequence[Tool], system: TypeSystem, threshold: float) -> None:
        self._system, self._threshold = system, threshold
        self._tools = {tool.id: tool for tool in tools}
        every = {tool.id: inputs(tool) for tool in tools}
        self.taken = {tool.id: [each for each in every[tool.id] if _takes(tool, each)] for tool in tools}
        returned = {tool.id: [each for each in outputs(tool) if each.words] for tool in tools}
        self._given = {tool: _keys(each for each in fields if each.required) for tool, fields in every.items()}
        self._asked = {tool: _keys(fields) for tool, fields in every.items()}
        for each in (each for found in (self.taken, returned) for fields in found.values() for each in fields):
            system.add(each.type)
        self._count(every, returned)
        self._index(returned)
        self._stated = {tool.id: inferred(tool) or returned[tool.id] for tool in tools}
        self._names = grouped(((tool.service, tool.name.lower()), tool.id) for tool in tools)

    def sources_of(self, target: Tool, taken: Field) -> list[tuple[str, FieldMapping]]:
        """Return the tools with an output that fits an input, each with its best mapping."""
        best: dict[str, FieldMapping] = {}
        found = [*self._by_words(target, taken), *self._by_mention(target, taken)]
        for source, mapping in sorted(found, key=lambda pair: (-pair[1].confidence, pair[1].output, pair[1].how)):
            if source != target.id and mapping.confidence >= self._threshold:
                best.setdefault(source, mapping)
        return list(best.items())

    def _by_words(self, target: Tool, taken: Field) -> Iterator[tuple[str, FieldMapping]]:
        words = _meant(taken)
        products: dict[int, float] = defaultdict(float)
        rarest: dict[int, float] = defaultdict(float)
        for word in words:
            rarity = self._rarity[word]
            for place in self._postings.get(word, ()):
                products[place] += rarity * rarity
                if word not in _STEMMED_HANDLES:
                    rarest[place] = max(rarest[place], rarity)
        length = self._length(words)
        for place, rarity in rarest.items():
            source, returned = self._returned[place]
            cosine = products[place] / (length * self._lengths[place])
            common = 1.0 if _is_same(target, taken, self._tools[source], returned) else rarity / self._reference
            agreement = cosine * min(1.0, common)
            if returned.type.element.named and returned.type.element == taken.type.element:
                agreement = NAMED_TYPE + (1 - NAMED_TYPE) * cosine  # however many tools know the type
            if agreement >= self._threshold and (
                mapping := self._mapping(target, taken, self._tools[source], returned, agreement)
            ):
                yield source, mapping

    def _mapping(
        self, target: Tool, taken: Field, source: Tool, returned: Field, agreement: float
    ) -> FieldMapping | None:
        agreement *= _place(target, taken, source, returned)
        known = self._asked if returned.evidence == "text" else self._given
        if not known[source.id].isdisjoint(_keys([taken])):
            return None
        if returned.evidence == "text":
            # the text must name the same thing, and its last word or what identifies the thing
            same = not taken.thing or taken.thing in returned.words
            named = taken.head in returned.words or taken.head in _IDENTIFYING
            if taken.type.element.kind is Kind.ENUM or not (same and named):
                return None
            return FieldMapping(returned.path, taken.path, round(TEXT * agreement, _DIGITS), "any", evidence="text")
        pairs = ((returned.type, taken.type), (returned.type.element, taken.type.element))
        fits = filter(None, (self._system.compatibility(*pair) for pair in pairs))
        fit = max(fits, key=lambda each: each.confidence, default=None)
        if fit is None:
            return None
        confidence = TEXT if fit.how == "any" else fit.confidence
        return FieldMapping(returned.path, taken.path, round(confidence * agreement, _DIGITS), fit.how, fit.converter)

    def _by_mention(self, target: Tool, taken: Field) -> Iterator[tuple[str, FieldMapping]]:
        """Yield mappings from the tools of the service that the description of an input names."""
        if _INSTEAD.search(taken.description):
            return
        for name in dict.fromkeys(_NAME_IN_TEXT.findall(taken.description)):
            for source in self._names.get((target.service, name.lower()), ()):
                # the output that shares the most words with the input
                ranked = sorted(self._stated[source], key=lambda each: (-len(each.words & taken.words), each.path))
                output = ranked[0].path if ranked else ""
                yield source, FieldMapping(output, taken.path, TEXT, "mention", evidence="text")

    def _count(self, every: Mapping[str, Sequence[Field]], returned: Mapping[str, Sequence[Field]]) -> None:
        counts: Counter[str] = Counter()
        for tool, taken in every.items():
            counts.update({word for each in (*taken, *returned[tool]) for word in _meant(each)})
        total = max(len(every), 1)
        self._rarity = {word: math.log(1 + total / count) for word, count in counts.items()}
        self._reference = math.log(1 + total / max(2.0, total * COMMON))
        for word in _STEMMED_HANDLES & counts.keys():
            self._rarity[word] = min(self._rarity[word], HANDLE * self._reference)

    def _index(self, returned: Mapping[str, Sequence[Field]]) -> None:
        self._returned = [(tool, each) for tool, fields in returned.items() for each in fields]
        self._postings: dict[str, list[int]] = defaultdict(list)
        self._lengths: list[float] = []
        for place, (_, each) in enumerate(self._returned):
            words = _meant(each)
            self._lengths.append(self._length(words))
            for word in words:
                self._postings[word].append(place)

    def _length(self, words: Iterable[str]) -> float:
        return math.sqrt(sum(self._rarity[word] ** 2 for word in words)) or 1.0


def _meant(each: Field) -> frozenset[str]:
    """Return the words of a field, and of its type if that has a name or a format."""
    element = each.type.element
    if element.named:
        return each.words | {f"type {element.name}"}
    return each.words | stems([element.name.rpartition(":")[2]]) if element.kind is Kind.FORMAT else each.words


def _takes(tool: Tool, each: Field) -> bool:
    """Return whether another tool may supply an input: no option, and nothing that the tool itself creates."""
    about = subject(tool.name, tool.service)
    own = each.words - _STEMMED_GENERIC <= stems(about.words) and each.head != "id"
    made = own and (about.verb in CREATING or (about.verb in CHANGING and each.name in ("name", "title")))
    return not each.setting and bool(each.words) and not (made and not each.type.element.named)


def _keys(fields: Iterable[Field]) -> set[str | frozenset[str]]:
    """Return keys of what fields mean: an output that the tool also takes as an input is only an echo."""
    named = [each for each in fields if each.path.count(".") < _DEEP]
    return {each.name for each in named if each.name not in HANDLES} | {each.words | {each.head} for each in named}


def _is_same(target: Tool, taken: Field, source: Tool, returned: Field) -> bool:
    """Return whether two fields mean the same however many tools have them: the id of a thing, or a position."""
    meant = taken.head in _PORTABLE or (taken.head in _IDENTIFYING and source.service == target.service)
    return returned.evidence == "schema" and meant and taken.words == returned.words


def _is_bare(bare: Field, full: Field) -> bool:
    """Return whether a field is named by a thing alone, and the other one by the thing and what identifies it."""
    return (
        full.head in _IDENTIFYING
        and bare.words == full.words - {full.head}
        and bare.type.element.kind is not Kind.OBJECT
    )


def _place(target: Tool, taken: Field, source: Tool, returned: Field) -> float:
    """Return the factor for the last words and the services of two fields."""
    from_text, factor = returned.evidence == "text", 1.0
    same_type = returned.type.element.named and returned.type.element == taken.type.element
    if returned.head not in taken.words if from_text else returned.head != taken.head and not same_type:
        bare = not from_text and (_is_bare(taken, returned) or _is_bare(returned, taken))
        factor *= _BARE if bare else _OTHER_HEAD
    if source.service != target.service:
        factor *= _OTHER_SERVICE if taken.head in _OWN else 1.0
        if from_text:
            factor *= _PORTABLE_TEXT if taken.head in _PORTABLE else _OTHER_SERVICE_TEXT
    return factor
