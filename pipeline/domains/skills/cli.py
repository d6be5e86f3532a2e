"""``hoprank skills``: the graph of a collection of skills."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pipeline
from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Model, Set, read_settings
from pipeline.cli.views.output import print_json, say, show, spinner, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.skills import deferred as domain
from pipeline.domains.skills.views import (
    built_view,
    findings_view,
    path_json,
    path_view,
    ranked_json,
    ranked_view,
    related_json,
    related_view,
    required_json,
    required_view,
    skill_json,
    skill_view,
    skills_view,
)

if TYPE_CHECKING:
    from pipeline.domains.skills.settings import SkillSettings

app = typer.Typer(no_args_is_help=True)

Graph = Annotated[str, typer.Option("--graph", "-g", metavar="NAME", help="The graph.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The skill.")]
TopK = Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many skills.")]


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with skills, at any depth.")],
    graph: Graph = "skills",
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Make a graph hold the skills below a folder, and nothing else; until it is whole, the old one is there."""
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        limits = hoprank.settings.sources.limits
        built = domain.build.build(partial(hoprank.graph, graph), folder, _settings(hoprank), progress, limits=limits)
    if as_json:
        print_json(asdict(built))
    else:
        show(built_view(built, graph))


@app.command("list")
def list_(
    graph: Graph = "skills",
    tag: Annotated[str | None, typer.Option("--tag", help="Only skills with this tag.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List the skills with what each is for."""
    with connected(read_settings()) as hoprank:
        skills = domain.queries.list_skills(_open(hoprank, graph), tag)
    if as_json:
        print_json([skill_json(skill) for skill in skills])
    elif skills:
        show(skills_view(skills))
    else:
        warn(f"No skill has the tag {tag}.")


@app.command("show")
def show_(name: Name, graph: Graph = "skills", as_json: Json = False) -> None:
    """Show a skill: what it says of itself, and its edges."""
    with connected(read_settings()) as hoprank:
        opened = _open(hoprank, graph)
        skill = domain.queries.find_skill(opened, name)
        ids = [skill.id, *(node.id for node in opened.get_neighbors(skill.id, direction="both"))]
        edges = [edge for edge in opened.get_subgraph(ids).edges() if skill.id in (edge.source, edge.target)]
    if as_json:
        print_json(skill_json(skill, edges))
    else:
        show(*skill_view(skill, edges))


@app.command()
def related(name: Name, graph: Graph = "skills", top_k: TopK = 10, as_json: Json = False, settings: Set = None) -> None:
    """Print the skills that a walk from this one visits most, and why each is related."""
    with connected(read_settings(None, settings)) as hoprank, spinner("Walking"):
        skills = domain.queries.related(_open(hoprank, graph), name, top_k, _settings(hoprank).restart_prob)
    if as_json:
        print_json([related_json(skill) for skill in skills])
    elif skills:
        show(related_view(skills))
    else:
        warn(f"Nothing is related to {name}.")


@app.command()
def requires(
    name: Name,
    graph: Graph = "skills",
    transitive: Annotated[bool, typer.Option("--transitive", help="Also what those require.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a skill requires: skills, packages, and what is missing."""
    with connected(read_settings()) as hoprank:
        required = domain.queries.requires(_open(hoprank, graph), name, transitive=transitive)
    if as_json:
        print_json(required_json(required))
    else:
        show(required_view(required))


@app.command()
def path(
    source: Annotated[str, typer.Argument(metavar="A", help="A skill.")],
    target: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    graph: Graph = "skills",
    as_json: Json = False,
) -> None:
    """Print the strongest way between two skills, and what each step of it says."""
    with connected(read_settings()) as hoprank:
        nodes, steps = domain.queries.path_between(_open(hoprank, graph), source, target)
    if as_json:
        print_json(path_json(nodes, steps))
    elif nodes:
        show(*path_view(nodes, steps))
    else:
        warn(f"Nothing joins {source} and {target}.")


@app.command()
def search(
    text: Annotated[str, typer.Argument(help="What a skill is needed for.")],
    graph: Graph = "skills",
    top_k: TopK = 10,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print the skills that fit a text by words, by the graph and by meaning."""
    with connected(read_settings(model, settings)) as hoprank, spinner("Searching"):
        ranked = domain.queries.search(_open(hoprank, graph), text, top_k)
    if as_json:
        print_json([ranked_json(skill) for skill in ranked])
    elif ranked:
        show(ranked_view(ranked))
    else:
        warn("No skill fits this.")


@app.command()
def check(
    graph: Graph = "skills",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if anything is missing or cyclic.")] = False,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Look for missing dependencies, cycles, orphans and near-duplicates."""
    with connected(read_settings(None, settings)) as hoprank:
        findings = domain.check.check(_open(hoprank, graph), _settings(hoprank))
    if as_json:
        print_json(asdict(findings))
    else:
        show(findings_view(findings))
    if strict and (findings.missing or findings.cycles):
        raise typer.Exit(1)


@app.command()
def order(name: Name, graph: Graph = "skills", as_json: Json = False) -> None:
    """Print what to load for a skill, in order: what it requires first, itself last."""
    with connected(read_settings()) as hoprank:
        ids = [node.id for node in domain.queries.order(_open(hoprank, graph), name)]
    if as_json:
        print_json(ids)
    else:
        say("\n".join(ids))


def _open(hoprank: pipeline.HopRank, name: str) -> pipeline.KnowledgeGraph:
    return hoprank.graph(name, create=False)


def _settings(hoprank: pipeline.HopRank) -> SkillSettings:
    return hoprank.settings.section(domain.settings.SkillSettings)
