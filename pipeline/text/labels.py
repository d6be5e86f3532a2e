"""Labels of groups of texts: the terms that tell a group from the others."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipeline.text.names import FUNCTION_WORDS, most_frequent

_TERMS = 3  # a label fits a cell of a table; chosen by hand
_WORD = re.compile(r"[^\W\d_][\w'-]+")


def terms_of(text: str) -> dict[str, str]:
    """Return the spellings of a text's words, by the word without case; function words are left out."""
    return {word.casefold(): word for word in _WORD.findall(text) if word.casefold() not in FUNCTION_WORDS}


def labels(groups: Sequence[Iterable[Mapping[str, str]]]) -> list[str]:
    """Return a label for each group: its terms with the highest tf-idf over the groups; empty if no term tells it.

    A group is the terms of its texts, with their spellings, as of :func:`terms_of`. Ties go by the term.
    """
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    counts = [_count(texts, spellings) for texts in groups]
    groups_with = Counter(term for count in counts for term in count)
    found: list[str] = []
    for count in counts:
        weights = {term: tf * math.log((1 + len(groups)) / groups_with[term]) for term, tf in count.items()}
        best = sorted(weights, key=lambda term: (-weights[term], term))[:_TERMS]
        found.append(", ".join(most_frequent(spellings[term]) for term in best))
    return found


def _count(texts: Iterable[Mapping[str, str]], spellings: dict[str, Counter[str]]) -> Counter[str]:
    """Return in how many of some texts each term is, and count how these spell it."""
    counts: Counter[str] = Counter()
    for terms in texts:
        counts.update(terms.keys())
        for term, spelling in terms.items():
            spellings[term][spelling] += 1
    return counts
