"""What the tests run on: a real Neo4j with GDS, the bundled model, and corpora that are dropped afterwards.

The server is the one that NEO4J_URI names; else one in Docker, if Docker answers; else the embedded one in a
temporary home. There is always one: nothing is skipped, and nothing stands in for it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import hypothesis
import neo4j
import platformdirs
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, find_corpus, list_corpora
from pipeline.db.client import Client
from pipeline.db.embedded import Address, ServerOptions, ensure_running, stop
from pipeline.db.embedded.jars import pinned_jars
from pipeline.db.projections import drop_projections
from pipeline.embedding.embedder import Embedder
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.records import Precision
from pipeline.settings import load_settings
from tests.graph_dump import Dump, dump

JAVA_FLAGS = "JAVA_TOOL_OPTIONS"
TRUSTED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""Classes aren't verified: the jars have been, by their checksums, and a start takes a fifth less."""
# The servers of single tests live for a minute, in which the second of Java's compilers takes more time than it saves.
os.environ.setdefault(JAVA_FLAGS, f"{TRUSTED} -XX:TieredStopAtLevel=1")
# Without bytecode each worker rewrites all assertions, and each command compiles the package, at every run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Of whoever runs the tests: a pipe is as wide as it says.
os.environ.pop("COLUMNS", None)
sys.dont_write_bytecode = False
# Most tests embed a few texts: in float32 they need not load the model. Tests of precision name theirs.
os.environ.setdefault("HOPRANK_EMBED__PRECISION", Precision.FLOAT32)

# On a busy machine an example takes many times as long as on a quiet one, which says nothing of the code.
hypothesis.settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any-machine")

IMAGE = "neo4j:2026.02-community"
START_SECONDS = 240


LIBRARY = {
    "ada": (
        "Ada Lovelace",
        "Ada Lovelace met Charles Babbage at a party in 1833 and later wrote notes on his machine.",
    ),
    "babbage": (
        "Charles Babbage",
        "Charles Babbage designed the Analytical Engine, a machine that was never finished.",
    ),
    "engine": (
        "Analytical Engine",
        "The Analytical Engine had a mill and a store, and took its orders from punched cards.",
    ),
    "jacquard": ("Jacquard loom", "The loom of Joseph Jacquard wove patterns from punched cards at Lyon."),
    "lyon": ("Lyon", "Lyon stands where the Rhone meets the Saone, and is known for its silk."),
    "somerville": ("Mary Somerville", "Mary Somerville taught mathematics to Ada Lovelace and wrote on the moon."),
    "moon": ("Moon", "The moon raises the tides of the sea twice a day."),
    "tides": ("Tide gauge", "A tide gauge writes the height of the sea on a drum of paper."),
    "bread": ("Bread", "Bread is baked from flour, water, salt and yeast in a hot oven."),
    "garden": ("Garden", "Roses in a garden want sun, water and a good pruning in the spring."),
    "chess": ("Chess", "Chess is played on a board of sixty-four squares by two players."),
    "long": (
        "Long walk",
        "".join(f"# Stage {stage}\n\n{'The path goes on over the hills. ' * 40}\n\n" for stage in "AB"),
    ),
}


LONGEST = (
    *("test_aot.py", "test_one_truth.py", "test_generated_corpus.py"),
    *("test_backup.py", "test_pages_run.py", "test_kills.py", "test_lifecycle.py", "test_transfer.py", "test_views.py"),
)
"""Files that take half a minute or more: a worker that begins with them isn't waited for at the end.

The first records what the servers of the later ones start with, while the other worker is at the next two.
"""
FIRST_STAGE = "not server and not slow"
"""Selects the tests that need no server: ``pytest -m "not server and not slow"``."""
SERVER_FIXTURES = frozenset({"address", "jars"})
"""Fixtures from which each test that needs a server gets it, directly or through others."""


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a home in pytest's cache, so that nothing is written into the user's own; choose the tests.

    Tests marked ``slow`` run if ``-m`` selects them or if a file is named; else they are left out.
    """
    assert config.cache
    os.environ["HOPRANK_HOME"] = str(config.cache.mkdir("home"))
    if not config.option.markexpr and not any(names_a_file(argument) for argument in config.args):
        config.option.markexpr = "not slow"


def names_a_file(argument: str) -> bool:
    return Path(argument.partition("::")[0]).suffix == ".py"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the import of files all of whose tests are slow when slow tests are left out: frameworks take seconds."""
    if config.option.markexpr in {"not slow", FIRST_STAGE} and collection_path.suffix == ".py":
        return is_slow_file(collection_path) or None
    return None


def is_slow_file(path: Path) -> bool:
    return path.is_file() and "\npytestmark = pytest.mark.slow\n" in path.read_text(encoding="utf-8")


def pytest_xdist_auto_num_workers() -> int:
    """Run on two workers, each with a server of its own; on a given server alone, for tests look at all that it has."""
    return 0 if os.environ.get("NEO4J_URI") else 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server; begin with files that need none, then with the longest.

    The order is by file, since a worker takes whole files.
    """
    for item in items:
        if not SERVER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.server)
    served = {item.path for item in items if item.get_closest_marker("server")}
    longest = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (item.path in served, longest.get(item.path.name, len(LONGEST))))


@pytest.fixture(scope="session")
def jars(pytestconfig: pytest.Config) -> Path:
    """The folder of the tests' jars. The user's own is only read, to spare a download."""
    # By request.getfixturevalue a test gets a server that isn't among its fixtures: a minute of the first stage.
    assert pytestconfig.option.markexpr != FIRST_STAGE, "A test without the marker `server` asks for a server."
    folder = Path(os.environ["HOPRANK_HOME"]) / "jars"
    own = platformdirs.user_data_path("hoprank", appauthor=False) / "jars"
    for jar in pinned_jars():
        (folder / jar.path).parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # it is there already, or the user has none, or on another disk
            (folder / jar.path).hardlink_to(own / jar.path)
    return folder


@pytest.fixture(scope="session")
def plain_address(jars: Path) -> Iterator[Address]:
    """A server without GDS, which only these tests use; both workers' in .ci/run."""
    with embedded_server(jars, 512, 64, gds=False, kept=kept_home("plain")) as found:
        yield found


@pytest.fixture(scope="session")
def address(jars: Path) -> Iterator[Address]:
    """A server to test on: it may hold other corpora, which the tests leave alone."""
    if uri := os.environ.get("NEO4J_URI"):
        named = {name: os.environ.get(f"NEO4J_{name.upper()}") for name in ("username", "password", "database")}
        yield Address(uri, named["username"] or "neo4j", named["password"] or "", named["database"] or "neo4j")
    elif docker_answers():
        with in_docker() as found:
            yield found
    else:
        kept = kept_home(os.environ.get("PYTEST_XDIST_WORKER", "main"))
        with embedded_server(jars, 1024, 128, compilers=2, kept=kept) as found:
            yield found


@pytest.fixture(scope="session")
def server_environment(address: Address) -> dict[str, str]:
    """What a subprocess needs in its environment to use the same server."""
    return {f"NEO4J_{name.upper()}": value for name, value in asdict(address).items()}


@pytest.fixture(scope="session")
def client(address: Address) -> Iterator[Client]:
    with Client(address, retry_time=5.0) as client:
        client.verify()
        yield client


@pytest.fixture(scope="session")
def cypher(address: Address) -> Iterator[Callable[..., list[neo4j.Record]]]:
    """Run Cypher of the test's own, so that what the package wrote is seen by other eyes."""
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        yield lambda text, /, **params: driver.execute_query(text, params, database_=address.database).records


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The bundled model, which leaves its ONNX where commands do, so that few workers need to load it."""
    return SentenceTransformerEmbedder(precision=Precision.FLOAT32, onnx=Path(os.environ["HOPRANK_HOME"]) / "onnx")


@pytest.fixture(scope="session")
def hoprank(client: Client, embedder: Embedder, server_environment: dict[str, str]) -> HopRank:
    given = {name.removeprefix("NEO4J_").lower(): value for name, value in server_environment.items()}
    return HopRank(client, embedder, load_settings({"neo4j": given}))


@pytest.fixture
def corpus_name(client: Client) -> Iterator[str]:
    """A name that no corpus has; the one that the test makes under it is dropped."""
    with fresh_corpus(client) as name:
        yield name


@pytest.fixture(scope="module")
def shared_corpus_name(client: Client) -> Iterator[str]:
    """As ``corpus_name``, for a corpus that the tests of one file only read."""
    with fresh_corpus(client) as name:
        yield name


@pytest.fixture(scope="session")
def new_corpus(client: Client) -> Callable[[], Any]:
    """As ``corpus_name``, as a context manager, for tests that need several."""
    return lambda: fresh_corpus(client)


@pytest.fixture(scope="session")
def library(hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a corpus with the twelve documents of ``LIBRARY``, which tests only read."""
    path: Path = tmp_path_factory.mktemp("library") / "library.jsonl"
    rows = [{"id": key, "title": title, "text": text} for key, (title, text) in LIBRARY.items()]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with new_corpus() as name:
        hoprank.ingest(path, corpus=name)
        yield name


@pytest.fixture
def left_as_it_was(client: Client) -> Iterator[None]:
    """The test leaves the corpora and the projections as they were."""

    def there() -> tuple[set[str], set[str]]:
        return {corpus.name for corpus in list_corpora(client)}, {row["name"] for row in client.read("projections")}

    before = there()
    yield
    assert there() == before


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[[Iterable[Mapping[str, Any]]], Path]:
    """Write documents to the test's one .jsonl file and return its path."""

    def write(documents: Iterable[Mapping[str, Any]]) -> Path:
        path = tmp_path / "documents.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def graph_of(client: Client, cypher: Callable[..., list[neo4j.Record]]) -> Callable[[str], Dump]:
    """Return all that the graph has of a corpus as sets of tuples without its ids, so that two corpora compare.

    A chunk goes by its document's key and its ordinal. ``leftovers`` holds what readers don't see.
    """
    return lambda name: dump(client, cypher, name)


@pytest.fixture(scope="session")
def graph_by() -> Callable[[Client, str], Dump]:
    """As ``graph_of``, for a server of the test's own."""

    def seen(client: Client, name: str) -> Dump:
        address = client.address
        with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
            return dump(client, lambda text, **params: driver.execute_query(text, params).records, name)

    return seen


def docker_answers() -> bool:
    # In a process of its own: without Docker its client leaks sockets, and a warning is an error here.
    ping = "from testcontainers.core.docker_client import DockerClient as D; D().client.ping()"
    return subprocess.run([sys.executable, "-c", ping], capture_output=True, check=False).returncode == 0


def kept_home(name: str) -> Path | None:
    """The home of a server that runs of pytest follow one another on, if .ci/run has named a folder for them.

    A server that is new to a query takes many times as long to plan it, until Java has compiled what plans. .ci/run
    stops them.
    """
    homes = os.environ.get("HOPRANK_TEST_HOMES")
    return Path(homes) / name if homes else None


@contextmanager
def in_docker() -> Iterator[Address]:
    from testcontainers.core.container import DockerContainer

    password = secrets.token_urlsafe(12)
    container = (
        DockerContainer(IMAGE)
        .with_env("NEO4J_AUTH", f"neo4j/{password}")
        .with_env("NEO4J_PLUGINS", '["graph-data-science"]')
        .with_env("NEO4J_dbms_security_procedures_unrestricted", "gds.*")
        .with_env("NEO4J_dbms_usage__report_enabled", "false")
        .with_exposed_ports(7687)
    )
    with container:
        uri = f"bolt://{container.get_container_host_ip()}:{container.get_exposed_port(7687)}"
        found = Address(uri, "neo4j", password, "neo4j")
        wait_for(found)
        yield found


def wait_for(address: Address) -> None:
    deadline = time.monotonic() + START_SECONDS
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        while True:
            try:
                driver.verify_connectivity()
            except neo4j.exceptions.DriverError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)
            else:
                return


@contextmanager
def embedded_server(
    jars: Path,
    heap_mb: int,
    page_cache_mb: int,
    *,
    gds: bool = True,
    compilers: int = 1,
    kept: Path | None = None,
) -> Iterator[Address]:
    """Start a server in a temporary home; both of Java's compilers pay for one that serves all tests of a worker.

    In the home ``kept`` the server may run already, and goes on.
    """
    with (
        nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="hoprank-tests-", ignore_cleanup_errors=True)
    ) as home:
        # Idle minutes end a server whose tests were killed before they could stop it.
        options = ServerOptions(
            Path(home), idle_minutes=15, heap_mb=heap_mb, page_cache_mb=page_cache_mb, jars=jars, gds=gds
        )
        try:
            with pytest.MonkeyPatch.context() as environment:
                if compilers == 2:
                    environment.setenv(JAVA_FLAGS, TRUSTED)
                found = ensure_running(options)
            yield found
        finally:
            if not kept:
                stop(options)


@contextmanager
def fresh_corpus(client: Client) -> Iterator[str]:
    name = f"test-{uuid.uuid4().hex[:12]}"
    try:
        yield name
    finally:
        if corpus := find_corpus(client, name):
            drop_projections(client, corpus.id)
            drop_corpus(client, corpus)
