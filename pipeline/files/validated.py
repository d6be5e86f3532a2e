"""Values from elsewhere as records: checked by a pydantic model, with one wording for what it refuses."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pipeline.errors import did_you_mean
from pipeline.files.guard import GUARD, Guard

_Model = TypeVar("_Model", bound=BaseModel)


def validated(model: type[_Model], value: object, place: object, guard: Guard = GUARD) -> _Model:
    """Return ``value`` as a record of ``model``; ``place`` is where it stands: a path, or a path and a line.

    Raises the guard's error about the first fault: "file.jsonl, line 7 has no `date`", "... has the `date` 'x': ...".
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problem, fix = _described(model, error.errors(include_url=False)[0])
        raise guard.fault(place, problem, fix) from None


def _described(model: type[BaseModel], fault: ErrorDetails) -> tuple[str, str]:
    name = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    match fault["type"]:
        case "missing":
            return f"has no `{name}`", ""
        case "extra_forbidden":
            known = [field.alias or key for key, field in model.model_fields.items()]
            otherwise = f"Fields: {', '.join(known)}."
            known = known if len(fault["loc"]) == 1 else []
            return f"has `{name}`, which is unknown", did_you_mean(str(fault["loc"][-1]), known, otherwise)
        case "string_pattern_mismatch" if fault.get("ctx", {}).get("pattern") == r"\S":
            message = "it's blank"
        case "model_type" | "dict_type" if not name:
            return "isn't an object of names and values", ""
    message = message[:1].lower() + message[1:]
    return (f"has the `{name}` {fault['input']!r:.80}: {message}" if name else f"isn't right: {message}"), ""
