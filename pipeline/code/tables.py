"""Values of parsed manifests, whose types aren't known: another type than the expected one counts as nothing."""

from collections.abc import Iterable, Iterator, Mapping

Table = Mapping[str, object]
"""A table of TOML, or an object of JSON."""


def table(value: object, *path: str) -> Table:
    """Return the table in ``value`` at ``path``; empty if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def text(value: object) -> str:
    """Return a string without white space around it."""
    return value.strip() if isinstance(value, str) else ""


def texts(value: object) -> Iterator[str]:
    """Yield the strings of a list."""
    return (item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else iter(())


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that aren't empty, each once, in order."""
    return tuple(dict.fromkeys(name for name in names if name))
