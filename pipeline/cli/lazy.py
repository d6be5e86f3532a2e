"""Import commands, and the modules that they use, at their first use.

So ``hoprank --help`` imports no command, and ``hoprank search --help`` neither the driver nor numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand


class LazyModule(ModuleType):
    """A stand-in for the module of that name, which is imported when one of its attributes is first read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


class LazyCommand(TyperCommand):
    """A stand-in for a command or a group, which is imported when it runs, prints its help or is completed.

    ``find`` imports and returns its function or its ``typer.Typer``. ``help_line`` is its line in the help of the root,
    and the help of a group.
    """

    def __init__(self, name: str, find: Callable[[], Any], help_line: str) -> None:
        super().__init__(name, help=help_line)
        self._name, self._find = name, find

    def load(self) -> Any:
        """Import the command and return it as Typer makes it."""
        target = self._find()
        parent = typer.Typer()
        if isinstance(target, typer.Typer):
            parent.add_typer(target, name=self._name, help=self.help)
        else:
            parent.command(self._name)(target)
        return typer.main.get_group(parent).commands[self._name]

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Parse arguments by the command itself, which then also runs: Typer invokes the command of the context."""
        return self.load().make_context(*arguments, **named)
