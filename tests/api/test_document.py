"""The OpenAPI document: complete, with examples that are true to their schemas, and a page that shows it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from crawler.api.shapes.options import Options
from crawler.api.v1 import api
from crawler.core.options import CrawlOptions
from tests.api.calling import ROOT
from tests.stack import ROOT as ROOT_FOLDER

DOCUMENT: dict[str, Any] = api.get_openapi_schema(path_prefix=f"{ROOT}/")
PAGE = (ROOT_FOLDER / "docs" / "api.md").read_text()
OPERATIONS = [
    pytest.param(operation, id=operation["operationId"])
    for methods in DOCUMENT["paths"].values()
    for operation in methods.values()
]


def answers_of(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The contents of its answers that are no problem."""
    good = [said for status, said in operation["responses"].items() if status < "300"]
    return [content for said in good for content in said.get("content", {}).values()]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_answer_has_an_example(operation: dict[str, Any]) -> None:
    assert "204" in operation["responses"] or answers_of(operation)
    assert all("example" in content for content in answers_of(operation))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_body_has_an_example(operation: dict[str, Any]) -> None:
    assert all("example" in content for content in operation.get("requestBody", {}).get("content", {}).values())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_says_in_words_what_it_is_and_which_scope_it_needs(operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert "Scope: `" in operation["description"] or operation["summary"] == "Ask who you are"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_examples_have_the_keys_their_schemas_ask_for(operation: dict[str, Any]) -> None:
    for content in answers_of(operation):
        schema = content.get("schema", {})
        named = DOCUMENT["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
        if "properties" in named:
            assert set(named.get("required", ())) <= set(content["example"]) <= set(named["properties"])


def test_every_option_of_a_crawl_can_be_sent_by_its_name() -> None:
    fields = getattr(Options, "model_fields")  # noqa: B009 (made at run time)
    assert set(CrawlOptions.__struct_fields__) - set(fields) == {"private_hosts"}


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_every_address_is_told_of_on_the_page_for_people(path: str) -> None:
    tail = re.sub(r"^.*\}(?=/)", "", path.removeprefix(ROOT))
    assert re.sub(r"\{\w+_id\}|\{export_format\}", "{", tail) in PAGE


def test_anybody_may_read_it(client: Client) -> None:
    response = client.get(f"{ROOT}/openapi.json")
    assert response.status_code == 200
    assert set(response.json()["paths"]) == set(DOCUMENT["paths"])


def test_the_page_that_shows_it_loads_nothing_from_elsewhere(client: Client) -> None:
    response = client.get(f"{ROOT}/docs")
    assert "http://" not in response.content.decode().replace("http://www.w3.org", "")
    assert "https://" not in response.content.decode()
    assert "script-src 'self'; " in response["Content-Security-Policy"]
