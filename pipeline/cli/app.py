"""The root of the commands."""

import errno
import logging
import re
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pkgutil import resolve_name
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperGroup

from pipeline.cli.deferred import metadata
from pipeline.cli.harmless import harmless
from pipeline.cli.lazy import LazyCommand
from pipeline.errors import ConfigurationError, HopRankError, InputError
from pipeline.registry import registry

COMMANDS = {
    "quickstart": (
        "quickstart:quickstart",
        "Ingest an example, answer questions that take several documents, and measure every leg.",
    ),
    "demo": (
        "quickstart:demo",
        "Ingest the quickstart's example, and open the page to explore it in the browser.",
    ),
    "ingest": ("ingest:ingest", "Bring a corpus to hold the documents in PATH...; make the corpus if it is missing."),
    "sync": (
        "ingest:sync",
        "Bring a corpus to hold exactly the documents in PATH...: new, changed and renamed ones, and removals.",
    ),
    "remove": ("ingest:remove", "Remove documents from a corpus."),
    "search": ("search:search", "Print the passages of a corpus, or of several projects, that answer a question best."),
    "context": (
        "search:context",
        "Print passages for a language model as Markdown: numbered, with sources, in the order of a chain.",
    ),
    "ask": ("ask:ask", "Answer a question from a corpus, with citations, by a language model of your own."),
    "serve": ("serve:serve", "Serve search, context, corpora, ingest and sync over HTTP, with a page to explore at /."),
    "mcp": ("serve:mcp", "Serve search, documents and graphs to agents by the Model Context Protocol (MCP)."),
    "evaluate": (
        "evaluate:evaluate",
        "Ingest a queryset's documents, answer its questions by each leg, and print how well and how fast.",
    ),
    "compare": (
        "evaluate:compare",
        "Compare two evaluations: B less A with 95% confidence intervals, and the queries that gained and lost.",
    ),
    "tune": (
        "evaluate:tune",
        "Learn from judged questions how sure names are and what features weigh, and say whether that helps.",
    ),
    "calibrate": (
        "evaluate:calibrate",
        "Show what each cosine threshold would do to a corpus's links, components and hubs, and suggest one.",
    ),
    "reembed": (
        "maintenance:reembed",
        "Embed a corpus with another model, beside the old vectors, and switch when all is there.",
    ),
    "relink": ("maintenance:relink", "Link corpora anew by the present link settings; vectors are kept."),
    "corpus": ("corpus:app", "Corpora: list, look into, rename, export, import or drop them."),
    "graph": ("graph:app", "Knowledge graphs: list, explore, import, export, draw, drop."),
    "db": ("db:app", "The embedded Neo4j server: start it, stop it, see how it is."),
    "config": ("config:app", "Settings: see what each is, and what set it."),
    "help": ("help:help_", "Show a page of the documentation, or list the topics."),
}
"""The commands and groups of HopRank itself, in the order of the help.

Each has its ``module:attribute`` in :mod:`pipeline.cli.commands`, and the first paragraph of its help; so the help of
the root imports no command.
"""

_FAULT = 1  # exit code, as of most commands; 2 is that of wrong input

_NO_END = re.compile(r"\A.*[\w'\")\]}]\Z")  # of one line: longer ones end with a log

_FULL = "Make room on that disk; TMPDIR names the folder of temporary files."
_PLACES = "EACCES EPERM EROFS EIO ENAMETOOLONG ELOOP EISDIR ENOTDIR".split()
_GROUND = dict.fromkeys((getattr(errno, name) for name in _PLACES), "Take a place that you may read and write.")
_GROUND |= dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _FULL)
"""Advice by number for errors of the system, which are no bugs of ours."""


class Root(TyperGroup):
    """The root group: imports commands at their first use, and turns what they raise into a message and an exit code.

    The code is 2 for wrong input or configuration, 1 for a fault or a bug, and 130 after Ctrl-C; nothing else sets one.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (target, help_line) in COMMANDS.items():
            if name == "db":  # before which the help lists the domains
                self._add_domains()
            self.add_command(LazyCommand(name, partial(resolve_name, f"pipeline.cli.commands.{target}"), help_line))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _interrupted() from None
        except HopRankError as error:
            if _is_of_ctrl_c(error):
                raise _interrupted() from None
            _print_error("\n".join(filter(None, (_ended(error.message), error.fix))))
            _print_traceback(ctx)
            raise typer.Exit(2 if isinstance(error, InputError) else _FAULT) from None
        except Exception as error:
            # Usage errors and typer.Exit: their classes move between releases of Typer; their top-level module stays.
            if isinstance(error, BrokenPipeError) or type(error).__module__.split(".")[0] in {"click", "typer"}:
                raise
            if _is_of_ctrl_c(error):
                raise _interrupted() from None
            if isinstance(error, OSError) and error.errno in _GROUND:
                _print_error(f"{error}. {_GROUND[error.errno]}")
                _print_traceback(ctx)
                raise typer.Exit(_FAULT) from None
            _print_error(f"This is a bug in {_maker(ctx)}: {type(error).__name__}: {error}")
            if not _print_traceback(ctx):
                _print_error(
                    "Run it again as `hoprank --verbose ...`, or with HOPRANK_DEBUG=1, and report the traceback."
                )
            raise typer.Exit(_FAULT) from None

    def _add_domains(self) -> None:
        for domain in registry().domains:
            taken = domain.refusal("a command has its name")
            self._add_domain(domain.group_name, partial(domain.load, domain.commands), domain.help, taken)
        for unusable in registry().unusable:
            refuse = partial(_refuse, unusable.error)
            # Without the error's text, in which the help would read markup.
            self._add_domain(unusable.name, refuse, "This domain can't be used; call it to see why.", unusable.error)

    def _add_domain(self, name: str, find: Callable[[], Any], help_line: str, taken: ConfigurationError) -> None:
        if name in COMMANDS or name in self.commands:
            print(f"hoprank: {taken}", file=sys.stderr)
        else:
            self.add_command(LazyCommand(name, find, help_line))


def _interrupted() -> typer.Exit:
    _print_error("Interrupted. What was published before is as it was; the same command can be run again.")
    return typer.Exit(130)


def _is_of_ctrl_c(error: BaseException | None) -> bool:
    """Return whether an error is Ctrl-C, or came while that ended the command, as of a connection cut off in a read."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _maker(ctx: Any) -> str:
    """Return HopRank, or the package that brings the domain of the command."""
    names = {domain.group_name: domain.distribution for domain in registry().domains if domain.distribution}
    package = names.get(ctx.invoked_subcommand)
    return f"the package {package} (pip uninstall {package} removes it)" if package else "HopRank"


def _ended(message: str) -> str:
    """Return a message with a full stop, which one that ends with what was given may lack, so that it stands apart."""
    return f"{message}." if _NO_END.search(message) else message


def _print_error(text: str) -> None:
    sys.stdout.flush()
    print(f"hoprank: {harmless(text)}", file=sys.stderr)


def _print_traceback(ctx: Any) -> bool:
    if verbose := bool(ctx.params.get("verbose")):
        traceback.print_exc()
    return verbose


def _refuse(error: ConfigurationError) -> NoReturn:
    raise error


app = typer.Typer(
    cls=Root,
    help="Graph RAG on Neo4j without an LLM: ingest documents, search them, measure the search.\n\n"
    "The first command that needs it starts a Neo4j of its own; NEO4J_URI makes it use yours. Begin with"
    " `hoprank quickstart`.",
    epilog="Exit codes: 0 success, also without hits; 2 wrong input or configuration; 1 a fault; 130 Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(metadata.version("hoprank"))
        raise typer.Exit


@app.callback()
def root(
    verbose: Annotated[
        bool, Option("--verbose", envvar="HOPRANK_DEBUG", help="Show the traceback of an error.")
    ] = False,
    show_version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Read the options of all commands; Root reads ``verbose`` too."""
    # The driver logs each broken connection as an error; Root prints what comes of it.
    logging.getLogger("neo4j.io").setLevel(logging.NOTSET if verbose else logging.CRITICAL)
