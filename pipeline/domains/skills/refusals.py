"""Where a text speaks of something in order to say that it is not meant: "do not invoke X", "Y, not X"."""

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
    """Return the places of a text at which a name is refused, in order.

    A use that is denied ("do not", "never", "does not need") is refused up to the end of its clause, lists and all.
    What "not", "unlike", "instead of", "rather than" or "avoid" stands before is refused alone, or with those that
    "and" or "or" joins to it. So "use X instead" and "never skip X" refuse nothing.
    """
    return [range(*match.span()) for match in _REFUSAL.finditer(text)]
