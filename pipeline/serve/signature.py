"""Signatures of functions as JSON schemas: what a client may call, with which arguments, and what it gets."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Annotated, Any, get_type_hints

from annotated_types import BaseMetadata
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from pipeline.errors import InputError


class Signature:
    """The signature of a function whose first parameter is supplied by the server; the others are the arguments.

    Annotations hold descriptions and limits as pydantic's fields do. ``limits`` adds limits by the name of a parameter,
    ``defaults`` replaces default values. ``fixed`` are arguments that the server supplies, too: clients can't.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        limits: Mapping[str, BaseMetadata] | None = None,
        defaults: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        self._fixed = dict(fixed or {})
        hints = get_type_hints(function, include_extras=True)
        _, *parameters = inspect.signature(function).parameters.values()
        fields = {
            parameter.name: _field(parameter, hints[parameter.name], limits or {}, defaults or {})
            for parameter in parameters
            if parameter.name not in self._fixed
        }
        self._arguments: type[BaseModel] = create_model(
            function.__name__,
            __config__=ConfigDict(extra="forbid"),
            **fields,  # type: ignore[call-overload]  # the overloads know no fields by name
        )
        self._result: TypeAdapter[Any] = TypeAdapter(hints["return"])

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, short for the models that read it."""
        schema = self._arguments.model_json_schema(schema_generator=_Arguments)
        for part in (schema, *schema.get("$defs", {}).values()):
            part.pop("title", None)
            if "enum" in part:
                part.pop("description", None)  # of the class; the argument has its own
        return schema

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the result, which is an object."""
        return self._result.json_schema(mode="serialization", schema_generator=_Untitled)

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return checked arguments to call the function with; raises InputError naming those that are wrong."""
        try:
            checked = self._arguments.model_validate(dict(arguments))
        except ValidationError as error:
            faults = [(".".join(map(str, one["loc"]))[:80] or "arguments", one["msg"]) for one in error.errors()[:5]]
            listed = "; ".join(f"{place}: {message}" for place, message in faults)
            raise InputError(f"The arguments are wrong: {listed}.", "Call it as its schema says.") from None
        return {name: getattr(checked, name) for name in type(checked).model_fields} | self._fixed

    def dump(self, result: Any) -> Any:
        """Return a result as plain JSON values."""
        return self._result.dump_python(result, mode="json")


def warned(answer: dict[str, Any], warnings: Sequence[str]) -> dict[str, Any]:
    """Return an answer with ``warnings`` (:func:`pipeline.retrieve.question.remarks`) that it doesn't have yet."""
    own = answer.get("warnings", [])
    new = [warning for warning in warnings if warning not in own]
    return {**answer, "warnings": [*own, *new]} if new else answer


class _Untitled(GenerateJsonSchema):
    """Schemas without titles of fields, which repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return False


class _Arguments(_Untitled):
    """Schemas of arguments, which leave out null as a default, though null is taken, too."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> dict[str, Any]:
        made = super().default_schema(schema)
        return {name: value for name, value in made.items() if name != "default" or value is not None}


def _field(
    parameter: inspect.Parameter, hint: Any, limits: Mapping[str, BaseMetadata], defaults: Mapping[str, Any]
) -> tuple[Any, Any]:
    default = defaults.get(parameter.name, parameter.default)
    if parameter.name in limits:
        hint = Annotated[hint, limits[parameter.name]]
    info = FieldInfo.from_annotation(hint)
    if default is not inspect.Parameter.empty:
        info = copy(info)
        info.default = default
    return info.annotation, info
