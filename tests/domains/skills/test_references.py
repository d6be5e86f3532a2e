"""What a text refuses it doesn't mention, and what only looks like a refusal it does."""

from __future__ import annotations

import pytest

from pipeline.domains.skills.references import Names, mentions, refusals
from pipeline.domains.skills.sources import Skill


def skill(name: str, text: str = "") -> Skill:
    return Skill(name, name, name, title=name, description="", version="", tags=(), dependencies=(), text=text)


def mentioned(text: str) -> set[str]:
    said = skill("speaker", text)
    names = Names([said, *map(skill, ("mcp-builder", "front-design", "plan-writing", "chroma"))])
    return set(mentions(said, names)[0])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do NOT invoke front-design, mcp-builder, or any other. You invoke plan-writing.", {"plan-writing"}),
        ("Do not invoke front-design,\nor mcp-builder, here.", set()),
        ("Don't use the `mcp-builder` skill; use plan-writing.", {"plan-writing"}),
        ("Never load **chroma** here.", set()),
        ("This doesn't require plan-writing.", set()),
        ("Use plan-writing, not mcp-builder.", {"plan-writing"}),
        ("Unlike mcp-builder, plan-writing asks first.", {"plan-writing"}),
        ("Unlike mcp-builder and front-design, plan-writing asks first.", {"plan-writing"}),
        ("Take plan-writing instead of tools:mcp-builder.", {"plan-writing"}),
        ("Rather than [building](../mcp-builder), use plan-writing.", {"plan-writing"}),
    ],
)
def test_what_is_refused_is_no_mention(text: str, names: set[str]) -> None:
    assert mentioned(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Use mcp-builder instead when there is no server.",
        "Never skip mcp-builder.",
        "Not only mcp-builder does this.",
        "Do not invoke any other skill. mcp-builder is the next step.",
        "Do not use anything without mcp-builder.",
        "mcp-builder: simple servers, not many tools",
        "Don't use a plan, but mcp-builder.",
        "mcp-builder doesn't use a plan.",
    ],
)
def test_what_only_looks_like_a_refusal_is_one(text: str) -> None:
    assert mentioned(text) == {"mcp-builder"}


def test_a_text_without_an_end_is_read_in_one_go() -> None:
    (refused,) = refusals("do not use " * 50_000)

    assert refused == range(550_000)
    assert len(refusals("not " * 100_001)) == 50_000
