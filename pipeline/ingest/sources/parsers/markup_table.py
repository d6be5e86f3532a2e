"""Patterns of Org, AsciiDoc and LaTeX, two for each: of blocks, and of what stands within prose.

The named groups of a pattern say what becomes of what it matches (``markup.py``); what follows ``_`` in a name only
tells two groups of a kind apart. What no group holds is left out: comments, drawings, and settings.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

_WORDS = tomllib.loads(files(__package__).joinpath("markup_table.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Markup:
    """A markup language; ``values`` are what names and signs stand for, ``levels`` those of headings by their marks."""

    blocks: re.Pattern[str]
    inline: re.Pattern[str]
    levels: Mapping[str, int] = field(default_factory=dict)
    accents: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


def _pattern(*rows: str) -> re.Pattern[str]:
    return re.compile("|".join(rows), re.MULTILINE | re.VERBOSE)


_ORG = Markup(
    blocks=_pattern(
        r"""^[ \t]*\#\+(?i:begin)_(?P<env>(?i:src|example|export))\b.*\n
            (?P<code>(?:(?!\*+[ \t]|[ \t]*\#\+(?i:begin|end)_(?i:(?P=env))\b).*\n)*+)[ \t]*\#\+(?i:end_(?P=env))[ \t]*$
        |^[ \t]*\#\+(?i:begin_comment)\b.*\n(?:(?!\*+[ \t]|[ \t]*\#\+(?i:begin|end)_).*\n)*+
            [ \t]*\#\+(?i:end_comment)[ \t]*$
        |^[ \t]*:(?i:properties|logbook|clock):[ \t]*\n(?:(?!\*+[ \t]|[ \t]*:[\w-]+:[ \t]*$).*\n)*+
            (?:[ \t]*:(?!END)[\w-]+:.*\n){0,50}+[ \t]*:(?i:end):[ \t]*$
        |^(?P<stars>\*+)[ \t]+COMMENT\b.*(?:\n(?!(?!(?P=stars)\*)\*+[ \t]).*)*+
        |^[ \t]*\#(?:[ \t].*)?$
        |(?P<code_fixed>^[ \t]*:[ \t].*(?:\n[ \t]*:[ \t].*)*+)
        |(?P<table>^[ \t]*\|.*(?:\n[ \t]*\|.*)*+)""",
        r"""^[ \t]*\#\+(?i:(?P<name>title|author|date|description|email|filetags|keywords|language|subtitle)):
            [ \t]*(?P<value>.*)$
        |^[ \t]*\#\+(?i:include):[ \t]*"?(?P<included>[^"\s]+).*$
        |^[ \t]*\#\+(?i:caption)(?:\[[^\[\]\n]*\])?:[ \t]*(?P<text>.*)$
        |^[ \t]*\#\+\S.*$
        |^(?P<mark>\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)[ \t]+)?(?:\[\#\w\][ \t]+)?(?P<words>.*?)(?<!\s)
            (?:[ \t]++\[\d*(?:/\d*|%)\])?(?:[ \t]++:[\w@\#%:]+:)?[ \t]*$""",
    ),
    inline=_pattern(r"\[\[(?P<target>[^\[\]\n]+)\](?:\[(?P<words>[^\[\]]+)\])?\]"),
)

_ASCIIDOC = Markup(
    blocks=_pattern(
        r"""^(?:(?P<fence>-{4,}|\.{4,}|\+{4,})|(?P<ticks>`{3,})[\w-]*)[ \t]*\n
            (?P<code>(?:.*\n)*?)(?:(?P=fence)|(?P=ticks))[ \t]*$
        |^(?P<slashes>/{4,})[ \t]*\n(?:.*\n)*?(?P=slashes)[ \t]*$
        |^//(?!/).*$|^\[comment\][ \t]*\n(?:.+\n)*+
        |^(?P<pipes>[|!,:]={3,})[ \t]*\n(?P<table>(?:.*\n)*?)(?P=pipes)[ \t]*$
        |^(?P<words_under>[^\W_].*)\n(?P<under>(?P<mark_under>[=~^+-])(?P=mark_under){2,})[ \t]*$""",
        r"""^:!?(?P<define>\w[\w-]*)!?:(?:[ \t]+(?P<value>.*(?:(?<=[ ]\\)\n.*)*))?$
        |^(?P<mark>={1,6}|\#{1,6})[ \t]+(?P<words>\S.*?)(?<!\s)(?:[ \t]++(?P=mark))?[ \t]*$
        |^include::(?P<included>[^\[\]\n]+)\[.*\]$
        |^(?:video|audio|toc|ifdef|ifndef|ifeval|endif)::.*$
        |^(?:={4,}|\*{4,}|_{4,}|-{2,}|/{4,}|\.{4,}|\+{4,}|'{3,}|<{3,}|\*\*\*|\+|`{3,}[\w-]*|[|!,:]={3,})[ \t]*$
        |^\[(?:[\w.\#%,"'].*|\[.*\])?\][ \t]*$
        |^\.(?P<text>[^\s.].*)$""",
    ),
    inline=_pattern(
        r"(?<!\\)\{(?P<attribute>\w[\w-]*)\}",
        r"(?<![\w:/])(?:xref|link):(?P<target>[^\s\[\]]+)\[(?P<words>[^\[\]]*)\]",
    ),
    levels={"-": 2, "~": 3, "^": 4, "+": 5},
    values=_WORDS["asciidoc"]["values"],
)

_BRACED = r"(?:[^{}]|\{[^{}]*\})*"
_BRACES = rf"\{{{_BRACED}\}}"
_OPTION = r"(?:\[[^\[\]]*\])"
_TO_END = r"[^\\]*+(?:\\(?!(?:begin|end)\{(?P=%s)\*?\})[^\\]*+)*+"
_PARAGRAPH = r"(?:[^$\\\n]|\\.|\n(?![ \t]*\n))"


def _environment(names: str, group: str, start: str = "", kept: str = "") -> str:
    """Return a pattern of an environment from its beginning to its end; ``kept`` names the group of its text."""
    body = f"(?P<{kept}>{_TO_END % group})" if kept else _TO_END % group
    return rf"\\begin\{{(?P<{group}>{'|'.join(_WORDS['latex'][names])})\*?\}}{start}{body}\\end\{{(?P={group})\*?\}}"


def _named(names: str) -> str:
    return rf"\\(?:{'|'.join(_WORDS['latex'][names])})(?![A-Za-z@])\*?{_OPTION}*"


_LATEX = Markup(
    blocks=_pattern(
        _environment("code", "raw", rf"{_OPTION}?(?:\{{[^{{}}\n]*\}})?", "code"),
        _environment("hidden", "drawing"),
        _environment("mathematics", "formula", "", "kept_environment"),
        _environment("tables_1", "grid", rf"{_OPTION}?{_BRACES}", "table"),
        _environment("tables_2", "wide", rf"{_OPTION}?{_BRACES}{_OPTION}?{_BRACES}", "table_wide"),
        rf"""\\(?:verb\*?|lstinline{_OPTION}?)(?P<bar>[^A-Za-z\s*\[{{])(?P<kept_verb>[^\n]*?)(?P=bar)
        |\\(?:url|path|nolinkurl)\{{(?P<kept_url>[^{{}}\n]*)\}}
        |(?<!\\)(?:\\\\)?%.*$
        |\\begin\{{(?P<begins>document)\}}|\\end\{{document\}}[\s\S]*
        |\\(?P<name>title|author|date)\*?{_OPTION}?\{{(?P<value_of>{_BRACED})\}}
        |\\(?:(?:re|provide)?newcommand\*?|DeclareRobustCommand|[gex]?def)[ \t]*\{{?\\(?P<define>[A-Za-z@]+)\}}?
            [ \t]*\{{(?P<value>{_BRACED})\}}
        |\\(?:(?:re|provide)?newcommand\*?|DeclareRobustCommand|[gex]?def)[ \t]*\{{?\\[A-Za-z@]+\}}?
            [ \t]*(?:\[[^\[\]]*\]|\#\d)[^{{}}\n]*{_BRACES}
        |\\(?:input|include|subfile)\{{(?P<included>[^{{}}]*)\}}
        |\\(?P<mark>{"|".join(_WORDS["latex"]["levels"])})\*?{_OPTION}?\{{(?P<words>{_BRACED})\}}
        |\\begin\{{frame\}}{_OPTION}?(?P<mark_frame>\{{)(?P<words_frame>[^{{}}]*)\}}""",
    ),
    inline=_pattern(
        rf"""\\(?P<text>[%&\#$_{{}}])
        |(?P<kept>\$\${_PARAGRAPH}++\$\$|\${_PARAGRAPH}++\$)
        |\\\((?P<kept_inline>[^\\]*+(?:\\(?![()])[^\\]*+)*+)\\\)|\\\[(?P<kept_display>[^\\]*+(?:\\(?![\[\]])[^\\]*+)*+)\\\]
        |\\(?P<accent>['`^"~=.]|[uvHckrdbt](?![A-Za-z@]))[ \t]*\{{?[ \t]*(?P<letter>\\[ij](?![A-Za-z])|[^\W\d_])
        |\\href\{{(?P<target>[^{{}}]*)\}}\{{(?P<words>[^{{}}]*)\}}
        |{_named("arguments_3")}(?:{_BRACES}){{3}}|{_named("arguments_2")}(?:{_BRACES}){{2}}|{_named("arguments_1")}{_BRACES}
        |\\(?:{"|".join(_WORDS["latex"]["notes"])}){_OPTION}?\{{(?P<note>{_BRACED})\}}
        |[ ]?\\(?!nocite)[A-Za-z]*[cC]ite[A-Za-z]*\*?{_OPTION}*\{{(?P<note_key>[^{{}}]*)\}}
        |\\begin\{{(?:{"|".join(_WORDS["latex"]["environments_1"])})\*?\}}{_OPTION}*{_BRACES}
        |\\(?:begin\{{[A-Za-z]+\*?\}}|item[ \t]*)\[(?P<text_name>[^\[\]=]*[A-Za-z]{{3}}[^\[\]=]*)\]
        |\\(?:begin|end)\{{[^{{}}\n]*\}}{_OPTION}?
        |\\(?P<macro>[A-Za-z@]+)\*?{_OPTION}?(?:\{{\}}|[ ])?
        |(?P<macro_sign>\\\\|\\[,;:\ !/@-]|---?|``|''|[~`&])
        |[{{}}\\]""",
    ),
    levels={**_WORDS["latex"]["levels"], "{": 3},
    accents=_WORDS["latex"]["accents"],
    values=_WORDS["latex"]["symbols"],
)

MARKUPS: Mapping[str, Markup] = {"org": _ORG, "asciidoc": _ASCIIDOC, "latex": _LATEX}
"""The markup languages by the names of their formats."""
