"""A message as Slack gets it; that nothing in it is a link or a mention is tested in tests/shown/test_notices.py."""

from html import unescape

import pytest

from crawler.core.channels import slack
from crawler.core.channels.kind import Message
from crawler.core.errors import TransportError
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
from crawler.notices.send import post
from tests.http.server import Server, page


def message(**said: object) -> Message:
    values: dict[str, object] = {"id": "1", "event": "crawl.finished", "crawl": "c", "receipt": {}, "text": ""}
    return Message(**{**values, "subject": "Crawl finished: example.com", "sentence": "It is done.", **said})  # type: ignore[arg-type]


def test_it_is_a_heading_a_sentence_figures_and_one_link() -> None:
    told = slack.content(message(figures=(("Fetched", "12"),), link="https://crawler.example/crawls/c/"))
    heading, sentence, figures, link = told["blocks"]
    assert heading["text"] == {"type": "plain_text", "text": "Crawl finished: example.com", "emoji": False}
    assert sentence["text"]["text"] == "It is done."
    assert figures["fields"] == [{"type": "plain_text", "text": "Fetched: 12", "emoji": False}]
    assert link["text"] == {"type": "mrkdwn", "text": "<https://crawler.example/crawls/c/|Open the crawl>"}


def test_our_own_link_cannot_be_given_another_name() -> None:
    told = slack.content(message(link="https://crawler.example/?a=<b>|c"))
    assert told["blocks"][-1]["text"]["text"] == "<https://crawler.example/?a=&lt;b&gt;%7Cc|Open the crawl>"


@pytest.mark.parametrize("text", ["x" * 500, "&" * 500, "<>" * 300])
def test_it_is_no_longer_than_slack_takes_and_no_escape_is_cut(text: str) -> None:
    heading = slack.content(message(subject=text))["blocks"][0]["text"]["text"]
    assert 0 < len(heading) <= slack.HEADER
    assert text.startswith(unescape(heading))


def test_whatever_it_tells_it_keeps_to_slacks_limits() -> None:
    long = "<&>" * 3000
    told = slack.content(message(subject=long, sentence=long, figures=((long, long),) * 20, link="https://a.test/"))
    heading, sentence, figures, _ = told["blocks"]
    assert len(told["text"]) <= slack.TEXT
    assert len(heading["text"]["text"]) <= slack.HEADER
    assert len(sentence["text"]["text"]) <= slack.TEXT
    assert len(figures["fields"]) == slack.FIELDS
    assert {len(field["text"]) <= slack.FIELD for field in figures["fields"]} == {True}


def test_a_line_end_does_not_begin_a_second_heading() -> None:
    assert slack.content(message(subject="a\nb"))["blocks"][0]["text"]["text"] == "a b"


@pytest.mark.parametrize(("status", "permanent"), [("404 no_service", True), ("429 Slow down", False)])
def test_a_refusal_says_whether_trying_again_helps(status: str, permanent: bool) -> None:
    with (
        Server({"/services/T": page("", status)}) as server,
        HttpFetcher(Guard(("127.0.0.1",)), "Tester/1") as poster,
        pytest.raises(TransportError) as caught,
    ):
        post(slack.KIND, message(), f"{server.origin}/services/T", poster=poster)
    assert caught.value.permanent is permanent
