"""Tool graphs, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import captioned, measures_table, plain_table, property_grid
from pipeline.text.prose import counted, listed, one_line

if TYPE_CHECKING:
    from pipeline.domains.tools.catalogue import Built
    from pipeline.domains.tools.chains.plan import Chain, Step
    from pipeline.domains.tools.evaluate import ToolReport
    from pipeline.domains.tools.find import FoundTool
    from pipeline.domains.tools.queries import ToolDetails


def found_view(found: Sequence[FoundTool]) -> Table:
    """Return found tools, best first, each with its service and why it was found."""
    rows = ((tool.name, tool.service, "; ".join(tool.why)) for tool in found)
    return plain_table("tool", "service", "why", rows=rows, named=True)


def tool_view(details: ToolDetails) -> Iterator[RenderableType]:
    """Yield what a tool says of itself, what runs before it, and what its output fits."""
    yield property_grid(
        [
            ("tool", details.id),
            ("service", details.service),
            ("description", one_line(details.description)),
            ("takes", ", ".join(details.takes)),
            ("returns", ", ".join(details.returns)),
        ]
    )
    for title, links in (("before it", details.before), ("after it", details.after)):
        if links:
            yield Text("")
            rows = ((link.tool, f"{link.confidence:.2f}", link.why) for link in links)
            yield plain_table(title, "confidence", "why", rows=rows, named=True)


def chains_view(chains: Sequence[Chain]) -> Iterator[RenderableType]:
    """Yield chains, best first: the steps of each, where their inputs come from, and the inputs that are missing."""
    for place, chain in enumerate(chains, 1):
        yield Text(f"{'' if place == 1 else chr(10)}{place}. confidence {chain.confidence:.2f}", style="bold")
        levels = [step.level for step in chain.steps]
        for number, step in enumerate(chain.steps, 1):
            yield Padding(_step(number, step, parallel=levels.count(step.level) > 1), (0, 0, 0, 3))


def _step(number: int, step: Step, *, parallel: bool) -> Text:
    text = Text.assemble(f"{number}. ", (step.name, "bold"), f" ({step.service})", ", in parallel" if parallel else "")
    if step.condition:
        text.append(f", {step.condition}")
    if step.given:
        text.append(f"\n   given: {', '.join(step.given)}")
    for one in step.bindings:
        by = f" by {one.converter}" if one.converter else ""
        text.append(f"\n   {one.input} = {one.output} of {one.step}{by} ({one.confidence:.2f})")
    if step.missing:
        text.append(f"\n   missing: {', '.join(step.missing)}")
    return text


_MOST_LISTED = 20  # to fit a screen; chosen by hand


def built_view(built: Built, graph: str) -> Table:
    """Return how many nodes and edges a build made, and what it left out."""
    rows = [
        ("graph", graph),
        ("nodes", ", ".join(f"{kind} {count:,}" for kind, count in built.nodes.items())),
        ("edges", ", ".join(f"{kind} {count:,}" for kind, count in built.edges.items())),
        ("changed", f"{built.written:,} nodes and edges, {counted(built.embedded, 'text')} embedded"),
    ]
    for name, texts in (
        ("skipped", [f"{one.source} {one.reason}" for one in built.skipped]),
        ("schemas left out", list(built.faults)),
    ):
        if texts:
            rows.append((name, "\n".join(listed(texts, _MOST_LISTED))))
    return property_grid(rows)


def report_view(report: ToolReport) -> RenderableType:
    """Return the measures of each ranking in percent."""
    asked = f"{counted(report.queries, 'task')}, {counted(report.tools, 'tool')}"
    return captioned(
        measures_table(report.metrics),
        "\n".join([f"In percent; {asked}, half of them in {report.latency_ms['p50']:.0f} ms.", *report.remarks]),
    )


_ENTITIES = str.maketrans({character: f"#{ord(character)};" for character in '#"<>&[](){}|`;'})


def flowchart(chain: Chain) -> str:
    """Return the chain as Mermaid text: a node for each tool and each input that none fills, an arrow for each field.

    Names are escaped: no text of a tool becomes Mermaid.
    """
    lines = ["flowchart LR"]
    for number, step in enumerate(chain.steps, 1):
        lines.append(f'  t{number}["{_escaped(step.name)}<br/><small>{_escaped(step.service)}</small>"]')
        for place, name in enumerate((*step.given, *step.missing), 1):
            lines.append(f'  i{number}_{place}(["{_escaped(name)}"]) --> t{number}')
        for binding in step.bindings:
            by = f", by {binding.converter}" if binding.converter else ""
            label = _escaped(f"{binding.output} to {binding.input} ({binding.confidence:.2f}{by})")
            lines.append(f'  t{binding.step} -->|"{label}"| t{number}')
        bound = {binding.step for binding in step.bindings}
        lines += [f"  t{before} -.-> t{number}" for before in step.after if before not in bound]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return " ".join(text.translate(_ENTITIES).split())
