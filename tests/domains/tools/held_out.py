"""Thirty tools of five other servers, and ten chains of them that weren't looked at while chains were made."""

from __future__ import annotations

from .sixty import Expected, catalogue

TRAVEL = {
    "search_airports": (
        "Search airports by the name of a city.",
        {"city": "string"},
        {"airports": [{"iata_code": "string", "name": "string", "timezone": "string"}]},
    ),
    "search_flights": (
        "Search flights that depart from an airport on a day.",
        {"iata_code": "string", "departure_date": "date", "cabin?": "economy|business"},
        {"flights": [{"flight_id": "string", "airline": "string", "fare": "@Money", "seats_left": "integer"}]},
    ),
    "hold_seat": (
        "Hold a seat on a flight for a passenger.",
        {"flight_id": "string", "passenger_name": "string"},
        {"hold_reference": "string", "expires_at": "date-time"},
    ),
    "pay_hold": (
        "Pay for a held seat and issue the ticket.",
        {"hold_reference": "string", "card_token": "string"},
        {"ticket": {"ticket_number": "string", "receipt_url": "uri"}},
    ),
    "flight_status": (
        "Tell whether a flight is on time.",
        {"flight_id": "string"},
        {"status": "on_time|delayed|cancelled", "gate": "string", "delay_minutes": "integer"},
    ),
    "find_hotels": (
        "Find hotels around a position.",
        {"center": "@Position", "stars?": "integer"},
        {"hotels": [{"hotel_id": "string", "name": "string", "position": "@Position"}]},
    ),
}

LIBRARY = {
    "search_catalogue": (
        "Search the catalogue for books by title or author.",
        {"query": "string"},
        {"books": [{"isbn": "string", "title": "string", "author": "string", "year": "integer"}]},
    ),
    "list_copies": (
        "List the copies of a book and the branch where each stands.",
        {"isbn": "string"},
        {"copies": [{"copy_id": "string", "branch_code": "string", "available": "boolean"}]},
    ),
    "branch_hours": (
        "Get the opening hours and the location of a branch.",
        {"branch_code": "string"},
        {"hours": [{"day": "mon|tue|wed|thu|fri|sat|sun", "opens": "string"}], "location": "@Position"},
    ),
    "lookup_member": (
        "Look up a member by the number on the library card.",
        {"card_number": "string"},
        {"member": {"member_id": "integer", "full_name": "string", "blocked": "boolean"}},
    ),
    "reserve_copy": (
        "Reserve a copy of a book for a member.",
        {"copy_id": "string", "member_id": "integer"},
        {"reservation_id": "string", "ready_on": "date"},
    ),
    "member_loans": (
        "List what a member has on loan.",
        {"member_id": "integer"},
        {"loans": [{"loan_id": "integer", "isbn": "string", "due_on": "date"}]},
    ),
    "renew_loan": (
        "Renew a loan.",
        {"loan_id": "integer"},
        {"new_due_date": "date"},
    ),
}

CLOUD = {
    "listProjects": (
        "List the projects of the account.",
        {},
        {"projects": [{"projectId": "string", "displayName": "string"}]},
    ),
    "listInstances": (
        "List the virtual machines in a project.",
        {"projectId": "string", "zone?": "string"},
        {"instances": [{"instanceId": "string", "state": "running|stopped", "network": {"internalIp": "string"}}]},
    ),
    "getMetrics": (
        "Read the load of a virtual machine.",
        {"instanceId": "string", "window?": "1h|1d|7d"},
        {"metrics": {"cpuPercent": "number", "memoryPercent": "number"}},
    ),
    "createSnapshot": (
        "Take a snapshot of the disk of a virtual machine.",
        {"instanceId": "string"},
        {"snapshotId": "string", "sizeGb": "number"},
    ),
    "restoreSnapshot": (
        "Restore a snapshot to a new virtual machine.",
        {"snapshotId": "string", "machineType": "small|medium|large"},
        {"instanceId": "string", "operation": {"operationId": "string"}},
    ),
    "operationStatus": (
        "Tell how far an operation is.",
        {"operationId": "string"},
        {"done": "boolean", "progressPercent": "number"},
    ),
}

DESK = {
    "find-contact": (
        "Find a contact by phone number.",
        {"phone_number": "string"},
        {
            "contact": {
                "contact_id": "integer",
                "name": "string",
                "email": "email",
                "company": {"company_id": "integer"},
            }
        },
    ),
    "company-contracts": (
        "List the support contracts of a company.",
        {"company_id": "integer"},
        {"contracts": [{"contract_id": "integer", "level": "basic|gold", "ends_on": "date"}]},
    ),
    "list-tickets": (
        "List the tickets that a contact has opened.",
        {"contact_id": "integer", "status?": "open|pending|solved"},
        {"tickets": [{"ticket_id": "integer", "subject": "string", "priority": "low|normal|urgent"}]},
    ),
    "ticket-history": (
        "Read the conversation of a ticket.",
        {"ticket_id": "integer"},
        {"messages": [{"sent_at": "date-time", "body": "string", "agent_id": "integer"}]},
    ),
    "summarize-text": (
        "Summarize a text in a few sentences.",
        {"text": "string"},
        {"summary": "string"},
    ),
    "agent-schedule": (
        "Get the shifts of a support agent.",
        {"agent_id": "integer"},
        {"shifts": [{"starts_at": "date-time", "ends_at": "date-time"}]},
    ),
}

MUSEUM = {
    "search_artworks": (
        "Search the collection for works of an artist.",
        {"artist_name": "string"},
        {"artworks": [{"artwork_id": "integer", "title": "string", "medium": "oil|print|bronze"}]},
    ),
    "artwork_location": (
        "Tell in which gallery a work hangs.",
        {"artwork_id": "integer"},
        {"gallery": {"gallery_code": "string", "floor": "integer"}},
    ),
    "gallery_tours": (
        "List guided tours through a gallery.",
        {"gallery_code": "string"},
        {"tours": [{"tour_id": "integer", "starts": "date-time", "language": "en|de|fr"}]},
    ),
    "book_tour": (
        "Book places on a guided tour.",
        {"tour_id": "integer", "visitors": "integer"},
        {"voucher_code": "string", "total": "@Money"},
    ),
    "provenance": (
        "Trace the former owners of a work.",
        {"artwork_id": "integer"},
        {"owners": [{"owner_name": "string", "from_year": "integer"}]},
    ),
}

THIRTY_MORE = catalogue(
    {
        "travel": ("Flights and hotels.", TRAVEL),
        "library": ("Books, members and loans of a public library.", LIBRARY),
        "cloud": ("Virtual machines and their disks.", CLOUD),
        "desk": ("Tickets and contacts of a help desk.", DESK),
        "museum": ("Works and tours of a museum.", MUSEUM),
    }
)

TEN = (
    Expected("search_airports search_flights hold_seat pay_hold", "city", "ticket_number"),
    Expected("lookup_member member_loans renew_loan", "card_number", "new_due_date"),
    Expected("createSnapshot restoreSnapshot operationStatus", "instanceId", "progressPercent"),
    Expected("find-contact company-contracts", "phone_number", "ends_on"),
    Expected("list_copies branch_hours find_hotels", "isbn", "hotels"),
    Expected(
        "search_catalogue list_copies branch_hours",
        task="Search for the book, see which branches have copies and when they are open.",
    ),
    Expected(
        "find-contact list-tickets ticket-history",
        task="Find who called by the phone number, list the tickets of this contact and read the conversation.",
    ),
    Expected(
        "search_artworks artwork_location gallery_tours book_tour",
        task="Find out where the works of an artist hang and book a guided tour through this gallery.",
    ),
    Expected("listProjects listInstances getMetrics", task="How high is the load of my virtual machines?"),
    Expected(
        "search_airports search_flights flight_status",
        task="Look for flights out of this city tomorrow, then check whether they are on time.",
    ),
)
