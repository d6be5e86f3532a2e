"""Tool graphs, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import measures_table, plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.tools.catalogue import Built, Tool
    from pipeline.domains.tools.chains.plan import Chain, Step
    from pipeline.domains.tools.evaluate import ToolReport
    from pipeline.domains.tools.find import FoundTool
    from pipeline.domains.tools.queries import ReachedNode, ToolDetails
    from pipeline.knowledge import KnowledgeNode


_LONGEST = 80


def found_view(found: Sequence[FoundTool]) -> Table:
    """Return found tools, best first, each with its service and why it was found."""
    table = plain_table("tool", "service", "why")
    for tool in found:
        table.add_row(Text(tool.name, style="bold"), Text(tool.service), Text("; ".join(tool.why)))
    return table


def tools_view(tools: Sequence[Tool], services: Mapping[str, str]) -> Table:
    """Return a line a tool, with the beginning of its description."""
    table = plain_table("tool", "service", "description")
    for tool in tools:
        table.add_row(
            Text(tool.name, style="bold"),
            Text(services.get(tool.service, tool.service)),
            Text(_short(tool.description)),
        )
    return table


def tool_view(details: ToolDetails) -> Iterator[RenderableType]:
    """Yield what a tool says of itself, what runs before it, and what its output fits."""
    yield property_grid(
        [
            ("tool", details.id),
            ("service", details.service),
            ("description", " ".join(details.description.split())),
            ("takes", ", ".join(details.takes)),
            ("returns", ", ".join(details.returns)),
        ]
    )
    for title, links in (("before it", details.before), ("after it", details.after)):
        if links:
            table = plain_table(title, "confidence", "why")
            for link in links:
                table.add_row(Text(link.tool, style="bold"), f"{link.confidence:.2f}", Text(link.why))
            yield Text("")
            yield table


def chains_view(chains: Sequence[Chain]) -> Iterator[RenderableType]:
    """Yield chains, best first: the steps of each, where their inputs come from, and the inputs that are missing."""
    for place, chain in enumerate(chains, 1):
        yield Text(f"{'' if place == 1 else chr(10)}{place}. confidence {chain.confidence:.2f}", style="bold")
        levels = [step.level for step in chain.steps]
        for number, step in enumerate(chain.steps, 1):
            yield Padding(_step(number, step, parallel=levels.count(step.level) > 1), (0, 0, 0, 3))


def _step(number: int, step: Step, *, parallel: bool) -> Text:
    text = Text(f"{number}. ")
    text.append(step.name, style="bold")
    text.append(f" ({step.service})")
    if parallel:
        text.append(", in parallel")
    if step.condition:
        text.append(f", {step.condition}")
    for one in step.bindings:
        by = f" by {one.converter}" if one.converter else ""
        text.append(f"\n   {one.input} = {one.output} of {one.step}{by} ({one.confidence:.2f})")
    if step.missing:
        text.append(f"\n   missing: {', '.join(step.missing)}")
    return text


def reached_view(reached: Sequence[ReachedNode]) -> Table:
    """Return nodes, nearest first, each with its distance and similarity."""
    table = plain_table("node", "type", "distance", "similarity")
    for one in reached:
        table.add_row(Text(one.node.id, style="bold"), one.node.type, str(one.distance), f"{one.similarity:.2f}")
    return table


def path_view(nodes: Sequence[KnowledgeNode]) -> Table:
    """Return the nodes of a path, in order."""
    table = plain_table("node", "type")
    for node in nodes:
        table.add_row(Text(node.id, style="bold"), node.type)
    return table


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


_MOST_LISTED = 20


def built_view(built: Built, graph: str) -> Table:
    """Return how many nodes and edges a build made, and what it left out."""
    rows = [
        ("graph", graph),
        ("nodes", ", ".join(f"{kind} {count:,}" for kind, count in built.nodes.items())),
        ("edges", ", ".join(f"{kind} {count:,}" for kind, count in built.edges.items())),
        ("changed", f"{built.written:,} nodes and edges, {built.embedded:,} texts embedded"),
    ]
    for name, texts in (
        ("skipped", [f"{one.source} {one.reason}" for one in built.skipped]),
        ("schemas left out", list(built.faults)),
    ):
        if texts:
            more = [f"and {len(texts) - _MOST_LISTED:,} more"] if len(texts) > _MOST_LISTED else []
            rows.append((name, "\n".join([*texts[:_MOST_LISTED], *more])))
    return property_grid(rows)


def report_view(report: ToolReport) -> Table:
    """Return the measures of each ranking in percent."""
    table = measures_table(report.metrics)
    table.caption = Text(f"{report.queries:,} tasks, {report.tools:,} tools, p50 {report.latency_ms['p50']:.0f} ms")
    table.caption_justify = "left"
    return table


_ENTITIES = str.maketrans({character: f"#{ord(character)};" for character in '#"<>&[](){}|`;'})


def flowchart(chain: Chain) -> str:
    """Return the chain as Mermaid text: a node for each tool and each input that is missing, an arrow for each field.

    Names are escaped: no text of a tool becomes Mermaid.
    """
    return "\n".join(["flowchart LR", *(f"  {line}" for line in _lines(chain))]) + "\n"


def _lines(chain: Chain) -> Iterator[str]:
    for number, step in enumerate(chain.steps, 1):
        yield f'{_node(number)}["{_text(step.name)}<br/><small>{_text(step.service)}</small>"]'
        for place, name in enumerate(step.missing, 1):
            yield f'i{number}_{place}(["{_text(name)}"]) --> {_node(number)}'
        yield from _arrows(number, step)


def _arrows(number: int, step: Step) -> Iterator[str]:
    bound = {binding.step for binding in step.bindings}
    for binding in step.bindings:
        by = f", by {binding.converter}" if binding.converter else ""
        label = _text(f"{binding.output} to {binding.input} ({binding.confidence:.2f}{by})")
        yield f'{_node(binding.step)} -->|"{label}"| {_node(number)}'
    for before in step.after:
        if before not in bound:
            yield f"{_node(before)} -.-> {_node(number)}"


def _node(number: int) -> str:
    return f"t{number}"


def _text(text: str) -> str:
    return " ".join(text.translate(_ENTITIES).split())
