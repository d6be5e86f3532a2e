"""Look up the files of a tree; record which file's facts rest on which look-ups, so that a change finds them."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from posixpath import dirname
from typing import Any

from pipeline.code.languages import NAMES
from pipeline.code.manifests import MANIFESTS
from pipeline.domains.memory.code.authors import Owners
from pipeline.domains.memory.code.parse import ParsedFile
from pipeline.domains.memory.code.paths import OWNERS, folders_above, join
from pipeline.domains.memory.code.syntax import ImportedModule

Key = tuple[str, ...]
"""A look-up: its kind, and a path or name."""


class Index:
    """The parsed files of a tree. With ``tracked``, :meth:`dependents` returns whose look-ups have other results."""

    def __init__(self, *, tracked: bool) -> None:
        self._tracked = tracked
        self._looked_up: set[Key] = set()
        self._keys_of: dict[Hashable, set[Key]] = {}
        self._units_of: dict[Key, set[Hashable]] = defaultdict(set)
        self._files: dict[str, ParsedFile] = {}
        self._members: dict[str, set[str]] = defaultdict(set)
        self._code: Counter[str] = Counter()
        self._names: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        self._published: dict[str, set[str]] = defaultdict(set)
        self._required: Counter[str] = Counter()
        self._groups: dict[str, Counter[str]] = defaultdict(Counter)
        self._people: dict[str, str] = {}
        self._owners = Owners("")

    @contextmanager
    def recording(self, unit: Hashable) -> Iterator[None]:
        """Record the look-ups made in this block as those of ``unit``, replacing the earlier ones."""
        self._looked_up = set()
        yield
        if self._tracked:
            self._replace(unit, self._looked_up)

    def forget(self, unit: Hashable) -> None:
        """Forget the look-ups of ``unit``."""
        self._replace(unit, set())

    def _replace(self, unit: Hashable, keys: set[Key]) -> None:
        former = self._keys_of.pop(unit, set())
        for key in former - keys:
            self._units_of[key].discard(unit)
        for key in keys - former:
            self._units_of[key].add(unit)
        if keys:
            self._keys_of[unit] = keys

    def dependents(self, keys: set[Key]) -> set[Hashable]:
        """Return the units that made any of the look-ups ``keys``."""
        return {unit for key in keys for unit in self._units_of.get(key, ())}

    def exists(self, path: str) -> bool:
        """Return whether there is a file at ``path``."""
        self._looked_up.add(("file", path))
        return path in self._files

    def kind(self, path: str, qualified: str) -> str:
        """Return the kind of the definition with a qualified name in the file at ``path``; empty if there is none."""
        self._looked_up.add(("symbol", path, qualified))
        symbol = file.symbols.get(qualified) if (file := self._files.get(path)) else None
        return symbol.kind if symbol else ""

    def importing(self, path: str, name: str) -> Iterator[tuple[ImportedModule, ParsedFile]]:
        """Yield the imports of the file at ``path`` that give it the local name ``name``, each with the file."""
        self._looked_up.add(("import", path, name))
        if file := self._files.get(path):
            yield from ((item, file) for item in file.imports if any(local == name for _, local in item.names))

    def has_code(self, folder: str) -> bool:
        """Return whether source code is in a folder or below it."""
        self._looked_up.add(("code", folder))
        return self._code[folder] > 0

    def members(self, folder: str) -> list[ParsedFile]:
        """Return the source files directly in a folder, sorted by path."""
        self._looked_up.add(("members", folder))
        return [self._files[path] for path in sorted(self._members.get(folder, ()))]

    def named(self, language: str, name: str) -> set[tuple[str, str]]:
        """Return path and qualified name of all definitions of a simple name in a language and those of its family."""
        family = _family(language)
        self._looked_up.add(("name", family, name))
        return self._names.get((family, name), set())

    def package(self, path: str) -> str:
        """Return the name of the package that a path belongs to: that of the nearest manifest above; empty for none."""
        for folder in folders_above(path):
            self._looked_up.add(("package", folder))
            for name in MANIFESTS:
                file = self._files.get(join(folder, name))
                if file and file.manifest and file.manifest.name:
                    return file.manifest.name
        return ""

    def published(self, name: str) -> list[str]:
        """Return the folders of the manifests that declare the package ``name``, sorted."""
        self._looked_up.add(("published", name))
        return sorted({dirname(path) for path in self._published.get(name, ())})

    def requires(self, name: str) -> bool:
        """Return whether a manifest of the tree depends on the package ``name``."""
        self._looked_up.add(("required", name))
        return self._required[name] > 0

    def of_group(self, group: str) -> list[str]:
        """Return the required packages of a group of Maven, sorted."""
        self._looked_up.add(("group", group))
        return sorted(name for name, count in self._groups.get(group, {}).items() if count > 0)

    def person(self, email: str) -> str:
        """Return the name of the author with an email; empty if it is no author's."""
        self._looked_up.add(("person", email))
        return self._people.get(email, "")

    @property
    def owners(self) -> Owners:
        """The owners of the files."""
        self._looked_up.add(("owners",))
        return self._owners

    def peek(self, path: str) -> ParsedFile | None:
        """Return the file at ``path`` without recording a look-up."""
        return self._files.get(path)

    def set_people(self, people: Mapping[str, str]) -> set[Key]:
        """Set the names of authors by email; return the look-ups whose results changed."""
        changed = {email for email, name in people.items() if self._people.get(email) != name}
        changed |= self._people.keys() - people.keys()
        self._people = dict(people)
        return {("person", email) for email in changed}

    def update(self, changes: Mapping[str, ParsedFile | None]) -> set[Key]:
        """Add, replace and remove (None) files; return the look-ups whose results may have changed."""
        keys: set[Key] = set()
        for path, file in changes.items():
            former = self._files.pop(path, None)
            if former is not None:
                self._count(former, -1)
            if file is not None:
                self._files[path] = file
                self._count(file, 1)
            keys.update(_changed(path, former, file))
        if not changes.keys().isdisjoint(OWNERS):
            self._owners = Owners(next((file.text for place in OWNERS if (file := self._files.get(place))), ""))
            keys.add(("owners",))
        return keys

    def _count(self, file: ParsedFile, sign: int) -> None:
        """Add a file to the counts and sets that are looked up, or take it away."""
        if file.language:
            _put(self._members[dirname(file.path)], file.path, sign)
            for folder in folders_above(file.path):
                self._code[folder] += sign
        family = _family(file.language)
        for qualified in file.symbols:
            _put(self._names[family, qualified.rpartition(".")[2]], (file.path, qualified), sign)
        if file.manifest is None:
            return
        if file.manifest.name:
            _put(self._published[file.manifest.name], file.path, sign)
        for name in (*file.manifest.dependencies, *file.manifest.dev_dependencies):
            self._required[name] += sign
            if ":" in name:
                self._groups[name.partition(":")[0]][name] += sign


def _put(members: set[Any], member: object, sign: int) -> None:
    (members.add if sign > 0 else members.discard)(member)


def _family(language: str) -> str:
    """Return the language whose definitions code of ``language`` may call."""
    return NAMES[language].family or language if language else ""


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> set[str]:
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _changed(path: str, former: ParsedFile | None, file: ParsedFile | None) -> Iterator[Key]:
    """Yield the look-ups whose results differ between two versions of a file."""
    old, new = former or ParsedFile(path), file or ParsedFile(path)
    is_other = (former is None) != (file is None) or old.language != new.language
    if is_other:
        yield "file", path
    if is_other or (old.kinds, old.imports) != (new.kinds, new.imports):
        yield "members", dirname(path)
        yield from (("symbol", path, name) for name in _differing(old.kinds, new.kinds))
        yield from (("import", path, name) for name in _differing(old.imported, new.imported))
    if bool(old.language) != bool(new.language):
        yield from (("code", folder) for folder in folders_above(path))
    for qualified in old.symbols.keys() ^ new.symbols.keys():
        yield "name", _family(old.language or new.language), qualified.rpartition(".")[2]
    if old.manifest != new.manifest:
        yield "package", dirname(path)
        for manifest in filter(None, (old.manifest, new.manifest)):
            yield "published", manifest.name
            for name in (*manifest.dependencies, *manifest.dev_dependencies):
                yield "required", name
                yield "group", name.partition(":")[0]
