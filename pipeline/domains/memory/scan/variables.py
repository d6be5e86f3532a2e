"""Environment variables: those that code reads, and those that .env files and Docker Compose set."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from pipeline.code.tables import table

_NAME = r"([A-Za-z_]\w{0,99})"
_QUOTED = rf"""\s{{0,9}}[(\[]\s{{0,9}}["'`]{_NAME}["'`](?=\s{{0,9}}[,)\]])"""
_UNASSIGNED = r"(?!\s{0,9}\]?\s{0,9}=[^=>~])"
_SCRIPT = re.compile(
    rf"(?:\bprocess\.env|\bimport\.meta\.env)(?:\.{_NAME}\b|{_QUOTED}){_UNASSIGNED}|\bDeno\.env\.get{_QUOTED}"
)
_C = re.compile(rf"\b(?:secure_)?getenv{_QUOTED}")
_READS = {
    "python": re.compile(
        rf"\benviron(?:\.(?:get|pop|setdefault))?{_QUOTED}{_UNASSIGNED}|\bgetenv{_QUOTED}"
        rf"""|\benvvar\s{{0,9}}=\s{{0,9}}["']{_NAME}["']"""
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "java": re.compile(rf"\bSystem\.getenv(?:\(\)\.get)?{_QUOTED}"),
    "go": re.compile(rf"\bos\.(?:Getenv|LookupEnv){_QUOTED}"),
    "rust": re.compile(rf"\benv::var(?:_os)?{_QUOTED}|\b(?:option_)?env!{_QUOTED}"),
    "c": _C,
    "cpp": _C,
    "csharp": re.compile(rf"\bEnvironment\.GetEnvironmentVariable{_QUOTED}"),
    "ruby": re.compile(rf"\bENV(?:\.fetch)?{_QUOTED}{_UNASSIGNED}"),
    "php": re.compile(rf"\bgetenv{_QUOTED}|\$_ENV{_QUOTED}{_UNASSIGNED}|\benv{_QUOTED}"),
}
"""A pattern a language; each has the name in its one group that matched."""

_COMMENT = ("#", "//", "*", "/*", "--")
_COMMENT_BEHIND = re.compile(r"\s(?://|#\s)")
_ASSIGNMENT = re.compile(rf"^[ \t]*(?:export[ \t]+)?{_NAME}[ \t]*=", re.MULTILINE)
_LARGEST_YAML = 100_000


def variables_read(text: str, language: str) -> frozenset[str]:
    """Return the environment variables that code reads by a literal name, without those in comments and strings."""
    pattern = _READS.get(language)
    if pattern is None:
        return frozenset()
    return frozenset(
        next(filter(None, match.groups())) for match in pattern.finditer(text) if _is_code(text, match.start())
    )


def variables_set(text: str) -> frozenset[str]:
    """Return the variables that an .env file sets."""
    return frozenset(_ASSIGNMENT.findall(text))


def variables_of_services(text: str) -> frozenset[str]:
    """Return the variables in the ``environment`` of the services of a Docker Compose file; none if it is malformed."""
    if len(text) > _LARGEST_YAML:
        return frozenset()
    try:
        # no types: a value that looks like a date may be no date
        content = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError, TypeError):
        return frozenset()
    return frozenset(name for service in table(content, "services").values() for name in _environment(service))


def _environment(service: object) -> Iterator[str]:
    listed = table(service).get("environment")
    written = listed if isinstance(listed, list) else table(listed)
    names = (str(item).partition("=")[0].strip() for item in written)
    return (name for name in names if re.fullmatch(_NAME, name))


def _is_code(text: str, at: int) -> bool:
    """Return whether an offset is in code, as far as its line tells: in no comment and no string."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    if before.lstrip().startswith(_COMMENT) or _COMMENT_BEHIND.search(before):
        return False
    return all(before.count(quote) % 2 == 0 for quote in "\"'`")
