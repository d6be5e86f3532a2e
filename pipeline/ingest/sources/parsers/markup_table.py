"""Patterns of Org, AsciiDoc and LaTeX: a row for each thing that is no plain text.

The named groups of a pattern say what becomes of what it matches (``markup.py``); what follows ``_`` in a name only
tells two groups of a kind apart. What no group holds is left out. Rows are applied in order, each to the whole text:
comments and code come first, since nothing in them is markup. ``nested`` is applied until nothing changes.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

_WORDS = tomllib.loads(files(__package__).joinpath("markup_table.toml").read_text(encoding="utf-8"))
_FLAGS = re.MULTILINE | re.VERBOSE


@dataclass(frozen=True)
class Markup:
    """A markup language; ``levels`` and ``symbols`` are what its names stand for, ``cell`` begins or ends a cell."""

    rows: tuple[re.Pattern[str], ...]
    nested: re.Pattern[str]
    rest: tuple[re.Pattern[str], ...]
    cell: re.Pattern[str]
    levels: Mapping[str, int] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    accents: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


def _rows(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, _FLAGS) for pattern in patterns)


def _emphasis(marks: str, before: str, after: str) -> str:
    r"""Return a pattern of words between two marks; \x02 to \x04 are the reader's own signs."""
    body = r"(?:(?!\\?%s|\n[ \t]*\n)[\s\S])+"
    each = (
        rf"(?<![^{before}\x03\x04]){re.escape(mark)}(?=\S)(?P<text_{at}>{body % re.escape(mark)})(?<=\S)"
        rf"{re.escape(mark)}(?![^{after}\x02\x04])"
        for at, mark in enumerate(marks)
    )
    return "|".join(each)


_ORG = Markup(
    rows=_rows(
        r"""^[ \t]*\#\+(?i:begin)_(?P<env>(?i:src|example|export))\b.*\n
            (?P<code>(?:(?!\*+[ \t]|[ \t]*\#\+(?i:begin|end)_(?i:(?P=env))\b).*\n)*+)[ \t]*\#\+(?i:end_(?P=env))[ \t]*$
        |^[ \t]*\#\+(?i:begin_comment)\b.*\n(?:(?!\*+[ \t]|[ \t]*\#\+(?i:begin|end)_).*\n)*+
            [ \t]*\#\+(?i:end_comment)[ \t]*$
        |^[ \t]*:(?i:properties|logbook|clock):[ \t]*\n(?:(?!\*+[ \t]|[ \t]*:[\w-]+:[ \t]*$).*\n)*+
            (?:[ \t]*:(?!END)[\w-]+:.*\n){0,50}+[ \t]*:(?i:end):[ \t]*$
        |^(?P<stars>\*+)[ \t]+COMMENT\b.*(?:\n(?!(?!(?P=stars)\*)\*+[ \t]).*)*+
        |^[ \t]*\#(?:[ \t].*)?$
        |(?P<code_fixed>^[ \t]*:[ \t].*(?:\n[ \t]*:[ \t].*)*+)""",
        r"""^[ \t]*\#\+(?i:(?P<name>title|author|date|description|email|filetags|keywords|language|subtitle)):
            [ \t]*(?P<value>.*)$
        |^[ \t]*\#\+(?i:include):[ \t]*"?(?P<included>[^"\s]+).*$
        |^[ \t]*\#\+(?i:caption)(?:\[[^\[\]\n]*\])?:[ \t]*(?P<text>.*)$
        |^[ \t]*\#\+\S.*$
        |^(?P<mark>\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)[ \t]+)?(?:\[\#\w\][ \t]+)?(?P<words>.*?)(?<!\s)
            (?:[ \t]++\[\d*(?:/\d*|%)\])?(?:[ \t]++:[\w@\#%:]+:)?[ \t]*$""",
        r"""(?<![^\s('"{\x03-])(?P<mono>[=~])(?=\S)(?P<kept>[^=~\n]+)(?<=\S)(?P=mono)(?![^\s.,:!?;'")}\[\x04-])
        |\[fn:[\w-]*(?::[ ]*(?P<note>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*))?\]
        |(?<=\S)(?P<symbol>[ ]::[ ])""",
        r"\[\[(?P<target>[^\[\]\n]+)\](?:\[(?P<words>[^\[\]]+)\])?\]",
        r"(?P<table>^[ \t]*\|.*(?:\n[ \t]*\|.*)*+)",
    ),
    nested=re.compile(_emphasis("*/_+", r"""\s('"{\-""", r"""\s.,:!?;'")}\[\-"""), _FLAGS),
    rest=(),
    cell=re.compile(r"^[ \t]*\|[-+|]*[ \t]*$|\|"),
    symbols={" :: ": ": "},
)

_ASCIIDOC = Markup(
    rows=_rows(
        r"""^(?:(?P<fence>-{4,}|\.{4,}|\+{4,})|(?P<ticks>`{3,})[\w-]*)[ \t]*\n
            (?P<code>(?:.*\n)*?)(?:(?P=fence)|(?P=ticks))[ \t]*$
        |^(?P<slashes>/{4,})[ \t]*\n(?:.*\n)*?(?P=slashes)[ \t]*$
        |^//(?!/).*$|^\[comment\][ \t]*\n(?:.+\n)*+
        |^(?P<pipes>[|!,:]={3,})[ \t]*\n(?P<table>(?:.*\n)*?)(?P=pipes)[ \t]*$
        |^(?P<words_under>[^\W_].*)\n(?P<under>(?P<mark_under>[=~^+-])(?P=mark_under){2,})[ \t]*$""",
        r"""^:!?(?P<define>\w[\w-]*)!?:(?:[ \t]+(?P<value>.*(?:(?<=[ ]\\)\n.*)*))?$
        |^(?P<mark_title>=)[ \t]+(?P<words_title>\S.*)(?:\n(?P<author>[^\W\d_][^:{}<>\n]*(?:<[^<>\n]*>)?)$)?
            (?:\n(?P<revision>v?\d.*)$)?
        |^(?P<mark>={1,6}|\#{1,6})[ \t]+(?P<words>\S.*?)(?<!\s)(?:[ \t]++(?P=mark))?[ \t]*$
        |^include::(?P<included>[^\[\]\n]+)\[.*\]$
        |^(?:video|audio|toc|ifdef|ifndef|ifeval|endif)::.*$
        |^(?:={4,}|\*{4,}|_{4,}|-{2,}|/{4,}|\.{4,}|\+{4,}|'{3,}|<{3,}|\*\*\*|\+|`{3,}[\w-]*|[|!,:]={3,})[ \t]*$
        |^\[(?:[\w.\#%,"'].*|\[.*\])?\][ \t]*$
        |^\.(?P<text>[^\s.].*)$""",
        r"(?<!\\)\{(?P<use>\w[\w-]*)\}",
        r"""(?P<kept>`[^`\n]+`)
        |footnote(?:ref)?:[\w-]*\[(?P<note>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]
        |<<(?P<target_place>[^<>,\n]+)(?:,(?P<words_place>[^<>]+))?>>
        |(?<![\w:/])(?:xref|link):(?P<target>[^\s\[\]]+)
            \[(?:"(?P<words_quoted>[^"\[\]]*)"|(?P<words>[^\[\]]*?))(?:,[ ]*[\w-]+=[^\[\]]*)?\^?\]
        |(?<![\w:/])(?:image|icon)::?[^\s:\[\]]+
            \[(?:"(?P<text_quoted>[^"\[\]]*)"|(?P<text_alt>[^\[\],=]*)(?=[,\]]))?[^\[\]]*\]
        |(?<![\w:/])(?:indexterm2?|anchor):[^\s\[\]]*\[[^\[\]]*\]
        |(?<![\w:/])(?:(?:https?|ftp)://|mailto:|(?:kbd|btn|menu|stem|latexmath|asciimath|pass):)[^\s\[\]<>]*
            \[(?P<text>[^\[\]]*?)(?:,[ ]*[\w-]+=[^\[\]]*)?\^?\]
        |\[\[[\w:.-]+(?:,[^\[\]\n]*)?\]\]|\(\(\([^()]+\)\)\)|\(\((?P<text_term>[^()]+)\)\)
        |[ ]\+$
        |(?<=[^\s:;])(?P<symbol>::)(?=[ \t]|$)""",
    ),
    nested=re.compile(
        r"(?P<double>\*\*|__|\#\#)(?=\S)(?P<text>[^*_#]+)(?P=double)|(?:\[[\w.\#%\ ,-]+\])?(?:"
        + _emphasis("*_#", r"\W", r"\W")
        + ")",
        _FLAGS,
    ),
    rest=(),
    cell=re.compile(r"(?:(?:(?<=\s)|^)(?:(?:\d{1,3}|\d{0,3}\.\d{1,3})[+*])?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"),
    levels={"-": 2, "~": 3, "^": 4, "+": 5},
    symbols={"::": ":"},
    values=_WORDS["asciidoc"]["values"],
)

_BRACES = r"\{(?:[^{}]|\{[^{}]*\})*\}"
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
    rows=_rows(
        _environment("code", "raw", rf"{_OPTION}?(?:\{{[^{{}}\n]*\}})?", "code")
        + "|"
        + _environment("hidden", "drawing")
        + "|"
        + _environment("mathematics", "formula", "", "kept_environment")
        + rf"""|\\(?:verb\*?|lstinline{_OPTION}?)(?P<bar>[^A-Za-z\s*\[{{])(?P<kept_verb>[^\n]*?)(?P=bar)
        |\\(?:url|path|nolinkurl)\{{(?P<kept_url>[^{{}}\n]*)\}}
        |(?P<kept_dollars>\$\${_PARAGRAPH}++\$\$|\${_PARAGRAPH}++\$)
        |\\\((?P<kept_inline>[^\\]*+(?:\\(?![()])[^\\]*+)*+)\\\)|\\\[(?P<kept_display>[^\\]*+(?:\\(?![\[\]])[^\\]*+)*+)\\\]
        |\\(?P<kept>[%&\#$_{{}}])
        |(?P<aside>(?:\\\\)?%[^\n]*)""",
        r"""\\(?P<accent>['`^"~=.]|[uvHckrdbt](?![A-Za-z@]))[ \t]*
            (?:\{[ \t]*(?P<letter>\\[ij]|[^\W\d_])[ \t]*\}|(?P<letter_bare>\\[ij](?![A-Za-z])|[^\W\d_]))
        |\\(?:hline|toprule|midrule|bottomrule|cline\{[^{}]*\}|cmidrule(?:\([a-z]+\))?\{[^{}]*\})
        |(?P<symbol_break>\\\\)\*?(?:\[[^\[\]\n]*\])?
        |\\(?P<symbol>[A-Za-z]+)(?![A-Za-z@])(?:\{\}|[ ])?
        |(?P<symbol_sign>\\[,;:\ !/@-]|---?|``|''|[~`])""",
        rf"""\\(?:(?:re|provide)?newcommand\*?|DeclareRobustCommand|[gex]?def)[ \t]*\{{?\\(?P<define>[A-Za-z@]+)\}}?
            [ \t]*(?:(?:\[[^\[\]]*\]|\#\d)[^{{}}\n]*(?P<unknown>{_BRACES})
            |\{{(?P<value>(?:[^{{}}]|{_BRACES})*)\}})""",
        r"\\(?P<use>[A-Za-z@]+)(?:\{\})?",
        rf"(?:\{{\}}|{_OPTION})?\\(?P<name>title|author|date)\*?{_OPTION}?\{{(?P<value>(?:[^{{}}]|{_BRACES})*)\}}",
        r"\A[\s\S]*?\\begin\{document\}|\\end\{document\}[\s\S]*",
        _environment("tables_1", "grid", rf"{_OPTION}?{_BRACES}", "table")
        + "|"
        + _environment("tables_2", "wide", rf"{_OPTION}?{_BRACES}{_OPTION}?{_BRACES}", "table_wide"),
        rf"""\\begin\{{frame\}}{_OPTION}?(?P<mark>\{{)(?P<words>[^{{}}]*)\}}
        |\\begin\{{(?:{"|".join(_WORDS["latex"]["environments_1"])})\*?\}}{_OPTION}*{_BRACES}
        |\\begin\{{[A-Za-z]+\*?\}}\[(?P<term>[^\[\]=]*[ ][^\[\]=]*)\]
        |\\(?:begin|end)\{{[^{{}}\n]*\}}{_OPTION}?
        |\\item[ \t]*\[(?P<term_item>[^\[\]]*)\]|(?P<symbol>\\item)(?![A-Za-z@])""",
    ),
    nested=re.compile(
        rf"""\\href\{{(?P<target>[^{{}}]*)\}}\{{(?P<words_link>[^{{}}]*)\}}
        |\\(?:input|include|subfile)\{{(?P<included>[^{{}}]*)\}}
        |{_named("arguments_3")}(?:{_BRACES}){{3}}|{_named("arguments_2")}(?:{_BRACES}){{2}}|{_named("arguments_1")}{_BRACES}
        |\\(?P<mark>{"|".join(_WORDS["latex"]["levels"])})\*?{_OPTION}?\{{(?P<words>[^{{}}]*)\}}
        |\\(?:{"|".join(_WORDS["latex"]["notes"])}){_OPTION}?\{{(?P<note>[^{{}}]*)\}}
        |[ ]?\\(?!nocite)[A-Za-z]*[cC]ite[A-Za-z]*\*?{_OPTION}*\{{(?P<note_key>[^{{}}]*)\}}
        |\\(?!href\b)[A-Za-z@]+\*?{_OPTION}*[ \t]*\{{(?P<text>[^{{}}]*)\}}
        |(?<![A-Za-z@*\]}}])\{{(?P<text_bare>[^{{}}]*)\}}""",
        _FLAGS,
    ),
    rest=_rows(rf"\\[A-Za-z@]+\*?{_OPTION}?[ ]?|[{{}}]|\\"),
    cell=re.compile("&"),
    levels={**_WORDS["latex"]["levels"], "{": 3},
    symbols=_WORDS["latex"]["symbols"],
    accents=_WORDS["latex"]["accents"],
)

MARKUPS: Mapping[str, Markup] = {"org": _ORG, "asciidoc": _ASCIIDOC, "latex": _LATEX}
"""The markup languages by the names of their formats."""
