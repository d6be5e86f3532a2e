"""The client: what it says of servers that it can't use, and what it counts."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace

import neo4j
import pytest

from pipeline.db.client import Client, check_version
from pipeline.db.embedded import Address
from pipeline.db.indexes import drop_indexes
from pipeline.errors import LoginRefused, QueryTimeout, ServerError, ServerLost, ServerUnreachable, ServerUnsupported


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nothing listens on, kept so for as long as the test runs."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def verify(address: Address) -> None:
    with Client(address, connection_timeout=5.0, retry_time=0.0) as client:
        client.verify()


def at(uri: str) -> Address:
    return Address(uri, "neo4j", "password", "neo4j")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+s", "neo4j+ssc"])
def test_a_port_that_nobody_answers_on_is_named(closed_port: int, scheme: str) -> None:
    uri = f"{scheme}://127.0.0.1:{closed_port}"

    with pytest.raises(ServerUnreachable, match=uri.replace("+", r"\+")) as caught:
        verify(at(uri))
    assert "NEO4J_URI" in caught.value.fix


@pytest.mark.parametrize("uri", ["bolt://127.0.0.1:none", "bolt://nowhere.invalid:7687", "bolt://127.0.0.1:7687?a=b"])
def test_an_address_that_leads_nowhere_is_named(uri: str) -> None:
    with pytest.raises(ServerUnreachable) as caught:
        verify(at(uri))
    assert uri in caught.value.message


def test_a_server_that_speaks_something_else_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(5)
        uri = f"bolt://127.0.0.1:{other.getsockname()[1]}"
        with (
            Client(at(uri), connection_timeout=0.2, retry_time=0.0) as client,
            pytest.raises(ServerUnreachable, match=uri),
        ):
            client.verify()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the driver's, of half a connection
def test_a_server_that_goes_away_while_it_is_greeted_is_unreachable(address: Address, share: float) -> None:
    """In the middle of it the driver says that a session expired, which nobody had told it to take for this."""
    with relayed(address) as (uri, sent):
        verify(replace(address, uri=uri))

    with relayed(address, int(share * sum(sent))) as (uri, _), pytest.raises(ServerUnreachable) as caught:
        verify(replace(address, uri=uri))
    assert caught.value.message.count(uri) == 1


@contextmanager
def relayed(address: Address, most: int = 1_000_000, *, back: bool = False) -> Iterator[tuple[str, list[int]]]:
    """Relay connections to the server, which goes away once it has sent ``most`` bytes; for good, unless ``back``.

    Yields the relay's URI, and the list that gets the number of bytes of each answer.
    """
    host, port = address.uri.rpartition("/")[2].split(":")
    sent: list[int] = []
    left = most

    def pass_on(caller: socket.socket, real: socket.socket) -> None:
        with suppress(OSError):
            while said := caller.recv(65536):
                real.sendall(said)

    def relay() -> None:
        nonlocal left
        with suppress(OSError):
            while True:
                caller, _ = server.accept()
                with caller, socket.create_connection((host, int(port))) as real, suppress(OSError):
                    threading.Thread(target=pass_on, args=(caller, real), daemon=True).start()
                    while left > 0 and (answer := real.recv(min(left, 65536))):
                        left -= len(answer)
                        sent.append(len(answer))
                        caller.sendall(answer)
                    caller.shutdown(socket.SHUT_RDWR)
                if back and left <= 0:
                    left = 1_000_000

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=relay, daemon=True)
        thread.start()
        yield f"bolt://127.0.0.1:{server.getsockname()[1]}", sent
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # as above
def test_a_server_that_goes_away_and_comes_back_does_nothing_twice(
    address: Address, cypher: Callable[..., list[neo4j.Record]], share: float
) -> None:
    """A write is either done once or told to have failed; its commit may have come through all the same."""
    queued = {"state": "queued", "corpus": "c", "created_at": "0001", "attempt": 0, "host": "h.invalid"}
    cypher("MERGE (:HopRankCatalog {id: 'jobs'})")

    def claimed(most: int) -> tuple[int, int, list[int]]:
        cypher("CREATE (j:HopRankServiceJob {id: 'cut'}) SET j += $queued", queued=queued)
        done = 0
        with relayed(address, most, back=True) as (uri, sent), Client(replace(address, uri=uri)) as client:
            with suppress(ServerLost):
                done += len(client.write("claim_job", id="cut", owner="o", started_at="0001", ignored=[]))
            assert client.read("job", id="cut")
        ended = "MATCH (j:HopRankServiceJob {id: 'cut'}) WITH j, j.attempt AS tries DELETE j RETURN tries"
        return done, cypher(ended)[0]["tries"], sent

    done, tries, sent = claimed(1_000_000)
    assert (done, tries) == (1, 1)

    done, tries, _ = claimed(int(share * sum(sent)))

    assert done <= tries <= 1


def test_a_refused_login_names_the_user_and_not_the_password(address: Address) -> None:
    # A user that doesn't exist: failed logins of a real one would lock everybody else out for a while.
    with pytest.raises(LoginRefused, match="nobody") as caught:
        verify(replace(address, username="nobody", password="hunter2"))

    assert address.uri in caught.value.message
    assert "NEO4J_PASSWORD" in caught.value.fix
    assert "hunter2" not in str(caught.value)


def test_a_database_that_is_not_there_is_named(address: Address) -> None:
    with pytest.raises(ServerError, match="'nothere'") as caught:
        verify(replace(address, database="nothere"))

    assert "NEO4J_DATABASE" in caught.value.fix


@pytest.mark.parametrize("version", ["2026.02.0", "2026.02.3", "2026.11", "2027.01.0-12345"])
def test_a_version_that_is_new_enough_is_taken(version: str) -> None:
    check_version(version, uri="bolt://x")


@pytest.mark.parametrize("version", ["4.4.0", "5.26.19", "2025.12.1", "2026.01.4"])
def test_an_older_version_is_refused_by_name(version: str) -> None:
    with pytest.raises(ServerUnsupported, match=version) as caught:
        check_version(version, uri="bolt://x")

    assert "2026.02" in caught.value.fix


def test_written_adds_up_what_the_server_counts(address: Address) -> None:
    with Client(address) as client:
        assert not client.written
        client.write("create_corpus", id="counted", name="counted", properties={"documents": 0})
        made = client.written
        client.write("begin_drop", corpus="counted")
        client.write("delete_corpus", corpus="counted")
        client.write("delete_corpus", corpus="counted")

        assert made
        # The catalog, which makers of corpora lock, is made with the first of them.
        assert made["nodes_created"] == made["labels_added"] in (1, 2)
        assert (made["nodes_deleted"], made["properties_set"] >= 4) == (0, True)
        assert client.written == made + Counter(nodes_deleted=1, labels_added=1, labels_removed=1)


@pytest.mark.slow
def test_threads_beside_failing_transactions_get_their_own_answers(address: Address) -> None:
    """Of the driver: that of 6.4 looks at a failed transaction's connection when another thread may have it already."""
    driver = neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password))
    answers: list[bool] = []

    def ask(number: int) -> None:
        for turn in range(350):
            failing = suppress(neo4j.exceptions.Neo4jError, neo4j.exceptions.ResultFailedError)
            with failing, driver.session() as session, session.begin_transaction() as transaction:
                transaction.run("UNWIND [1, 0] AS n RETURN 1 / n").consume()
            with driver.session() as session:
                found = session.run("RETURN $asked AS asked", asked=[number, turn]).single(strict=True)
                answers.append(found["asked"] == [number, turn])

    threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(8)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    assert Counter(answers) == {True: 8 * 350}
    driver.close()


def test_a_stream_left_early_leaves_the_client_usable(client: Client) -> None:
    for _ in client.stream("fulltext_analyzers"):
        break

    assert len(client.read("fulltext_analyzers")) > 1


def test_a_query_is_run_in_its_mode(client: Client) -> None:
    with pytest.raises(neo4j.exceptions.ClientError):
        client.stream("delete_corpus", corpus="none").__next__()


def test_a_closed_client_says_so(address: Address) -> None:
    client = Client(address)
    client.close()
    client.close()

    with pytest.raises(neo4j.exceptions.DriverError):
        client.read("corpora")


Underway = Callable[[str], AbstractContextManager[None]]

EMBEDDING = "Embedding_timed"


@pytest.fixture
def embedding(client: Client) -> Iterator[None]:
    client.schema("create_vector_index", {"vector_index": EMBEDDING}, dimension=2)
    yield
    drop_indexes(client, [EMBEDDING])


LOCKS_THE_INDEX = f"DROP INDEX {EMBEDDING}"
LOCKS_THE_CATALOG = "MERGE (catalog:HopRankCatalog {id: 'indexes'}) SET catalog.lock = true REMOVE catalog.lock"
NEAREST = "vector_candidates", {"vector_index": EMBEDDING}
NEAREST_TO = {"corpus": "timed", "vector": [1.0, 0.0], "limit": 1}


@pytest.mark.slow
def test_a_read_that_takes_too_long_is_ended_and_named(address: Address, embedding: None, underway: Underway) -> None:
    with (
        underway(LOCKS_THE_INDEX),
        Client(address, read_timeout=0.3) as hurried,
        pytest.raises(QueryTimeout, match=r"'vector_candidates' took longer than the 0\.3 seconds") as caught,
    ):
        hurried.read(*NEAREST, **NEAREST_TO)

    assert "HOPRANK_NEO4J__READ_TIMEOUT" in caught.value.fix


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "call"),
    [
        (LOCKS_THE_CATALOG, lambda client: client.write("lock_texts")),
        (
            LOCKS_THE_CATALOG,
            lambda client: client.write_together(lambda open_one: open_one.run("lock_texts")),
        ),
        (LOCKS_THE_CATALOG, lambda client: client.locking("lock_texts").__enter__()),
        (LOCKS_THE_INDEX, lambda client: list(client.stream(*NEAREST, **NEAREST_TO))),
    ],
)
def test_a_write_or_a_stream_that_takes_too_long_is_ended_and_keeps_nothing(
    text: str, call: Callable[[Client], object], address: Address, embedding: None, underway: Underway
) -> None:
    with underway(text), Client(address, write_timeout=0.3) as hurried:
        with pytest.raises(QueryTimeout, match=r"0\.3 seconds that neo4j\.write_timeout allows"):
            call(hurried)
        assert not hurried.written


def test_a_limit_that_is_kept_is_not_felt(address: Address) -> None:
    with Client(address, read_timeout=60.0, write_timeout=60.0) as client:
        client.verify()
        assert client.write_together(lambda open_one: open_one.run("corpora")) == client.read("corpora")


def test_closing_waits_for_the_work_in_the_background(address: Address) -> None:
    done: list[int] = []
    with Client(address) as client:
        client.in_background("count", lambda: done.append(client.read("server_version")[0]["version"].count(".")))

    assert len(done) == 1


def test_work_of_one_name_runs_once_at_a_time_and_its_errors_are_dropped(client: Client) -> None:
    release = threading.Event()
    begun: list[str] = []

    def work(name: str) -> None:
        begun.append(name)
        release.wait(60)
        raise ServerError("It failed.", "Try again.")

    for name in ("one", "one", "two"):
        client.in_background(name, lambda name=name: work(name))  # type: ignore[misc]
    release.set()
    client.finish_background()
    client.in_background("one", lambda: work("one again"))
    client.finish_background()

    assert sorted(begun) == ["one", "one again", "two"]
