"""What every domain of the package has: settings with defaults, and a page that agrees with its schema."""

from __future__ import annotations

import importlib
import re
import tomllib

import pytest

from pipeline.knowledge.schema import Schema
from pipeline.registry import Domain, registry, verbs_of
from pipeline.serve.signature import Signature
from pipeline.settings import Section, load_settings

DOMAINS = [domain for domain in registry().domains if domain.distribution is None]
of_each = pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)


def page(domain: Domain) -> str:
    return (domain.folder / "README.md").read_text(encoding="utf-8")


def schema(domain: Domain) -> Schema:
    found: Schema = importlib.import_module(f"{domain.package}.schema").SCHEMA
    return found


def rows(text: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading, each a list of its cells."""
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [re.split(r" \| ", row.strip("| ")) for row in re.findall(r"^\| `.*$", section, flags=re.MULTILINE)]


def listed(types: str | tuple[str, ...]) -> str:
    return types if isinstance(types, str) else ", ".join(types)


@of_each
def test_a_domain_is_called_as_its_folder(domain: Domain) -> None:
    assert domain.package == f"pipeline.domains.{domain.name}"


@of_each
def test_the_page_lists_the_node_types_of_the_schema(domain: Domain) -> None:
    assert rows(page(domain), "Nodes") == [[f"`{kind}`", said] for kind, said in schema(domain).nodes.items()]


@of_each
def test_the_page_lists_the_edge_types_of_the_schema(domain: Domain) -> None:
    assert rows(page(domain), "Edges") == [
        [f"`{name}`", listed(edge.source), listed(edge.target), edge.description]
        for name, edge in schema(domain).edges.items()
    ]


@of_each
def test_the_ends_of_edges_are_node_types_of_the_schema(domain: Domain) -> None:
    declared = schema(domain)
    ends = {
        kind for edge in declared.edges.values() for kind in f"{listed(edge.source)}, {listed(edge.target)}".split(", ")
    }

    assert ends <= declared.nodes.keys()


@pytest.mark.parametrize(
    ("domain", "target"),
    [(domain, domain.settings) for domain in DOMAINS if domain.settings],
    ids=lambda part: getattr(part, "name", ""),
)
def test_the_defaults_are_those_of_the_section(domain: Domain, target: str) -> None:
    kind: type[Section] = domain.load(target)
    defaults = tomllib.loads((domain.folder / "defaults.toml").read_text(encoding="utf-8"))

    assert list(defaults) == list(kind.model_fields)
    assert load_settings({domain.name: defaults}).section(kind) == kind(**defaults)
    assert f"section `{domain.name}` of the [settings]" in page(domain)


@of_each
def test_the_verbs_of_a_domain_are_few_and_say_what_they_take(domain: Domain) -> None:
    verbs = verbs_of(domain)

    assert 1 <= sum(verb.read_only for verb in verbs) <= 3
    assert sum(not verb.read_only for verb in verbs) <= 4
    for verb in verbs:
        assert verb.help.endswith(".")
        schema = Signature(verb.function).input_schema
        assert schema.get("required") or verb.name == "forget", "forgetting takes any of its conditions"
        assert all(field.get("description") for field in schema["properties"].values()), verb.name
