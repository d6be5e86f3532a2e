"""Names that the shell completes: of corpora and graphs. It asks a server that runs, starts none, and says nothing."""

from contextlib import suppress

from pipeline.cli.deferred import catalogue, connect
from pipeline.cli.deferred import settings as all_settings


def corpora(incomplete: str) -> list[str]:
    """Return the names of corpora, vaults and memories that begin so."""
    return _named(incomplete, corpora=True)


def graphs(incomplete: str) -> list[str]:
    """Return the names of knowledge graphs that begin so."""
    return _named(incomplete, graphs=True)


def corpora_and_graphs(incomplete: str) -> list[str]:
    """Return the names of corpora and of knowledge graphs that begin so."""
    return _named(incomplete, corpora=True, graphs=True)


def _named(incomplete: str, *, corpora: bool = False, graphs: bool = False) -> list[str]:
    with suppress(Exception):  # whatever is wrong: the command itself will say it
        client = connect.connect_if_running(all_settings.load_settings())
        if client is None:
            return []
        with client:
            names = {corpus.name for corpus in catalogue.list_corpora(client)} if corpora else set()
            names |= {graph.name for graph, _ in catalogue.list_graphs(client)} if graphs else set()
        return sorted(name for name in names if name.startswith(incomplete))
    return []
