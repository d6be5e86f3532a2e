"""``hoprank skills``: the graph of a collection of skills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Model, Set, flags
from pipeline.cli.views.output import print_json, show, waiting, warn
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.knowledge import KnowledgeGraph

app = typer.Typer(help="Skills: build their graph from SKILL.md folders, ask it, check it.", no_args_is_help=True)

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
    from pipeline.cli.views.progress import shown_progress
    from pipeline.cli.views.skills import built_json, built_view
    from pipeline.domains.skills import build

    with connected(load_settings(flags(model, settings))) as hoprank, shown_progress() as progress:
        built = build(hoprank.client, hoprank.embedder, folder, graph, hoprank.settings.skills, progress)
    if as_json:
        print_json(built_json(built))
    else:
        show(built_view(built, graph))


@app.command("list")
def list_(
    graph: Graph = "skills",
    tag: Annotated[str | None, typer.Option("--tag", help="Only skills with this tag.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List the skills with what each is for."""
    from pipeline.cli.views.skills import skill_json, skills_view
    from pipeline.domains.skills import list_skills

    with connected(load_settings()) as hoprank:
        skills = list_skills(_open(hoprank, graph), tag)
    if as_json:
        print_json([skill_json(skill) for skill in skills])
    elif skills:
        show(skills_view(skills))
    else:
        warn(f"No skill has the tag {tag}.")


@app.command("show")
def show_(name: Name, graph: Graph = "skills", as_json: Json = False) -> None:
    """Show a skill: what it says of itself, and its edges."""
    from pipeline.cli.views.skills import skill_json, skill_view
    from pipeline.domains.skills import find_skill

    with connected(load_settings()) as hoprank:
        opened = _open(hoprank, graph)
        skill = find_skill(opened, name)
        ids = [skill.id, *(node.id for node in opened.get_neighbors(skill.id, direction="both"))]
        edges = [edge for edge in opened.get_subgraph(ids).edges() if skill.id in (edge.source, edge.target)]
    if as_json:
        print_json(skill_json(skill, edges))
    else:
        show(*skill_view(skill, edges))


@app.command()
def related(name: Name, graph: Graph = "skills", top_k: TopK = 10, as_json: Json = False, settings: Set = None) -> None:
    """Print the skills that a walk from this one visits most, and why each is related."""
    from pipeline.cli.views.skills import related_json, related_view
    from pipeline.domains.skills import related

    with connected(load_settings(flags(None, settings))) as hoprank, waiting("Walking"):
        found = related(_open(hoprank, graph), name, top_k, hoprank.settings.skills.restart_prob)
    if as_json:
        print_json([related_json(one) for one in found])
    elif found:
        show(related_view(found))
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
    from pipeline.cli.views.skills import required_json, required_view
    from pipeline.domains.skills import requires

    with connected(load_settings()) as hoprank:
        found = requires(_open(hoprank, graph), name, transitive=transitive)
    if as_json:
        print_json(required_json(found))
    else:
        show(required_view(found))


@app.command()
def path(
    one: Annotated[str, typer.Argument(metavar="A", help="A skill.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    graph: Graph = "skills",
    as_json: Json = False,
) -> None:
    """Print the strongest way between two skills, and what each step of it says."""
    from pipeline.cli.views.skills import path_json, path_view
    from pipeline.domains.skills import path_between

    with connected(load_settings()) as hoprank:
        nodes, steps = path_between(_open(hoprank, graph), one, other)
    if as_json:
        print_json(path_json(nodes, steps))
    elif nodes:
        show(*path_view(nodes, steps))
    else:
        warn(f"Nothing joins {one} and {other}.")


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
    from pipeline.cli.views.skills import found_view, skill_json
    from pipeline.domains.skills import search

    with connected(load_settings(flags(model, settings))) as hoprank, waiting("Searching"):
        found = search(_open(hoprank, graph), text, top_k)
    if as_json:
        print_json([{**skill_json(one.node), "score": one.score, "parts": dict(one.parts)} for one in found])
    elif found:
        show(found_view(found))
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
    from pipeline.cli.views.skills import findings_json, findings_view
    from pipeline.domains.skills import check

    with connected(load_settings(flags(None, settings))) as hoprank:
        findings = check(_open(hoprank, graph), hoprank.settings.skills)
    if as_json:
        print_json(findings_json(findings))
    else:
        show(*findings_view(findings))
    if strict and (findings.missing or findings.cycles):
        raise typer.Exit(1)


@app.command()
def order(name: Name, graph: Graph = "skills", as_json: Json = False) -> None:
    """Print what to load for a skill, in order: what it requires first, itself last."""
    from pipeline.domains.skills import order

    with connected(load_settings()) as hoprank:
        nodes = order(_open(hoprank, graph), name)
    if as_json:
        print_json([node.id for node in nodes])
        return
    for node in nodes:
        print(node.id)


def _open(hoprank: HopRank, name: str) -> KnowledgeGraph:
    from pipeline.knowledge import KnowledgeGraph

    return KnowledgeGraph(
        name, client=hoprank.client, embedder=hoprank.embedder, settings=hoprank.settings, create=False
    )
