"""Read tools from files and folders: lists of tools, server descriptors and corpora, nested at will."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.domains.tools.catalogue import Catalogue, Service, Tool
from pipeline.domains.tools.sources import formats
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits, Unreadable, unopenable, well_formed
from pipeline.ingest.sources.walk import find
from pipeline.records import Skipped

_FORMATS = "Give results of tools/list (.json), folders with a server.yaml, or a corpus.jsonl with a tool per line."


def read(paths: Sequence[Path], limits: Limits = DEFAULT_LIMITS) -> Catalogue:
    """Return the tools and services of files and folders. Skips what can't be read, and hidden files.

    In a folder, *.json, server.yaml and corpus.jsonl are read, ordered by name; a path that is no folder may also be
    any *.jsonl, or a pattern. Raises SourceError if a path doesn't exist, or if no service can be read.
    """
    if not paths:
        raise SourceError("No path was given.", _FORMATS)
    reading = _Reading(limits)
    catalogue = merged([part for path in paths for part in reading.parts(path)])
    if not catalogue.services:
        given = ", ".join(map(str, paths))
        reasons = [f"{one.source} {one.reason}" for one in catalogue.skipped]
        raise SourceError(f"{next(iter(reasons), f'{given} holds no tools')}.", _FORMATS)
    # where a file lies says nothing of its server
    return replace(catalogue, services=tuple(replace(service, origin="") for service in catalogue.services))


class _Reading:
    """A reading of several paths: a file is read once, and registries of the same name are told apart."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._read: set[Path] = set()
        self._registries: dict[Path, str] = {}

    def parts(self, path: Path) -> Iterator[Catalogue]:
        """Yield the contents of each file that ``path`` names or encloses."""
        inside = path.is_dir()
        for item in find(str(path)):
            if isinstance(item, Skipped):
                yield Catalogue(skipped=(item,))
                continue
            descriptor = item.path.parent / formats.SERVER_FILE  # the server of a tools.json beside it
            try:
                file = descriptor if item.path.name == formats.TOOLS_FILE and descriptor.is_file() else item.path
                if (real := file.resolve()) not in self._read:
                    self._read.add(real)
                    yield self._part(file, path if inside else None)
            except (Unreadable, OSError) as error:
                reason = error if isinstance(error, Unreadable) else unopenable(error)
                yield Catalogue(skipped=(Skipped(str(item.path), reason.message),))

    def _part(self, file: Path, root: Path | None) -> Catalogue:
        """Return the contents of a file; ``root`` is the folder that is read, None if the file itself was named."""
        suffix = file.suffix.casefold()
        if file.name == formats.SERVER_FILE:
            return self._server(file.parent, root)
        if suffix == ".json":
            listed = formats.read_listing(file, self._limits)
            services = [replace(service, origin=str(file.resolve())) for service in listed.services]
            return replace(listed, services=services)
        if file.name == formats.CORPUS_FILE or (suffix == ".jsonl" and root is None):
            return formats.read_corpus(file, self._limits)
        if root is None:
            raise Unreadable("is of no format that lists tools", _FORMATS)
        return Catalogue()

    def _server(self, folder: Path, root: Path | None) -> Catalogue:
        """Return a server and the registry that lists it: the folder around its own, or around one called servers."""
        if root is None or folder == root:
            return formats.read_server(folder, "", self._limits)
        registry = (root.resolve() / folder.relative_to(root)).parent
        if registry.name == "servers" and registry.parent.name:
            registry = registry.parent
        if not registry.name:
            return formats.read_server(folder, "", self._limits)
        name, taken = well_formed(registry.name), self._registries.values()
        key = self._registries.setdefault(registry, name if name not in taken else numbered(name, taken))
        part = formats.read_server(folder, key, self._limits)
        return replace(part, registries={key: name}) if part.services else part


def merged(catalogues: Iterable[Catalogue]) -> Catalogue:
    """Merge catalogues, in order.

    Services with the same id are merged, unless different registries list them or their origins differ: then, as of
    tools with the same id, all but the first get a number: ``mail (2)``, ``mail/send (2)``.
    """
    registries: dict[str, str] = {}
    services: dict[str, Service] = {}
    tools: list[Tool] = []
    skipped: list[Skipped] = []
    for catalogue in catalogues:
        registries.update(catalogue.registries)
        skipped.extend(catalogue.skipped)
        renamed = {}
        for service in catalogue.services:
            key, known = service.id, services.get(service.id)
            if known and (_differ(known.registry, service.registry) or _differ(known.origin, service.origin)):
                key = numbered(service.id, services)
            renamed[service.id] = key
            services[key] = _filled(services[key], service) if key in services else service.renamed(key)
        tools.extend(replace(tool, service=renamed[tool.service]) for tool in catalogue.tools)
    return Catalogue(registries, tuple(services.values()), tuple(with_unique_ids(tools)), tuple(skipped))


def _differ(one: str, other: str) -> bool:
    return bool(one and other and one != other)


def numbered(name: str, taken: Collection[str], first: int = 2) -> str:
    """Return the first of ``name (2)``, ``name (3)`` ... that isn't taken, from ``first`` on."""
    while (candidate := f"{name} ({first})") in taken:
        first += 1
    return candidate


def _filled(known: Service, other: Service) -> Service:
    """Fill the empty fields of a service from another description of it."""
    name = known.name if known.name != known.id else other.name
    description, category = known.description or other.description, known.category or other.category
    tags, registry, origin = known.tags or other.tags, known.registry or other.registry, known.origin or other.origin
    return Service(known.id, name, description, category, tags, registry, origin)


def with_unique_ids(tools: Sequence[Tool]) -> Iterator[Tool]:
    """Yield the tools with unique ids; the first of an id keeps it."""
    taken = {tool.id for tool in tools}
    counts: Counter[str] = Counter()
    for tool in tools:
        counts[tool.id] += 1
        if counts[tool.id] > 1:
            taken.add(key := numbered(tool.id, taken, counts[tool.id]))
            tool = replace(tool, id=key)
        yield tool
