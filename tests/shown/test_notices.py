"""What people are told by mail and in chats: nothing that strangers wrote mentions anybody, leads anywhere, or makes a
header or a line of its own."""

import json
import re
from email import message_from_bytes, policy
from typing import Any

import pytest
from django.core import mail

from crawler.core.channels import discord, slack, webhook
from crawler.core.channels.kind import Message
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Delivery, Notice, Page
from crawler.notices.delivery import message_of
from crawler.notices.send import send_mail
from tests.evil import ADDRESSES, MARK, TEXTS
from tests.shown.looking import STEERS

EVERY = pytest.mark.parametrize("text", [*TEXTS.values(), *ADDRESSES], ids=[*TEXTS, *map(str, range(len(ADDRESSES)))])
OURS = "https://crawler.test/crawls/c/"


def a_message(text: str) -> Message:
    """With this text wherever there can be one."""
    return Message(
        id="1",
        event="crawl.finished",
        crawl="c",
        receipt={text: text},
        subject=f"Crawl finished: {text}",
        sentence=text,
        text=f"{text}\n\n{text}\n",
        figures=((text, text),),
        link=OURS,
    )


@EVERY
def test_a_mail_is_one_mail_to_one_person(text: str) -> None:
    send_mail(a_message(text), "me@example.com")
    [sent] = mail.outbox
    read: Any = message_from_bytes(sent.message().as_bytes(), policy=policy.default)
    assert {name.lower() for name in read} == HEADERS
    assert (read["To"], sent.recipients()) == ("me@example.com", ["me@example.com"])
    assert not STEERS.search(str(read["Subject"]))
    assert read.get_content_type() == "text/plain"
    body = read.get_content().replace("\r\n", "\n")
    assert not STEERS.search(body)
    assert MARK in body


HEADERS = {"content-type", "content-transfer-encoding", "mime-version", "subject", "from", "to", "date"}
HEADERS |= {"message-id", "auto-submitted"}


@EVERY
def test_slack_reads_no_link_and_no_mention(text: str) -> None:
    told = json.loads(json.dumps(slack.content(a_message(text))))
    *blocks, link = told["blocks"]
    texts = [found for block in blocks for found in (block.get("text"), *block.get("fields", ())) if found]
    assert {found["type"] for found in texts} == {"plain_text"}
    for said in (told["text"], *(found["text"] for found in texts)):
        assert not re.search(r"[<>\n]|&(?!amp;|lt;|gt;)", said)
        assert not STEERS.search(said)
    assert link["text"]["text"] == f"<{OURS}|Open the crawl>"
    assert (told["mrkdwn"], told["parse"], told["link_names"]) == (False, "none", False)


@EVERY
def test_discord_reads_no_markup_and_no_mention(text: str) -> None:
    told = discord.content(a_message(text))
    [embed] = told["embeds"]
    fields = [field[part] for field in embed["fields"] for part in ("name", "value")]
    assert len(fields) == 2
    for each in (embed["title"], embed["description"], *fields):
        assert MARK in each
        assert not re.search(r"(?<!\\)(?:\\\\)*(?:[*_~`|<>\[\]()#@]|:(?=//))", each)
        assert not STEERS.search(each)
    assert (embed["url"], told["allowed_mentions"]) == (OURS, {"parse": []})


@EVERY
def test_a_webhook_gets_json_in_which_all_of_it_is_one_value(text: str) -> None:
    body = json.dumps(webhook.content(a_message(text)))
    assert body.isascii()
    assert json.loads(body)["receipt"] == {text: text}


@pytest.mark.django_db
@EVERY
def test_what_a_notice_says_of_a_crawl_is_as_harmless(text: str) -> None:
    message = message_of(a_delivery_of(text))
    send_mail(message, "me@example.com")
    [sent] = mail.outbox
    assert not STEERS.search(sent.subject + sent.body)
    assert not re.search(r"^(Bcc|Set-Cookie):", sent.body, re.MULTILINE)
    assert not STEERS.search(slack.content(message)["text"])


def a_delivery_of(text: str) -> Delivery:
    """Of a crawl whose only start page failed with these words, or else whose list has this name."""
    url = f"http://evil.test/{text}"
    crawl = Crawl.objects.create(start_urls=[url], state="finished", discovered=1, outcomes={"tls": 1})
    Page.objects.create(crawl=crawl, key=key_of(url), url=url, status=Page.CLOSED, outcome="tls", error=text)
    receipt = {"id": "c", "state": "finished", "start_urls": [url], "seconds": 1, "discovered": 1, "fetched": 0}
    receipt |= {"failed": 1, "skipped": {}, "cancelled": 0, "statuses": {}, "requests": 1, "retries": 0, "bytes": 0}
    notice = Notice.objects.create(
        crawl=crawl, event="crawl.failed", receipt={**receipt, "notifications": [{"address": text}]}
    )
    return Delivery.objects.create(notice=notice, transport="email", address="me@example.com")
