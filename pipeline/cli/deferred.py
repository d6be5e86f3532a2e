"""The modules that commands and views use, each imported when one of its attributes is first read.

Import from here whatever needs the driver, numpy or the settings: ``from pipeline.cli.deferred import maintain``. The
help of a command then costs none of them, and its imports stand at the top of its module all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from importlib import metadata

    from matplotlib import figure

    from pipeline import settings
    from pipeline.db import catalogue, connect, embedded
    from pipeline.evaluate import compare, datasets, measures, report
    from pipeline.evaluate.tuning import tune
    from pipeline.flows import evaluate, ingest, maintain
    from pipeline.ingest.sources import watch
    from pipeline.knowledge import catalogue as graph_catalogue
    from pipeline.knowledge import exchange, explore, load
    from pipeline.retrieve import excerpt, question
    from pipeline.retrieve.filters import parse
    from pipeline.serve import access, extras, listening
    from pipeline.serve.http import app as service
    from pipeline.serve.mcp import run as mcp_run
    from pipeline.serve.mcp import service as mcp_service
    from pipeline.serve.mcp.tools import table as mcp_table
else:
    metadata = LazyModule("importlib.metadata")
    figure = LazyModule("matplotlib.figure")
    settings = LazyModule("pipeline.settings")
    catalogue = LazyModule("pipeline.db.catalogue")
    connect = LazyModule("pipeline.db.connect")
    embedded = LazyModule("pipeline.db.embedded")
    compare = LazyModule("pipeline.evaluate.compare")
    datasets = LazyModule("pipeline.evaluate.datasets")
    measures = LazyModule("pipeline.evaluate.measures")
    report = LazyModule("pipeline.evaluate.report")
    tune = LazyModule("pipeline.evaluate.tuning.tune")
    evaluate = LazyModule("pipeline.flows.evaluate")
    ingest = LazyModule("pipeline.flows.ingest")
    maintain = LazyModule("pipeline.flows.maintain")
    watch = LazyModule("pipeline.ingest.sources.watch")
    graph_catalogue = LazyModule("pipeline.knowledge.catalogue")
    exchange = LazyModule("pipeline.knowledge.exchange")
    explore = LazyModule("pipeline.knowledge.explore")
    load = LazyModule("pipeline.knowledge.load")
    excerpt = LazyModule("pipeline.retrieve.excerpt")
    question = LazyModule("pipeline.retrieve.question")
    parse = LazyModule("pipeline.retrieve.filters.parse")
    access = LazyModule("pipeline.serve.access")
    extras = LazyModule("pipeline.serve.extras")
    listening = LazyModule("pipeline.serve.listening")
    service = LazyModule("pipeline.serve.http.app")
    mcp_run = LazyModule("pipeline.serve.mcp.run")
    mcp_service = LazyModule("pipeline.serve.mcp.service")
    mcp_table = LazyModule("pipeline.serve.mcp.tools.table")
