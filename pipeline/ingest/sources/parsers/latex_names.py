"""Names of LaTeX: what macros show, and which arguments of macros and environments are no text."""

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331", "t": "\u0361",
}  # fmt: skip
"""The combining character of each accent."""

SYMBOLS = {
    "AA": "Å", "AE": "Æ", "BibTeX": "BibTeX", "DH": "Ð", "DJ": "Đ", "L": "Ł", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2e",
    "NG": "Ŋ", "O": "Ø", "OE": "Œ", "P": "¶", "S": "§", "SS": "ẞ", "TH": "Þ", "TeX": "TeX", "XeTeX": "XeTeX",
    "aa": "å", "ae": "æ", "copyright": "©", "dag": "†", "ddag": "‡", "degree": "°", "dh": "ð", "dj": "đ", "dots": "…",
    "enspace": " ", "euro": "€", "flqq": "«", "frqq": "»", "glqq": "„", "grqq": "“", "guillemetleft": "«",
    "guillemetright": "»", "guillemotleft": "«", "guillemotright": "»", "hfill": " ", "i": "ı", "j": "ȷ", "l": "ł",
    "ldots": "…", "linebreak": " ", "lq": "‘", "newline": " ", "ng": "ŋ", "nobreakspace": " ", "o": "ø", "oe": "œ",
    "pounds": "£", "qquad": " ", "quad": " ", "rq": "’", "space": " ", "ss": "ß", "textasciicircum": "^",
    "textasciitilde": "~", "textbackslash": "\\", "textbar": "|", "textbullet": "•", "textcelsius": "°C",
    "textdegree": "°", "textemdash": "—", "textendash": "–", "texteuro": "€", "textgreater": ">", "textless": "<",
    "textmu": "µ", "textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’",
    "textregistered": "®", "textsection": "§", "texttimes": "×", "texttrademark": "™", "textunderscore": "_",
    "th": "þ", "thinspace": " ", "xspace": "",
}  # fmt: skip
"""Macros that are characters."""

HEADINGS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6,
    "frametitle": 3,
}  # fmt: skip
"""The level of each heading. None but parts and chapters have the first: a section is no title of a document."""

NOTES = frozenset(("footnote", "footnotetext", "sidenote", "marginpar", "marginnote", "endnote"))

ARGUMENTS = {
    "RequirePackage": 1, "addbibresource": 1, "addcontentsline": 3,
    "addtocounter": 2, "addtolength": 2, "bibitem": 1, "bibliography": 1,
    "bibliographystyle": 1, "cline": 1, "cmidrule": 1, "color": 1, "definecolor": 3, "documentclass": 1,
    "fontsize": 2, "geometry": 1, "graphicspath": 1, "hspace": 1, "hypersetup": 1, "hyphenation": 1,
    "includegraphics": 1, "includeonly": 1, "index": 1, "label": 1, "lstset": 1,
    "markboth": 2, "markright": 1, "newcounter": 1, "newenvironment": 3,
    "newlength": 1, "newtheorem": 2, "nocite": 1, "pagenumbering": 1, "pagestyle": 1, "phantom": 1,
    "renewenvironment": 3,
    "rule": 2, "setcounter": 2, "setlength": 2, "sisetup": 1, "thanks": 1, "theoremstyle": 1, "thispagestyle": 1,
    "tikzset": 1, "usebackgroundtemplate": 1, "usepackage": 1, "usetheme": 1, "usetikzlibrary": 1, "vskip": 0,
    "vspace": 1,
}  # fmt: skip
"""How many arguments each macro has that are no text."""

BEFORE_TEXT = {
    "adjustbox": 1, "colorbox": 1, "fcolorbox": 2, "foreignlanguage": 1, "hyperlink": 1, "hypertarget": 1,
    "makebox": 0, "multicolumn": 2, "multirow": 2, "parbox": 1, "raisebox": 1, "resizebox": 2, "rotatebox": 1,
    "scalebox": 1, "texorpdfstring": 1, "textcolor": 1,
}  # fmt: skip
"""How many arguments of each macro stand before its text, and are none."""

TABLES = {"array": 1, "longtable": 1, "supertabular": 1, "tabbing": 0, "tabu": 1, "tabular": 1, "tabularx": 2,
          "tabulary": 2, "tblr": 1, "xltabular": 2}  # fmt: skip
"""How many arguments each environment of a table has."""

VERBATIM = frozenset(("Verbatim", "alltt", "lstlisting", "minted", "verbatim", "verbatimtab"))
LEFT_OUT = frozenset(
    ("CCSXML", "circuitikz", "comment", "filecontents", "pgfpicture", "picture", "tikzcd", "tikzpicture")
)
"""Environments that show no text: comments, other files, and drawings."""

MATHEMATICS = frozenset(
    "align alignat displaymath dmath eqnarray equation flalign gather math multline split subequations".split()
)

ENVIRONMENT_ARGUMENTS = {
    "adjustbox": 1, "columns": 0, "column": 1, "list": 2, "minipage": 1, "multicols": 1, "otherlanguage": 1,
    "subfigure": 1, "subtable": 1, "thebibliography": 1, "tcolorbox": 0, "wrapfigure": 2, "wraptable": 2,
}  # fmt: skip
"""How many arguments each environment has that are no text."""
