"""The table of the tools: eight, since a client chooses worse among many, and the verbs of domains on demand."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from operator import attrgetter
from typing import Any

from annotated_types import BaseMetadata, Le, MaxLen

from pipeline.errors import InputError
from pipeline.registry import Verb, domain_named, verbs_of
from pipeline.serve.mcp.service import Call
from pipeline.serve.mcp.tools import graph, read, write
from pipeline.serve.signature import Signature
from pipeline.settings import ServeSettings


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: a function of a call, and what clients are told of it.

    Only tokens that write may call a tool that isn't ``read_only``. ``text`` makes the text of a result; without it the
    text is the result as JSON. For ``limits``, ``defaults`` and ``fixed`` see
    :class:`pipeline.serve.signature.Signature`.
    """

    name: str
    title: str
    description: str
    function: Callable[..., Any]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    text: Callable[[Any], str] | None = None
    limits: Mapping[str, BaseMetadata] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def signature(self) -> Signature:
        """Make the signature of the function."""
        return Signature(self.function, self.limits, self.defaults, self.fixed)


def core_tools(settings: ServeSettings, corpus: str, *, read_only: bool) -> list[Tool]:
    """Return the tools that every server has; ``corpus`` is the default one, ``read_only`` leaves out the writes."""
    limits = {"top_k": Le(settings.max_top_k), "query": MaxLen(settings.max_question)}
    defaults = {"corpus": corpus}
    return [replace(tool, limits=limits, defaults=defaults) for tool in _TOOLS if tool.read_only or not read_only]


def domain_tools(names: Iterable[str], *, read_only: bool) -> list[Tool]:
    """Return the verbs of domains as tools; raises InputError for an unknown domain, or for one without verbs."""
    tools: list[Tool] = []
    for domain in map(domain_named, names):
        verbs = verbs_of(domain)
        if not verbs:
            raise InputError(f"The domain {domain.name!r} has no verbs.", "Leave out --domain.")
        tools += [_verb_tool(domain.name, verb) for verb in verbs if verb.read_only or not read_only]
    return tools


def _verb_tool(domain: str, verb: Verb) -> Tool:
    @wraps(verb.function)
    def function(call: Call, **arguments: Any) -> Any:
        call.grant.check_verb(verb, arguments)
        return verb.function(call.hoprank, **arguments)

    return Tool(
        name=f"{domain}_{verb.name}",
        title=f"{domain.capitalize()}: {verb.name}",
        description=verb.help,
        function=function,
        read_only=verb.read_only,
        destructive=verb.destructive and not verb.read_only,
        idempotent=verb.read_only or verb.idempotent,
    )


_TOOLS = (
    Tool(
        name="search",
        title="Search passages",
        description="Find the passages of a corpus that answer a question best, also where an answer takes several"
        " documents. Returns passages with their sources; fetch reads a whole document by its id.",
        function=read.search,
    ),
    Tool(
        name="fetch",
        title="Read a document",
        description="Read a document by the id of a search result. A long one comes in parts: pass metadata.next_start"
        " as start.",
        function=read.fetch,
    ),
    Tool(
        name="context",
        title="Collect context",
        description="Collect passages to answer a question from, in reading order, with numbered sources, within a"
        " budget of tokens. Use it instead of search to write an answer from the texts right away.",
        function=read.context,
        text=attrgetter("text"),
    ),
    Tool(
        name="list_corpora",
        title="List corpora",
        description="List the corpora that can be searched, and the knowledge graphs that can be walked, with sizes.",
        function=read.list_corpora,
    ),
    Tool(
        name="ingest",
        title="Ingest documents",
        description="Add or update documents, given as texts or as paths on the server; makes the corpus if it is"
        " missing. Documents that aren't given stay. Repeating it changes nothing.",
        function=write.ingest,
        read_only=False,
    ),
    Tool(
        name="forget",
        title="Delete documents",
        description="Delete documents from a corpus for good. By default only says what would be deleted (dry_run).",
        function=write.forget,
        read_only=False,
        destructive=True,
    ),
    Tool(
        name="neighbors",
        title="Graph neighbors",
        description="List the neighbors of a node in the graph of a corpus (documents, chunks, entities) or in a"
        " knowledge graph, the heaviest edges first.",
        function=graph.neighbors,
    ),
    Tool(
        name="path",
        title="Graph path",
        description="Find a path with the fewest edges between two nodes of a corpus's graph or of a knowledge graph:"
        " how two documents or names are connected.",
        function=graph.path,
    ),
)
