"""``hoprank skills``: the graph of a collection of skills."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.connection import connected
from pipeline.cli.deliver import deliver
from pipeline.cli.groups import Commands
from pipeline.cli.lazy import lazy_imports
from pipeline.cli.options import Embedding, Json, Reading, Run, TopK, read_settings
from pipeline.cli.views.output import spinner
from pipeline.cli.views.progress import show_progress
from pipeline.domains.skills import views

with lazy_imports(__name__):
    from pipeline.domains.skills import api

app = Commands(no_args_is_help=True)

Graph = Annotated[str, Option("--graph", "-g", metavar="NAME", help="The graph.", autocompletion=completion.graphs)]
Name = Annotated[str, Argument(metavar="NAME", help="The skill.")]


@app.command()
def build(
    folder: Annotated[Path, Argument(metavar="DIR", help="A folder with skills, at any depth.")],
    graph: Graph = "skills",
    run: Embedding = Run(),
) -> None:
    """Make a graph hold the skills below a folder, and nothing else; the old graph stays until the new one is whole."""
    with run.connect() as hoprank, show_progress() as progress:
        built = api.Skills(hoprank, graph).build(folder, progress=progress)
    deliver(built, run.as_json, lambda it: views.built_view(it, graph))


@app.command()
def related(name: Name, graph: Graph = "skills", top_k: TopK = 10, run: Reading = Run()) -> None:
    """Print the skills that a walk from this one visits most, and why each is related."""
    with run.connect() as hoprank, spinner("Walking"):
        skills = api.Skills(hoprank, graph).related(name, top_k)
    deliver(skills, run.as_json, views.related_view, f"Nothing is related to {name}.")


@app.command()
def requires(
    name: Name,
    graph: Graph = "skills",
    transitive: Annotated[bool, Option("--transitive", help="Also what those require.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a skill requires: skills, packages, and what is missing."""
    with connected(read_settings()) as hoprank:
        required = api.Skills(hoprank, graph).requires(name, transitive=transitive)
    deliver(required, as_json, views.required_view)


@app.command()
def search(
    text: Annotated[str, Argument(metavar="TEXT", help="What a skill is needed for.")],
    graph: Graph = "skills",
    top_k: TopK = 10,
    run: Embedding = Run(),
) -> None:
    """Print the skills that fit a text by words, by the graph and by meaning."""
    with run.connect() as hoprank, spinner("Searching"):
        ranked = api.Skills(hoprank, graph).search(text, top_k)
    document = [{**views.skill_json(one.node), "score": one.score, "parts": one.parts} for one in ranked]
    deliver(ranked, run.as_json, views.ranked_view, "No skill fits this.", document=document)


@app.command()
def check(
    graph: Graph = "skills",
    strict: Annotated[bool, Option("--strict", help="Exit with 1 if anything is missing or cyclic.")] = False,
    run: Reading = Run(),
) -> None:
    """Look for missing dependencies, cycles, orphans and near-duplicates."""
    with run.connect() as hoprank:
        findings = api.Skills(hoprank, graph).check()
    deliver(findings, run.as_json, views.findings_view)
    if strict and (findings.missing or findings.cycles):
        raise typer.Exit(1)


@app.command()
def order(name: Name, graph: Graph = "skills", as_json: Json = False) -> None:
    """Print what to load for a skill, in order: what it requires first, itself last."""
    with connected(read_settings()) as hoprank:
        ids = [node.id for node in api.Skills(hoprank, graph).order(name)]
    deliver(ids, as_json, "\n".join)
