"""TESTS_WITH: commands of benchmarks that name another project, in scripts, CI jobs and shell histories."""

import re
from collections.abc import Iterable, Iterator

from pipeline.domains.routing.learn.clues import Clue, clue
from pipeline.domains.routing.learn.files import ProjectFile, is_script
from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.learn.notes import SessionNote

# By how much speaks for a benchmark: an option for its subject, a mere argument, or an option of any other command. The
# last alone is just listed (`routing.proposed`); chosen by hand, as `clues` says.
_MEASURED, _ARGUMENT, _SEARCHED = 0.85, 0.6, 0.3

_BENCH = re.compile(r"(?<![^\W_])(?:bench\w*|eval|evaluat\w+|hyperfine|measure\w*|perf)(?![^\W_])", re.IGNORECASE)
_OPTION = re.compile(
    r"(?:(?<!\S)--?(?:repos?|corpus|corpora|project|dataset|subject|target)(?:=|[ \t]+)"
    r"|(?<!\S)(?:REPOS?|CORPUS|CORPORA|PROJECT|DATASET|SUBJECT|TARGET)=)[\"']?(?P<value>[^\s\"'`,;)]+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s\"'`,;()=]+")
_OTHER_TOOLS = re.compile(r"^(?:sudo\s+)?(?:gh|glab|hub|git|helm|docker|apt|apt-get|dnf|yum)\b")
"""Tools whose --repo and --project name something else."""

_CONTINUED = re.compile(r"\\\n[ \t]*")
_COMMENT = re.compile(r"^(?:#|//|--\s)")
_LEAD = re.compile(
    r"^(?:\s*(?:-\s+)?(?:run|script|command|cmd)s?:\s*[|>]?-?\s*|\s*-\s+|:\s*\d+:\d+;|\s*[@$%>]\s*|\s+)+"
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_MARKDOWN = (".md", ".markdown", ".rst")


def script_clues(project: str, files: Iterable[ProjectFile], names: ProjectNames) -> Iterator[Clue]:
    """Yield a clue for each command in a project's scripts that names another project."""
    for file in files:
        if is_script(file.path):
            for number, command in _commands(file.text):
                yield from _clues(project, command, file.path, number, names)


def history_clues(notes: Iterable[SessionNote], names: ProjectNames) -> dict[str, list[Clue]]:
    """Return the clues of commands in notes, by the project of the note; in Markdown only what is marked as code."""
    clues: dict[str, list[Clue]] = {}
    for note in notes:
        commands = _quoted(note.text) if note.path.endswith(_MARKDOWN) else _commands(note.text)
        for number, command in commands:
            found = _clues(note.project, command, note.path, note.line + number - 1, names)
            clues.setdefault(note.project, []).extend(found)
    return clues


def _clues(project: str, command: str, file: str, line: int, names: ProjectNames) -> Iterator[Clue]:
    """Yield a clue for each other project that a command names, unless it is one of other tools."""
    if _OTHER_TOOLS.match(command):
        return
    measures = _BENCH.search(command)
    options = (names.named(_plain(match["value"])) for match in _OPTION.finditer(command))
    named = dict.fromkeys(options, _MEASURED if measures else _SEARCHED)
    if measures:
        arguments = (names.named(_plain(word)) for word in _WORD.findall(command, measures.end()))
        named = dict.fromkeys(arguments, _ARGUMENT) | named
    for target, strength in named.items():
        if target and target != project:
            yield clue(target, strength, file, line, command, f"{target} {command}")


def _plain(value: str) -> str:
    """Return the last part of a path, ``dojo`` of ``../repos/dojo/``, and other values as they are."""
    inside = value.strip("/")
    return inside.rpartition("/")[2] if value.startswith((".", "/", "~")) else inside


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Yield the commands of a script with their lines: continued lines joined, prompts removed, comments left out."""
    number = 1
    for line in _CONTINUED.sub("\x00", text).split("\n"):
        command = _LEAD.sub("", line.replace("\x00", " ")).strip()
        if command and not _COMMENT.match(command):
            yield number, command
        number += 1 + line.count("\x00")


def _quoted(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of code blocks and the spans of code in a text, each with its line."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            yield from ((number, command) for _, command in _commands(line))
        else:
            yield from ((number, command) for command in _INLINE.findall(line))
