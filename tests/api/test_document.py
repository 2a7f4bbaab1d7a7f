"""The OpenAPI document: complete, with examples that are true to their schemas, and a page that shows it."""

import csv
import json
import re
from datetime import datetime
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker

from crawler.api.schemas.crawl import CRAWL_LINE_EXAMPLE
from crawler.api.v1 import api
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import EndReason
from crawler.exports.rows import KEYS
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.comparison import CHANGES
from tests.api.calling import ROOT
from tests.stack import ROOT as ROOT_FOLDER

DOCUMENT: dict[str, Any] = api.get_openapi_schema(path_prefix=f"{ROOT}/")
PAGE = (ROOT_FOLDER / "docs" / "api.md").read_text()
OPERATIONS = [
    pytest.param(operation, id=operation["operationId"])
    for methods in DOCUMENT["paths"].values()
    for operation in methods.values()
]


CONTENTS = [
    pytest.param(operation.values[0], media_type, content, id=f"{operation.id} {status} {media_type}")
    for operation in OPERATIONS
    for status, said in operation.values[0]["responses"].items()
    if status < "300"
    for media_type, content in said.get("content", {}).items()
]
BODIES = [
    pytest.param(content, id=operation.id)
    for operation in OPERATIONS
    for content in operation.values[0].get("requestBody", {}).get("content", {}).values()
]


def answers_of(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The contents of its answers that are no problem."""
    good = [said for status, said in operation["responses"].items() if status < "300"]
    return [content for said in good for content in said.get("content", {}).values()]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself where there is only a reference to it."""
    named = schema.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["schemas"][named] if named else schema


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_examples_and_describes_itself_its_scope_and_what_it_takes(
    operation: dict[str, Any],
) -> None:
    assert "204" in operation["responses"] or answers_of(operation)
    assert all("example" in content for content in answers_of(operation))
    assert operation["summary"]
    assert "Scope: `" in operation["description"] or operation["summary"] == "Get your account"
    mute = {name for name, said in taken(operation).items() if not re.search(r"\w+ \w+|\w+\.", said)}
    named = {name for name, said in taken(operation).items() if _letters(said) == _letters(name)}
    assert mute | named == set()


@pytest.mark.parametrize(("operation", "media_type", "content"), CONTENTS)
def test_the_example_of_an_answer_is_what_the_answer_can_be(
    operation: dict[str, Any], media_type: str, content: dict[str, Any]
) -> None:
    example = content["example"]
    match media_type:
        case "application/json":
            assert resolved(content["schema"])["properties"]
            assert faults(example, content["schema"]) == []
        case "text/csv":
            header, *rows = csv.reader(StringIO(example))
            assert rows
            assert {len(row) for row in rows} == {len(header)}
            assert set(header) in columns_of(operation)
        case "application/jsonl":
            lines = [json.loads(line) for line in example.splitlines()]
            assert lines
            assert all(set(line) in columns_of(operation) for line in lines)
        case "text/event-stream":
            said = dict(re.findall(r"event: (\w+)\n(?:id: .*\n)?data: (.*)\n", example))
            assert set(said) == {"state", "progress", "finished"}
            assert all(json.loads(data) for data in said.values())
        case _:
            assert "schema" not in content
            assert re.search(r"\w+ \w+", example)


@pytest.mark.parametrize("content", BODIES)
def test_every_body_has_an_example_that_can_be_sent(content: dict[str, Any]) -> None:
    assert content["example"]
    assert faults(content["example"], content["schema"]) == []


def test_every_body_is_among_those_that_were_judged() -> None:
    with_body = {operation.id for operation in OPERATIONS if "requestBody" in operation.values[0]}
    assert with_body == {body.id for body in BODIES}
    assert len(with_body) > 10


def columns_of(operation: dict[str, Any]) -> list[set[str]]:
    """The names of columns that a table of this operation can have."""
    match operation["tags"]:
        case ["reports"]:
            return [{column.name for column in report.whole_columns} for report in REPORTS]
        case ["comparisons"]:
            return [{column.name for column in change.columns} for change in CHANGES]
        case _:
            return [set(KEYS)]


def closed(schema: Any) -> Any:
    """The schema, as one that allows no other properties than those it names."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if "properties" in schema else {}
    return {**more, **{name: closed(part) for name, part in schema.items()}}


COMPONENTS = closed(DOCUMENT["components"])
FORMATS, WRONG = FormatChecker(), (ValueError, TypeError, AttributeError)
FORMATS.checks("uuid", WRONG)(UUID)
FORMATS.checks("date-time", WRONG)(datetime.fromisoformat)


def faults(value: Any, schema: dict[str, Any]) -> list[str]:
    """What of a value its JSON schema does not allow."""
    whole = Draft202012Validator({**closed(schema), "components": COMPONENTS}, format_checker=FORMATS)
    return [error.message for error in whole.iter_errors(json.loads(json.dumps(value)))]


@pytest.mark.parametrize("changed", [{"id": "7"}, {"created_at": "today"}, {"other": 1}, {"closed": None}])
def test_faults_of_an_example_are_found(changed: dict[str, Any]) -> None:
    schema = {"$ref": "#/components/schemas/CrawlLine"}
    assert faults(CRAWL_LINE_EXAMPLE, schema) == []
    assert faults({**CRAWL_LINE_EXAMPLE, **changed}, schema)


def test_why_a_crawl_ended_is_one_of_those_words() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["EndReason"]["enum"] == [why.value for why in EndReason]
    for schema in ("Receipt", "CrawlLine"):
        field = schemas[schema]["properties"]["ended"]
        assert {"$ref": "#/components/schemas/EndReason"} in field["anyOf"]
        assert all(f"`{why}`" in field["description"] for why in EndReason)


def taken(operation: dict[str, Any]) -> dict[str, str]:
    """What an operation takes, parameters and parts of its body, each with its description."""
    found = {said["name"]: said.get("description", "") for said in operation.get("parameters", ())}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        found |= described_in(content["schema"])
    return found


def described_in(schema: dict[str, Any], above: str = "") -> dict[str, str]:
    """Every property below this schema, by its path, with its description."""
    if "$ref" in schema:
        return described_in(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]], above)
    found: dict[str, str] = {}
    for name, said in schema.get("properties", {}).items():
        found[above + name] = said.get("description", "")
        found |= described_in(said, f"{above}{name}.")
    for part in [*schema.get("anyOf", ()), *schema.get("allOf", ()), *filter(None, [schema.get("items")])]:
        found |= described_in(part, above)
    return found


def _letters(text: str) -> str:
    return re.sub(r"\W|_", "", text).lower()


def test_every_option_of_a_crawl_is_among_what_is_described() -> None:
    described = taken(DOCUMENT["paths"][f"{ROOT}/crawls"]["post"])
    assert set(CrawlOptions.__struct_fields__) - set(described) == {"private_hosts"}
    assert {"start_urls", "schedule", "bearer", "Idempotency-Key"} <= set(described)
    assert "scrapeOptions.formats" in taken(DOCUMENT["paths"][f"{ROOT}/crawl"]["post"])


def test_every_address_is_in_the_documentation() -> None:
    tails = [re.sub(r"^.*\}(?=/)", "", path.removeprefix(ROOT)) for path in DOCUMENT["paths"]]
    assert [tail for tail in tails if re.sub(r"\{\w+_id\}|\{export_format\}", "{", tail) not in PAGE] == []


def test_anybody_may_read_it(client: Client) -> None:
    response = client.get(f"{ROOT}/openapi.json")
    assert response.status_code == 200
    assert set(response.json()["paths"]) == set(DOCUMENT["paths"])


def test_the_page_that_shows_it_loads_nothing_from_elsewhere(client: Client) -> None:
    response = client.get(f"{ROOT}/docs")
    assert "http://" not in response.content.decode().replace("http://www.w3.org", "")
    assert "https://" not in response.content.decode()
    assert "script-src 'self'; " in response["Content-Security-Policy"]
