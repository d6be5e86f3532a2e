"""Find refused names in a text: "do not invoke X", "Y, not X"."""

from __future__ import annotations

import re

_CLAUSE = r"(?:(?![.!?](?:\s|$)|[:;]\s|\b(?:but|unless|until|without|before|except|instead)\b).)*"
_NEGATED = (
    r"\b(?:(?:do|does|did|must|should|shall|can|could|would|need)(?:\s+not|n['’]t)|cannot|never)\s+(?:\w+\s+)?"
    r"(?:use|invoke|load|call|run|need|require|confuse|mix|combine)\b"
)
_NAME = r"[`*\"']*[\w@/:-]+[`*\"']*"
_PASSED_OVER = (
    r"\b(?:not|unlike|instead\s+of|rather\s+than|avoid(?:ing)?)\s+(?:(?:the|a|an|to|using|invoking|loading|calling)\s+)*"
    rf"{_NAME}(?:(?:,\s+{_NAME})*,?\s+(?:and|or|nor)\s+{_NAME})?"
)
_REFUSAL = re.compile(f"{_NEGATED}{_CLAUSE}|{_PASSED_OVER}", re.IGNORECASE | re.DOTALL)


def refusals(text: str) -> list[range]:
    """Return the spans of a text that refuse names, in order.

    A negated verb of use ("do not use", "never load", "doesn't need") refuses all names up to the end of its clause,
    lists included. "not", "unlike", "instead of", "rather than" and "avoid" refuse the next name, and the names joined
    to it by "and", "or" or "nor". "use X instead" and "never skip X" refuse nothing.
    """
    return [range(*match.span()) for match in _REFUSAL.finditer(text)]
