"""The log of the services, on stderr: text, or JSON with a document a line."""

import logging

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from pipeline.settings import ObserveSettings
from pipeline.telemetry import ids_of_span

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_NAMES = {"levelname": "level", "name": "logger", "exc_info": "exception"}


def write_logs(settings: ObserveSettings) -> None:
    """Write warnings of all loggers to stderr, in the format of ``observe.logs``."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if settings.logs == "json" else logging.Formatter(_TEXT))
    logging.basicConfig(handlers=[handler])


class _Json(JsonFormatter):
    """A record as JSON: ``time``, ``level``, ``logger``, ``message``, its further fields, and the ids of its span."""

    def __init__(self) -> None:
        # uvicorn adds messages with colours to its records.
        others = [*RESERVED_ATTRS, "color_message"]
        super().__init__(
            "{levelname}{name}{message}", style="{", timestamp="time", rename_fields=_NAMES, reserved_attrs=others
        )

    def add_fields(
        self, log_data: dict[str, object], record: logging.LogRecord, message_dict: dict[str, object]
    ) -> None:
        """Add the fields of a record, and the ids of the span that it is within."""
        super().add_fields(log_data, record, message_dict)
        log_data.update(ids_of_span())
