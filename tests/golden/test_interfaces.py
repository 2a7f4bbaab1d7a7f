"""Addresses, the API's document, commands, tables and Redis keys keep their shape."""

import json
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from inspect import getmembers, isfunction, signature
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver
from msgspec.structs import astuple
from syrupy.assertion import SnapshotAssertion

from crawler import registry
from crawler.api.v1 import api
from crawler.core.protocol.lanes import slot_lanes
from crawler.frontier import keys
from crawler.launch import up, worker

COMMANDS = sorted(name for name, app in get_commands().items() if app == "crawler")
OWN_TABLES = "crawler_"


def test_the_addresses(golden: SnapshotAssertion) -> None:
    patterns = [line for line in _addresses(get_resolver()) if "admin/" not in line]
    assert "\n".join(sorted(patterns)) == golden


def test_the_document_of_the_api(golden: SnapshotAssertion) -> None:
    document = _without_examples(json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"))))
    assert json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) == golden


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_a_command(name: str, golden: SnapshotAssertion) -> None:
    assert _described(load_command_class("crawler", name).create_parser("manage.py", name)) == golden


@pytest.mark.parametrize("name", ["up", "worker"])
def test_the_options_of_a_script(name: str, golden: SnapshotAssertion) -> None:
    assert _described({"up": up, "worker": worker}[name].parser()) == golden


@pytest.mark.django_db
def test_the_tables(golden: SnapshotAssertion) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the types are those of SQLite")
    tables = [name for name in connection.introspection.table_names() if name.startswith(OWN_TABLES)]
    assert "\n".join(line for table in sorted(tables) for line in _columns(table)) == golden


def test_the_keys_in_redis(golden: SnapshotAssertion) -> None:
    single = {name: value for name, value in vars(keys).items() if isinstance(value, str) and name.isupper()}
    functions = [function for _, function in getmembers(keys, isfunction) if function.__module__ == keys.__name__]
    named = [
        function(of)
        for function in functions
        if function.__code__.co_argcount == 1
        for of in (slot_lanes() if "lane" in signature(function).parameters else ["NAME"])
    ]
    of_crawl = keys.CrawlKeys("CRAWL")
    properties = {
        getattr(of_collector, name)
        for name, member in vars(keys.CrawlKeys).items()
        if isinstance(member, property)
        for of_collector in of_crawl.of_all_collectors()[:2]
    }
    listed = [
        *single.values(),
        *named,
        *properties,
        *map(of_crawl.of, registry.entries("crawl_keys", str)),
        *astuple(of_crawl.of_suffix()),
        of_crawl.queue("HOST"),
        of_crawl.lease("BATCH"),
    ]
    assert "\n".join(sorted(map(str, listed))) == golden


def _addresses(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from _addresses(entry, f"{before}{entry.pattern}")
        elif isinstance(entry, URLPattern):
            yield f"{before}{entry.pattern}  {entry.name or ''}".rstrip()


def _without_examples(document: Any) -> Any:
    """All of it that clients are made from; of troubles, which are all described alike, only that they come."""
    if isinstance(document, list):
        return [_without_examples(each) for each in document]
    if not isinstance(document, dict):
        return document
    return {
        name: "a problem" if name.isdigit() and int(name) >= 400 else _without_examples(value)
        for name, value in document.items()
        if name not in ("example", "examples")
    }


def _described(parser: ArgumentParser) -> str:
    """Every option with what it takes and says. Not the help as printed: each Python folds it in its own way."""
    lines = [parser.description or "", *(parser.epilog or "").splitlines()]
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            lines += [f"{name}: {_described(sub)}" for name, sub in action.choices.items()]
            continue
        told: dict[str, Any] = {
            "takes": action.metavar,
            "nargs": action.nargs,
            "default": action.default,
            "choices": [*action.choices] if action.choices else None,
            "required": action.required or None,
        }
        lines.append(f"{', '.join(action.option_strings) or action.dest}  {_short(told)}")
        lines.append(f"    {action.help}")
    return "\n".join(lines)


def _short(told: dict[str, Any]) -> str:
    return " ".join(f"{name}={value!r}" for name, value in told.items() if value is not None)


def _columns(table: str) -> Iterator[str]:
    """Columns and indexes, in the order of their names: that in which they were added says nothing."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA table_info({table})")
        columns = sorted(
            f"{table}.{name} {kind}{' NOT NULL' if needed else ''}" for _, name, kind, needed, *_ in cursor
        )
        constraints = connection.introspection.get_constraints(cursor, table)
    yield from columns
    for kind in ("unique", "index", "primary_key"):
        yield from sorted(
            f"{table} {kind} ({', '.join(each['columns'] or ())})" for each in constraints.values() if each[kind]
        )
    yield from sorted(
        f"{table} {', '.join(each['columns'])} -> {'.'.join(each['foreign_key'])}"
        for each in constraints.values()
        if each["foreign_key"]
    )
