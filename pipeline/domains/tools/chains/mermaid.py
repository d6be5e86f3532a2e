"""Draw a chain as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.domains.tools.chains.plan import Chain, Step

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
