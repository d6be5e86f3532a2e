"""Import commands, and the modules that they use, at their first use.

So ``hoprank --help`` imports no command, and ``hoprank search --help`` neither the driver nor numpy.
"""

import builtins
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand

from pipeline.cli.groups import Commands


class LazyModule(ModuleType):
    """A stand-in for the module of that name, which is imported when one of its attributes is first read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


class _LazyPackage(ModuleType):
    def __getattr__(self, name: str) -> LazyModule:
        return LazyModule(f"{self.__name__}.{name}")


_replacing = threading.Lock()
"""Held while Python's import is replaced: two threads at once would leave one's replacement in place."""


@contextmanager
def lazy_imports(importer: str) -> Iterator[None]:
    """Let ``from package import module`` bind a :class:`LazyModule`, in this block of the module ``importer``.

    Python 3.15 has ``lazy from package import module`` for it.
    """

    def load(name: str, *scopes: Any, **named: Any) -> ModuleType:
        # The first scope is that of the importing module, which may be another one, in another thread.
        lazily = scopes and scopes[0] and scopes[0].get("__name__") == importer
        return _LazyPackage(name) if lazily else eager(name, *scopes, **named)

    with _replacing:
        eager = builtins.__import__
        builtins.__import__ = load
        try:
            yield
        finally:
            builtins.__import__ = eager


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
        parent = Commands()
        if isinstance(target, typer.Typer):
            parent.add_typer(target, name=self._name, help=self.help)
        else:
            parent.command(self._name)(target)
        return typer.main.get_group(parent).commands[self._name]

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Parse arguments by the command itself, which then also runs: Typer invokes the command of the context."""
        return self.load().make_context(*arguments, **named)
