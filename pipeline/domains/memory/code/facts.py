"""Facts of one file: a pure function of the file and of what it looks up in the index of its tree."""

from __future__ import annotations

from pipeline.domains.memory.code.calls import Bindings, CallResolver, prefixes
from pipeline.domains.memory.code.findings import (
    CONFIGURED_BY,
    CONTAINS,
    DEPENDS_FOR_DEVELOPMENT,
    DEPENDS_ON,
    IMPORTS,
    OWNED_BY,
    Findings,
)
from pipeline.domains.memory.code.imports import resolve
from pipeline.domains.memory.code.index import Index
from pipeline.domains.memory.code.parse import ParsedFile, Symbol
from pipeline.domains.memory.code.paths import folders_above, is_configuration

ROOT = "."
"""The name of the module at the root."""

_PACKAGE_FILES = frozenset("__init__.py index.js index.ts lib.rs mod.rs package-info.java doc.go".split())
"""Files whose documentation is that of their folder."""


def facts_of(file: ParsedFile, index: Index, scope: str) -> Findings:
    """Return the entities and facts of a file, without its authors."""
    reading = _Reading(file, index, Findings(scope))
    reading.place()
    if file.language:
        reading.definitions()
        reading.references()
    reading.manifest()
    reading.configuration()
    reading.owners()
    return reading.findings


class _Reading:
    """The reading of one file into findings."""

    def __init__(self, file: ParsedFile, index: Index, findings: Findings) -> None:
        self._file = file
        self._index = index
        self.findings = findings
        self._id = findings.entity("file", file.path, file.doc)

    def place(self) -> None:
        """Add the folders that contain the file, if any holds source code."""
        inner = self._id
        doc = self._file.doc if self._file.path.rpartition("/")[2] in _PACKAGE_FILES else ""
        for folder in folders_above(self._file.path):
            if self._file.language or self._index.has_code(folder):
                module = self.findings.entity("module", folder or ROOT, doc)
                self.findings.fact(module, "contains", inner, CONTAINS)
                inner, doc = module, ""
            elif inner == self._id:
                return  # the folder of the file is no module

    def definitions(self) -> None:
        """Add the classes and functions, each contained by the definition around it or by the file."""
        for qualified, symbol in self._file.symbols.items():
            outer = qualified.rpartition(".")[0]
            around = self._file.symbols.get(outer)
            container = self._id_of(self._file.path, outer, around) if around else self._id
            aliases = (qualified, qualified.rpartition(".")[2])
            inner = self.findings.entity(symbol.kind, f"{self._file.path}::{qualified}", symbol.doc, aliases)
            self.findings.fact(container, "contains", inner, CONTAINS)

    def references(self) -> None:
        """Add the imports and the calls."""
        bindings = Bindings()
        for item in self._file.imports:
            for resolved in resolve(item, self._file, self._index):
                bindings.add(resolved)
                if resolved.library:
                    self._imports(self.findings.entity("library", resolved.library))
        for path in bindings.files:
            if path != self._file.path:
                self._imports(self.findings.id_of("file", path))
        self._calls(CallResolver(self._file, bindings, self._index))

    def manifest(self) -> None:
        """Add the package that the file declares, or belongs to, and what it depends on."""
        manifest = self._file.manifest
        if manifest is None:
            return
        name = manifest.name or self._index.package(self._file.path)
        package = self.findings.entity("library", name, manifest.description if manifest.name else "")
        for names, strength in (
            (manifest.dev_dependencies, DEPENDS_FOR_DEVELOPMENT),
            (manifest.dependencies, DEPENDS_ON),
        ):
            for needed in names:
                if needed != name:
                    self.findings.fact(package, "depends_on", self.findings.entity("library", needed), strength)

    def configuration(self) -> None:
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
            self.findings.fact(configured, "configured_by", target, CONFIGURED_BY)
            if self._file.language:
                self.findings.fact(self._id, "configured_by", target, CONFIGURED_BY)

    def owners(self) -> None:
        """Add the owners of the file and of the folders above it that are modules."""
        owners = self._index.owners
        self._owned(self._id, owners.of(self._file.path))
        if self._file.language:
            for folder in folders_above(self._file.path)[:-1]:
                self._owned(self.findings.entity("module", folder), owners.of(f"{folder}/"))

    def _owned(self, entity: str, owners: tuple[str, ...]) -> None:
        for written in owners:
            name = written if written.startswith("@") else self._index.person(written.lower()) or written
            self.findings.fact(entity, "owned_by", self.findings.entity("person", name), OWNED_BY)

    def _imports(self, target: str) -> None:
        self.findings.fact(self._id, "imports", target, IMPORTS)

    def _calls(self, resolver: CallResolver) -> None:
        for call in self._file.calls:
            resolved = resolver.resolve(call)
            if resolved is None:
                continue
            (path, qualified), strength = resolved
            file = self._index.file(path) if path != self._file.path else self._file
            symbol = file.symbols[qualified] if file else None
            caller = self._caller(call.caller)
            if symbol is not None:
                self.findings.fact(caller, "calls", self._id_of(path, qualified, symbol), strength)

    def _caller(self, qualified: str) -> str:
        """Return the entity of a caller; that of the file for a call outside of definitions."""
        for scope in prefixes(qualified):
            if symbol := self._file.symbols.get(scope):
                return self._id_of(self._file.path, scope, symbol)
        return self._id

    def _id_of(self, path: str, qualified: str, symbol: Symbol) -> str:
        return self.findings.id_of(symbol.kind, f"{path}::{qualified}")
