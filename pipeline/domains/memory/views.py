"""Views of a memory: tables and lines that its commands print."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import captioned, measures_table, plain_table, shortened
from pipeline.domains.memory import deferred as domain
from pipeline.text.prose import counted, listed, one_line

# Characters of a cell and of a passage, and names of a kind that are listed. Chosen by hand; not measured.
_LONGEST_CELL, _LONGEST_TEXT = 60, 500
_SHOWN = 20


def recall_view(answer: domain.recall.Recall, *, explain: bool) -> list[RenderableType]:
    """Return the items of an answer, best first, and what it was understood as."""
    parts: list[RenderableType] = []
    for period in answer.periods:
        since, until = (period.start or "")[:10], (period.end or "")[:10]
        parts.append(Text(f"“{period.phrase}”: {since or 'any time'} to {until or 'now'}", style="dim"))
    for place, item in enumerate(answer.items, 1):
        if isinstance(item, domain.recall.FoundText):
            parts += _listed(place, f"{item.hit.title}  {item.key}", one_line(item.hit.text, _LONGEST_TEXT))
        else:
            lines = [item.entity.description] if item.entity.description else []
            lines += [fact_text(related.fact) for related in item.facts]
            parts += _listed(place, f"{item.entity.type} {item.entity.name}", "\n".join(lines))
        if explain:
            levels = ", ".join(f"{level} {rank.rank} ({rank.share:.0%})" for level, rank in item.levels.items())
            parts.append(Padding(Text(f"rank by level: {levels}", style="dim"), (0, 0, 0, 4)))
    if explain:
        parts.append(Text(f"Answered by: {answer.answered}.", style="dim"))
        for theme in answer.themes:
            parts.append(Text(f"Theme: {', '.join(entity.name for entity in theme.entities)}", style="dim"))
    return parts


def _listed(place: int, head: str, body: str) -> list[RenderableType]:
    return [Text(f"{place:>2}  {head}", style="bold"), Padding(Text(body), (0, 0, 0, 4))]


def texts_view(texts: Sequence[domain.records.Memory]) -> list[RenderableType]:
    """Return texts: when each was said, by whom, its key, and itself."""
    parts: list[RenderableType] = []
    for place, text in enumerate(texts, 1):
        head = "  ".join(filter(None, (text.time[:10], text.speaker, text.key)))
        parts += _listed(place, head, one_line(text.text, _LONGEST_TEXT))
    return parts


def entities_view(entities: Sequence[domain.records.Entity]) -> Table:
    """Return a row an entity."""
    rows = (
        (one.name, one.type, str(one.mention_count), one.scope, one_line(one.description, _LONGEST_CELL))
        for one in entities
    )
    return plain_table("entity", "type", "mentions", "scope", "description", rows=rows, named=True)


def fact_text(fact: domain.records.Fact) -> str:
    """Return a fact as a line: its ends, and when it holds."""
    since, until = (fact.valid_at or "")[:10], (fact.invalid_at or "")[:10]
    period = f" ({since or 'ever'} to {until or 'now'})" if since or until else ""
    return f"{name_of(fact.source)} {fact.type} {name_of(fact.target)}{period}"


def name_of(id_: str) -> str:
    """Return the name in the id of an entity."""
    return id_.split("|", 2)[-1]


def history_view(versions: Sequence[domain.records.Fact]) -> Table:
    """Return a row a version: the fact, when it held, when it was known, and why it ended or was withdrawn."""
    rows = []
    for fact in versions:
        why = fact.retracted or fact.ended or "".join(fact.evidence[:1])
        triple = f"{name_of(fact.source)} {fact.type} {name_of(fact.target)}"
        holds, known = _period(fact.valid_at, fact.invalid_at), _period(fact.created_at, fact.expired_at)
        rows.append((triple, holds, known, one_line(shortened(why), _LONGEST_CELL)))
    return plain_table("fact", "held", "known", "because", rows=rows)


def conflicts_view(conflicts: Sequence[domain.patterns.Conflict]) -> Table:
    """Return a row a conflict."""
    rows = ((fact_text(conflict.one), fact_text(conflict.other), conflict.reason) for conflict in conflicts)
    return plain_table("fact", "against", "because", rows=rows)


def revision_line(revision: domain.versions.Revision) -> str:
    """Return lines on what is believed after a change; that nothing changed if nothing did."""
    if not revision:
        return "That is known already."
    added = [fact_text(fact) for fact in revision.added]
    return "\n".join(added or [f"{fact_text(fact)}: no longer believed" for fact in revision.expired])


def _period(start: str | None, end: str | None) -> str:
    return f"{(start or 'ever')[:10]} to {(end or 'now')[:10]}"


def plan_view(plan: domain.plan.Plan) -> list[RenderableType]:
    """Return the groups that a plan merges, and the pairs that a person has to judge."""
    parts: list[RenderableType] = []
    if plan.groups:
        rows = (
            (group.survivor, "\n".join(group.losers), "; ".join(dict.fromkeys(map(because, group.evidence))))
            for group in plan.groups
        )
        parts.append(plain_table("keep", "merge into it", "because", rows=rows))
    if plan.review:
        pairs = ((*one.pair, because(one), "; ".join(one.against)) for one in plan.review)
        parts.append(plain_table("for you to judge", "", "for", "against", rows=pairs))
    return parts


def because(candidate: domain.candidates.Candidate) -> str:
    """Return what speaks for two entities being the same thing."""
    cosine = f"cosine {candidate.cosine:.2f}" if candidate.cosine is not None else ""
    shared = f"{counted(len(candidate.shared), 'fact')} in common" if candidate.shared else ""
    return ", ".join(part for part in (candidate.reason, cosine, shared) if part)


def merges_view(merges: Sequence[domain.apply.Merge]) -> Table:
    """Return a row a merge."""
    rows = []
    for merge in merges:
        losers = [loser for group in merge.groups for loser in group.losers]
        names = ", ".join(listed([name_of(loser) for loser in losers], 3))
        rows.append((merge.id, merge.time[:19], names, name_of(merge.groups[0].survivor)))
    return plain_table("merge", "time", "entities", "into", rows=rows)


def merge_line(merge: domain.apply.Merge) -> str:
    """Return a line on what was merged, and how to undo it."""
    losers = sum(len(group.losers) for group in merge.groups)
    return (
        f"Merged {counted(losers, 'entity', 'entities')} into {len(merge.groups):,}; {merge.moved:,} of their facts and"
        f" mentions moved. hoprank memory dedupe undo {merge.id} restores them."
    )


def remembered_line(done: domain.remember.Remembered) -> str:
    """Return a line on what texts brought to a memory."""
    counts = (
        counted(done.mentioned.memories, "new memory", "new memories"),
        counted(done.mentioned.mentions, "mention"),
        counted(done.mentioned.entities, "new entity", "new entities"),
        counted(done.facts, "fact"),
    )
    return f"{', '.join(counts)}."


def scanned_line(done: domain.store.Scanned) -> str:
    """Return a line on what a scan found and changed, and one for each remark."""
    commit = f" at {done.commit[:10]}" if done.commit else ""
    line = (
        f"{done.repository}{commit}, {done.time[:19]}: {counted(done.facts, 'fact')};"
        f" {counted(done.entities, 'new entity', 'new entities')}, {counted(done.added, 'fact')}"
        f" {'was' if done.added == 1 else 'were'} added, {done.ended:,} ended."
    )
    return "\n".join((line, *done.remarks))


def forgotten_view(done: domain.forget.Forgotten, *, dry_run: bool) -> Table:
    """Return a row for each memory, entity and fact that is forgotten, at most 20 of each."""
    rows = []
    for kind, names in (
        ("memory", done.memories),
        ("entity", done.entities),
        ("fact", [f"{fact.source} {fact.type} {fact.target}" for fact in done.facts]),
        ("less evidence", [f"{fact.source} {fact.type} {fact.target}" for fact in done.weakened]),
    ):
        rows += [(kind, name) for name in listed(names, _SHOWN)]
    return plain_table("would be forgotten" if dry_run else "to forget", "", rows=rows or [("nothing", "")])


def report_view(report: domain.evaluation.MemoryReport) -> RenderableType:
    """Return a row a ranking, in percent."""
    headings = {f"{of}_recall@{k}": f"{of}s@{k}" for of in ("turn", "session") for k in (5, 10)}
    caption = f"In percent of {counted(report.queries, 'question')} over {counted(report.turns, 'turn')}."
    return captioned(measures_table(report.metrics, headings), "\n".join([caption, *report.remarks]))
