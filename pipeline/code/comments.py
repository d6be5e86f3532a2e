"""The text of comments and docstrings, without their marks."""

import re
from inspect import cleandoc

_OPENING = re.compile(r"\A(?:/\*+!?|<!--|//+!?|#+!?|--+|;+|=begin\b)[ \t]?")
_CLOSING = re.compile(r"(?<![ \t])[ \t]*+(?:(?<!\*)\*++/|-->|^=end\b)[ \t]*\Z", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?:\*(?!/)|//+!?|#+)[ \t]?", re.MULTILINE)
_TAGS = re.compile(r"</?[A-Za-z][^<>]*>")
_DIRECTIVE = re.compile(
    r"\s*(?:-\*-|!|(?:eslint|tslint|prettier|jshint|jslint|global|noinspection|nolint|pylint|noqa|type:|ruff|flake8|mypy"
    r"|coding|vim|rubocop|frozen_string_literal|encoding|go:|\+build|@ts-|@flow|region|endregion|clang-format"
    r"|phpcs|istanbul)\b.*)"
)
_LICENSE = re.compile(r"copyright|licen[sc]ed? |SPDX-|all rights reserved|public domain|\(c\) \d{4}", re.IGNORECASE)
_ABSTRACT = re.compile(r"(?<=[.!?。])(?=\s)|\n[ \t]*\n|\n[ \t]*(?=[@:\\*+-]|[A-Za-z]+:[ \t]*\n|>>>)")
_STRING = re.compile(r"[rRuU]?(\"{3}|'{3}|\"|')(.*)\1", re.DOTALL)
_UNDERLINED = re.compile(r"\A(?:[^\w\s].*\n)?.*\n[ \t]*([=~*#^-])\1{2,}[ \t]*(?:\n\s*|\Z)")
_LONGEST = 300  # characters; chosen by hand, not measured


def comment_text(comment: str) -> str:
    """Return the text of a comment, of whatever language, without its marks, its HTML tags and notes to tools."""
    inner = _CLOSING.sub("", _OPENING.sub("", comment.strip()))
    lines = _LINE.sub("", inner).split("\n")
    # a line without a letter or number is a rule
    kept = (line for line in lines if not line.strip() or (any(map(str.isalnum, line)) and not _DIRECTIVE.match(line)))
    return cleandoc(_TAGS.sub("", "\n".join(kept))).strip()


def docstring_text(literal: str) -> str:
    """Return the text of a docstring, given the literal of Python with its escapes as written; empty if it is none."""
    match = _STRING.fullmatch(literal)
    return cleandoc(match[2]).strip() if match else ""


def is_license(text: str) -> bool:
    """Return whether a comment is the notice of a licence, as many files begin with."""
    return _LICENSE.search(text) is not None


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring in one line, at most 300 characters, without the title above it."""
    prose = _UNDERLINED.sub("", doc.strip()).strip() or doc.strip()
    sentence = " ".join(_ABSTRACT.split(prose, maxsplit=1)[0].split())
    return sentence if len(sentence) <= _LONGEST else sentence[: _LONGEST - 1].rstrip() + "…"
