"""Join consecutive chunks of a text: each may begin with the end of the previous one."""

from collections.abc import Iterable


def join_chunks(chunks: Iterable[tuple[int, int, str]]) -> str:
    """Return the text of chunks, given as (start, end, text) in order, with every passage once.

    A chunk begins with the last sentences of the previous one, or after white space or markup, which becomes an empty
    line.
    """
    joined, reached = "", 0
    for start, end, text in chunks:
        overlap = max(0, reached - start)
        joined += ("\n\n" if joined and not overlap else "") + text[overlap:]
        reached = end
    return joined.strip()
