from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.settings import Conversion
from pipeline.domains.tools.types.fields import inputs, missing_inputs, outputs, required_inputs
from pipeline.domains.tools.types.flows import TEXT, Flow, flows
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.domains.tools.types.words import split, subject

STR, INT = {"type": "string"}, {"type": "integer"}


def obj(required: str = "", /, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": required.split()}


def tool(name: str, taken: Any = None, given: Any = None, description: str = "", service: str = "shop") -> Tool:
    return Tool(f"{service}/{name}", name, service, description, input=taken, output=given)


def found(*tools: Tool, rules: Sequence[Conversion] = (), **keywords: Any) -> dict[tuple[str, str], Flow]:
    every = flows(tools, TypeSystem(rules), **keywords)
    return {(each.source.partition("/")[2], each.target.partition("/")[2]): each for each in every}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("userId", ("user", "id")),
        ("user_id", ("user", "id")),
        ("page-uri", ("page", "url")),
        ("getHTTPResponse", ("get", "http", "response")),
        ("email_address", ("email",)),
        ("filename", ("file", "name")),
    ],
)
def test_names_are_split(name: str, words: tuple[str, ...]) -> None:
    assert split(name) == words


@pytest.mark.parametrize(
    ("name", "words", "returned"),
    [
        ("get_user_details", ("user",), True),
        ("listOpenOrders", ("open", "orders"), True),
        ("search_hotels_by_city", ("hotels",), True),
        ("get_list_of_rooms", ("rooms",), True),
        ("convert_csv_to_parquet", ("parquet",), True),
        ("invoice_getter", ("invoice",), True),
        ("invoices_list", ("invoices",), True),
        ("delete_user", ("user",), False),
        ("shop_get_cart", ("cart",), True),
    ],
)
def test_the_name_of_a_tool_says_what_it_is_about(name: str, words: tuple[str, ...], returned: bool) -> None:
    assert (subject(name).words, subject(name).returned) == (words, returned)


def test_inputs_are_properties_and_those_of_objects_in_them() -> None:
    guest = obj("email", email={"type": "string", "format": "email"}, nickname=STR)
    booking = tool("book_room", obj("room_id guest", room_id=STR, guest=guest, nights={**INT, "default": 1}))
    by_path = {each.path: each for each in inputs(booking)}

    assert list(by_path) == ["room_id", "guest", "guest.email", "guest.nickname", "nights"]
    assert [each.path for each in inputs(booking) if each.required] == ["room_id", "guest", "guest.email"]
    assert by_path["guest.email"].words == {"guest", "email"}
    assert by_path["nights"].setting
    assert not by_path["room_id"].setting


@pytest.mark.parametrize("name", ["limit", "page_size", "format", "include_deleted", "max_results", "language"])
def test_names_of_settings_are_told(name: str) -> None:
    assert inputs(tool("list_orders", obj(**{name: STR})))[0].setting


LIST_OF_USERS = {"type": "array", "items": obj("id", id=STR, tags={"type": "array", "items": STR})}


@pytest.mark.parametrize(
    ("name", "given_", "paths"),
    [
        ("export_all", obj("users", users=LIST_OF_USERS), ["users[].id", "users[].tags[]"]),
        (
            "open_cart",
            {"$defs": {"Cart": obj("id", id=STR)}, **obj("cart", cart={"$ref": "#/$defs/Cart"})},
            ["cart", "cart.id"],
        ),
        ("get_valid_moves", obj("result", result={"type": "array", "items": STR}), ["result[]"]),
        ("get_product", obj("result", result=obj("sku", sku=STR)), ["result.sku"]),
    ],
)
def test_outputs_are_properties_through_lists_and_objects(name: str, given_: Any, paths: list[str]) -> None:
    assert [each.path for each in outputs(tool(name, given=given_))] == paths


def test_an_output_is_meant_by_what_it_belongs_to_and_a_wrapped_result_by_its_tool() -> None:
    user, tags = outputs(tool("export_all", given=obj("users", users=LIST_OF_USERS)))
    (moves,) = outputs(tool("get_valid_moves", given=obj("result", result={"type": "array", "items": STR})))

    assert (user.words, tags.type.name) == (frozenset({"user", "id"}), "list<string>")
    assert (moves.name, moves.type.name, moves.evidence) == ("valid_moves", "list<string>", "schema")


@pytest.mark.parametrize("given_", [None, obj("result", result=STR), {}, {"type": "object"}])
def test_without_a_schema_texts_are_the_evidence(given_: Any) -> None:
    named = outputs(
        tool("get_invoice", given=given_, description="Opens it. Returns: the payment reference and total.")
    )

    assert [(each.name, each.type.name, each.evidence) for each in named] == [
        ("invoice", "any", "text"),
        ("payment_reference", "any", "text"),
        ("total", "any", "text"),
    ]


def test_a_tool_that_deletes_returns_nothing_by_its_name() -> None:
    assert outputs(tool("delete_invoice", description="Deletes it.")) == []


def test_an_id_means_the_id_of_its_tool() -> None:
    flow = found(
        tool("get_customer", obj("email", email=STR), obj("id name", id=STR, name=STR)),
        tool("refund", obj("customer_id", customer_id=STR)),
        tool("rename_warehouse", obj("warehouse_id", warehouse_id=STR)),
    )

    assert list(flow) == [("get_customer", "refund")]
    (mapping,) = flow["get_customer", "refund"].mappings
    assert (mapping.output, mapping.input, mapping.how, mapping.evidence) == ("id", "customer_id", "direct", "schema")
    assert flow["get_customer", "refund"].confidence == pytest.approx(1.0)


INSTEAD = {"type": "string", "description": "For points use lookup_area instead."}


@pytest.mark.parametrize(
    "tools",
    [
        [  # only a type, or a generic word
            tool("get_weather", obj("city", city=STR), obj("summary name", summary=STR, name=STR)),
            tool("open_ticket", obj("subject_line name", subject_line=STR, name=STR)),
        ],
        [  # names that end otherwise
            tool("get_account", obj("login", login=STR), obj("account_email", account_email=STR)),
            tool("lock_account", obj("account_number", account_number=STR)),
        ],
        *(  # what configures a tool
            [
                tool("get_branch", None, obj("branch_ref", branch_ref={"type": setting["type"]})),
                tool("clone", obj("", branch_ref=setting)),
            ]
            for setting in ({"type": "boolean"}, {"type": "string", "default": "main"})
        ),
        [  # what a source must be given itself
            tool("get_customer", obj("customer_id", customer_id=STR), obj("customer_id", customer_id=STR)),
            tool("refund", obj("customer_id", customer_id=STR)),
        ],
        [tool("next_page_of", obj("session_ref", session_ref=STR), obj("session_ref", session_ref=STR))],
        [tool("rotate", obj("", session_ref=STR), obj("session_ref", session_ref=STR))],
        [tool("list_projects"), tool("create_project", obj("name", name=STR, description=STR))],  # yet to be made
        [tool("lookup_area"), tool("deliver", obj("zone", zone=INSTEAD))],
    ],
)
def test_what_only_looks_alike_makes_no_flow(tools: list[Tool]) -> None:
    assert not found(*tools)


def test_types_that_dont_fit_dont_flow() -> None:
    pair = (
        tool("get_customer", None, obj("customer_id", customer_id=INT)),
        tool("refund", obj("customer_id", customer_id=STR)),
    )

    assert not found(*pair)
    flow = found(*pair, rules=[Conversion(source="integer", target="string", confidence=0.7, converter="str")])[
        "get_customer", "refund"
    ]
    assert (flow.confidence, flow.mappings[0].converter, flow.mappings[0].how) == (0.7, "str", "rule")


SHIPMENT = {"$defs": {"Shipment": obj("parcel", parcel=STR)}}


@pytest.mark.parametrize(
    ("given_", "taken", "output", "least", "most"),
    [
        (
            obj("basket_total", basket_total=INT),
            obj("basket_total", basket_total={"type": "number"}),
            "basket_total",
            0.8,
            0.8,
        ),
        (
            obj("voucher_codes", voucher_codes={"type": "array", "items": STR}),
            obj("voucher_code", voucher_code=STR),
            "voucher_codes[]",
            0.3,
            1.0,
        ),
        (  # the name of a type counts
            {**SHIPMENT, **obj("outcome", outcome={"$ref": "#/$defs/Shipment"})},
            {**SHIPMENT, **obj("what", what={"$ref": "#/$defs/Shipment"})},
            "outcome.parcel",
            0.3,
            1.0,
        ),
    ],
)
def test_types_that_fit_flow_with_their_confidence(
    given_: Any, taken: Any, output: str, least: float, most: float
) -> None:
    flow = found(tool("collect", None, given_), tool("redeem", taken))["collect", "redeem"]

    assert flow.mappings[0].output == output
    assert least - 1e-9 <= flow.confidence <= most + 1e-9


def test_the_new_name_of_a_thing_is_not_its_old_one() -> None:
    taken = obj("project_id name", project_id=STR, name=STR)
    flow = found(tool("list_projects"), tool("rename_project", taken))["list_projects", "rename_project"]

    assert [each.input for each in flow.mappings] == ["project_id"]


def test_texts_tell_of_flows_with_half_the_confidence() -> None:
    flow = found(tool("list_projects"), tool("archive_project", obj("project_id", project_id=STR)))
    only = flow["list_projects", "archive_project"]

    assert only.evidence == "text"
    assert 0.3 <= only.confidence <= TEXT


def test_texts_dont_tell_of_other_things_that_sound_alike() -> None:
    flow = found(
        tool("list_email_domains"),
        tool("list_custom_domains"),
        tool("delete_custom_domain", obj("domain_id", domain_id=STR)),
        tool("edit_policy_rule", obj("rule_id", rule_id=STR)),
        tool("list_policies"),
    )

    assert list(flow) == [("list_custom_domains", "delete_custom_domain")]


def test_texts_tell_nothing_of_the_ids_of_a_part() -> None:
    rule = tool("edit_policy_rule", obj("rule_id", rule_id=STR))

    assert not found(tool("list_policies"), rule, threshold=0.05)
    assert found(tool("list_policy_rules"), rule, threshold=0.05)


def test_ids_stay_in_their_service() -> None:
    source = tool("get_user", None, obj("user_id", user_id=STR), service="chat")
    told = tool("list_users", service="chat")
    target = tool("ban", obj("user_id", user_id=STR), service="forum")
    flow = found(source, told, target)

    assert flow.keys() <= {("get_user", "ban")}
    assert all(each.confidence <= 0.5 for each in flow.values())
    assert found(source, tool("ban", obj("user_id", user_id=STR), service="chat"))["get_user", "ban"].confidence == 1.0


def test_an_input_that_names_a_tool_takes_its_output() -> None:
    zone = {"type": "string", "description": "As returned by `lookup_area`."}
    flow = found(tool("lookup_area"), tool("deliver", obj("zone", zone=zone)))["lookup_area", "deliver"]

    assert (flow.mappings[0].how, flow.mappings[0].output, flow.confidence) == ("mention", "area", TEXT)


def test_each_input_keeps_its_best_sources_and_ties_go_by_id() -> None:
    makers = [tool(f"maker_{letter}", None, obj("ledger_ref", ledger_ref=STR)) for letter in "dcba"]
    flow = found(*makers, tool("audit", obj("ledger_ref", ledger_ref=STR)), sources=2, threshold=0.0)

    assert list(flow) == [("maker_a", "audit"), ("maker_b", "audit")]


def test_words_of_many_tools_count_little() -> None:
    makers = [tool(f"maker_{number}", None, obj("region", region=STR)) for number in range(100)]
    rare = [tool("survey", None, obj("parcel_no", parcel_no=STR))]
    takers = [tool("map_it", obj("region parcel_no", region=STR, parcel_no=STR))]
    flow = found(*makers, *rare, *takers, threshold=0.0)

    assert flow["survey", "map_it"].confidence > 2 * flow["maker_0", "map_it"].confidence


def test_what_a_chain_still_needs() -> None:
    booking = tool("book", obj("room_id guest", room_id=STR, guest=obj("email", email=STR), note=STR))

    assert [each.name for each in required_inputs(inputs(booking))] == ["room_id", "guest"]
    assert [each.name for each in missing_inputs(inputs(booking), {"room_id"})] == ["guest"]


NAMES = st.sampled_from(["get_user", "list_orders", "delete_order", "refund", "searchItems"])
FIELDS = st.dictionaries(
    st.sampled_from(["id", "user_id", "order_id", "email", "limit", "items", ""]),
    st.sampled_from([STR, INT, {}, {"type": "array", "items": STR}, None, {"$ref": "#"}, {"enum": ["a"]}, 5]),
    max_size=4,
)
SCHEMA = st.none() | FIELDS.map(lambda fields: obj(" ".join(fields), **fields)) | st.just({"$ref": "#"})
TOOLS = st.lists(st.tuples(NAMES, SCHEMA, SCHEMA, st.text(max_size=30), st.sampled_from("ab")), max_size=6).map(
    lambda rows: [
        Tool(f"{number}", name, service, text, input=taken, output=given_)
        for number, (name, taken, given_, text, service) in enumerate(rows)
    ]
)


@given(TOOLS, st.integers(1, 3))
def test_flows_hold_for_any_tools(tools: list[Tool], sources: int) -> None:
    every = flows(tools, TypeSystem(), sources=sources)
    into: dict[tuple[str, str], int] = {}
    for flow in every:
        assert flow.source != flow.target
        assert 0.3 <= flow.confidence == max(each.confidence for each in flow.mappings) <= 1
        for each in flow.mappings:
            assert each.evidence == "schema" or each.confidence <= TEXT
            into[flow.target, each.input] = into.get((flow.target, each.input), 0) + 1
    assert all(count <= sources for count in into.values())
    assert every == flows(list(reversed(tools)), TypeSystem(), sources=sources)


def test_flows_of_many_tools_are_sparse() -> None:
    things = [f"thing{number}" for number in range(325)]
    tools = [
        tool(f"{verb}_{thing}", obj("thing_id", **{f"{thing}_id": STR, "owner_id": STR, "thing_id": STR}), given_)
        for thing in things
        for verb, given_ in (
            ("get", obj("id", id=STR, owner_id=STR)),
            ("list", None),
            ("delete", None),
            ("update", obj("id name", id=STR, name=STR, url=STR)),
        )
    ]
    every = flows(tools, TypeSystem())

    assert len(every) >= len(things)
    into = Counter((flow.target, mapping.input) for flow in every for mapping in flow.mappings)
    assert max(into.values()) <= 10


def test_a_schema_that_refers_to_itself_often_is_read_in_time() -> None:
    itself = {"$ref": "#/$defs/loop"}
    loop = {"properties": {"name": {"type": "string"}}, "allOf": [itself] * 400}

    assert [each.name for each in inputs(tool("find", {**itself, "$defs": {"loop": loop}}))] == ["name"]
