"""Deliver what a command found: for people, or as JSON by ``--json`` and ``--json FILE``; again with ``--watch``."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Option

from pipeline.cli.deferred import report as reports
from pipeline.cli.deferred import watch as watching
from pipeline.cli.views.output import Shown, print_json, say, show, warn
from pipeline.errors import Busy, ConfigurationError, InputError
from pipeline.files.remote import is_url, shown
from pipeline.json_values import plain

Value = TypeVar("Value")

JsonFile = Annotated[
    Path | None,
    Option("--json", metavar="FILE", help="Write the report to FILE as JSON; - prints it instead of the table."),
]

DryRun = Annotated[bool, Option("--dry-run", help="Print the plan and change nothing.")]
Watch = Annotated[bool, Option("--watch", help="Sync again whenever something changes, until Ctrl-C.")]

_STDOUT = Path("-")
_VALUE: Any = object()


def deliver(
    value: Value,
    as_json: bool,
    view: Callable[[Value], Shown],
    empty: str | None = None,
    *,
    is_empty: bool | None = None,
    document: Any = _VALUE,
) -> None:
    """Print ``value`` as JSON, or ``view`` of it: a text, a renderable, or several of them.

    Without ``as_json``, the warning ``empty`` is printed in place of the view of a value that is false, or of what
    ``is_empty`` calls empty. ``document`` is printed as JSON in place of the value; both go through :func:`plain`.
    """
    if as_json:
        print_json(plain(value if document is _VALUE else document))
    elif empty is not None and (not value if is_empty is None else is_empty):
        warn(empty)
    else:
        shown = view(value)
        if isinstance(shown, str):
            say(shown)
        elif isinstance(shown, Sequence):
            show(*shown)
        else:
            show(shown)


def check_json_file(file: Path | None) -> None:
    """Raise ConfigurationError if no report can be written to ``file``; called before a long run."""
    if file and file != _STDOUT:
        reports.check_json_path(file)


def is_printed(file: Path | None) -> bool:
    """Return whether the report goes to stdout as JSON."""
    return file == _STDOUT


def deliver_report(document: Mapping[str, Any], file: Path | None, show_views: Callable[[], None]) -> None:
    """Write a report to ``file`` as JSON, if that is given, and call ``show_views``; with ``-`` print JSON instead."""
    if file == _STDOUT:
        print_json(document)
        return
    if file:
        reports.write_document(dict(document), file)
    show_views()


def check_watch(*, watch: bool, dry_run: bool, paths: Sequence[str] = ()) -> None:
    """Raise ConfigurationError if both options are given, or what can't be watched."""
    if watch and dry_run:
        raise ConfigurationError("--watch and --dry-run contradict each other.", "Give one of them.")
    if watch and (url := next(filter(is_url, paths), None)):
        raise ConfigurationError(f"{shown(url)} can't be watched: it is a URL.", "Run the sync at intervals.")


def deliver_syncs(
    paths: Sequence[str], sync: Callable[[], Value], show_it: Callable[[Value], None], plan: str, *, watch: bool
) -> None:
    """Sync and show the summary; with ``watch``, again after every change below ``paths``, until Ctrl-C.

    ``plan`` is the attribute of a summary that is false if nothing had changed. An error prints a warning, and the next
    change is a new try.
    """
    show_it(sync())
    for _ in watching.changes(paths) if watch else ():
        try:
            summary = sync()
        except (InputError, Busy) as error:
            warn(f"{error}\nWaiting for the next change.")
        else:
            if attrgetter(plan)(summary):
                show_it(summary)
