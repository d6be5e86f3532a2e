"""``hoprank config``: the settings and their origins."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cli.deferred import settings as all_settings
from pipeline.cli.deliver import deliver
from pipeline.cli.groups import Commands
from pipeline.cli.options import Reading, flags

_WIDEST_VALUE = 24  # characters; the origins of longer values stand further right. Chosen by hand to fit a screen.

app = Commands(help="Settings: see what each is, and what set it.", no_args_is_help=True)


@app.command()
def show(run: Reading) -> None:
    """Print each setting, its value, and where it came from; secrets are masked.

    Stronger sources last: built in, configs/default.toml, the defaults.toml of a domain, the file that HOPRANK_CONFIG
    names, the environment (HOPRANK_EMBED__MODEL, NEO4J_URI, ...), flags.
    """
    rows = all_settings.provenance(flags(assignments=run.settings))
    document = {row.name: {"value": row.value, "origin": row.origin} for row in rows}
    deliver(rows, run.as_json, lambda it: "\n".join(setting_lines(it)), document=document)


def setting_lines(settings: Sequence[all_settings.Provenance]) -> list[str]:
    """Return name, value and origin of each setting, aligned; never wrapped, so that grep finds a setting whole."""
    name_width = max(len(setting.name) for setting in settings)
    value_width = min(_WIDEST_VALUE, max(len(setting.value or "-") for setting in settings))
    return [
        f"{setting.name:<{name_width}}  {setting.value or '-':<{value_width}}  {setting.origin}" for setting in settings
    ]
