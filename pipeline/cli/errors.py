"""Turn errors into messages and exit codes; this is the only place that does."""

import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from pipeline.cli.harmless import harmless
from pipeline.errors import HopRankError, InputError

WRONG_INPUT = 2
FAULT = 1
INTERRUPTED = 130

_HOW_TO_REPORT = "Run it again as `hoprank --verbose ...`, or with HOPRANK_DEBUG=1, and report the traceback."


class ErrorBoundary(TyperGroup):
    """A root group that turns what a command raises into one message on stderr and an exit code.

    The code is 2 for wrong input or configuration, 1 for a fault or a bug, and 130 after Ctrl-C.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _print_error("Interrupted. What was published before is as it was; the same command can be run again.")
            raise typer.Exit(INTERRUPTED) from None
        except HopRankError as error:
            _print_error(str(error))
            _print_traceback(ctx)
            raise typer.Exit(WRONG_INPUT if isinstance(error, InputError) else FAULT) from None
        except Exception as error:
            if isinstance(error, BrokenPipeError) or _is_from_typer(error):
                raise
            _print_error(f"This is a bug in {self.maker(ctx)}: {type(error).__name__}: {error}")
            if not _print_traceback(ctx):
                _print_error(
                    "Run it again as `hoprank --verbose ...`, or with HOPRANK_DEBUG=1, and report the traceback."
                )
            raise typer.Exit(FAULT) from None

    def maker(self, ctx: Any) -> str:  # noqa: ARG002 - a group with commands of others looks at it
        """Return who made the command that the arguments name, for the report of a bug."""
        return "HopRank"


def _is_from_typer(error: Exception) -> bool:
    # Usage errors and typer.Exit. Their classes move between releases of Typer; their top-level module stays.
    return type(error).__module__.split(".")[0] in {"click", "typer"}


def _print_error(text: str) -> None:
    sys.stdout.flush()
    print(f"hoprank: {harmless(text)}", file=sys.stderr)


def _print_traceback(ctx: Any) -> bool:
    if not ctx.params.get("verbose"):
        return False
    traceback.print_exc()
    return True
