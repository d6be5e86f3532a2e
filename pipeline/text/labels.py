"""Labels of groups of texts: the terms that tell a group from the others."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pipeline.text.names import FUNCTION_WORDS, most_frequent

_TERMS = 3  # a label fits a cell of a table; chosen by hand
_WORD = re.compile(r"[^\W\d_][\w'-]+")


def terms_of(text: str) -> dict[str, str]:
    """Return the spellings of a text's words, by the word without case; function words are left out."""
    return {word.casefold(): word for word in _WORD.findall(text) if word.casefold() not in FUNCTION_WORDS}


def labels(groups: Sequence[Iterable[Mapping[str, str]]], *, shared: bool = False) -> list[str]:
    """Return a label for each group: its terms with the highest tf-idf over the groups; empty if no term tells it.

    A group is the terms of its texts, with their spellings, as of :func:`terms_of`. A plural is one term with its
    singular. With ``shared`` a label has only terms that two of the group's texts have, and no more than half of the
    groups. Ties go by the term.
    """
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    texts = [[*group] for group in groups]
    known = {term for group in texts for terms in group for term in terms}
    counts = [_count(group, known, spellings) for group in texts]
    groups_with = Counter(term for count in counts for term in count)
    most, found = max(1, len(groups) // 2), list[str]()
    for count in counts:
        terms = [term for term, tf in count.items() if not shared or (tf > 1 and groups_with[term] <= most)]
        weights = {term: count[term] * math.log((1 + len(groups)) / groups_with[term]) for term in terms}
        best = sorted(weights, key=lambda term: (-weights[term], term))[:_TERMS]
        found.append(", ".join(most_frequent(spellings[term]) for term in best))
    return found


def _count(
    texts: Iterable[Mapping[str, str]], known: Collection[str], spellings: dict[str, Counter[str]]
) -> Counter[str]:
    """Return in how many of some texts each term is, and count how these spell it; ``known`` are the terms of all."""
    counts: Counter[str] = Counter()
    for terms in texts:
        singular = {term: next((one for one in _singulars(term) if one in known), term) for term in terms}
        counts.update(set(singular.values()))
        for term, spelling in terms.items():
            spellings[singular[term]][spelling] += 1
    return counts


def _singulars(term: str) -> Iterator[str]:
    if term.endswith("ies"):
        yield f"{term[:-3]}y"
    if term.endswith("s"):
        yield term[:-1]
