"""A message as Discord gets it; that nothing in it is markup is tested in tests/shown/test_notices.py."""

import json

import pytest

from crawler.core.channels import discord
from crawler.core.channels.kind import Message
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
from crawler.notices.send import post
from tests.http.server import Server, page


def message(**said: object) -> Message:
    values: dict[str, object] = {"id": "1", "event": "crawl.finished", "crawl": "c", "receipt": {}, "text": ""}
    return Message(**{**values, "subject": "Crawl finished: example.com", "sentence": "It is done.", **said})  # type: ignore[arg-type]


def test_it_is_one_embed_that_leads_to_the_crawl() -> None:
    link, at = "https://crawler.example/crawls/c/", "2026-11-21T10:00:00.000+00:00"
    told = discord.content(message(figures=(("Fetched", "12"),), link=link, at=at))
    (embed,) = told["embeds"]
    assert (embed["title"], embed["description"]) == ("Crawl finished: example.com", "It is done.")
    assert embed["fields"] == [{"name": "Fetched", "value": "12", "inline": True}]
    assert (embed["url"], embed["timestamp"]) == (link, at)


@pytest.mark.parametrize("text", ["x" * 500, "*" * 500])
def test_it_is_no_longer_than_discord_takes_and_no_escape_is_cut(text: str) -> None:
    title = discord.escaped(text, discord.TITLE)
    assert len(title) == discord.TITLE
    assert not title.endswith("\\")


@pytest.mark.parametrize("letter", ["x", "*", "\N{PILE OF POO}"])
def test_whatever_it_tells_it_keeps_to_discords_limits(letter: str) -> None:
    long = letter * 9000
    (embed,) = discord.content(message(subject=long, sentence=long, figures=((long, long),) * 30))["embeds"]
    fields = embed["fields"]
    assert len(embed["title"]) <= discord.TITLE
    assert len(embed["description"]) <= 4096
    assert all(len(field["name"]) <= discord.NAME and len(field["value"]) <= discord.VALUE for field in fields)
    assert sum(map(len, [embed["title"], embed["description"], *(f["name"] + f["value"] for f in fields)])) <= 6000
    assert fields


def test_a_failure_is_red_and_an_end_green() -> None:
    colours = {
        discord.content(message(event=event))["embeds"][0]["color"] for event in ("crawl.failed", "crawl.finished")
    }
    assert colours == {0xC62828, 0x2E7D32}


def test_it_says_what_came_back() -> None:
    server = Server({"/api/webhooks/1": page("", "204 No Content")})
    with server, HttpFetcher(Guard(("127.0.0.1",)), "Tester/1") as poster:
        assert (
            post(discord.KIND, message(), f"{server.origin}/api/webhooks/1", poster=poster)
            == "the receiver returned 204"
        )
    assert json.loads(server.bodies[0])["username"] == "Site Crawler"
