"""``hoprank serve``: the HTTP service."""

import logging
from typing import Annotated

from typer import Option

from pipeline.cli.connection import connected
from pipeline.cli.deferred import access, extras, listening, service
from pipeline.cli.options import Measuring, Run
from pipeline.cli.views.output import warn


def serve(
    host: Annotated[str, Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, Option("--port", "-p", min=0, max=65535, help="The port; 0 takes a free one.")] = 8765,
    run: Measuring = Run(),
) -> None:
    """Serve search, context, corpora, ingest and sync over HTTP, with a page to explore at /.

    It listens on this machine alone. For others to use it, set HOPRANK_SERVE__TOKEN to a secret and give --host.
    """
    chosen = run.read()
    tokens = access.Access(chosen.serve)
    access.check_exposure(host, tokens)
    with extras.needs_extra("serve"):
        serve_forever = service.serve
    with listening.listen(host, port) as sock:
        url = access.url_of(host, sock.getsockname()[1])
        logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        logging.getLogger("hoprank").setLevel(logging.INFO)
        with connected(chosen) as hoprank:
            serve_forever(hoprank, tokens, sock, lambda: warn(f"HopRank serves at {url}. Ctrl-C stops it."))
