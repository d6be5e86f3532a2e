"""``hoprank memory``: texts, entities and facts of a memory."""

from collections.abc import Callable

from pipeline.cli.groups import Commands
from pipeline.domains.memory.cli import add, dedupe, facts, search

_COMMANDS: dict[str, Callable[..., None]] = {
    "add": add.add,
    "import": add.import_,
    "scan": add.scan,
    "forget": add.forget,
    "drop": add.drop,
    "search": search.search,
    "hybrid": search.hybrid,
    "direct": facts.direct,
    "reverse": facts.reverse,
    "hops": facts.hops,
    "subgraph": facts.subgraph,
    "path": facts.path,
    "by-type": facts.by_type,
    "most-connected": facts.most_connected,
    "fact": facts.fact,
    "invalidate": facts.invalidate,
    "supersede": facts.supersede,
    "retract": facts.retract,
    "history": facts.history,
    "conflicts": facts.conflicts,
    "evaluate": search.evaluate,
}
"""The commands in the order in which ``--help`` lists them."""

app = Commands(no_args_is_help=True)
for name, command in _COMMANDS.items():
    app.command(name)(command)
app.add_typer(dedupe.app, name="dedupe")
