"""``--dry-run`` and ``--watch`` of the commands that sync."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from typer import Option

from pipeline.cli.deferred import watch
from pipeline.cli.views.output import warn
from pipeline.errors import Busy, ConfigurationError, InputError

DryRun = Annotated[bool, Option("--dry-run", help="Print the plan and change nothing.")]
Watch = Annotated[bool, Option("--watch", help="Sync again whenever something changes, until Ctrl-C.")]

Summary = TypeVar("Summary")


def check_watch(*, watched: bool, dry_run: bool) -> None:
    """Raise ConfigurationError if both options are given."""
    if watched and dry_run:
        raise ConfigurationError("--watch and --dry-run contradict each other.", "Give one of them.")


def follow(paths: Sequence[str], once: Callable[[], Summary], show_changes: Callable[[Summary], None]) -> None:
    """Sync after every change below ``paths``, until Ctrl-C; print an error and try again at the next change."""
    for _ in watch.changes(paths):
        try:
            summary = once()
        except (InputError, Busy) as error:
            warn(f"{error}\nWaiting for the next change.")
        else:
            show_changes(summary)
