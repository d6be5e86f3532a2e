"""``hoprank memory add``, ``import``, ``scan``, ``forget`` and ``drop``: what a memory holds."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.deliver import deliver
from pipeline.cli.options import Strict, Yes, confirm
from pipeline.cli.views.output import print_json, say, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.memory.cli.options import Ask, Embedding, NewScope, Reading, Scope
from pipeline.domains.memory.views import forgotten_view, remembered_line, scanned_line
from pipeline.grouping import grouped
from pipeline.json_values import plain
from pipeline.text.prose import counted

_SHOWN = 10  # reasons for which messages were left out; chosen by hand


def add(
    text: Annotated[str, Argument(metavar="TEXT", help="What is to be remembered; - reads it from stdin.")],
    date: Annotated[
        str | None, Option("--date", metavar="TIME", help="When it was said; ISO 8601.", show_default="now")
    ] = None,
    speaker: Annotated[str, Option("--speaker", metavar="NAME", help="Who said it.")] = "",
    session: Annotated[str, Option("--session", metavar="NAME", help="Where it was said.")] = "",
    key: Annotated[
        str | None, Option("--key", metavar="KEY", help="Its key; the same key again replaces the text.")
    ] = None,
    scope: NewScope = None,
    run: Embedding = Ask(),
) -> None:
    """Remember a text, word by word, with the entities that it mentions."""
    said = typer.get_text_stream("stdin").read() if text == "-" else text
    with run.opened() as memory, show_progress() as progress:
        made, done = memory.add(
            said, key=key, date=date, speaker=speaker, session=session, scope=scope, progress=progress
        )
    document = {"key": made.key, "time": made.time, **plain(done)}
    deliver(done, run.as_json, lambda it: f"{made.key}: {remembered_line(it)}", document=document)


def import_(
    paths: Annotated[
        list[Path],
        Argument(
            metavar="FILE",
            help="Chats as JSON or .jsonl, or as ChatGPT, Claude, Claude Code, Slack, Telegram, Discord or WhatsApp "
            "export them: files, folders or zips.",
        ),
    ],
    date: Annotated[str | None, Option("--date", metavar="TIME", help="The time of messages that have none.")] = None,
    scope: NewScope = None,
    strict: Strict = False,
    run: Embedding = Ask(),
) -> None:
    """Remember the messages of chats, with the entities and facts that the files give."""
    with run.opened() as memory, show_progress() as progress:
        done = memory.import_chats(*paths, scope=scope, undated=date, strict=strict, progress=progress)
    if run.as_json:
        print_json(plain(done))
        return
    for one in done:
        say(f"{', '.join(map(str, paths))}: {remembered_line(one)}")
        kinds = grouped((skipped.reason, skipped.source) for skipped in one.skipped)
        for reason, sources in list(kinds.items())[:_SHOWN]:
            more = f" (and of {len(sources) - 1:,} more)" if len(sources) > 1 else ""
            warn(f"{sources[0]}: {reason}{more}.")
        if len(kinds) > _SHOWN:
            rest = sum(map(len, list(kinds.values())[_SHOWN:]))
            warn(f"{counted(rest, 'more part')} left out; --json lists all.")


def scan(
    repository: Annotated[Path, Argument(metavar="REPO", help="A Git repository, or a folder.")],
    revision: Annotated[str, Option("--revision", metavar="REV", help="A commit, branch or tag.")] = "HEAD",
    history: Annotated[bool, Option("--history", help="Read every commit up to it: what held when.")] = False,
    scope: NewScope = None,
    run: Reading = Ask(),
) -> None:
    """Remember the files, code, libraries, configuration and authors of a repository; end what is gone."""
    with run.opened() as memory, show_progress() as progress:
        done = memory.scan(repository, scope=scope, revision=revision, history=history, progress=progress)
    deliver(done, run.as_json, scanned_line)


def forget(
    entity: Annotated[str | None, Option("--entity", metavar="ENTITY", help="It, and what mentions it.")] = None,
    topic: Annotated[str | None, Option("--topic", metavar="WORDS", help="What has all these words.")] = None,
    since: Annotated[str | None, Option("--since", metavar="TIME", help="What was said from then on.")] = None,
    until: Annotated[str | None, Option("--until", metavar="TIME", help="What was said before then.")] = None,
    session: Annotated[str | None, Option("--session", metavar="NAME", help="What was said in it.")] = None,
    scope: Scope = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be forgotten.")] = False,
    yes: Yes = False,
    run: Reading = Ask(),
) -> None:
    """Delete memories, and what is known from them alone. All given conditions must hold."""
    with run.opened() as memory:
        forget = partial(memory.forget, entity, topic=topic, since=since, until=until, session=session, scope=scope)
        planned = forget(dry_run=True)
        deliver(planned, run.as_json, lambda it: forgotten_view(it, dry_run=dry_run))
        if dry_run:
            return
        memories = counted(len(planned.memories), "memory", "memories")
        confirm(f"Forget {memories} and {counted(len(planned.entities), 'entity', 'entities')}?", yes)
        forget()


def drop(
    name: Annotated[str, Argument(metavar="NAME", help="The memory.", autocompletion=completion.corpora)] = "memory",
    yes: Yes = False,
    run: Annotated[Ask, "settings"] = Ask(),
) -> None:
    """Delete a memory: its texts, entities, facts and the record of merges."""
    with replace(run, name=name).opened() as memory:
        if not memory.exists() and not memory.has_texts():
            memory.graph()
        confirm(f"Drop the memory {name}?", yes)
        memory.drop()
    say(f"Dropped {name}.")
