"""Sixty tools of five servers with output schemas, and thirty chains of them whose right answers were stated first.

The tools are written in short: ``{"name": type}`` is an object, ``[type]`` a list, ``name?`` an optional field,
``@Name`` a type of ``DEFINITIONS``, ``a|b`` an enum, any of ``FORMATS`` a string of that format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline.domains.tools.catalogue import Catalogue, Service, Tool

DEFINITIONS: Mapping[str, Any] = {
    "Position": {"latitude": "number", "longitude": "number"},
    "Money": {"amount": "number", "currency": "string"},
    "PostalAddress": {"street": "string", "city": "string", "postcode": "string", "country": "string"},
    "Polygon": {"points": [{"lat": "number", "lon": "number"}]},
}

FORMATS = ("date", "date-time", "email", "uri")


def schema(short: Any) -> dict[str, Any]:
    """Return the JSON Schema that is written in short."""
    if isinstance(short, Mapping):
        fields = {name.rstrip("?"): schema(inner) for name, inner in short.items()}
        return {"type": "object", "properties": fields, "required": [name for name in short if not name.endswith("?")]}
    if isinstance(short, list):
        return {"type": "array", "items": schema(short[0])}
    if short.startswith("@"):
        return {"$ref": f"#/$defs/{short[1:]}"}
    if "|" in short:
        return {"type": "string", "enum": short.split("|")}
    return {"type": "string", "format": short} if short in FORMATS else {"type": short}


def whole(short: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's input or output, with the definitions that it refers to."""
    used = {name: schema(inner) for name, inner in DEFINITIONS.items() if f"@{name}" in str(short)}
    return {**schema(short), **({"$defs": used} if used else {})}


FREIGHT: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "locate_address": (
        "Find the geographic position of a postal address.",
        {"address": "string"},
        {"position": "@Position", "accuracy": "street|city|country"},
    ),
    "nearest_depots": (
        "List the depots that are nearest to a position.",
        {"position": "@Position", "radius_km?": "number"},
        {"depots": [{"depot_id": "string", "name": "string", "distance_km": "number"}]},
    ),
    "list_parcels": (
        "List the parcels that lie in a depot.",
        {"depot_id": "string", "status?": "waiting|loaded|delivered"},
        {"parcels": [{"parcel_id": "string", "weight_kg": "number", "status": "waiting|loaded|delivered"}]},
    ),
    "get_parcel": (
        "Get the weight, size and recipient of a parcel.",
        {"parcel_id": "string"},
        {
            "parcel_id": "string",
            "weight_kg": "number",
            "size": "S|M|L",
            "recipient": {"name": "string", "address": "string", "phone": "string"},
        },
    ),
    "track_parcel": (
        "Tell where a parcel is now, by its tracking code.",
        {"tracking_code": "string"},
        {
            "parcel_id": "string",
            "position": "@Position",
            "last_event": {"code": "string", "time": "date-time"},
        },
    ),
    "quote_delivery": (
        "Quote the price of a delivery of some weight to a destination.",
        {"weight_kg": "number", "destination": "@Position", "service?": "standard|express"},
        {"quote_id": "string", "price": "@Money", "valid_until": "date-time"},
    ),
    "book_delivery": (
        "Book the delivery of a parcel at a quoted price.",
        {"parcel_id": "string", "quote_id": "string"},
        {"booking_number": "string", "pickup_date": "date"},
    ),
    "cancel_booking": (
        "Cancel a booked delivery and refund its price.",
        {"booking_number": "string", "reason": "string"},
        {"refund": "@Money"},
    ),
    "get_booking": (
        "Get the state of a booking, its driver and vehicle.",
        {"booking_number": "string"},
        {"state": "open|running|done", "driver_id": "string", "vehicle": {"plate": "string", "model": "string"}},
    ),
    "get_driver": (
        "Get the contact details and the licence of a driver.",
        {"driver_id": "string"},
        {"driver": {"name": "string", "phone": "string", "licence_number": "string"}},
    ),
    "print_label": (
        "Print the shipping label of a parcel.",
        {"parcel_id": "string", "format?": "pdf|zpl"},
        {"label_url": "uri"},
    ),
    "classify_goods": (
        "Find the customs tariff code for a description of goods.",
        {"description": "string"},
        {"tariff_code": "string", "duty_rate": "number"},
    ),
}

CLINIC: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "searchPatients": (
        "Search the register of patients by name.",
        {"name": "string", "birthDate?": "date"},
        {"patients": [{"patientId": "integer", "name": "string", "birthDate": "date"}]},
    ),
    "getPatient": (
        "Read the record of a patient: contact, allergies and insurance.",
        {"patientId": "integer"},
        {
            "patient": {
                "id": "integer",
                "name": "string",
                "email": "email",
                "allergies": ["string"],
                "insurance": {"insurerId": "string", "plan": "basic|plus|private"},
            }
        },
    ),
    "listAppointments": (
        "List the appointments of a patient.",
        {"patientId": "integer", "from?": "date"},
        {
            "appointments": [
                {
                    "appointmentId": "integer",
                    "start": "date-time",
                    "doctorId": "integer",
                    "state": "booked|done|cancelled",
                }
            ]
        },
    ),
    "getDoctor": (
        "Get the room and the specialty of a doctor.",
        {"doctorId": "integer"},
        {"doctor": {"name": "string", "specialty": "cardiology|dermatology|paediatrics", "room": "string"}},
    ),
    "findDoctors": (
        "Find doctors of a specialty.",
        {"specialty": "cardiology|dermatology|paediatrics"},
        {"doctors": [{"doctorId": "integer", "name": "string"}]},
    ),
    "freeSlots": (
        "List the times at which a doctor can see a patient.",
        {"doctorId": "integer", "day?": "date"},
        {"slots": [{"slotId": "string", "start": "date-time", "minutes": "integer"}]},
    ),
    "bookAppointment": (
        "Book an appointment for a patient in a free slot.",
        {"patientId": "integer", "slotId": "string"},
        {"appointmentId": "integer", "confirmationCode": "string"},
    ),
    "listPrescriptions": (
        "List the drugs that a patient takes.",
        {"patientId": "integer"},
        {
            "prescriptions": [
                {
                    "prescriptionId": "integer",
                    "drug": {"drugCode": "string", "name": "string"},
                    "dose": {"amount": "number", "unit": "mg|ml"},
                }
            ]
        },
    ),
    "checkInteractions": (
        "Check drugs for harmful interactions.",
        {"drugCodes": ["string"]},
        {"interactions": [{"severity": "minor|major", "text": "string"}]},
    ),
    "orderLabTest": (
        "Order a laboratory test for a patient.",
        {"patientId": "integer", "panel": "blood|urine|allergy"},
        {"labOrderId": "string"},
    ),
    "getLabResults": (
        "Get the results of a laboratory test.",
        {"labOrderId": "string"},
        {
            "results": [{"analyte": "string", "value": "number", "unit": "string", "flag": "low|normal|high"}],
            "reportUrl": "uri",
        },
    ),
    "verifyCoverage": (
        "Verify that an insurance plan covers treatment, and what the patient pays.",
        {"insurerId": "string", "plan": "basic|plus|private"},
        {"covered": "boolean", "copay": "@Money"},
    ),
}

LEDGER: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "find_customer": (
        "Find the customer with an email address.",
        {"email": "email"},
        {
            "customer": {
                "customer_id": "integer",
                "name": "string",
                "vat_number": "string",
                "address": "@PostalAddress",
            }
        },
    ),
    "list_invoices": (
        "List the invoices of a customer, also those that are overdue.",
        {"customer_id": "integer", "state?": "open|paid|overdue"},
        {"invoices": [{"invoice_number": "string", "due": "date", "total": "@Money"}]},
    ),
    "get_invoice": (
        "Get an invoice with its lines.",
        {"invoice_number": "string"},
        {
            "invoice": {
                "invoice_number": "string",
                "customer_id": "integer",
                "lines": [{"sku": "string", "quantity": "integer", "unit_price": "@Money"}],
                "total": "@Money",
            }
        },
    ),
    "render_invoice": (
        "Render an invoice as a PDF document.",
        {"invoice_number": "string"},
        {"document_url": "uri"},
    ),
    "record_payment": (
        "Record that an invoice was paid.",
        {"invoice_number": "string", "amount": "@Money", "method": "card|transfer|cash"},
        {"payment_id": "integer", "balance": "@Money"},
    ),
    "list_payments": (
        "List the payments for an invoice.",
        {"invoice_number": "string"},
        {"payments": [{"payment_id": "integer", "paid_on": "date", "amount": "@Money"}]},
    ),
    "refund_payment": (
        "Pay a payment back.",
        {"payment_id": "integer", "reason?": "string"},
        {"refund_id": "string"},
    ),
    "convert_currency": (
        "Convert an amount of money into another currency.",
        {"amount": "@Money", "target_currency": "string"},
        {"converted": "@Money", "rate": "number"},
    ),
    "check_vat": (
        "Check a VAT number in the public register of companies.",
        {"vat_number": "string"},
        {"valid": "boolean", "registered_name": "string", "country_code": "string"},
    ),
    "create_invoice": (
        "Create an invoice for a customer.",
        {"customer_id": "integer", "lines": [{"sku": "string", "quantity": "integer"}]},
        {"invoice_number": "string"},
    ),
    "send_reminder": (
        "Remind a customer by email of an invoice that isn't paid.",
        {"invoice_number": "string", "tone?": "friendly|firm"},
        {"message_id": "string", "sent_at": "date-time"},
    ),
    "product_price": (
        "Look up the price and the stock of a product.",
        {"sku": "string"},
        {"price": "@Money", "stock": "integer"},
    ),
}

FORGE: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "search_repositories": (
        "Search for repositories by words.",
        {"query": "string"},
        {
            "repositories": [
                {
                    "repository_id": "integer",
                    "full_name": "string",
                    "owner": {"login": "string", "kind": "user|team"},
                    "stars": "integer",
                }
            ]
        },
    ),
    "list_branches": (
        "List the branches of a repository.",
        {"repository_id": "integer"},
        {"branches": [{"name": "string", "head_sha": "string", "protected": "boolean"}]},
    ),
    "list_pull_requests": (
        "List the pull requests of a repository with their authors.",
        {"repository_id": "integer", "state?": "open|merged|closed"},
        {"pull_requests": [{"number": "integer", "title": "string", "author": {"login": "string"}}]},
    ),
    "get_commit": (
        "Get a commit: its message, author and files.",
        {"repository_id": "integer", "sha": "string"},
        {
            "commit": {
                "sha": "string",
                "message": "string",
                "author": {"login": "string", "email": "email"},
                "files": [{"path": "string", "additions": "integer"}],
            }
        },
    ),
    "list_pipelines": (
        "List the pipelines that ran for a repository, the latest first.",
        {"repository_id": "integer", "branch?": "string"},
        {"pipelines": [{"pipeline_id": "integer", "status": "running|passed|failed", "started": "date-time"}]},
    ),
    "list_jobs": (
        "List the jobs of a pipeline and which of them failed.",
        {"pipeline_id": "integer"},
        {"jobs": [{"job_id": "integer", "name": "string", "conclusion": "success|failure|skipped"}]},
    ),
    "get_job_log": (
        "Get the log of a job.",
        {"job_id": "integer"},
        {"log_text": "string", "truncated": "boolean"},
    ),
    "rerun_job": (
        "Run a job again.",
        {"job_id": "integer"},
        {"job_id": "integer", "queued_at": "date-time"},
    ),
    "get_user": (
        "Get the public profile of a user.",
        {"login": "string"},
        {"user": {"login": "string", "display_name": "string", "timezone": "string"}},
    ),
    "open_issue": (
        "Open an issue in a repository.",
        {"repository_id": "integer", "title": "string", "body": "string", "assignee_login?": "string"},
        {"issue": {"issue_id": "integer", "web_url": "uri"}},
    ),
    "read_file": (
        "Read a file of a repository.",
        {"repository_id": "integer", "path": "string", "branch?": "string"},
        {"content": "string", "encoding": "utf-8|base64", "blob_sha": "string"},
    ),
    "list_releases": (
        "List the releases of a repository with the files to download.",
        {"repository_id": "integer"},
        {"releases": [{"tag": "string", "notes": "string", "asset_urls": ["uri"]}]},
    ),
}

FARM: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "find_farms": (
        "Find the farms of an owner.",
        {"owner_name": "string"},
        {"farms": [{"farm_id": "string", "name": "string", "region_code": "string"}]},
    ),
    "list_fields": (
        "List the fields of a farm with what grows there.",
        {"farm_id": "string"},
        {
            "fields": [
                {
                    "field_id": "string",
                    "name": "string",
                    "crop": "wheat|maize|barley|potato",
                    "boundary": "@Polygon",
                    "area_ha": "number",
                }
            ]
        },
    ),
    "field_sensors": (
        "List the sensors in a field.",
        {"field_id": "string"},
        {"sensors": [{"sensor_id": "string", "kind": "moisture|temperature|ph", "installed": "date"}]},
    ),
    "read_sensor": (
        "Read what a sensor measured.",
        {"sensor_id": "string", "since?": "date-time"},
        {"readings": [{"time": "date-time", "value": "number"}], "unit": "string"},
    ),
    "field_center": (
        "Compute the center of a boundary.",
        {"boundary": "@Polygon"},
        {"center": {"lat": "number", "lon": "number"}},
    ),
    "weather_forecast": (
        "Forecast rain, wind and temperature at a place.",
        {"place": {"lat": "number", "lon": "number"}, "days?": "integer"},
        {"daily": [{"date": "date", "rain_mm": "number", "temperature": {"min": "number", "max": "number"}}]},
    ),
    "irrigation_need": (
        "Compute how much water a field needs.",
        {"field_id": "string", "rain_mm": "number"},
        {"litres_per_ha": "number", "advice": "none|light|heavy"},
    ),
    "schedule_irrigation": (
        "Schedule the irrigation of a field.",
        {"field_id": "string", "litres_per_ha": "number", "start": "date-time"},
        {"job_number": "integer", "valve_ids": ["string"]},
    ),
    "open_valve": (
        "Open a valve of the irrigation for some minutes.",
        {"valve_id": "string", "minutes": "integer"},
        {"state": "open|closed"},
    ),
    "crop_price": (
        "Tell what the market of a region pays for a crop.",
        {"crop": "wheat|maize|barley|potato", "region_code": "string"},
        {"price_per_tonne": "@Money", "market": "string"},
    ),
    "soil_report": (
        "Report on the soil of a field.",
        {"field_id": "string"},
        {"soil": {"ph": "number", "nitrogen": "number", "organic_matter": "number"}, "sampled": "date"},
    ),
    "recommend_fertilizer": (
        "Recommend a fertilizer for a crop on a soil.",
        {"soil": {"ph": "number", "nitrogen": "number"}, "crop": "wheat|maize|barley|potato"},
        {"product_name": "string", "kg_per_ha": "number"},
    ),
}

SERVERS = {
    "freight": ("Parcels, depots and deliveries.", FREIGHT),
    "clinic": ("Patients, doctors and their appointments.", CLINIC),
    "ledger": ("Customers, invoices and payments.", LEDGER),
    "forge": ("Repositories of code and their pipelines.", FORGE),
    "farm": ("Fields, sensors and weather of farms.", FARM),
}


def catalogue(servers: Mapping[str, tuple[str, Mapping[str, Any]]]) -> Catalogue:
    """Return the tools of some servers as a build reads them."""
    return Catalogue(
        services=[Service(name, name.title(), text) for name, (text, _) in servers.items()],
        tools=[
            Tool(f"{server}/{name}", name, server, about, input=whole(taken), output=whole(returned))
            for server, (_, tools) in servers.items()
            for name, (about, taken, returned) in tools.items()
        ],
    )


SIXTY = catalogue(SERVERS)


class Expected(NamedTuple):
    """The names of the tools of the right chain; it leads from ``start`` to ``goal``, or is for a ``task``."""

    tools: str
    start: str = ""
    goal: str = ""
    task: str = ""


THIRTY = (
    Expected("get_parcel locate_address quote_delivery book_delivery", "parcel_id", "booking_number"),
    Expected("locate_address nearest_depots list_parcels", "address", "parcel_id"),
    Expected("get_booking get_driver", "booking_number", "licence_number"),
    Expected("track_parcel print_label", "tracking_code", "label_url"),
    Expected("listAppointments freeSlots bookAppointment", "patientId", "confirmationCode"),
    Expected("listPrescriptions checkInteractions", "patientId", "interactions"),
    Expected("getPatient verifyCoverage", "patientId", "copay"),
    Expected("find_customer list_invoices list_payments", "email", "payment_id"),
    Expected("find_customer list_invoices render_invoice", "email", "document_url"),
    Expected("find_customer check_vat", "email", "registered_name"),
    Expected("list_payments refund_payment", "invoice_number", "refund_id"),
    Expected("product_price convert_currency", "sku", "converted"),
    Expected("list_pipelines list_jobs get_job_log", "repository_id", "log_text"),
    Expected("search_repositories list_releases", "query", "asset_urls"),
    Expected("list_jobs rerun_job", "pipeline_id", "queued_at"),
    Expected("list_pull_requests get_user", "repository_id", "display_name"),
    Expected("list_fields soil_report recommend_fertilizer", "farm_id", "kg_per_ha"),
    Expected("find_farms list_fields field_sensors read_sensor", "owner_name", "readings"),
    Expected("locate_address weather_forecast", "address", "rain_mm"),
    Expected(
        "locate_address nearest_depots list_parcels", task="Find the depot nearest to an address and list its parcels."
    ),
    Expected("get_booking get_driver", task="Look up a booking and tell me the phone number of its driver."),
    Expected(
        "searchPatients getPatient verifyCoverage",
        task="Look up a patient by name and check whether the insurance covers the treatment.",
    ),
    Expected("findDoctors freeSlots", task="Find a cardiologist, then show me the free slots of this doctor."),
    Expected("find_customer check_vat", task="Check the VAT number of the customer with this email address."),
    Expected(
        "find_customer list_invoices send_reminder",
        task="Find the customer by email, list the overdue invoices and send a reminder for each of them.",
    ),
    Expected(
        "search_repositories list_pipelines list_jobs get_job_log",
        task="Search for the repository, look at its latest pipeline and show me the log of the job that failed.",
    ),
    Expected(
        "find_farms list_fields soil_report",
        task="Find the farms of this owner, list their fields and report on the soil of each field.",
    ),
    Expected("find_farms list_fields crop_price", task="What are the crops on the farms of this owner worth?"),
    Expected("field_center weather_forecast", task="Take the boundary of a field, and forecast the rain there."),
    Expected(
        "track_parcel weather_forecast",
        task="Track the parcel with this code and forecast the weather at its position.",
    ),
)
