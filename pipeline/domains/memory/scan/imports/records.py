"""Records of resolved imports."""

from __future__ import annotations

from typing import NamedTuple


class Resolved(NamedTuple):
    """An import that leads to the file ``path`` of the tree, or to the external package ``library``, or out of it.

    ``names`` are the local names of symbols with their original ones, ``modules`` the local names of the module itself.
    ``star``: all names of the file are taken. Both ends are empty for a standard library.
    """

    path: str = ""
    library: str = ""
    names: tuple[tuple[str, str], ...] = ()
    modules: tuple[str, ...] = ()
    star: bool = False
