"""A collection of skills becomes a graph that a reader finds right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, Skills
from pipeline.db.client import Client
from pipeline.domains.skills.build import build
from pipeline.domains.skills.check import check
from pipeline.domains.skills.queries import find_skill, list_skills, requires
from pipeline.domains.skills.schema import SkillEdge
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import read_skills
from pipeline.errors import GraphError, SourceError
from pipeline.files import DEFAULT_LIMITS

from .conftest import COLLECTION

MakeGraph = Callable[..., tuple[KnowledgeGraph, Any]]


def pairs(graph: KnowledgeGraph, kind: SkillEdge) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in graph.get_edges_by_type(kind)}


def skill(name: str, rest: str = "", body: str = "") -> str:
    return f"---\nname: {name}\ndescription: What {name} is for.\n{rest}\n---\n# {name}\n\n{body}\n"


def test_skills_packages_and_folders_are_told_apart(collection: KnowledgeGraph) -> None:
    assert [node.id for node in list_skills(collection)] == sorted(
        ["api-design", "chroma", "code-review", "embeddings", "lonely-skill", "pinecone", "security"]
    )
    assert [node.id for node in collection.find_nodes_by_type("package")] == [
        "package:chromadb",
        "package:embeddings",
        "package:numpy",
        "package:pinecone-client",
        "package:torch",
    ]
    assert [node.id for node in collection.find_nodes_by_type("folder")] == ["folder:rag"]


def test_a_skill_says_what_its_front_matter_says(collection: KnowledgeGraph) -> None:
    node = find_skill(collection, "Chroma")

    assert node.labels == ("RAG", "Vector Database", "Common")
    assert node.properties["version"] == "1.0.0"
    assert node.properties["description"] == "Vector database for semantic search."
    assert node.properties["path"] == "rag/chroma"
    assert node.embedding
    assert [one.id for one in collection.find_nodes_by_label("RAG")] == ["chroma", "embeddings", "pinecone"]


def test_requirements_are_dependencies_and_what_the_text_demands(collection: KnowledgeGraph) -> None:
    assert pairs(collection, SkillEdge.REQUIRES) == {
        ("api-design", "code-review"),
        ("api-design", "security"),
        ("chroma", "embeddings"),
        ("code-review", "security"),
    }
    assert pairs(collection, SkillEdge.USES) >= {("chroma", "package:chromadb"), ("embeddings", "package:numpy")}
    assert pairs(collection, SkillEdge.DOCUMENTS) == {("embeddings", "package:embeddings")}
    assumed = {edge.target for edge in collection.get_edges_by_type(SkillEdge.USES) if edge.properties.get("assumed")}
    assert assumed == {"package:numpy"}


def test_mentions_tags_and_folders_link(collection: KnowledgeGraph) -> None:
    assert pairs(collection, SkillEdge.MENTIONS) >= {("chroma", "pinecone"), ("api-design", "code-review")}
    shared = {
        (edge.source, edge.target): edge.properties["tags"]
        for edge in collection.get_edges_by_type(SkillEdge.SHARES_TAGS)
    }
    assert shared["chroma", "pinecone"] == ["Common", "RAG", "Vector Database"]
    weights = {(edge.source, edge.target): edge.weight for edge in collection.get_edges_by_type(SkillEdge.SHARES_TAGS)}
    assert weights["chroma", "pinecone"] > weights["chroma", "embeddings"], "a rarer tag says more"
    assert pairs(collection, SkillEdge.CONTAINS) == {
        ("api-design", "code-review"),
        *(("folder:rag", one) for one in ("chroma", "embeddings", "pinecone")),
    }
    assert [node.parent_id for node in collection.get_nodes(["code-review", "chroma", "security"])] == [
        "api-design",
        "folder:rag",
        None,
    ]
    assert ("chroma", "pinecone") in pairs(collection, SkillEdge.SIMILAR)


def test_related_skills_come_with_why(hoprank: HopRank, collection: KnowledgeGraph) -> None:
    found = Skills(hoprank, collection.name).related("chroma", 3)

    assert {one.node.id for one in found[:2]} == {"pinecone", "embeddings"}
    (why,) = [one.why for one in found if one.node.id == "pinecone"]
    assert "mentions it" in why
    assert any(text.startswith("shares Common, RAG") for text in why)
    assert all(one.node.type == "skill" for one in found)


def test_related_skills_are_read_at_once(
    hoprank: HopRank, collection: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(kind: str) -> None:
        run = getattr(Client, kind)

        def noting(client: Client, name: str, *args: Any, **params: Any) -> Any:
            asked.append(name)
            return run(client, name, *args, **params)

        monkeypatch.setattr(Client, kind, noting)

    note("read")
    note("stream")

    # The others are reached by way of chroma's neighbours: each was a search of a path of its own.
    assert len(Skills(hoprank, collection.name).related("chroma", 10)) > 2
    assert sorted(asked) == ["all_edges", "all_nodes", "graphs_named", "graphs_named", "graphs_named"]


def test_who_only_lies_in_the_same_folder_is_not_related(hoprank: HopRank, built: MakeGraph) -> None:
    said = {"baking": "Bakes bread in an oven.", "surveying": "Measures land.", "mapping": "Draws maps of towns."}
    text = "---\nname: {0}\ndescription: {1}\n---\n# {0}\n\n{2}\n"
    uses = {"mapping": "Take the points from the surveying skill."}
    graph, _ = built({f"all/{name}": text.format(name, what, uses.get(name, "")) for name, what in said.items()})

    skills = Skills(hoprank, graph.name)
    assert not skills.related("baking", 3)
    assert [one.node.id for one in skills.related("mapping", 3)] == ["surveying"]


def test_requirements_are_followed(collection: KnowledgeGraph) -> None:
    direct, whole = (requires(collection, "chroma", transitive=transitive) for transitive in (False, True))

    assert [node.id for node, _ in direct.skills] == ["embeddings"]
    assert [node.id for node, _ in direct.packages] == ["package:chromadb"]
    assert [(node.id, hops) for node, hops in whole.packages] == [
        ("package:chromadb", 1),
        ("package:embeddings", 2),
        ("package:numpy", 2),
        ("package:torch", 2),
    ]


def test_the_order_has_what_is_required_first(hoprank: HopRank, collection: KnowledgeGraph) -> None:
    skills = Skills(hoprank, collection.name)

    assert [node.id for node in skills.order("api-design")] == ["security", "code-review", "api-design"]
    assert [node.id for node in skills.order("security")] == ["security"]


def test_a_path_says_what_each_step_is(hoprank: HopRank, collection: KnowledgeGraph) -> None:
    skills = Skills(hoprank, collection.name)
    nodes, steps = skills.path("embeddings", "pinecone")

    assert [node.id for node in nodes][0::2] == ["embeddings", "pinecone"] or len(nodes) == 2
    assert len(steps) == len(nodes) - 1
    assert all(steps)
    assert not any(skills.path("chroma", "lonely-skill"))


def test_skills_are_found_by_words_and_by_meaning(hoprank: HopRank, collection: KnowledgeGraph) -> None:
    skills = Skills(hoprank, collection.name)

    assert skills.search("vector database", 2)[0].node.id in ("chroma", "pinecone")
    assert skills.search("making toast and rolls", 1)[0].node.id == "lonely-skill"


def test_a_check_finds_orphans_only_in_this_collection(hoprank: HopRank, collection: KnowledgeGraph) -> None:
    findings = check(collection, hoprank.settings.section(SkillSettings))

    assert (findings.missing, findings.cycles, findings.near_by_name) == ([], [], [])
    assert findings.assumed == ["numpy"]
    assert findings.orphans == ["lonely-skill"]


def test_a_check_finds_what_is_wrong(hoprank: HopRank, built: MakeGraph) -> None:
    graph, made = built(
        {
            "a": skill("alpha-one", "dependencies: [beta-two, beta-tow, nowhere]"),
            "b": skill("beta-two", "dependencies: [gamma-three]"),
            "c": skill("gamma-three", "dependencies: [alpha-one]"),
            "d": skill("alpha-once"),
            "e": skill("same", body="x").replace("What same is for.", "Parsing dates in many languages."),
            "f/same": skill("same").replace("What same is for.", "Parsing dates in many languages."),
        }
    )
    findings = check(graph, hoprank.settings.section(SkillSettings))

    assert [(one.skill, one.dependency, one.nearest) for one in findings.missing] == [
        ("alpha-one", "beta-tow", "beta-two"),
        ("alpha-one", "nowhere", None),
    ]
    assert made.missing == 2
    assert findings.cycles == [["alpha-one", "beta-two", "gamma-three", "alpha-one"]]
    assert [(pair.one, pair.other) for pair in findings.near_by_name] == [
        ("same (e)", "same (f/same)"),
        ("alpha-once", "alpha-one"),
    ]
    assert ("same (e)", "same (f/same)") in {(pair.one, pair.other) for pair in findings.near_by_meaning}
    with pytest.raises(GraphError, match="require each other: beta-two -> gamma-three -> alpha-one -> beta-two"):
        Skills(hoprank, graph.name).order("beta-two")
    with pytest.raises(GraphError, match="2 skills are named 'same'"):
        find_skill(graph, "same")


def test_building_again_replaces_the_graph(built: MakeGraph) -> None:
    graph, _ = built(COLLECTION)
    before = sorted(edge.id for edge in graph.edges())
    again, made = built(COLLECTION)
    assert sorted(edge.id for edge in again.edges()) == before
    assert made.skills == 7

    fewer, _ = built({"security": COLLECTION["security"]})
    assert [node.id for node in fewer.nodes()] == ["security"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# No front matter\n", "has no name"),
        ("---\ndescription: x\n---\n", "has no name"),
        ("---\nname: [\n---\n", "malformed front matter"),
        ("---\nname: null\n---\n", "has no name"),
    ],
)
def test_a_skill_that_cannot_be_read_is_left_out_and_named(built: MakeGraph, text: str, reason: str) -> None:
    graph, made = built({"good": skill("good"), "bad": text})

    assert [node.id for node in list_skills(graph)] == ["good"]
    assert [(one.source, reason in one.reason) for one in made.skipped] == [("bad/SKILL.md", True)]


def test_skills_are_read_as_they_are_found_in_the_wild(tmp_path: Path) -> None:
    texts = {
        "colon/SKILL.md": "---\nname: colon\ndescription: Keeps the rule: one record. Triggers: adr\n---\n",
        "hint/SKILL.md": '---\nname: hint\nargument-hint: [action] — e.g. "list"\npaths: **/*.py\n---\n',
        "bom/SKILL.md": "\ufeff---\r\nname: bom\r\ndescription: On Windows\r\n---\r\n",
        "lower/skill.md": "---\nname: lower\ntags:\n\t- a\n---\n",
        "date/SKILL.md": "---\nname: date\nversion: 2024-13-45\n---\n",
        "../checkout/linked/SKILL.md": "---\nname: linked\n---\n",
    }
    for name, text in texts.items():
        place = tmp_path / "skills" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    (tmp_path / "skills" / "linked").symlink_to(tmp_path / "checkout" / "linked")
    (tmp_path / "skills" / "gone").mkdir()
    (tmp_path / "skills" / "gone" / "SKILL.md").symlink_to("nowhere")
    (tmp_path / "skills" / "lost").symlink_to("nowhere")

    skills, skipped = read_skills(tmp_path / "skills", DEFAULT_LIMITS)

    assert [skill.id for skill in skills] == ["bom", "colon", "date", "hint", "linked", "lower"]
    assert skills[1].description == "Keeps the rule: one record. Triggers: adr"
    assert skills[5].tags == ("a",)
    assert [len(skill.warnings) for skill in skills] == [0, 0, 1, 0, 0, 0]
    assert [(one.source, one.reason) for one in skipped] == [
        ("gone/SKILL.md", "is a link to nothing"),
        ("lost", "is a link to nothing"),
    ]


def test_a_second_build_embeds_and_writes_what_has_changed(built: MakeGraph) -> None:
    skills = {name: f"---\nname: {name}\ndescription: about {name}\n---\n" for name in ("one", "two", "three")}
    _, first = built(skills)
    graph, second = built(skills)
    created = {node.id: (node.created_at, node.updated_at) for node in graph.nodes()}
    _, third = built(skills | {"two": skills["two"].replace("about two", "quite another thing")})

    assert (first.embedded, second.embedded, third.embedded) == (3, 0, 1)
    assert first.written >= 3
    assert second.written == 0
    assert third.written >= 1
    after = {node.id: (node.created_at, node.updated_at) for node in graph.nodes()}
    assert {node_id for node_id in created if created[node_id] != after[node_id]} == {"two"}


def test_a_folder_without_skills_is_refused(hoprank: HopRank, tmp_path: Path) -> None:
    for folder, said in ((tmp_path, "holds no skill"), (tmp_path / "no", "is no folder")):
        with pytest.raises(SourceError, match=said):
            build(partial(hoprank.graph, "never made"), folder, hoprank.settings.section(SkillSettings))
    with pytest.raises(GraphError, match="no graph 'never made'"):
        KnowledgeGraph("never made", client=hoprank.client, create=False)


@pytest.mark.parametrize("name", ["'`}) DETACH DELETE n //", "MATCH", "[bold]x[/bold]", "😀", "x" * 900])
def test_a_skill_may_have_any_name(hoprank: HopRank, built: MakeGraph, name: str) -> None:
    graph, _ = built(
        {"a": skill("'" + name.replace("'", "''") + "'", f"tags: ['{name.replace(chr(39), chr(39) * 2)}']")}
    )

    assert find_skill(graph, name).labels == (name,)
    assert [node.id for node in Skills(hoprank, graph.name).order(name)] == [name]


def test_a_skill_that_is_not_there_is_named_with_the_nearest(collection: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="Did you mean 'chroma'"):
        find_skill(collection, "chrom")
    with pytest.raises(GraphError, match="no skill 'package:torch'"):
        find_skill(collection, "package:torch")
    assert find_skill(collection, "review").id == "code-review", "by its folder"


def test_a_skill_is_asked_for_by_its_name(built: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = built({"a": skill("Same"), "b": skill("Same"), "c": skill("tide-tables")})
    monkeypatch.setattr(KnowledgeGraph, "find_nodes_by_type", lambda *_: pytest.fail("all skills were read"))

    assert find_skill(graph, "Tide tables").id == "tide-tables"
    with pytest.raises(GraphError, match="2 skills are named 'Same'"):
        find_skill(graph, "Same")


def test_an_edge_that_the_schema_lacks_is_not_written(built: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = built(COLLECTION)
    before = graph.size()
    odd = KnowledgeEdge("chroma", "pinecone", "resembles")
    monkeypatch.setattr("pipeline.domains.skills.build._tag_edges", lambda *_: [odd])

    with pytest.raises(GraphError, match="has the type 'resembles'"):
        built(COLLECTION)

    assert graph.size() == before


def test_related_skills_read_the_graph_once_until_it_changes(
    collection: KnowledgeGraph, hoprank: HopRank, monkeypatch: pytest.MonkeyPatch
) -> None:
    skills = Skills(hoprank, collection.name)
    read: list[str] = []
    whole = KnowledgeGraph.to_memory

    def spy(graph: KnowledgeGraph) -> KnowledgeGraph:
        read.append(graph.name)
        return whole(graph)

    monkeypatch.setattr(KnowledgeGraph, "to_memory", spy)

    first = [skills.related(name, 3) for name in ("chroma", "pinecone", "chroma")]

    assert len(read) == 1
    assert first[0] == first[2] != first[1]
    collection.update_node("chroma", properties={"description": "Another one."})
    assert skills.related("pinecone", 3)
    assert len(read) == 2
