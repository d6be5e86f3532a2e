"""Pin the jars after changing a version in ``options.py``; for maintainers::

    python -m pipeline.db.embedded.pin > configs/jars.sha256

Resolves the coordinates with jgo, fetches every jar and prints the list that ``jars.py`` reads.
"""

import hashlib
from pathlib import Path

import jgo

from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION

COORDINATES = (
    f"org.neo4j:neo4j:{NEO4J_VERSION}",
    f"org.neo4j.gds:proc:{GDS_VERSION}",
    # GDS's procedures don't load without it.
    f"org.neo4j.gds:opengds-extension:{GDS_VERSION}",
)


def main() -> None:
    """Print one line per jar, in class path order."""
    print(
        f"# Neo4j {NEO4J_VERSION} Community with GDS {GDS_VERSION}:"
        " SHA-256, bytes, path in a Maven repository; in class path order."
    )
    for artifact in jgo.resolve("+".join(COORDINATES)):
        if artifact.packaging == "jar":
            file = Path(artifact.resolve())
            path = Path(artifact.component.path_prefix) / artifact.filename
            print(hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_size, path.as_posix())


if __name__ == "__main__":
    main()
