"""Connect to the server that the settings name, or start the embedded server."""

import ipaddress
import logging
from urllib.parse import urlsplit

from pipeline.db.bookmarks import bookmark_file
from pipeline.db.client import Client
from pipeline.db.embedded import Address, ServerOptions, ensure_running, restarted, running
from pipeline.db.embedded.options import Report, silent
from pipeline.errors import DatabaseStopped
from pipeline.settings import Settings
from pipeline.telemetry import start as start_traces

_log = logging.getLogger(__name__)

_EMBEDDED_RETRY = 5.0
"""Seconds of retries. The embedded server is on this machine: it answers at once, or it is gone."""

_COMPLETION = 1.0
"""Seconds that a shell waits for names. Chosen by hand: longer is worse than none."""


def connect(settings: Settings, report: Report = silent) -> Client:
    """Return a client whose server was verified; ``report`` gets each step of starting the embedded server.

    Traces begin here, if the settings name a collector for them.
    """
    start_traces(settings.observe.traces)
    neo4j = settings.neo4j
    if neo4j.uri is None:
        address = ensure_running(ServerOptions.of(settings), report)
        retry_time = min(neo4j.retry_time, _EMBEDDED_RETRY)
    else:
        password = neo4j.password.get_secret_value() if neo4j.password else ""
        address = Address(neo4j.uri, neo4j.username, password, neo4j.database)
        if _in_clear(neo4j.uri):
            _log.warning(
                "%s is not encrypted: the password and all texts cross the network in clear. Use %s+s://.",
                neo4j.uri,
                urlsplit(neo4j.uri).scheme,
            )
        retry_time = neo4j.retry_time
    try:
        return _verified(settings, address, retry_time)
    except DatabaseStopped:
        if neo4j.uri is not None:
            raise
        _log.warning("The database of the embedded server has stopped after an error of its own: it is started again.")
        return _verified(settings, restarted(ServerOptions.of(settings), address, report), retry_time)


def _verified(settings: Settings, address: Address, retry_time: float) -> Client:
    neo4j = settings.neo4j
    client = Client(
        address,
        connection_timeout=neo4j.connection_timeout,
        retry_time=retry_time,
        read_timeout=neo4j.read_timeout,
        write_timeout=neo4j.write_timeout,
        bookmark_file=bookmark_file(settings.data_home, address),
    )
    try:
        client.verify()
    except BaseException:
        client.close()
        raise
    return client


def connect_if_running(settings: Settings) -> Client | None:
    """Return a client of a server that answers within a second or so; None without one: none is started."""
    neo4j = settings.neo4j
    if neo4j.uri is None:
        address = running(ServerOptions.of(settings))
    else:
        password = neo4j.password.get_secret_value() if neo4j.password else ""
        address = Address(neo4j.uri, neo4j.username, password, neo4j.database)
    if address is None:
        return None
    return Client(address, connection_timeout=_COMPLETION, retry_time=0.0, read_timeout=_COMPLETION)


def _in_clear(uri: str) -> bool:
    """Return whether a URI leads to another machine without TLS."""
    parts = urlsplit(uri)
    if "+" in parts.scheme or parts.hostname in (None, "localhost"):
        return False
    try:
        return not ipaddress.ip_address(str(parts.hostname)).is_loopback
    except ValueError:
        return True
