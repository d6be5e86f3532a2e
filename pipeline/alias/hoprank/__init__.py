"""HopRank: graph RAG on Neo4j without an LLM. The public names are those of ``pipeline``, the package of the sources.

A project may well have a folder or a file ``pipeline`` of its own. This package therefore imports HopRank's by its
place, whatever else the import path offers by that name.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve()
# In a checkout this file is pipeline/alias/hoprank/__init__.py; in a wheel `hoprank` stands beside `pipeline`.
_SOURCES = str(_HERE.parents[3 if _HERE.parts[-4:-2] == ("pipeline", "alias") else 1])

sys.path.insert(0, _SOURCES)
try:
    import pipeline as _pipeline
finally:
    sys.path.remove(_SOURCES)

if [str(Path(folder).resolve().parent) for folder in getattr(_pipeline, "__path__", ())] != [_SOURCES]:
    _place = getattr(_pipeline, "__file__", None) or next(iter(_pipeline.__path__))
    raise ImportError(
        f"HopRank's sources are a package named 'pipeline', and {_place} is already imported by that name. "
        "Rename it, or use HopRank in another process.",
        name="pipeline",
    )

__all__ = _pipeline.__all__


def main() -> None:
    """Run the command line and exit; the entry point of ``hoprank``."""
    from pipeline.cli import main as run

    run()


def __getattr__(name: str) -> object:
    # PEP 562: each name is imported when it is first read, as in `pipeline`.
    if name in __all__:
        return getattr(_pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
