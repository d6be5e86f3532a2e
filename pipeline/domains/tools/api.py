"""The face of tool graphs: build them, find the tools for a task, and chains of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pipeline.api import HopRank
from pipeline.db.catalogue import check_graph, find_graph, get_graph
from pipeline.db.corpus import read_whole
from pipeline.domains.tools import build, queries
from pipeline.domains.tools.catalogue import Built, Catalogue, Difference, stored_catalogue
from pipeline.domains.tools.chains.plan import Chain
from pipeline.domains.tools.evaluate import ToolReport, evaluate
from pipeline.domains.tools.find import FoundTool
from pipeline.domains.tools.queries import ReachedNode, ToolDetails, ToolSearch
from pipeline.domains.tools.settings import ToolSettings
from pipeline.domains.tools.sources.formats import read_given
from pipeline.domains.tools.sources.live import list_live
from pipeline.embedding.everyday import Everyday
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode
from pipeline.progress import Progress
from pipeline.retrieve.lru import SharedCache

_Answer = TypeVar("_Answer")


class Tools:
    """The tools of a named graph: build it from files and servers, find the tools for a task, chain them. Thread-safe.

    Questions read the graph once, and again after a change.

    Example::

        from hoprank import HopRank, Tools

        with HopRank.connect() as hoprank:
            tools = Tools(hoprank, "tools")
            tools.build("servers/", "tools.json")
            for tool in tools.find("mail me the weather"):
                print(tool.name, tool.why)
    """

    def __init__(self, connection: HopRank, name: str = "tools") -> None:
        self.name = name
        self._connection = connection
        self._settings = connection.settings.section(ToolSettings)
        self._searches: SharedCache[tuple[str, int], ToolSearch] = SharedCache(1)

    def build(self, *paths: str | Path, log: str | Path | None = None, progress: Progress | None = None) -> Built:
        """Make the graph hold exactly the tools of files and folders; only differences are written.

        ``log`` is a log of calls: lines of ``{"session": ..., "tool": ...}``. Raises SourceError if the paths hold no
        tool that can be read, or if the log can't be read; the graph then stays as it is.
        """
        limits = self._connection.settings.sources.limits
        files, calls = [Path(path) for path in paths], Path(log) if log else None
        return build.build(self._make, files, self._scaled, progress, limits=limits, log=calls)

    def connect(
        self,
        server: str | Sequence[str],
        *,
        timeout: float = 30,
        env: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> Built:
        """Add the tools of a live MCP server to the graph, replacing those of the same server.

        ``server`` is an address (http:// or https://), or a command with its arguments; see
        :func:`pipeline.domains.tools.sources.live.list_live`. Raises SourceError if it doesn't answer.
        """
        progress = progress or Progress()
        with progress.stage("connect"):
            catalogue = list_live(server, timeout=timeout, env=env)
        return build.add(self._make, catalogue, self._scaled, progress)

    def add(
        self,
        server: str,
        tools: Sequence[Mapping[str, Any]],
        description: str = "",
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Difference:
        """Add a server's tools, given as ``tools/list`` answers them, replacing those that the graph has of the server.

        Return what that changes; ``dry_run`` writes nothing. A tool that can't be read is skipped. Raises SourceError
        if the server has no name, or if none of its tools can be read.
        """
        given = read_given(server, tools, description, self._connection.settings.sources.limits)
        stored = self.catalogue() if find_graph(self._connection.client, self.name) else Catalogue()
        joined = build.joined(given, stored)
        if not dry_run:
            build.build_catalogue(self._make, joined, self._scaled, progress)
        return Difference.between(stored, joined)

    def catalogue(self) -> Catalogue:
        """Return the registries, services and tools that the graph holds, tools by id."""
        return self._connection.read_graph(self.name, stored_catalogue)

    def find(self, task: str, top_k: int | None = None) -> list[FoundTool]:
        """Return the tools for a task with what they need, best first; by default as many as the task seems to need."""
        return self._ask(lambda search: search.find(task, top_k))

    def chains(self, task: str, limit: int | None = None) -> list[Chain]:
        """Return the best chains of tools for a task, in which each output fits the next input."""
        return self._ask(lambda search: search.chains(task, limit))

    def chains_between(self, start: str, goal: str, limit: int | None = None) -> list[Chain]:
        """Return the best chains from available to wanted data: each a tool, a type or a field."""
        return self._ask(lambda search: search.chains_between(start, goal, limit))

    def show(self, tool: str) -> ToolDetails:
        """Return a tool, by id or name: what it takes and returns, and the tools before and after it."""
        return self._ask(lambda search: search.show(tool))

    def traverse(self, node: str, depth: int = 2, edge_types: Sequence[str] = (), limit: int = 50) -> list[ReachedNode]:
        """Return the nodes within ``depth`` edges of a node or tool, nearest first."""
        return self._connection.read_graph(
            self.name, lambda graph: queries.traverse(graph, node, depth, edge_types, limit)
        )

    def path(self, start: str, goal: str, depth: int = 8, edge_types: Sequence[str] = ()) -> list[KnowledgeNode]:
        """Return the nodes of a path with the fewest edges between two nodes or tools; nothing if there is none."""
        return self._connection.read_graph(self.name, lambda graph: queries.path(graph, start, goal, depth, edge_types))

    def evaluate(self, folder: str | Path, *, progress: Progress | None = None) -> ToolReport:
        """Measure the finding of tools on a folder with corpus.jsonl, queries.jsonl and qrels.tsv, in a graph apart."""
        limits = self._connection.settings.sources.limits
        make = partial(build.build, settings=self._scaled, limits=limits)
        return evaluate(make, self._connection, Path(folder), progress=progress)

    @property
    def _scaled(self) -> ToolSettings:
        """The settings with cosines of the model at hand."""
        connection = self._connection
        return Everyday(connection.embedder, connection.settings.data_home).scale.applied(self._settings, "similar")

    def _make(self) -> KnowledgeGraph:
        return self._connection.graph(self.name, kind="tools")

    def _ask(self, ask: Callable[[ToolSearch], _Answer]) -> _Answer:
        """Return what ``ask`` returns for the search of the graph as it is now; it is called again if that changes."""
        connection = self._connection

        def once() -> _Answer:
            stored = get_graph(connection.client, self.name)

            def read() -> ToolSearch:
                check = partial(check_graph, connection.client, stored, unchanged=True)
                return ToolSearch.read(connection.graph_of(stored), connection.embedder, self._settings, check)

            return ask(self._searches.get((stored.id, stored.version), read))

        return read_whole(once)
