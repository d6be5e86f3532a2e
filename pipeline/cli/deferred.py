"""The modules that commands and views use, each imported when one of its attributes is first read.

Import from here whatever needs the driver, numpy or the settings: ``from pipeline.cli.deferred import maintain``. The
help of a command then costs none of them, and its imports stand at the top of its module all the same.
"""

from pipeline.cli.lazy import lazy_imports

with lazy_imports(__name__):
    from importlib import metadata

    from matplotlib import figure

    from pipeline import settings
    from pipeline.answer import chat, citations, prompt
    from pipeline.answer import records as answers
    from pipeline.db import catalogue, connect, embedded
    from pipeline.db.embedded import backup as backups
    from pipeline.evaluate import answers as answers_in_context
    from pipeline.evaluate import compare, datasets, failures, measures, report, trec
    from pipeline.evaluate.tuning import tune
    from pipeline.flows import evaluate, ingest, maintain, questions
    from pipeline.ingest.sources import reader, watch
    from pipeline.knowledge import catalogue as graph_catalogue
    from pipeline.knowledge import exchange, explore, load
    from pipeline.retrieve import context as contexts
    from pipeline.retrieve import excerpt, question
    from pipeline.retrieve.filters import parse
    from pipeline.serve import access, listening, logs
    from pipeline.serve.http import app as service
    from pipeline.serve.mcp import run as mcp_run
    from pipeline.serve.mcp import service as mcp_service
    from pipeline.serve.mcp.tools import table as mcp_table
