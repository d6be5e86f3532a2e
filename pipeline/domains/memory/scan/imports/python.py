"""Imports of Python: absolute and relative, of modules and of names."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from pipeline.domains.memory.scan.imports.records import Resolved
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.paths import folders_above, join
from pipeline.domains.memory.scan.receivers import ImportedModule

_SUFFIXES = (".py", "/__init__.py", ".pyi", "/__init__.pyi")
_SOURCE_ROOTS = ("", "src", "lib", "python")
_STANDARD = sys.stdlib_module_names
_PACKAGES = dict(
    pair.split("=")
    for pair in (
        "yaml=pyyaml PIL=pillow cv2=opencv-python bs4=beautifulsoup4 sklearn=scikit-learn skimage=scikit-image "
        "dateutil=python-dateutil dotenv=python-dotenv jwt=pyjwt jose=python-jose Crypto=pycryptodome attr=attrs "
        "git=gitpython github=pygithub serial=pyserial docx=python-docx pptx=python-pptx pkg_resources=setuptools "
        "OpenSSL=pyopenssl MySQLdb=mysqlclient zmq=pyzmq fitz=pymupdf slugify=python-slugify "
        "markdown_it=markdown-it-py multipart=python-multipart websocket=websocket-client magic=python-magic "
        "usb=pyusb nacl=pynacl gi=pygobject ahocorasick=pyahocorasick Stemmer=pystemmer _pytest=pytest "
        "win32api=pywin32 ldap=python-ldap memcache=python-memcached"
    ).split()
)
"""Packages whose modules have another name."""


def resolve(item: ImportedModule, path: str, index: Index) -> Iterator[Resolved]:
    """Yield what an import of the file ``path`` leads to; nothing for a module of its own that isn't found.

    A module is looked up in the folders above the file that are no packages, and in their source folders.
    """
    dotted = item.module.lstrip(".")
    if level := len(item.module) - len(dotted):
        above = folders_above(path)
        if level <= len(above):
            yield from _members(item, join(above[level - 1], dotted.replace(".", "/")), index)
        return
    top = dotted.partition(".")[0]
    if top in _STANDARD:
        yield _outside(item, "")
        return
    own = False
    for root in _roots(path, index):
        if not (index.has_code(join(root, top)) or index.file(join(root, f"{top}.py"))):
            continue
        if found := list(_members(item, join(root, dotted.replace(".", "/")), index)):
            yield from found
            return
        own = own or _file(join(root, top), index) != ""
    if not own:
        yield _outside(item, _PACKAGES.get(top, canonicalize_name(top)))


def _roots(path: str, index: Index) -> Iterator[str]:
    for folder in folders_above(path):
        if index.file(join(folder, "__init__.py")) is None:
            yield from (join(folder, source) for source in _SOURCE_ROOTS)


def _members(item: ImportedModule, place: str, index: Index) -> Iterator[Resolved]:
    """Yield the file at ``place`` with the names that it is asked for, and those names that are files themselves."""
    file = _file(place, index)
    if not item.names:
        if file:
            yield Resolved(file, modules=(item.alias or item.module,))
        return
    names = []
    for original, local in item.names:
        if original != "*" and (module := _file(join(place, original), index)):
            yield Resolved(module, modules=(local,))
        else:
            names.append((local, original))
    if file and names:
        yield Resolved(file, names=tuple(names), star=("*", "*") in names)


def _file(place: str, index: Index) -> str:
    """Return the file of a module; empty for none, as a folder without ``__init__.py`` has none."""
    candidates = (f"{place}{suffix}" if place else suffix.lstrip("/") for suffix in _SUFFIXES)
    return next((path for path in candidates if index.file(path) is not None), "")


def _outside(item: ImportedModule, library: str) -> Resolved:
    modules = () if item.names else (item.alias or item.module,)
    return Resolved(library=library, names=tuple((local, name) for name, local in item.names), modules=modules)
