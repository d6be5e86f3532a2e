"""Commands that take options in groups: a parameter whose type is a dataclass stands for a field an option."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, get_args, get_type_hints

import typer

Command = TypeVar("Command", bound=Callable[..., Any])


class Commands(typer.Typer):
    """A group whose commands may take groups of options.

    ``at: Times`` takes all fields of the dataclass Times, ``at: Annotated[Times, "since", "until"]`` only those two, in
    that order. Their defaults are those of the parameter, or else of the fields.
    """

    def command(self, name: str | None = None, **named: Any) -> Callable[[Command], Command]:
        """Register a function as a command, as Typer does."""

        def register(command: Command) -> Command:
            super(Commands, self).command(name, **named)(_flat(command))
            return command

        return register


def _flat(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the signature that Typer reads: each group replaced by its options."""
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        group, *chosen = get_args(parameter.annotation) or [parameter.annotation]
        if not (isinstance(group, type) and is_dataclass(group)):
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(group, include_extras=True)
        defaults: Any = group
        make: Callable[..., Any] = group
        if parameter.default is not Parameter.empty:
            defaults, make = parameter.default, partial(replace, parameter.default)
        groups[parameter.name] = make, chosen or [field.name for field in fields(group)]
        for name in groups[parameter.name][1]:
            default = getattr(defaults, name, Parameter.empty)
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=types[name]))

    @wraps(command)
    def run(**values: Any) -> Any:
        for name, (make, options) in groups.items():
            values[name] = make(**{option: values.pop(option) for option in options})
        return command(**values)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run
