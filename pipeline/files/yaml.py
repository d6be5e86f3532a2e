"""YAML as plain data: no objects, no aliases that expand beyond measure, no key twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from yaml.constructor import ConstructorError
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.reader import ReaderError

from pipeline.files.guard import GUARD, MEND, Guard, Unreadable, check_depth, read_text, storable, too_deep

_LARGEST = 100_000
"""Values of a text whose aliases are written out (chosen by hand; a text of the longest permitted has no more)."""


class _TooDeep(Exception):
    pass


# A mixin, since PyYAML has no loader that is both typed and not.
class _Rules(yaml.SafeLoader if TYPE_CHECKING else object):  # type: ignore[misc]
    """The rules of :func:`parse_yaml`, for a loader of PyYAML."""

    unique = True
    aliases = False
    levels = 0

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._size = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(AliasEvent):
            return self._aliased(parent, index)
        if self.levels == 0:
            raise _TooDeep
        before, self.levels, self._size = self._size, self.levels - 1, self._size + 1
        node: Node | None = super().compose_node(parent, index)
        self.levels += 1
        self._sizes[id(node)] = self._size - before
        return node

    def _aliased(self, parent: Node | None, index: Any) -> Node | None:
        mark = self.peek_event().start_mark
        if not self.aliases:
            raise ConstructorError(None, None, "it has an alias (*name)", mark)
        node: Node | None = super().compose_node(parent, index)
        if id(node) not in self._sizes:  # it isn't complete, so it holds itself
            raise ConstructorError(None, None, "it has an alias of what it is in", mark)
        self._size += self._sizes[id(node)]
        if self._size > _LARGEST:
            raise ConstructorError(None, None, f"its aliases make more than {_LARGEST:,} values of it", mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> MappingNode:
        node: MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if self.unique and isinstance(key, ScalarNode):
                if key.value in seen:
                    raise ConstructorError(None, None, f"{key.value!r} is there twice", key.start_mark)
                seen.add(key.value)
        return node

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (yaml.YAMLError, RecursionError):
            raise
        except Exception as error:
            # broad: a constructor lets any error of what it calls through; here its line is known
            raise ConstructorError(None, None, str(error) or "malformed", node.start_mark) from None


class _Typed(_Rules, yaml.SafeLoader):
    pass


class _Untyped(_Rules, yaml.BaseLoader):
    pass


def read_yaml(path: Path, guard: Guard = GUARD) -> Any:
    """Return the value of a YAML file; raises the guard's error, naming the file and the place in it."""
    text = read_text(path, guard)
    with guard.naming(path):
        return parse_yaml(text, guard)


def parse_yaml(
    text: str, guard: Guard = GUARD, *, typed: bool = True, unique: bool = True, aliases: bool = False
) -> Any:
    """Return the value of a YAML text, of one document.

    Without ``typed`` all scalars are texts: what looks like a date may be none. Without ``unique`` the last value of a
    repeated key counts. Aliases (``*name``) are refused unless permitted, since a few lines of them can expand to
    gigabytes; even then a value that contains itself, or expands to more than 100,000 values, is refused. Raises
    Unreadable.
    """
    if len(text) > guard.limits.characters_of_yaml:
        raise Unreadable(f"has {len(text):,} characters", f"Keep it under {guard.limits.characters_of_yaml:,}.")
    try:
        loader = (_Typed if typed else _Untyped)(text)
        loader.unique, loader.aliases, loader.levels = unique, aliases, guard.limits.depth
        value = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = error.problem or "malformed"
        where = f" at line {line}, column {error.problem_mark.column + 1}" if error.problem_mark else ""
        raise Unreadable(f"isn't YAML: {problem}{where}", MEND, problem=problem, line=line) from None
    except ReaderError as error:
        line, problem = text.count("\n", 0, error.position) + 1, str(error).split("\n")[0]
        raise Unreadable(f"isn't YAML: {problem} at line {line}", MEND, problem=problem, line=line) from None
    except (RecursionError, _TooDeep):
        raise too_deep(guard) from None
    except Exception as error:
        # broad: PyYAML lets the errors of what it calls through, such as ValueError of chr
        problem = str(error).split("\n")[0][:200] or "malformed"
        raise Unreadable(f"isn't YAML: {problem}", MEND, problem=problem) from None
    check_depth(value, guard)
    return storable(value, guard)
