"""Client of one Neo4j database: runs named queries, writes rows in batches, and translates the driver's errors."""

import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import neo4j
from neo4j import exceptions as driver_errors

from pipeline.db.bookmarks import Bookmarks, is_routed
from pipeline.db.embedded import Address
from pipeline.db.queries import Query, load_queries
from pipeline.errors import (
    DatabaseStopped,
    HopRankError,
    LoginRefused,
    QueryTimeout,
    ServerError,
    ServerLost,
    ServerUnreachable,
    ServerUnsupported,
    Superseded,
    first_line,
)
from pipeline.telemetry import leaf, place_of

OLDEST_VERSION = (2026, 2)
"""Neo4j 2026.02: the first with filters inside the vector index that HopRank's queries use."""

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")

FETCHED = 2000
"""Rows of a stream that the server sends at a time. Chosen by hand, not measured."""

_GONE = (driver_errors.ServiceUnavailable, driver_errors.SessionExpired)
"""The driver's errors when no server answers; SessionExpired if a connection breaks before it is pooled."""

_PASSING = (driver_errors.TransientError, *_GONE)
"""Faults that the driver's documentation says to retry."""

_OUT_OF_TIME = "Neo.ClientError.Transaction.TransactionTimedOut"
"""Error code of a transaction that exceeded the server's time limit; the code for the client's limit begins so too."""

_ENDED = ("Neo.ClientError.Transaction.LockClientStopped", "Neo.ClientError.Transaction.Terminated")
"""Error codes of a transaction that was terminated, for time or otherwise; the first while it waited for a lock."""

_GONE_MEANWHILE = "Neo.ClientError.Statement.ArithmeticError"
"""Error code of a query that ends itself, because what it reads is gone; see ``known_corpus`` in the queries."""

_BOOKMARK_UNKNOWN = (
    "Neo.ClientError.Transaction.InvalidBookmark",
    "Neo.ClientError.Transaction.InvalidBookmarkMixture",
    "Neo.TransientError.Transaction.BookmarkTimeout",
)
"""Error codes of a server that doesn't come to what a bookmark names, as after its data were restored."""

_STOPPED = (
    "Neo.DatabaseError.Transaction.TransactionStartFailed",
    "Neo.DatabaseError.Transaction.TransactionCommitFailed",
)
"""Error codes of a database that has panicked, and of the commit at which it does: it serves nobody until a restart."""

_IN_THE_WAY = tuple(
    f"Neo.ClientError.Schema.{name}"
    for name in ("ConstraintValidationFailed", "ConstraintAlreadyExists", "IndexAlreadyExists")
)
"""Error codes of writes that a constraint forbids, and of schema that another program's contradicts."""

_INDEX_GONE = "no such fulltext schema index"
"""In the message of a query whose full-text index was replaced after it had read its name: it is asked again."""

_COUNTERS = (
    "nodes_created nodes_deleted relationships_created relationships_deleted properties_set labels_added labels_removed"
).split()
"""Counters of a write, as the server names them."""

_AGAIN = "Run the same command again: what was written is kept, and the rest is completed."


class Transaction:
    """An open transaction of several queries, which commits all their writes or none.

    The name of each query is appended to ``asked``.
    """

    def __init__(self, transaction: neo4j.ManagedTransaction, queries: Mapping[str, Query], asked: list[str]) -> None:
        self._transaction = transaction
        self._queries = queries
        self._asked = asked
        self.counters: list[neo4j.SummaryCounters] = []

    def run(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> list[neo4j.Record]:
        """Run the read or write query ``name`` and return its rows."""
        self._asked.append(name)
        result = self._transaction.run(self._queries[name].text_with(names or {}), params)
        rows = list(result)
        self.counters.append(result.consume().counters)
        return rows


class Client(AbstractContextManager["Client"]):
    """A connection to one database. Thread-safe, as the driver is; a context manager that closes it.

    ``written`` sums the server's counters of all writes, by name; ``tried_analyzers`` says of full-text analysers
    whether the server's Java runs them (:func:`pipeline.db.indexes.runs_analyzer`). The timeouts are in seconds, 0 for
    none, and raise QueryTimeout: ``read_timeout`` limits each :meth:`read`, ``write_timeout`` each writing transaction
    and each :meth:`stream`, including the time that the stream's reader takes.

    With a ``neo4j://`` address, reads go to the members of a cluster that read, writes to the one that writes, and a
    read sees what this client wrote or saw before; also what was left in ``bookmark_file``; see
    :mod:`pipeline.db.bookmarks`.
    """

    def __init__(
        self,
        address: Address,
        *,
        connection_timeout: float = 10.0,
        retry_time: float = 30.0,
        read_timeout: float = 0.0,
        write_timeout: float = 0.0,
        bookmark_file: Path | None = None,
    ) -> None:
        self.address = address
        self._bookmarks = Bookmarks(bookmark_file) if is_routed(address.uri) else None
        self._limits = {"read": read_timeout or None, "write": write_timeout or None}
        self.written: Counter[str] = Counter()
        self._counting = threading.Lock()
        self._background: list[threading.Thread] = []
        self._queries = load_queries()
        self.tried_analyzers: dict[str, bool] = {}
        self._traced = {"db.system.name": "neo4j", "db.namespace": address.database, **place_of(address.uri)}
        with self._connecting():
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.username, address.password),
                connection_timeout=connection_timeout,
                connection_acquisition_timeout=connection_timeout + retry_time,
                max_transaction_retry_time=retry_time,
                notifications_min_severity="OFF",
                user_agent="hoprank",
            )

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the work in the background, keep the bookmarks, and close the driver's connections."""
        self.finish_background()
        if self._bookmarks:
            self._bookmarks.keep()
        self._driver.close()

    def in_background(self, name: str, work: Callable[[], object]) -> None:
        """Call ``work`` in a thread, unless work of that name still runs; errors are dropped, :meth:`close` waits."""

        def quietly() -> None:
            with suppress(Exception):
                work()

        with self._counting:
            self._background = [thread for thread in self._background if thread.is_alive()]
            if all(thread.name != name for thread in self._background):
                thread = threading.Thread(target=quietly, name=name, daemon=True)
                self._background.append(thread)
                thread.start()

    def finish_background(self) -> None:
        """Wait for the work in the background."""
        with self._counting:
            running, self._background = self._background, []
        for thread in running:
            thread.join()

    def verify(self) -> None:
        """Raise ServerUnreachable, LoginRefused or ServerUnsupported unless the server answers and is new enough."""
        with self._connecting():
            self._driver.verify_connectivity()
            version = self.server_version()
        check_version(version, self.address.uri)

    def server_version(self) -> str:
        """Return the server's version, such as "2026.02.3"."""
        return str(self.read("server_version")[0]["version"])

    @cached_property
    def has_gds(self) -> bool:
        """Return whether the server has Graph Data Science and lets this user call it; it is asked once.

        False where several members of a cluster read: a projection is in the memory of the one that made it.
        """
        if self._bookmarks and self.read("readers", database=self.address.database)[0]["readers"] > 1:
            return False
        return bool(self.read("gds_procedures"))

    def read(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> list[neo4j.Record]:
        """Run the read query ``name``; ``names`` fills its identifiers. Rows come in the server's order.

        The first attempt is an auto-commit transaction, which saves a round trip. After a transient fault the query
        runs again in a transaction that the driver retries.
        """
        query = self._query(name, names, "read")
        with self._using("read", [name]):
            try:
                with self._session(neo4j.READ_ACCESS) as session:
                    return list(session.run(query, params))
            except (*_PASSING, driver_errors.ClientError) as error:
                if isinstance(error, driver_errors.ClientError) and _INDEX_GONE not in (error.message or ""):
                    raise
                return self._execute(query, params, neo4j.RoutingControl.READ).records

    def write(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> list[neo4j.Record]:
        """Run the write query ``name`` in one transaction, retried on transient faults."""
        query = self._query(name, names, "write")
        with self._using("write", [name]):
            result = self._execute(query, params)
        self._count([result.summary.counters])
        return result.records

    def write_together(self, work: Callable[[Transaction], _Result]) -> _Result:
        """Call ``work`` in one transaction and return its result; an exception from it rolls the transaction back.

        After a transient fault ``work`` is called again.
        """
        asked: list[str] = []

        @neo4j.unit_of_work(timeout=self._limits["write"])
        def unit(managed: neo4j.ManagedTransaction) -> tuple[_Result, Transaction]:
            transaction = Transaction(managed, self._queries, asked)
            return work(transaction), transaction

        with self._using("write", asked), self._session() as session:
            result, transaction = session.execute_write(unit)
        self._count(transaction.counters)
        return result

    def _count(self, writes: Iterable[neo4j.SummaryCounters]) -> None:
        with self._counting:
            for counters in writes:
                # A new one each time: who has read it before compares it later.
                self.written = self.written + Counter({name: getattr(counters, name) for name in _COUNTERS})

    def delete_in_batches(self, name: str, batch: int, /, **params: Any) -> None:
        """Run the write query ``name``, a transaction each time, until it has ``deleted`` none of ``$limit`` items."""
        while self.write(name, limit=batch, **params)[0]["deleted"]:
            pass

    @contextmanager
    def locking(self, name: str, /, **params: Any) -> Iterator[list[neo4j.Record]]:
        """Run the write query ``name``, yield its rows, and hold its locks until the context ends, which commits."""
        query = self._queries[name]
        with (
            self._using("write", [name]),
            self._session() as session,
            session.begin_transaction(timeout=self._limits["write"]) as transaction,
        ):
            yield list(transaction.run(query.text_with({}), params))
            transaction.commit()

    def schema(
        self, name: str, names: Mapping[str, str] | None = None, /, *, within: float | None = None, **params: Any
    ) -> None:
        """Run the schema query ``name``; after a transient fault the driver tries again, for these are idempotent.

        Two processes that make the same constraints in an empty database can deadlock, for example. Raises QueryTimeout
        if other transactions block it for longer than ``within`` (seconds).
        """
        query = self._query(name, names, "write")
        with self._using("write", [name]), self._ended_after(within, query.text):
            try:
                self._execute(query, params)
            except (driver_errors.ClientError, driver_errors.ResultFailedError) as error:
                # The driver may tell that the result has failed, and by what in the cause alone.
                said = error if isinstance(error, driver_errors.ClientError) else error.__cause__
                if not isinstance(said, driver_errors.ClientError):
                    raise
                if within is not None and _is_ended(said):
                    waited = f"The query {name!r} waited {within:g} seconds for others to end."
                    raise QueryTimeout(waited, "Run the same command again once they have.") from error
                # IF NOT EXISTS checks before it creates, so one of two concurrent commands can fail with this.
                if said.code != "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists":
                    raise

    @contextmanager
    def _ended_after(self, seconds: float | None, text: str) -> Iterator[None]:
        """Terminate the query after ``seconds``: the server has no time limit for an index command awaiting a lock."""
        if seconds is None:
            yield
            return

        def end() -> None:
            with suppress(HopRankError):
                self.schema("end_query", text=text)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def stream(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> Iterator[neo4j.Record]:
        """Run the read query ``name`` and yield its rows as they arrive, so that memory stays flat.

        It runs again, once, after a transient fault before its first row, as when a member of a cluster is gone.
        """
        query = self._query(name, names, "write")
        with self._using("write", [name]):
            begun = False
            try:
                for row in self._rows(query, params):
                    begun = True
                    yield row
            except _PASSING:
                if begun:
                    raise
                yield from self._rows(query, params)

    def _rows(self, query: neo4j.Query, params: dict[str, Any]) -> Iterator[neo4j.Record]:
        with self._session(neo4j.READ_ACCESS, fetch_size=FETCHED) as session:
            yield from session.run(query, params)

    def _session(self, access: str = neo4j.WRITE_ACCESS, **options: Any) -> neo4j.Session:
        manager = self._bookmarks.manager if self._bookmarks else None
        database = self.address.database
        return self._driver.session(database=database, default_access_mode=access, bookmark_manager=manager, **options)

    def _execute(
        self, query: neo4j.Query, params: Mapping[str, Any], routing: neo4j.RoutingControl = neo4j.RoutingControl.WRITE
    ) -> neo4j.EagerResult:
        """Run a query in a transaction that the driver retries on transient faults."""
        manager = self._bookmarks.manager if self._bookmarks else None
        database = self.address.database
        return self._driver.execute_query(
            query, dict(params), routing_=routing, database_=database, bookmark_manager_=manager
        )

    def _query(self, name: str, names: Mapping[str, str] | None, kind: str) -> neo4j.Query:
        text = self._queries[name].text_with(names or {})
        return neo4j.Query(text, timeout=self._limits[kind])

    @contextmanager
    def _connecting(self) -> Iterator[None]:
        uri = self.address.uri
        try:
            yield
        except DatabaseStopped:
            raise
        except driver_errors.AuthError as error:
            raise LoginRefused(
                f"{uri} refused the user {self.address.username!r} with the password given.",
                "Check NEO4J_USERNAME and NEO4J_PASSWORD.",
            ) from error
        # The driver raises ValueError for an invalid port.
        except (*_GONE, driver_errors.ConfigurationError, ServerLost, OSError, ValueError) as error:
            reason = error.__cause__ if isinstance(error, ServerLost) else error
            raise ServerUnreachable(
                f"No Neo4j answers at {uri} ({first_line(reason or error)}).",
                "Check NEO4J_URI, or unset it to use the embedded server.",
            ) from error

    @contextmanager
    def _tracing(self, asked: Sequence[str]) -> Iterator[None]:
        with leaf(asked[0] if asked else "transaction", self._traced) as traced:
            try:
                yield
            finally:
                if traced:
                    traced.set_attribute("db.query.summary", " ".join(asked))

    @contextmanager
    def _using(self, kind: str, asked: Sequence[str]) -> Iterator[None]:
        """Translate the driver's errors; ``asked`` are the names of the queries so far, in order."""
        uri = self.address.uri
        begun = time.monotonic()
        try:
            with self._tracing(asked):
                yield
        except _PASSING as error:
            self._forget_unknown(error)
            happened = "went away" if isinstance(error, _GONE) else "kept failing"
            raise ServerLost(f"Neo4j at {uri} {happened} ({first_line(error)}).", _AGAIN) from error
        except driver_errors.DatabaseError as error:
            if stopped := self._stopped(error):
                raise stopped from error
            raise
        except driver_errors.ClientError as error:
            if refused := self._refused(error):
                raise refused from error
            if self._forget_unknown(error):
                problem = f"Neo4j at {uri} doesn't know what was written last ({first_line(error)})."
                raise ServerLost(problem, _AGAIN) from error
            if error.code == _GONE_MEANWHILE:
                problem = f"What the query {asked[-1]!r} reads was replaced or dropped while it was read."
                raise Superseded(problem, "Ask again.") from error
            if not _is_ended(error):
                raise
            late = time.monotonic() - begun >= (self._limits[kind] or math.inf)
            if late or str(error.code).startswith(_OUT_OF_TIME):
                raise self._timeout(kind, asked[-1], by_server=error.code == _OUT_OF_TIME) from error
            raise ServerLost(f"Neo4j at {uri} ended the query {asked[-1]!r}.", _AGAIN) from error

    def _stopped(self, error: driver_errors.DatabaseError) -> DatabaseStopped | None:
        """Return the error for a database that has stopped; None if it is the server's failure of another kind."""
        if error.code not in _STOPPED:
            return None
        return DatabaseStopped(
            f"The database {self.address.database!r} of Neo4j at {self.address.uri} stopped after an error of its own"
            f" ({first_line(error)}).",
            "Restart that server; the embedded one by hoprank db stop, and the next command starts it.",
        )

    def _refused(self, error: driver_errors.ClientError) -> ServerError | None:
        """Return the error for a server that lacks the database, or whose database others use; else None."""
        database = self.address.database
        if error.code == "Neo.ClientError.Database.DatabaseNotFound":
            return ServerError(
                f"{self.address.uri} has no database {database!r}.",
                "Check NEO4J_DATABASE; Community has only neo4j.",
            )
        if error.code in _IN_THE_WAY:
            return ServerError(
                f"A constraint or an index in {database!r} is in the way ({first_line(error)}).",
                "In Neo4j's Browser :schema lists them: drop the one that another program has made on that label or"
                " type, or let HopRank use another database.",
            )
        return None

    def _forget_unknown(self, error: driver_errors.Neo4jError | driver_errors.DriverError) -> bool:
        """Drop the bookmarks if the server doesn't know them, so that the next query goes without; tell whether so."""
        unknown = self._bookmarks is not None and getattr(error, "code", None) in _BOOKMARK_UNKNOWN
        if self._bookmarks and unknown:
            self._bookmarks.forget()
        return unknown

    def _timeout(self, kind: str, name: str, *, by_server: bool) -> QueryTimeout:
        if by_server:
            limit, fix = "its server's db.transaction.timeout allows", "Raise it in neo4j.conf."
        else:
            limit = f"the {self._limits[kind]:g} seconds that neo4j.{kind}_timeout allows"
            fix = f"Raise it: HOPRANK_NEO4J__{kind.upper()}_TIMEOUT=SECONDS; 0 lifts it."
        return QueryTimeout(f"The query {name!r} took longer than {limit}; nothing of it was kept.", fix)


def _is_ended(error: driver_errors.ClientError) -> bool:
    """Return whether the server terminated the transaction, in the middle of its work or while it awaited a lock."""
    code = str(error.code)
    return code.startswith(_OUT_OF_TIME) or code in _ENDED


def check_version(version: str, uri: str) -> None:
    """Raise ServerUnsupported, naming what is missing, unless the server is Neo4j 2026.02 or newer."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_VERSION:
        raise ServerUnsupported(
            f"{uri} runs Neo4j {version}, which lacks filters inside vector indexes.",
            "HopRank needs Neo4j 2026.02 or newer: upgrade it, or unset NEO4J_URI to use the embedded server.",
        )


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield ``items`` in lists of at most ``size``, in their order."""
    remaining = iter(items)
    while part := list(islice(remaining, size)):
        yield part
