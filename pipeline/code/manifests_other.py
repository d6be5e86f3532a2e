"""Manifests of JavaScript, Rust, Go and Java: package.json, Cargo.toml, go.mod and pom.xml."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator

from lxml import etree

from pipeline.code.records import Manifest
from pipeline.code.tables import Table, table, text, texts, unique

_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_GO_BLOCK = re.compile(r"^require\s*\(([^)]*)\)", re.MULTILINE)
_GO_LINE = re.compile(r"^require\s+([^\s(].*)$", re.MULTILINE)
_INDIRECT = "// indirect"
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)


def package_json(source: str) -> Manifest:
    """Return the manifest of a package.json; optional and peer dependencies count as dependencies."""
    content = table(json.loads(source))
    needed = (table(content, kind) for kind in ("dependencies", "peerDependencies", "optionalDependencies"))
    keywords = content.get("keywords")
    return _manifest(
        text(content.get("name")),
        text(content.get("description")),
        keywords.split(",") if isinstance(keywords, str) else texts(keywords),
        (name for names in needed for name in names),
        table(content, "devDependencies"),
    )


def cargo(source: str) -> Manifest:
    """Return the manifest of a Cargo.toml, of a package or of a workspace."""
    content = tomllib.loads(source)
    package = table(content, "package")
    places = [content, table(content, "workspace"), *(table(target) for target in table(content, "target").values())]
    needed = (
        name for place in places for kind in ("dependencies", "build-dependencies") for name in _crates(place, kind)
    )
    development = (name for place in places for name in _crates(place, "dev-dependencies"))
    return _manifest(
        _crate(text(package.get("name"))),
        text(package.get("description")),
        texts(package.get("keywords")),
        needed,
        development,
    )


def go_mod(source: str) -> Manifest:
    """Return the manifest of a go.mod: the path of the module, and those that it requires directly."""
    module = _GO_MODULE.search(source)
    lines = [line for block in _GO_BLOCK.findall(source) for line in block.splitlines()] + _GO_LINE.findall(source)
    direct = (line.split() for line in lines if _INDIRECT not in line)
    return _manifest(
        module[1].strip('"') if module else "",
        "",
        (),
        (words[0].strip('"') for words in direct if words and not words[0].startswith("//")),
        (),
    )


def pom(source: str) -> Manifest:
    """Return the manifest of a pom.xml, without what its parent declares. Raises ValueError if it isn't XML."""
    try:
        root = etree.fromstring(source.encode(), _PARSER)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error
    group = _child(root, "groupId") or _child(root.find("{*}parent"), "groupId")
    name = _child(root, "artifactId")
    dependencies = [
        (_child(node, "scope") == "test", f"{_child(node, 'groupId')}:{_child(node, 'artifactId')}")
        for node in root.iterfind("{*}dependencies/{*}dependency")
    ]
    own = ("${project.groupId}", "${groupId}", "${pom.groupId}")
    resolved = [(test, _replaced(dependency, own, group)) for test, dependency in dependencies]
    return _manifest(
        f"{group}:{name}" if name else "",
        _child(root, "description") or _child(root, "name"),
        (),
        (dependency for test, dependency in resolved if not test),
        (dependency for test, dependency in resolved if test),
    )


def _manifest(
    name: str, description: str, keywords: Iterable[str], dependencies: Iterable[str], development: Iterable[str]
) -> Manifest:
    needed = unique(dependency.lower() for dependency in dependencies)
    return Manifest(
        path="",
        name=name.lower(),
        description=" ".join(description.split()),
        keywords=unique(keyword.strip() for keyword in keywords),
        dependencies=needed,
        dev_dependencies=tuple(name for name in unique(map(str.lower, development)) if name not in needed),
    )


def _crates(place: Table, kind: str) -> Iterator[str]:
    """Yield the dependencies of a table; one under another name is given the name of its package."""
    for name, dependency in table(place, kind).items():
        yield _crate(text(table(dependency).get("package")) or name)


def _crate(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name)


def _child(node: etree._Element | None, name: str) -> str:
    found = node.find(f"{{*}}{name}") if node is not None else None
    return (found.text or "").strip() if found is not None else ""


def _replaced(dependency: str, properties: Iterable[str], value: str) -> str:
    for name in properties:
        dependency = dependency.replace(name, value)
    return dependency
