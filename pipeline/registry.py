"""The registry of domains: packages below ``pipeline.domains``, and those of the entry points ``hoprank.domains``.

Every command imports the package of every domain. So its ``__init__`` holds the declaration alone, which names the
parts; they are imported at their first use.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pipeline.errors import ConfigurationError, InputError, did_you_mean

GROUP = "hoprank.domains"
"""The group of entry points by which an installed package brings a domain; the value is ``package:DOMAIN``."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Verb:
    """A question to a domain, or an action of it, that servers offer as they are told.

    ``function`` takes an open HopRank and typed arguments, whose annotations describe and limit them as pydantic's
    fields do, and returns a mapping of JSON values. ``help`` is a sentence or two; ``read_only``: it changes nothing;
    not ``destructive``: it only adds; ``idempotent``: the same call again changes nothing more. ``names`` is the
    argument with the name of all that the verb reads and writes, a corpus, a graph or both: a token that opens this
    name alone may call it. Without it a token has to open everything.
    """

    name: str
    function: Callable[..., Mapping[str, Any]]
    help: str
    read_only: bool = True
    destructive: bool = True
    idempotent: bool = False
    names: str | None = None

    def opened_by(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the name that a token has to open for a call with these arguments; None if it has to open all."""
        if self.names is None:
            return None
        return str(arguments.get(self.names, inspect.signature(self.function).parameters[self.names].default))


@dataclass(frozen=True, slots=True)
class Domain:
    """The declaration of a domain: ``package`` holds its parts, ``help`` is the line of its commands in the help.

    ``name`` is that of its section of the settings, of its page, and of its commands unless ``group`` names these.
    ``commands`` (a ``typer.Typer``), ``settings`` (a :class:`pipeline.settings.Section`), ``router``, a function that
    answers ``hoprank search --routing``, and ``verbs``, a tuple of :class:`Verb`, are ``module:attribute`` within the
    package. The package also holds the page as ``README.md``, the defaults of the settings as ``defaults.toml``, and
    queries as ``*.cypher``.
    ``distribution`` is the installed package that brings the domain, set when it is found.
    """

    package: str
    name: str
    help: str
    commands: str = "cli:app"
    settings: str | None = None
    distribution: str | None = None
    group: str | None = None
    router: str | None = None
    verbs: str | None = None

    @property
    def group_name(self) -> str:
        """The name of the group of its commands."""
        return self.group or self.name

    @property
    def folder(self) -> Path:
        """The folder of the package."""
        return Path(str(import_module(self.package).__file__)).parent

    def load(self, target: str) -> Any:
        """Import one of the parts, ``module:attribute``; raises ConfigurationError as :meth:`guarded` does."""
        module, _, attribute = target.partition(":")
        return self.guarded(lambda: getattr(import_module(f"{self.package}.{module}"), attribute))

    def guarded(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of ``work``, which uses a part of the domain.

        If an installed package brings the domain, any error becomes a ConfigurationError that names the package.
        """
        try:
            return work()
        except Exception as error:
            if self.distribution is None:
                raise
            raise self.refusal(f"{type(error).__name__}: {error}") from error

    def refusal(self, problem: str) -> ConfigurationError:
        """Return the error that the domain can't be used, and how to remove it."""
        return _refusal(self.name, str(self.distribution), problem)


class Unusable(NamedTuple):
    """An entry point that gives no domain, and the error to raise when it is used."""

    name: str
    error: ConfigurationError


class Registry(NamedTuple):
    """The domains of the package, then those of entry points, each in the order of their names."""

    domains: tuple[Domain, ...]
    unusable: tuple[Unusable, ...]


@cache
def registry() -> Registry:
    """Return the domains that there are; they are looked for once in a process."""
    names = sorted(path.parent.name for path in (Path(__file__).parent / "domains").glob("*/__init__.py"))
    domains: dict[str, Domain] = {name: import_module(f"pipeline.domains.{name}").DOMAIN for name in names}
    unusable = []
    for found in map(_read, entry_points(GROUP)):
        if isinstance(found, Unusable):
            unusable.append(found)
        elif domains.setdefault(found.name, found) is not found:
            unusable.append(Unusable(found.name, found.refusal("another domain has its name")))
    return Registry(tuple(domains.values()), tuple(unusable))


def domain_named(name: str) -> Domain:
    """Return the domain of that name; raises InputError with the closest name, or why the domain can't be used."""
    domains = {domain.name: domain for domain in registry().domains}
    if name in domains:
        return domains[name]
    for unusable in registry().unusable:
        if unusable.name == name:
            raise unusable.error
    raise InputError(f"There is no domain {name!r}.", did_you_mean(name, domains, f"Known: {', '.join(domains)}."))


def verbs_of(domain: Domain) -> tuple[Verb, ...]:
    """Return the verbs of a domain, none if it declares none; raises ConfigurationError as :meth:`Domain.load` does."""
    verbs: tuple[Verb, ...] = domain.load(domain.verbs) if domain.verbs else ()
    return verbs


def search_by_route(*arguments: Any, **options: Any) -> Any:
    """Search by the router of the first domain that has one, with its arguments; see :class:`Domain`."""
    domain = next(domain for domain in registry().domains if domain.router)
    return domain.guarded(lambda: domain.load(str(domain.router))(*arguments, **options))


def entry_points(group: str) -> list[Any]:
    """Return the entry points of a group that installed packages have, in the order of their names."""
    # importlib.metadata takes 50 ms to import and to read 150 packages, a fifth of `hoprank --help`; the scan takes 2.
    if not any(_has_entry_point(folder, group) for folder in sys.path):
        return []
    found = import_module("importlib.metadata").entry_points(group=group)
    return sorted(found, key=lambda point: (point.name, point.value))


def _has_entry_point(folder: str, group: str) -> bool:
    """Return whether a package that is installed in a folder has an entry point of the group."""
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if entry.name.endswith((".dist-info", ".egg-info")):
                with suppress(OSError), open(f"{entry.path}/entry_points.txt", "rb") as file:  # noqa: PTH123 - faster
                    if f"[{group}]".encode() in file.read():
                        return True
    return False


def _read(point: Any) -> Domain | Unusable:
    distribution = point.dist.name
    try:
        domain: Domain = point.load()
        good = (
            isinstance(domain, Domain)
            and all(_NAME.fullmatch(name) for name in (domain.name, domain.group_name))
            # a module without a folder of its own would bring the files of all that is installed beside it
            and hasattr(import_module(domain.package), "__path__")
        )
    except Exception as error:
        return Unusable(point.name, _refusal(point.name, distribution, f"{type(error).__name__}: {error}"))
    if good:
        return replace(domain, distribution=distribution)
    problem = f"{point.value} is no Domain that has a name of a-z, 0-9 and _, and a package of its own"
    return Unusable(point.name, _refusal(point.name, distribution, problem))


def _refusal(name: str, distribution: str, problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"The domain {name!r} of the package {distribution} can't be used: {problem}.",
        f"Update the package, or remove it: pip uninstall {distribution}.",
    )
