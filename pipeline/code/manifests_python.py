"""Manifests of Python packages: pyproject.toml, setup.cfg, setup.py and requirements.txt."""

import ast
import configparser
import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pipeline.code.records import Manifest
from pipeline.code.tables import table, text, texts, unique

_DEVELOPMENT = re.compile(r"dev|test|doc|lint|typ(?:e|ing)|bench|format|style|check|release|coverage", re.IGNORECASE)
_EGG = re.compile(r"#egg=([\w.-]+)")
_COMMENT = re.compile(r"(?:^|\s)#.*")


def pyproject(source: str) -> Manifest:
    """Return the manifest of a pyproject.toml, of the standard or of Poetry."""
    content = tomllib.loads(source)
    project, poetry = table(content, "project"), table(content, "tool", "poetry")
    needed, extras = _split(table(project, "optional-dependencies"))
    groups = (texts(group) for group in table(content, "dependency-groups").values())
    poetry_groups = (table(group, "dependencies") for group in table(poetry, "group").values())
    return _manifest(
        text(project.get("name")) or text(poetry.get("name")),
        text(project.get("description")) or text(poetry.get("description")),
        [*texts(project.get("keywords")), *texts(poetry.get("keywords"))],
        [*texts(project.get("dependencies")), *needed, *_poetry(table(poetry, "dependencies"))],
        [*extras, *chain(*groups), *_poetry(table(poetry, "dev-dependencies")), *chain(*map(_poetry, poetry_groups))],
    )


def setup_cfg(source: str) -> Manifest:
    """Return the manifest of a setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(source)
    sections = {name: dict(parser[name]) for name in parser.sections()}
    metadata, options = sections.get("metadata", {}), sections.get("options", {})
    extras = {name: value.splitlines() for name, value in sections.get("options.extras_require", {}).items()}
    needed, development = _split(extras)
    return _manifest(
        metadata.get("name", ""),
        metadata.get("description", metadata.get("summary", "")),
        re.split(r"[,\n]", metadata.get("keywords", "")),
        [*options.get("install_requires", "").splitlines(), *needed],
        [*options.get("tests_require", "").splitlines(), *development],
    )


def setup_py(source: str) -> Manifest | None:
    """Return the manifest in the call of ``setup`` of a setup.py: arguments that are literals, or names of such."""
    with warnings.catch_warnings():
        # of a backslash in a string that isn't raw
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "setup")
    call = next(calls, None)
    if call is None:
        return None
    names = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    arguments = {keyword.arg: _literal(keyword.value, names) for keyword in call.keywords if keyword.arg}
    needed, development = _split(table(arguments.get("extras_require")))
    keywords = arguments.get("keywords")
    return _manifest(
        text(arguments.get("name")),
        text(arguments.get("description")),
        re.split(r",", keywords) if isinstance(keywords, str) else texts(keywords),
        [*_lines(arguments.get("install_requires")), *needed],
        [*_lines(arguments.get("tests_require")), *development],
    )


def requirements(source: str) -> Manifest:
    """Return the manifest of a list of requirements; the other files that it includes aren't read."""
    lines = source.replace("\\\n", " ").splitlines()
    eggs = (egg[1] for line in lines if (egg := _EGG.search(line)))
    return _manifest("", "", (), [*(_COMMENT.sub("", line) for line in lines), *eggs], ())


def _manifest(
    name: str, description: str, keywords: Iterable[str], dependencies: Iterable[str], development: Iterable[str]
) -> Manifest:
    needed = unique(map(_name, dependencies))
    return Manifest(
        path="",
        name=canonicalize_name(name) if name else "",
        description=" ".join(description.split()),
        keywords=unique(keyword.strip() for keyword in keywords),
        dependencies=needed,
        dev_dependencies=tuple(name for name in unique(map(_name, development)) if name not in needed),
    )


def _name(requirement: str) -> str:
    """Return the normalised name of the package that a requirement names; empty for an option or a bare address."""
    # pip's own options stand after the requirement
    bare = requirement.split(" --", 1)[0].strip()
    try:
        return canonicalize_name(Requirement(bare).name) if bare and not bare.startswith("-") else ""
    except InvalidRequirement:
        return ""


def _split(extras: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Return the requirements of the extras that users install, and of those for development, by the extras' names."""
    needed: list[str] = []
    development: list[str] = []
    for name, listed in extras.items():
        (development if _DEVELOPMENT.search(name) else needed).extend(_lines(listed))
    return needed, development


def _lines(value: object) -> Iterator[str]:
    return iter(value.splitlines()) if isinstance(value, str) else texts(value)


def _poetry(dependencies: Mapping[str, object]) -> Iterator[str]:
    return (name for name in dependencies if name.lower() != "python")


def _called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _literal(node: ast.expr, names: Mapping[str, ast.expr]) -> object:
    """Return the value of a literal, or of a name that is one; None for anything that would have to be computed."""
    node = names.get(node.id, node) if isinstance(node, ast.Name) else node
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None
    return value
