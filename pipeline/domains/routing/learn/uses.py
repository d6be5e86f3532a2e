"""USES: imports in source code, and dependencies in manifests, that name another project."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from pipeline.code.languages import SOURCE_ROOTS, is_relative, is_standard, language_of
from pipeline.code.manifests import is_manifest, read_manifest
from pipeline.code.parse import parse_code
from pipeline.domains.routing.learn.clues import Clue, clue
from pipeline.domains.routing.learn.files import ProjectFile
from pipeline.domains.routing.learn.names import ProjectNames, folded

# A manifest names packages for certain; an import may be of another package of that name. Chosen by hand, as `clues`
# says: one dependency is accepted unseen (`routing.auto_accept`), and so are imports in three files (0.94).
_DEPENDENCY, _DEV_DEPENDENCY, _IMPORT = 0.97, 0.8, 0.6
_ASIDE = 0.3  # strength in tests, examples or documentation, which a project may do without
_ASIDE_FOLDERS = frozenset("test tests testing spec specs __tests__ example examples demo docs doc bench".split())


def use_clues(project: str, files: Iterable[ProjectFile], names: ProjectNames) -> Iterator[Clue]:
    """Yield a clue for each import and dependency that names another project; its own modules give none."""
    files = [file for file in files if language_of(file.path) or is_manifest(file.path)]
    own = OwnModules(files)
    mentioned = names.pattern()
    for file in files:
        if mentioned is None or not mentioned.search(file.text):
            continue
        clues = _dependencies(file, names) if is_manifest(file.path) else _imports(file, names, own)
        yield from (one for one in clues if one.target != project)


class OwnModules:
    """The modules and packages of a project itself, whose imports are no imports of others."""

    def __init__(self, files: Iterable[ProjectFile]) -> None:
        files = list(files)
        self._paths = {file.path for file in files}
        self._modules = {module for file in files if language_of(file.path) for module in _modules(file.path)}
        # Manifests of tests and examples declare packages that aren't the project's own.
        manifests = (read_manifest(file.path, file.text) for file in files if not _is_aside(file.path))
        self._packages = {folded(one.name) for one in manifests if one and one.name}

    def has(self, module: str, file: str) -> bool:
        """Return whether ``module``, imported in ``file``, is one of the project's own."""
        key = folded(module)
        if any(key == name or key.startswith(f"{name}/") for name in self._packages):
            return True
        if "/" in module and any(path == module or path.endswith(f"/{module}") for path in self._paths):
            return True
        first = key.partition("/")[0]
        # Imports are looked up in those folders above the file that are no Python package.
        above = ("" if str(folder) == "." else str(folder) for folder in PurePosixPath(file).parents)
        roots = (root for root in above if f"{root}/__init__.py".lstrip("/") not in self._paths)
        return any((root, first) in self._modules for root in (*SOURCE_ROOTS, *roots))


def _modules(path: str) -> Iterator[tuple[str, str]]:
    """Yield the modules that a file makes, itself and the folders above it, each with the folder that holds it."""
    place = PurePosixPath(path)
    for part in (place, *place.parents):
        if part.name:
            parent = "" if str(part.parent) == "." else str(part.parent)
            yield parent, folded(part.stem if part is place else part.name)


def _dependencies(file: ProjectFile, names: ProjectNames) -> Iterator[Clue]:
    manifest = read_manifest(file.path, file.text)
    if manifest is None:
        return
    # A manifest holds the names in any case, with ``-`` or ``_``.
    lines = file.text.casefold().replace("_", "-").splitlines()
    wanted = [(name, _DEPENDENCY, "depends on") for name in manifest.dependencies]
    wanted += [(name, _DEV_DEPENDENCY, "depends for development on") for name in manifest.dev_dependencies]
    for name, strength, said in wanted:
        if target := names.dependency(name):
            strength = _ASIDE if _is_aside(file.path) else strength
            key = name.casefold().replace("_", "-")
            at = next((number for number, line in enumerate(lines, 1) if key in line), 1)
            yield clue(target, strength, file.path, at, f"{said} {name}")


def _imports(file: ProjectFile, names: ProjectNames, own: OwnModules) -> Iterator[Clue]:
    language = language_of(file.path)
    if language is None:
        return
    strength = _ASIDE if _is_aside(file.path) else _IMPORT
    for one in parse_code(file.text, language).imports:
        target = names.imported(one.module)
        outside = not is_relative(one.module, language.name) and not is_standard(one.module, language.name)
        if target and outside and not own.has(one.module, file.path):
            yield clue(target, strength, file.path, one.line, f"imports {one.module}")


def _is_aside(path: str) -> bool:
    return not _ASIDE_FOLDERS.isdisjoint(part.casefold() for part in PurePosixPath(path).parts[:-1])
