"""A made-up catalogue: post, weather and maps of a village."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.domains.tools.catalogue import Catalogue, Need, Service, Tool

TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "number"}
PLACE: Mapping[str, Any] = {
    "title": "Place",
    "type": "object",
    "properties": {"latitude": NUMBER, "longitude": NUMBER},
    "required": ["latitude", "longitude"],
}


def takes(**fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema of an object that requires its fields."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def tool(service: str, name: str, text: str, **more: Any) -> Tool:
    return Tool(f"{service}/{name}", name, service, text, **more)


VILLAGE = Catalogue(
    registries={"village": "Village"},
    services=[
        Service("maps", "Maps", "Addresses, places and ways between them.", "travel", ("geo",), "village"),
        Service("weather", "Weather", "Forecasts of rain and wind.", "nature", (), "village"),
        Service("post", "Post", "Letters and parcels.", "office", (), ""),
    ],
    tools=[
        tool(
            "maps",
            "geocode_address",
            "Find the place of an address.",
            input=takes(address=TEXT),
            output=takes(place=PLACE),
        ),
        tool(
            "maps",
            "reverse_geocode",
            "Find the address of a place.",
            input=takes(place=PLACE),
            output=takes(address=TEXT),
        ),
        tool(
            "maps",
            "plan_route",
            "Plan a route to a place. Call geocode_address first.",
            input=takes(place=PLACE),
            output=takes(route=TEXT, distance=NUMBER),
        ),
        tool(
            "weather",
            "get_forecast",
            "Forecast of rain and wind for a place.",
            input=takes(place=PLACE, day={"type": "string", "format": "date"}),
            output=takes(forecast=TEXT),
        ),
        tool(
            "weather",
            "parse_day",
            "Read a day such as tomorrow.",
            input=takes(phrase=TEXT),
            output=takes(day={"type": "string", "format": "date"}),
        ),
        tool(
            "post",
            "send_letter",
            "Send a letter to somebody.",
            input=takes(recipient_email={"type": "string", "format": "email"}, body=TEXT),
            needs=(
                Need("check_recipient", "recipient_email", "To be sure that it is right."),
                Need("buy_stamp", reason="If there is none."),
            ),
        ),
        tool(
            "post",
            "check_recipient",
            "Check the email of a recipient.",
            input=takes(recipient_email={"type": "string", "format": "email"}),
        ),
        tool("post", "buy_stamp", "Buy a stamp."),
    ],
)
"""Tools that fit each other by the type Place, by needs, and by what a text names."""
