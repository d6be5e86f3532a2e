"""The shape of the package: imports go one way, Cypher stays in its own files, exports are what they say."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import threading
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pipeline
from pipeline.cli.lazy import LazyModule, lazy_imports
from pipeline.db.queries import load_queries

ROOT = Path(pipeline.__file__).parent

LAYERS = (
    ("addresses", "errors", "grouping", "json_values", "resources", "telemetry", "temporary"),
    ("bounded", "edges", "records", "ids", "progress", "registry"),
    ("files",),
    ("text", "code", "settings", "examples", "docs"),
    ("embedding", "db.queries", "db.embedded"),
    ("db",),
    ("retrieve",),
    ("answer",),
    ("ingest.sources", "ingest.chunking", "ingest.entities"),
    ("ingest.embed",),
    ("ingest.update",),
    ("ingest.links",),
    ("ingest",),
    ("transfer",),
    ("knowledge",),
    ("evaluate",),
    ("flows",),
    ("api", "async_api"),
    ("domains",),
    ("",),
    ("serve",),
    ("cli",),
)
"""Each may import from those before it and from itself; "" is the package's own __init__."""

COMMAND_LINE = re.compile(r"cli(\..+)?|domains\.\w+\.(cli|views|deferred)(\..+)?")
"""The modules in the layer of cli: its own, and those of a domain that are for its commands."""

VIEWS = re.compile(r"(cli|domains\.\w+)\.views(\..+)?")
DOMAIN = re.compile(r"domains\.(\w+)")
FACE = re.compile(r"domains\.\w+\.api")
"""The module of a domain whose class the package exports."""

CYPHER = re.compile(
    r"\b(?:(?:OPTIONAL )?MATCH \(|MATCH \w+ = |MERGE \(|CREATE \(|UNWIND |DETACH DELETE "
    r"|CALL (?:\(|\{|db\.|gds\.|dbms\.)"
    r"|(?:CREATE|DROP) (?:\w+ )?(?:INDEX|CONSTRAINT)"
    r"|SHOW (?:\w+ )?(?:INDEX|CONSTRAINT|FUNCTION|PROCEDURE|DATABASE|TRANSACTION)"
    r"|ALTER (?:CURRENT )?USER|RETURN (?:\w+\.|COUNT \{)|SET \w+\.)"
)


@cache
def sources() -> dict[str, str]:
    """The package's modules, by dotted name without ``pipeline.``: each worker reads them, and one parses them."""
    files = (path for path in ROOT.rglob("*.py") if not path.is_relative_to(ROOT / "alias"))
    paths = {path.relative_to(ROOT).with_suffix(""): path for path in files}
    names = {".".join(part for part in where.parts if part != "__init__"): path for where, path in paths.items()}
    return {name: path.read_text(encoding="utf-8") for name, path in names.items()}


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax trees of the package's modules."""
    return {name: ast.parse(text, name) for name, text in sources().items()}


def layer(module: str) -> int:
    """The index in LAYERS of the longest prefix that holds ``module``."""
    places = {name: index for index, names in enumerate(LAYERS) for name in names}
    if COMMAND_LINE.fullmatch(module):
        return places["cli"]
    parts = module.split(".")
    prefixes = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    found = next((places[prefix] for prefix in prefixes if prefix in places), None)
    assert found is not None, f"{module!r} has no layer: add it to LAYERS"
    return found


@cache
def imported(module: str) -> set[str]:
    """What a module of the package imports from the package, wherever in it the import stands."""
    found: set[str] = set()
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            base = node.module or ""
            found.update(name if resolve(name := f"{base}.{alias.name}") else base for alias in node.names)
    return {inner for name in found if (inner := resolve(name)) is not None} - {module}


def resolve(name: str) -> str | None:
    inner = name.removeprefix("pipeline").removeprefix(".")
    return inner if name.split(".")[0] == "pipeline" and inner in modules() else None


def imports_of(tree: ast.AST) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """The imports in a tree, each with the top-level package that it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, (node.module or "").split(".")[0]


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of all strings of a module but its docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_imports_go_one_way() -> None:
    uphill = [(name, other) for name in modules() for other in sorted(imported(name)) if layer(other) > layer(name)]

    assert not uphill, "(module, what it imports from above itself)"


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter({module: imported(module) for module in modules()}).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' <- '.join(error.args[1])}")


def test_only_views_draw() -> None:
    drawing = [name for name, tree in modules().items() if "rich" in {root for _, root in imports_of(tree)}]

    assert drawing, "nothing draws with rich"
    assert all(VIEWS.fullmatch(name) for name in drawing), drawing


def domain_of(module: str) -> str | None:
    """The domain that a module belongs to."""
    found = DOMAIN.match(module)
    return found[1] if found else None


def test_a_domain_is_imported_by_itself_alone() -> None:
    crossing = [
        (name, other)
        for name in modules()
        for other in sorted(imported(name))
        if domain_of(other) and domain_of(other) != domain_of(name) and not (name == "" and FACE.fullmatch(other))
    ]

    assert not crossing, "(module, what it imports of a domain)"


def test_no_domain_is_named_outside_it() -> None:
    named = [
        f"pipeline.{name}, line {line}: {text!r}"
        for name, tree in modules().items()
        for line, text in strings(tree)
        for domain in re.findall(r"pipeline\.domains\.(\w+)", text)
        if domain != domain_of(name) and not (name == "" and FACE.fullmatch(text.removeprefix("pipeline.")))
    ]

    assert not named


def test_the_command_line_imports_at_the_top_of_its_modules() -> None:
    inside = [
        f"pipeline.{name}, line {node.lineno}"
        for name, tree in modules().items()
        if COMMAND_LINE.fullmatch(name)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node, _ in imports_of(function)
    ]

    assert not inside


@pytest.mark.parametrize("name", sorted(name for name in sources() if name.split(".")[-1] == "deferred"))
def test_what_is_deferred_is_what_the_type_checker_sees(name: str) -> None:
    deferred = importlib.import_module(f"pipeline.{name}")
    (block,) = (node for node in modules()[name].body if isinstance(node, ast.With))
    seen = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert {name: value.__name__ for name, value in vars(deferred).items() if isinstance(value, LazyModule)} == seen
    assert all(importlib.import_module(module).__name__ == module for module in seen.values())


def test_threads_that_import_late_at_once_leave_pythons_own_import() -> None:
    eager, first_is_in, both_are_in = builtins.__import__, threading.Event(), threading.Event()

    def first() -> None:
        with lazy_imports("one"):
            first_is_in.set()
            both_are_in.wait(0.2)

    thread = threading.Thread(target=first)
    thread.start()
    first_is_in.wait()
    with lazy_imports("other"):
        both_are_in.set()
        thread.join()

    assert builtins.__import__ is eager


def test_no_cypher_stands_in_python() -> None:
    found = [
        f"pipeline.{name}, line {line}: {text!r}"
        for name, tree in modules().items()
        for line, text in strings(tree)
        if CYPHER.search(text)
    ]

    assert not found


def test_what_looks_for_cypher_would_find_it() -> None:
    queries = load_queries().values()

    missed = [query.name for query in queries if not CYPHER.search(query.text)]
    assert not missed


def test_every_query_is_used_and_every_use_is_a_query() -> None:
    queries = load_queries()
    used = {text for tree in modules().values() for _, text in strings(tree)} & queries.keys()

    assert used == queries.keys(), "queries in cypher/ that no Python runs"
    assert {name for _, name in calls()} <= queries.keys()


def test_queries_are_run_in_the_mode_that_they_declare() -> None:
    queries = load_queries()
    modes = {
        "read": "read",
        "stream": "read",
        "write": "write",
        "write_rows": "write",
        "locking": "write",
        "schema": "schema",
    }

    wrong = [(name, run) for run, name in calls() if run in modes and queries[name].mode != modes[run]]

    assert not wrong


def calls() -> Iterator[tuple[str, str]]:
    """Method and query of each call such as ``client.read("corpora")`` or ``corpus.read("hydrate")``."""
    for tree in modules().values():
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Attribute(ast.expr() as on, method), [ast.Constant(str(query)), *_]) if method in (
                    "read",
                    "stream",
                    "write",
                    "write_rows",
                    "locking",
                    "schema",
                ) and ast.unparse(on).endswith(("client", "writes", "corpus")):
                    yield method, query


EXPORTING = sorted(name for name, text in sources().items() if "__all__" in text)


@pytest.mark.parametrize("module", EXPORTING)
def test_exports_are_listed_in_order_and_documented(module: str) -> None:
    loaded = importlib.import_module(f"pipeline.{module}".rstrip("."))
    exports = {name: getattr(loaded, name) for name in loaded.__all__}

    assert list(exports) == sorted(exports)
    assert all(export.__doc__ for export in exports.values() if callable(export))


@pytest.mark.parametrize("module", EXPORTING)
def test_what_a_package_gathers_it_exports(module: str) -> None:
    loaded = importlib.import_module(f"pipeline.{module}".rstrip("."))
    gathered = {
        alias.asname or alias.name
        for node in ast.walk(modules()[module])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pipeline.")
        for alias in node.names
    }

    assert gathered == set(loaded.__all__)


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").is_file()
