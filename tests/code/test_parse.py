"""The syntax of source code: definitions, imports and calls of every language, at the right offsets."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.code.languages import LANGUAGES, language_of
from pipeline.code.parse import parse_code
from pipeline.code.records import SourceCode
from pipeline.code.tags import Characters, encoded

PYTHON = '''\
#!/usr/bin/env python
"""Módule é. More."""
from a.b import c as d, e
from . import x
from .models import *
import os.path as p, sys


# about fetch
# more
@retry(3)
@other
def fetch(a,
          b):
    """Fetch é.

    Slowly.
    """
    def inner():
        return g(1)
    return a.b(inner())


LIMIT = 1  # no comment on Session

class Session(Base):
    x = build()

    # about send
    def send(self):
        pass

    async def close(self):
        await self.send()
'''


def parse(path: str, text: str) -> SourceCode:
    language = language_of(path)
    assert language is not None
    return parse_code(text, language)


def definitions(path: str, text: str) -> list[tuple[str, str]]:
    return [(definition.kind.value, definition.qualified) for definition in parse(path, text).definitions]


def calls(path: str, text: str) -> set[tuple[str, str]]:
    return {(call.caller, call.name) for call in parse(path, text).calls}


def imports(path: str, text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.module, item.names) for item in parse(path, text).imports]


def test_definitions_of_python_have_their_decorators_comments_and_docstrings() -> None:
    code = parse("x.py", PYTHON)
    headers = {
        item.qualified: (item.kind.value, item.name, item.line, PYTHON[item.start : item.body].rstrip())
        for item in code.definitions
    }

    assert (code.language, code.doc) == ("python", "Módule é. More.")
    assert headers == {
        "fetch": (
            "function",
            "fetch",
            13,
            "# about fetch\n# more\n@retry(3)\n@other\ndef fetch(a,\n          b):",
        ),
        "fetch.inner": ("function", "inner", 19, "def inner():"),
        "Session": ("class", "Session", 26, "class Session(Base):"),
        "Session.send": ("method", "send", 30, "# about send\n    def send(self):"),
        "Session.close": ("method", "close", 33, "async def close(self):"),
    }
    assert code.definitions[0].doc == "Fetch é.\n\nSlowly."
    assert PYTHON[code.definitions[0].body : code.definitions[0].end].endswith("return a.b(inner())")


def test_imports_of_python_are_as_written_with_the_names_that_they_take() -> None:
    assert [(item.module, item.names, item.line) for item in parse("x.py", PYTHON).imports] == [
        ("a.b", ("c", "e"), 3),
        (".", ("x",), 4),
        (".models", ("*",), 5),
        ("os.path", (), 6),
        ("sys", (), 6),
    ]


def test_a_call_is_of_the_innermost_definition_around_it() -> None:
    assert calls("x.py", PYTHON) == {
        ("", "retry"),
        ("fetch.inner", "g"),
        ("fetch", "b"),
        ("fetch", "inner"),
        ("Session", "build"),
        ("Session.close", "send"),
    }


@pytest.mark.parametrize(
    ("literal", "doc"),
    [('"one"', "one"), ("r'''\\d\n    two'''", "\\d\ntwo"), ('f"{x}"', ""), ('b"x"', ""), ('"a" "b"', ""), ("1", "")],
)
def test_a_docstring_is_a_plain_string(literal: str, doc: str) -> None:
    assert parse("x.py", f"def f():\n    {literal}\n").definitions[0].doc == doc


SAMPLES = {
    "a.js": (
        (
            "const path = require('path'), { a, b: c } = require('./x');\n"
            "import React, { useState as u } from 'react';\nimport './side.css';\n"
            "/** Adds. */\nexport default function add(a) { return helper(a); }\n"
            "export const mul = (a) => ns.mul(a);\n"
            "class Foo extends Bar { async get(url) { return new Request(url); }\n  #own() {}\n"
            "  on = () => { go(); }; }\n"
            "Foo.prototype.bar = function () { this.get(); };\nmodule.exports.qux = () => {};\n"
            "const routes = { list() { all(); }, one: () => 1 };\n"
        ),
        (
            "function add|function mul|class Foo|method Foo.get|method Foo.own|method Foo.on|method Foo.bar"
            "|function qux"
            "|method routes.list|method routes.one"
        ),
        {"path": (), "./x": ("a", "b"), "react": ("React", "useState"), "./side.css": ()},
        {("add", "helper"), ("mul", "mul"), ("Foo.get", "Request"), ("Foo.on", "go"), ("Foo.bar", "get")}
        | {("routes.list", "all")},
    ),
    "a.ts": (
        (
            'import type { T } from "./types";\nimport fs = require("fs");\n'
            "export interface Shape { area(): number }\nexport type Id = string;\nenum Color { Red }\n"
            "abstract class Base<T> { abstract area(): number;\n  /** Named. */\n  @Input()\n"
            "  named<K>(k: K) { fmt<K>(k); }\n}\n"
            "declare function ext(a: string): void;\n"
        ),
        "class Shape|method Shape.area|class Id|class Color|class Base|method Base.area|method Base.named|function ext",
        {"./types": ("T",), "fs": ()},
        {("Base", "Input"), ("Base.named", "fmt")},
    ),
    "a.tsx": (
        "export function View() { const [x] = useState(1); return <div><App x={x}/></div>; }\n",
        "function View",
        {},
        {("View", "useState"), ("View", "App")},
    ),
    "A.java": (
        (
            "package a;\nimport java.util.List;\nimport static b.Q.*;\n/** A service. */\n@Service\npublic class A {\n"
            "  int x = compute();\n  A() { super(); }\n  @Override public void run() { new Foo<>().go(); }\n"
            "  interface I { void f(); }\n  enum E { B }\n  record R(int a) {}\n}\n"
        ),
        "class A|method A.A|method A.run|class A.I|method A.I.f|class A.E|class A.R",
        {"java.util.List": (), "b.Q": ("*",)},
        {("A", "compute"), ("A.run", "Foo"), ("A.run", "go")},
    ),
    "a.go": (
        (
            '// Package a serves.\npackage a\n\nimport (\n  "fmt"\n  m "github.com/x/y"\n)\n'
            "type Server[T any] struct { a int }\ntype (\n  // Handler handles.\n  Handler interface { Serve(x int) }\n"
            "  Id int\n)\nfunc (s *Server[T]) Serve(x int) error { return m.Do(s.a) }\nfunc New() { fmt.Println() }\n"
        ),
        "class Server|class Handler|method Handler.Serve|class Id|method Server.Serve|function New",
        {"fmt": (), "github.com/x/y": ()},
        {("Server.Serve", "Do"), ("New", "Println")},
    ),
    "a.rs": (
        (
            "use std::collections::HashMap;\nuse crate::a::{b, c as d, e::f};\nuse super::x as y;\n"
            "/// A point.\n#[derive(Debug)]\npub struct Point<T> { x: T }\npub trait Draw { fn draw(&self); }\n"
            "impl<T> Draw for Point<T> { fn draw(&self) { Kind::make(); self.go(); } }\n"
            "impl<'a> Point<&'a T> { fn new() { vec![1]; } }\nmacro_rules! mac { () => {} }\nmod tests { fn it() {} }\n"
        ),
        "class Point|class Draw|method Draw.draw|method Point.draw|method Point.new|function mac|function it",
        {"std::collections::HashMap": (), "crate::a": ("b", "c", "e::f"), "super::x": ()},
        {("Point.draw", "make"), ("Point.draw", "go"), ("Point.new", "vec")},
    ),
    "a.c": (
        (
            '#include <stdio.h>\n#include "my/x.h"\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n'
            "struct node { int a; };\n"
            "typedef struct { int b; } pair_t;\nstatic int helper(int a);\n"
            "char *make(void) { int x(int); return helper(1) ? s->fn(2) : 0; }\nint (*odd(int a))(int) { return 0; }\n"
        ),
        "function MAX|class node|class pair_t|function helper|function make",
        {"stdio.h": (), "my/x.h": ()},
        {("make", "helper"), ("make", "fn")},
    ),
    "a.hpp": (
        (
            "#include <vector>\nnamespace a::b {\n/// A foo.\ntemplate <typename T>\nclass Foo : Base {\n public:\n"
            "  Foo(int x) : x_(x) { init(); }\n  ~Foo() {}\n  virtual void later() = 0;\n"
            "  bool operator==(const Foo& o) { return true; }\n};\nvoid declared(int a);\n}\n"
            "template <typename T>\nint a::b::Foo<T>::other(int y) { return std::max(y, get()); }\n"
        ),
        (
            "class Foo|method Foo.Foo|method Foo.~Foo|method Foo.later|method Foo.operator==|function declared"
            "|method Foo.other"
        ),
        {"vector": ()},
        {("Foo.Foo", "init"), ("Foo.other", "max"), ("Foo.other", "get")},
    ),
    "a.cs": (
        (
            "using System;\nusing Alias = A.B.C;\nnamespace N.M {\n  /// <summary>A thing.</summary>\n"
            "  [Serializable]\n"
            "  public class Thing<T> : Base {\n    public Thing(int a) { Init(); }\n"
            "    public async Task<int> Run() { var q = new List<int>(); int Local() => 1; return Helper.Do(q); }\n"
            "  }\n"
            "  public interface IThing { int Go(); }\n  public record Rec(int A);\n}\n"
        ),
        (
            "class Thing|method Thing.Thing|method Thing.Run|function Thing.Run.Local|class IThing|method IThing.Go"
            "|class Rec"
        ),
        {"System": (), "A.B.C": ()},
        {("Thing.Thing", "Init"), ("Thing.Run", "List"), ("Thing.Run", "Do")},
    ),
    "a.rb": (
        (
            "require 'json'\nrequire_relative \"lib/x\"\nmodule Outer\n  # A foo.\n  class Foo < Bar\n"
            "    attr_reader :a\n"
            "    def run(x)\n      helper(x).go!\n    end\n    def self.make = new\n    def empty?; end\n  end\nend\n"
            "class A::B; end\n"
        ),
        "class Outer|class Outer.Foo|method Outer.Foo.run|method Outer.Foo.make|method Outer.Foo.empty?|class A.B",
        {"json": (), "lib/x": ()},
        {("Outer.Foo", "attr_reader"), ("Outer.Foo.run", "helper"), ("Outer.Foo.run", "go!")},
    ),
    "a.php": (
        (
            "<?php\nnamespace App;\nuse Foo\\Bar\\Baz;\nuse Foo\\{A, B as C};\nrequire_once 'x.php';\n"
            "/** A controller. */\n#[Route('/x')]\nfinal class Ctl {\n"
            "  public function show(int $id) { $this->repo->find($id); return Baz::make(new Foo($id)); }\n}\n"
            "trait T { function t() { helper(); } }\nfunction helper() {}\n"
        ),
        "class Ctl|method Ctl.show|class T|method T.t|function helper",
        {"Foo\\Bar\\Baz": (), "Foo": ("A", "B"), "x.php": ()},
        {("Ctl.show", "find"), ("Ctl.show", "make"), ("Ctl.show", "Foo"), ("T.t", "helper")},
    ),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_every_language_gives_its_definitions_imports_and_calls(path: str) -> None:
    text, defined, imported, called = SAMPLES[path]

    assert "|".join(" ".join(item) for item in definitions(path, text)) == defined
    assert dict(imports(path, text)) == imported
    assert calls(path, text) == called


@pytest.mark.parametrize(
    ("path", "text", "doc"),
    [
        ("a.js", "x();\n/**\n * Adds é.\n *\n * @param a\n */\nexport const add = (a) => 1;", "Adds é.\n\n@param a"),
        ("a.js", "x();\n/** Set off. */\n\nfunction f() {}", "Set off."),
        ("a.js", "x();\n// set off\n\nfunction f() {}", ""),
        ("a.js", "x(); // of x\nfunction f() {}", ""),
        ("a.js", "// eslint-disable-next-line\n// Real.\nfunction f() {}", "Real."),
        ("a.go", "package a\n\n// F does.\n// More.\nfunc F() {}", "F does.\nMore."),
        ("a.rs", "/// Draws.\n#[inline]\nfn f() {}", "Draws."),
        ("a.cs", "/// <summary>\n/// Runs.\n/// </summary>\nclass A {}", "Runs."),
        ("a.rb", "x\n# Runs.\ndef f; end", "Runs."),
    ],
)
def test_a_definition_is_documented_by_the_comment_right_above_it(path: str, text: str, doc: str) -> None:
    assert parse(path, text).definitions[0].doc == doc


def test_a_struct_of_go_has_a_body() -> None:
    text = "package a\n\ntype Server struct { a int }\n"
    (server,) = parse("a.go", text).definitions

    assert text[server.start : server.body] == "type Server struct {"


def test_a_file_is_documented_by_its_first_comment_that_is_no_licence() -> None:
    licence = "/* Copyright 2020 Ada. Licensed under MIT. */\n"

    assert parse("a.go", f"{licence}\n// Package a serves.\npackage a\n").doc == "Package a serves."
    assert parse("a.js", f"{licence}/** @file Routes. */\nx();").doc == "@file Routes."
    assert parse("a.js", f"{licence}// of f\nfunction f() {{}}").doc == ""


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.suffixes[0])
@pytest.mark.parametrize(
    "text", ["", "\ufeff", "\x00é\ud800😀 " * 50, "{([<" * 5_000, "class A { f( {\n" * 50, '"' * 999]
)
def test_broken_code_raises_nothing(language: object, text: str) -> None:
    assert parse_code(text, language).language  # type: ignore[arg-type]


def test_broken_code_gives_what_can_be_read() -> None:
    assert definitions("a.py", "class A:\n    def f(self): pass\n\ndef broken(\n\nx = = 2\n\ndef g(): pass\n")[:2] == [
        ("class", "A"),
        ("method", "A.f"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "!function(){" + "function a(b){return d(b)&&e.f(b)};var k=function(l){m()};" * 16_000 + "}()"),
        ("a.js", "x=" + "{a:" * 100_000 + "1" + "}" * 100_000),
        ("a.py", "(" * 200_000),
        ("a.py", "\n".join(" " * depth + "def f():" for depth in range(1_000))),
        ("a.js", "function f(){" * 4_000 + "}" * 4_000),
        ("a.js", "// x\n" * 100_000 + "function f() {}"),
    ],
    ids=["minified", "deep object", "brackets", "deep functions", "deep blocks", "comments"],
)
def test_large_and_deep_files_take_seconds(path: str, text: str) -> None:
    begun = time.monotonic()
    parse(path, text)

    assert time.monotonic() - begun < 15


@given(st.text())
def test_offsets_in_bytes_become_characters(text: str) -> None:
    characters = Characters(text)
    at_bytes = [at for at, character in enumerate(text) for _ in encoded(character)]

    assert [characters.at(offset) for offset in range(len(at_bytes) + 1)] == [*at_bytes, len(text)]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["é = 1", "# ü 😀", "def ñ(): return '漢'", "class Ä:\n    def b(self): f('😀')", ""])))
def test_definitions_lie_where_their_text_is(parts: list[str]) -> None:
    text = "\n\n".join(parts)
    code = parse("a.py", text)

    assert [text[item.start : item.end] for item in code.definitions if "." not in item.qualified] == [
        part for part in parts if part.startswith(("def", "class"))
    ]


def test_windows_line_ends_change_no_definition() -> None:
    assert definitions("x.py", PYTHON.replace("\n", "\r\n")) == definitions("x.py", PYTHON)
    assert parse("x.py", PYTHON.replace("\n", "\r\n")).definitions[0].line == 13


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/b.PY", "python"), ("x.tsx", "typescript"), ("Gemfile", "ruby"), ("owner/name:x.go", "go"), ("a.h", "c")],
)
def test_a_language_is_known_by_the_name_of_a_file(path: str, name: str) -> None:
    language = language_of(path)

    assert language is not None
    assert language.name == name


@pytest.mark.parametrize("path", ["", "py", "a.txt", "a.py/b", "LICENSE"])
def test_other_files_are_in_no_language(path: str) -> None:
    assert language_of(path) is None
