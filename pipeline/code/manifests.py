"""Read the manifests of packages. A manifest that is a program, such as setup.py, isn't run."""

import ast
import configparser
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath

from lxml import etree
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pipeline.code.records import Manifest as Manifest

_REQUIREMENTS = re.compile(r"(?:[\w.-]+[-_.])?requirements(?:[-_.][\w.-]+)?\.(?:txt|in)")
_LIST_FOR_DEVELOPMENT = re.compile(r"dev|test|doc|lint|ci\b|bench|typing|build", re.IGNORECASE)
_EXTRA_FOR_DEVELOPMENT = re.compile(
    r"dev|test|doc|lint|typ(?:e|ing)|bench|format|style|check|release|coverage", re.IGNORECASE
)
_EGG = re.compile(r"#egg=([\w.-]+)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_GO_BLOCK = re.compile(r"^require\s*\(([^)]*)\)", re.MULTILINE)
_GO_LINE = re.compile(r"^require\s+([^\s(].*)$", re.MULTILINE)
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)


def is_manifest(path: str) -> bool:
    """Return whether the file ``path`` is a manifest, by its name."""
    return PurePosixPath(path).name in _READERS or _is_requirements(PurePosixPath(path))


def read_manifest(path: str, text: str) -> Manifest | None:
    """Return the manifest ``text`` of the file ``path``; None if it is none, malformed, or declares nothing.

    A list of requirements has no name. Its packages are for development if its file's name says so, as in
    ``requirements-dev.txt``.
    """
    place = PurePosixPath(path)
    read = _READERS.get(place.name) or (_requirements if _is_requirements(place) else None)
    if read is None:
        return None
    try:
        manifest = read(text.removeprefix("\ufeff"))
    except (ValueError, SyntaxError, RecursionError, configparser.Error):
        return None
    if manifest is None or manifest == Manifest(""):
        return None
    if read is _requirements and _LIST_FOR_DEVELOPMENT.search(place.stem):
        manifest = replace(manifest, dependencies=(), dev_dependencies=manifest.dependencies)
    return replace(manifest, path=path)


def table(value: object, *path: str) -> Mapping[str, object]:
    """Return the table of TOML, or the object of JSON, in ``value`` at ``path``; empty if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _is_requirements(place: PurePosixPath) -> bool:
    return bool(_REQUIREMENTS.fullmatch(place.name)) or (place.parent.name == "requirements" and place.suffix == ".txt")


def _manifest(
    name: str,
    description: str = "",
    keywords: Iterable[str] = (),
    dependencies: Iterable[str] = (),
    development: Iterable[str] = (),
) -> Manifest:
    """Return a manifest of normalised names: each once, in order, and none of those for development needed besides."""
    needed = tuple(dict.fromkeys(filter(None, dependencies)))
    return Manifest(
        path="",
        name=name,
        description=" ".join(description.split()),
        keywords=tuple(dict.fromkeys(filter(None, map(str.strip, keywords)))),
        dependencies=needed,
        dev_dependencies=tuple(dict.fromkeys(each for each in development if each and each not in needed)),
    )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: object) -> Iterator[str]:
    return (item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else iter(())


def _listed(value: object, separator: str) -> Iterable[str]:
    """Return the items of a list, or of a text that separates them."""
    return value.split(separator) if isinstance(value, str) else _texts(value)


def _pyproject(source: str) -> Manifest:
    """Return the manifest of a pyproject.toml, of the standard or of Poetry."""
    content = tomllib.loads(source)
    project, poetry = table(content, "project"), table(content, "tool", "poetry")
    needed, extras = _split(table(project, "optional-dependencies"))
    groups = map(_texts, table(content, "dependency-groups").values())
    poetry_groups = (table(group, "dependencies") for group in table(poetry, "group").values())
    poetry_development = chain(table(poetry, "dev-dependencies"), *poetry_groups)
    return _of_python(
        _text(project.get("name")) or _text(poetry.get("name")),
        _text(project.get("description")) or _text(poetry.get("description")),
        [*_texts(project.get("keywords")), *_texts(poetry.get("keywords"))],
        [*_texts(project.get("dependencies")), *needed, *_without_python(table(poetry, "dependencies"))],
        [*extras, *chain(*groups), *_without_python(poetry_development)],
    )


def _setup_cfg(source: str) -> Manifest:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(source)
    sections = {name: dict(parser[name]) for name in parser.sections()}
    metadata, options = sections.get("metadata", {}), sections.get("options", {})
    needed, extras = _split(sections.get("options.extras_require", {}))
    return _of_python(
        metadata.get("name", ""),
        metadata.get("description", metadata.get("summary", "")),
        re.split(r"[,\n]", metadata.get("keywords", "")),
        [*options.get("install_requires", "").splitlines(), *needed],
        [*options.get("tests_require", "").splitlines(), *extras],
    )


def _setup_py(source: str) -> Manifest | None:
    """Return the manifest in the call of ``setup`` of a setup.py: arguments that are literals, or names of such."""
    with warnings.catch_warnings():
        # of a backslash in a string that isn't raw
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    named = ((call, getattr(call.func, "id", getattr(call.func, "attr", ""))) for call in calls)
    call = next((call for call, name in named if name == "setup"), None)
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
    needed, extras = _split(table(arguments.get("extras_require")))
    return _of_python(
        _text(arguments.get("name")),
        _text(arguments.get("description")),
        _listed(arguments.get("keywords"), ","),
        [*_listed(arguments.get("install_requires"), "\n"), *needed],
        [*_listed(arguments.get("tests_require"), "\n"), *extras],
    )


def _literal(node: ast.expr, names: Mapping[str, ast.expr]) -> object:
    """Return the value of a literal, or of a name that is one; None for anything that would have to be computed."""
    try:
        value: object = ast.literal_eval(names.get(node.id, node) if isinstance(node, ast.Name) else node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None
    return value


def _requirements(source: str) -> Manifest:
    """Return the manifest of a list of requirements; the other files that it includes aren't read."""
    lines = source.replace("\\\n", " ").splitlines()
    eggs = (egg[1] for line in lines if (egg := _EGG.search(line)))
    return _of_python("", "", (), [*(_COMMENT.sub("", line) for line in lines), *eggs])


def _of_python(
    name: str, description: str, keywords: Iterable[str], dependencies: Iterable[str], development: Iterable[str] = ()
) -> Manifest:
    normalised = canonicalize_name(name) if name else ""
    return _manifest(normalised, description, keywords, map(_required, dependencies), map(_required, development))


def _required(requirement: str) -> str:
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
        (development if _EXTRA_FOR_DEVELOPMENT.search(name) else needed).extend(_listed(listed, "\n"))
    return needed, development


def _without_python(dependencies: Iterable[str]) -> Iterator[str]:
    return (name for name in dependencies if name.lower() != "python")


def _package_json(source: str) -> Manifest:
    """Return the manifest of a package.json; optional and peer dependencies count as dependencies."""
    content = table(json.loads(source))
    needed = (table(content, kind) for kind in ("dependencies", "peerDependencies", "optionalDependencies"))
    return _manifest(
        _text(content.get("name")).lower(),
        _text(content.get("description")),
        _listed(content.get("keywords"), ","),
        map(str.lower, chain(*needed)),
        map(str.lower, table(content, "devDependencies")),
    )


def _cargo(source: str) -> Manifest:
    """Return the manifest of a Cargo.toml, of a package or of a workspace."""
    content = tomllib.loads(source)
    package = table(content, "package")
    places = [content, table(content, "workspace"), *map(table, table(content, "target").values())]

    def crates(*kinds: str) -> Iterator[str]:
        for name, dependency in chain(*(table(place, kind).items() for place in places for kind in kinds)):
            yield _crate(_text(table(dependency).get("package")) or name)

    return _manifest(
        _crate(_text(package.get("name"))),
        _text(package.get("description")),
        _texts(package.get("keywords")),
        crates("dependencies", "build-dependencies"),
        crates("dev-dependencies"),
    )


def _crate(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _go_mod(source: str) -> Manifest:
    """Return the manifest of a go.mod: the path of the module, and those that it requires directly."""
    module = re.search(r"^module\s+(\S+)", source, re.MULTILINE)
    lines = chain(*map(str.splitlines, _GO_BLOCK.findall(source)), _GO_LINE.findall(source))
    direct = (line.split() for line in lines if "// indirect" not in line)
    required = (words[0].strip('"').lower() for words in direct if words and not words[0].startswith("//"))
    return _manifest(module[1].strip('"').lower() if module else "", dependencies=required)


def _pom(source: str) -> Manifest:
    """Return the manifest of a pom.xml, without what its parent declares. Raises ValueError if it isn't XML."""
    try:
        root = etree.fromstring(source.encode(), _PARSER)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error
    group = _child(root, "groupId") or _child(root.find("{*}parent"), "groupId")
    name = _child(root, "artifactId")
    needed: list[str] = []
    tests: list[str] = []
    for node in root.iterfind("{*}dependencies/{*}dependency"):
        dependency = f"{_child(node, 'groupId')}:{_child(node, 'artifactId')}"
        for own in ("${project.groupId}", "${groupId}", "${pom.groupId}"):
            dependency = dependency.replace(own, group)
        (tests if _child(node, "scope") == "test" else needed).append(dependency.lower())
    described = _child(root, "description") or _child(root, "name")
    return _manifest(f"{group}:{name}".lower() if name else "", described, (), needed, tests)


def _child(node: etree._Element | None, name: str) -> str:
    return ((node.findtext(f"{{*}}{name}") if node is not None else None) or "").strip()


_READERS: dict[str, Callable[[str], Manifest | None]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "package.json": _package_json,
    "pom.xml": _pom,
}
MANIFESTS = tuple(_READERS)
"""Names of the files that declare a package; of several in a folder, the first with a name names the folder's.

A package.json beside a manifest of another language is mostly one of tools.
"""
