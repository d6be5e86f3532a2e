"""Facts of one file: a pure function of the file and of what it looks up in the index of its tree."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname

from pipeline.code.languages import NAMES
from pipeline.domains.memory.code.findings import CALLS_BY_NAME, DEVELOPMENT, ROOT, Findings, Strength
from pipeline.domains.memory.code.imports import Resolved, resolve
from pipeline.domains.memory.code.index import Index
from pipeline.domains.memory.code.parse import ParsedFile
from pipeline.domains.memory.code.paths import folders_above, is_configuration
from pipeline.domains.memory.code.syntax import UNKNOWN, Reference, Symbol
from pipeline.resources import word_lists

_PACKAGE_FILES = frozenset("__init__.py index.js index.ts lib.rs mod.rs package-info.java doc.go".split())
"""Files whose documentation is that of their folder."""

Place = tuple[str, str]
"""A definition: the path of its file and its qualified name."""

_OWN = frozenset(("self", "this", "cls", "Self", "$this", "static"))  # receivers that mean the class around a call

_BUILT_IN = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, object, type, Path, BaseException)
    for name in dir(kind)
) | frozenset(word_lists(__file__)["methods"].split())
"""Names of methods that mean anything on an unknown value; chosen by hand from calls that were resolved wrongly."""

_DEEPEST = 5
"""Files through which a name may be passed on; chosen by hand, so that files that import each other come to an end."""


def facts_of(file: ParsedFile, index: Index, scope: str) -> Findings:
    """Return the entities and facts of a file, without its authors."""
    reading = _Reading(file, index, Findings(scope))
    reading.add_modules()
    if file.language:
        reading.add_definitions()
        reading.add_references()
    reading.add_package()
    reading.add_configuration()
    reading.add_owners()
    return reading.findings


class _Reading:
    def __init__(self, file: ParsedFile, index: Index, findings: Findings) -> None:
        self._file = file
        self._index = index
        self.findings = findings
        self._id = findings.entity("file", file.path, file.doc)

    def add_modules(self) -> None:
        """Add the folders that contain the file, if any holds source code."""
        inner = self._id
        doc = self._file.doc if self._file.path.rpartition("/")[2] in _PACKAGE_FILES else ""
        for folder in folders_above(self._file.path):
            if self._file.language or self._index.has_code(folder):
                module = self.findings.entity("module", folder or ROOT, doc)
                self.findings.fact(module, "contains", inner)
                inner, doc = module, ""
            elif inner == self._id:
                return  # the folder of the file is no module

    def add_definitions(self) -> None:
        """Add the classes and functions, each contained by the definition around it or by the file."""
        for qualified, symbol in self._file.symbols.items():
            outer, _, name = qualified.rpartition(".")
            container = self._id_of(self._file, outer) if outer in self._file.symbols else self._id
            inner = self.findings.entity(symbol.kind, f"{self._file.path}::{qualified}", symbol.doc, (qualified, name))
            self.findings.fact(container, "contains", inner)

    def add_references(self) -> None:
        """Add the imports and the calls; a call outside of definitions is the file's."""
        file, resolver = self._file, _CallResolver(self._file, self._index)
        for item in file.imports:
            for resolved in resolve(item, file, self._index):
                resolver.add(resolved)
                if resolved.library:
                    library = self.findings.entity("library", resolved.library)
                    self.findings.fact(self._id, "imports", library)
        for path in resolver.files:
            if path != file.path:
                self.findings.fact(self._id, "imports", self.findings.id_of("file", path))
        for call in file.calls:
            if (reached := resolver.resolve(call)) is None:
                continue
            (path, qualified), strength = reached
            kind = file.symbols[qualified].kind if path == file.path else self._index.kind(path, qualified)
            scope = next((scope for scope, symbol in resolver.around(call.caller) if symbol), "")
            caller = self._id_of(file, scope) if scope else self._id
            self.findings.fact(caller, "calls", self.findings.id_of(kind, f"{path}::{qualified}"), strength)

    def add_package(self) -> None:
        """Add the package that the file declares, or belongs to, and what it depends on."""
        if (manifest := self._file.manifest) is None:
            return
        name = manifest.name or self._index.package(self._file.path)
        package = self.findings.entity("library", name, manifest.description if manifest.name else "")
        for names, strength in ((manifest.dev_dependencies, DEVELOPMENT), (manifest.dependencies, None)):
            for needed in names:
                if needed != name:
                    self.findings.fact(package, "depends_on", self.findings.entity("library", needed), strength)

    def add_configuration(self) -> None:
        """Add what configures the package: the file itself, and the variables that it reads or sets."""
        configs = [self._file.path] if is_configuration(self._file.path) else []
        configs += sorted(self._file.variables)
        if not configs:
            return
        package = self._index.package(self._file.path)
        kind, name = ("library", package) if package else ("module", ROOT)
        configured = self.findings.entity(kind, name)
        for config in configs:
            target = self.findings.entity("config", config)
            self.findings.fact(configured, "configured_by", target)
            if self._file.language:
                self.findings.fact(self._id, "configured_by", target)

    def add_owners(self) -> None:
        """Add the owners of the file and of the folders above it that are modules."""
        owned = [(self._id, self._file.path)]
        if self._file.language:
            folders = folders_above(self._file.path)[:-1]
            owned += [(self.findings.entity("module", folder), f"{folder}/") for folder in folders]
        for entity, path in owned:
            for written in self._index.owners.of(path):
                name = written if written.startswith("@") else self._index.person(written.lower()) or written
                self.findings.fact(entity, "owned_by", self.findings.entity("person", name))

    def _id_of(self, file: ParsedFile, qualified: str) -> str:
        return self.findings.id_of(file.symbols[qualified].kind, f"{file.path}::{qualified}")


class _CallResolver:
    """Resolves the calls of a file by its definitions and the local names that its imports give."""

    def __init__(self, file: ParsedFile, index: Index) -> None:
        self._file = file
        self._names = NAMES[file.language]
        self._index = index
        self._symbols: dict[str, Place] = {}
        self._modules: dict[str, list[str]] = defaultdict(list)
        self._external: set[str] = set()
        self._stars: list[str] = []
        self._reached: dict[Place, Place | None] = {}
        self._around: dict[str, tuple[tuple[str, Symbol | None], ...]] = {}
        self.files: dict[str, None] = {}  # imported ones, in order

    def add(self, resolved: Resolved) -> None:
        if not resolved.path:
            self._external.update((*(local for _, local in resolved.names), *resolved.modules))
            return
        self.files[resolved.path] = None
        self._symbols.update((local, (resolved.path, original)) for original, local in resolved.names)
        for name in resolved.modules:
            self._modules[name].append(resolved.path)
        if resolved.star:
            self._stars.append(resolved.path)

    def around(self, caller: str) -> tuple[tuple[str, Symbol | None], ...]:
        """Return the definitions around a call, the innermost first: qualified name, and symbol if the file has one."""
        if caller not in self._around:
            self._around[caller] = tuple((scope, self._file.symbols.get(scope)) for scope in _prefixes(caller))
        return self._around[caller]

    def resolve(self, call: Reference) -> tuple[Place, Strength | None] | None:
        """Return the definition that a call reaches, with a strength if it is a guess; None if it isn't clear."""
        if call.receiver in _OWN:
            sure = self._own(call)
        elif call.receiver == UNKNOWN:
            sure = None
        else:
            sure = self._member(call) if call.receiver else self._bare(call)
        if sure:
            return sure, None
        if not self._is_ambiguous(call) and not self._is_settled(call) and (by_name := self._by_name(call)):
            return by_name, CALLS_BY_NAME
        return None

    def _own(self, call: Reference) -> Place | None:
        """Return the method ``name`` of the class around a call, or around the function that it is in."""
        holders = (scope for scope, symbol in self.around(call.caller)[1:] if symbol is None or symbol.kind == "class")
        own = f"{next(holders, '')}.{call.name}"
        return (self._file.path, own) if own in self._file.symbols else None

    def _bare(self, call: Reference) -> Place | None:
        """Return the definition of a name by itself: in the definitions around the call, the file, and its imports."""
        symbols, name = self._file.symbols, call.name
        for scope, symbol in self.around(call.caller):
            if symbol is not None and name in symbol.parameters:
                return None
            visible = symbol is None or symbol.kind == "function" or self._names.bare_methods
            if visible and f"{scope}.{name}" in symbols:
                return self._file.path, f"{scope}.{name}"
        if name in symbols:
            return self._file.path, name
        if name in self._symbols:
            return self._passed_on(self._symbols[name])
        for path in self._stars:
            if found := self._passed_on((path, name)):
                return found
        return self._beside(name) if self._names.shared == "folder" and name not in self._external else None

    def _member(self, call: Reference) -> Place | None:
        """Return the definition of ``name`` in the module or class that the receiver names."""
        receiver = call.receiver.replace("::", ".")
        if self._is_parameter(receiver, call.caller):
            return None
        for path in self._modules.get(receiver, ()):
            if found := self._passed_on((path, call.name)):
                return found
        holder: Place | None = (self._file.path, receiver) if receiver in self._file.symbols else None
        if holder is None and receiver in self._symbols:
            holder = self._passed_on(self._symbols[receiver])
        if holder is None and self._names.shared == "folder" and receiver not in self._external:
            holder = self._beside(receiver)
        if holder is None:
            return None
        path, member = holder[0], f"{holder[1]}.{call.name}"
        return (path, member) if self._index.kind(path, member) else None

    def _is_parameter(self, name: str, caller: str) -> bool:
        return any(symbol is not None and name in symbol.parameters for _, symbol in self.around(caller))

    def _is_settled(self, call: Reference) -> bool:
        """Return whether a call has a known meaning outside of the tree, or is that of a parameter."""
        name = call.receiver.replace("::", ".") if call.receiver else call.name
        if name in self._external or name.partition(".")[0] in self._external or name in self._modules:
            return True
        return not call.receiver and (name in self._symbols or self._is_parameter(name, call.caller))

    def _is_ambiguous(self, call: Reference) -> bool:
        """Return whether a name alone says nothing: a method of any value, a bare name of a language with imports."""
        return (call.name in _BUILT_IN) if call.receiver else (self._names.shared != "tree")

    def _by_name(self, call: Reference) -> Place | None:
        """Return the only definition of a name, within reach: anywhere for a bare name.

        A method called on a value must be in this file or in one that it imports.
        """
        found = self._index.named(self._file.language, call.name)
        if len(found) != 1:
            return None
        path, qualified = next(iter(found))
        reachable = path == self._file.path or path in self.files
        return (path, qualified) if not call.receiver or (reachable and "." in qualified) else None

    def _beside(self, name: str) -> Place | None:
        """Return the one definition of a name in the files of the same folder."""
        files = self._index.members(dirname(self._file.path))
        found = [file.path for file in files if file.language == self._file.language and name in file.symbols]
        return (found[0], name) if len(found) == 1 else None

    def _passed_on(self, place: Place) -> Place | None:
        """Return the definition of a name of a file, which may import it from another."""
        if place not in self._reached:
            self._reached[place] = self._followed(place, 0)
        return self._reached[place]

    def _followed(self, place: Place, depth: int) -> Place | None:
        path, name = place
        if depth > _DEEPEST:
            return None
        if self._index.kind(path, name):
            return place
        for item, file in self._index.importing(path, name):
            for found in resolve(item, file, self._index):
                original = {local: original for original, local in found.names}.get(name)
                if found.path and original:
                    return self._followed((found.path, original), depth + 1)
        return None


def _prefixes(qualified: str) -> Iterator[str]:
    """Yield a qualified name and those of the definitions around it, the innermost first."""
    while qualified:
        yield qualified
        qualified = qualified.rpartition(".")[0]
