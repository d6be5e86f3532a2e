"""``hoprank memory``: texts, entities and facts of a memory."""

from collections.abc import Callable
from itertools import chain

from pipeline.cli.groups import Commands
from pipeline.domains.memory.cli import add, dedupe, facts, search

_COMMANDS: tuple[tuple[Callable[..., None], ...], ...] = (
    (add.add, add.import_, add.scan, add.forget, add.drop),
    (search.search, facts.mentions, facts.history, facts.conflicts),
    (facts.fact, facts.invalidate, facts.supersede, facts.retract),
    (search.evaluate,),
)
"""The commands in the order in which ``--help`` lists them."""

app = Commands(no_args_is_help=True)
for command in chain(*_COMMANDS):
    app.command(command.__name__.strip("_").replace("_", "-"))(command)
app.add_typer(dedupe.app, name="dedupe")
