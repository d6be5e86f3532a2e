"""``hoprank vault``: vaults of linked notes."""

from pipeline.cli.groups import Commands
from pipeline.domains.vault.cli import notes, upkeep

app = Commands(no_args_is_help=True)
for command in (
    notes.sync,
    notes.evaluate,
    notes.context,
    notes.related,
    notes.create,
    notes.link,
    notes.update,
    notes.delete,
    notes.index,
    notes.drop,
    upkeep.check,
    upkeep.mentions,
    upkeep.rename,
):
    app.command()(command)
