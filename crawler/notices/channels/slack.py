"""Sends a message to an incoming webhook of Slack, or of a server that takes what Slack takes (such as Mattermost).

What comes from a site or a person stands in blocks of plain text, out of which Slack reads no links and no mentions,
with "&", "<" and ">" escaped, by which those begin (docs.slack.dev, "Formatting message text"). The one link is ours.
"""

from __future__ import annotations

from typing import Any

from crawler.core.text.sanitize import one_line
from crawler.notices.channels.transport import Message, Poster, post_json

HEADER, TEXT, FIELD, FIELDS = 150, 3000, 2000, 10  # characters and number Slack takes at most


def send(message: Message, url: str, *, poster: Poster) -> str:
    """Post the message; TransportError unless Slack takes it."""
    return post_json(poster, url, content(message))


def content(message: Message) -> dict[str, Any]:
    """What is posted: blocks, and for where there is no room for them (a phone's notification) a line of text."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(message.subject, HEADER)},
        {"type": "section", "text": _plain(message.sentence or message.subject, TEXT)},
    ]
    fields = [_plain(f"{name}: {value}", FIELD) for name, value in message.figures[:FIELDS]]
    if fields:
        blocks.append({"type": "section", "fields": fields})
    if message.link:
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": _link(message.link)}})
    return {
        "text": _cut(message.subject, TEXT),
        "mrkdwn": False,
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": blocks,
    }


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str, at_most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": _cut(text, at_most), "emoji": False}


def _cut(text: str, at_most: int) -> str:
    """On one line, escaped, and no longer than Slack takes; no escape is cut in two."""
    text = one_line(" ".join(text.split()))
    whole = escaped(text)
    while len(whole) > at_most:
        text = text[: len(text) - max(1, (len(whole) - at_most) // 5)]
        whole = escaped(text)
    return whole


def _link(address: str) -> str:
    return f"<{escaped(address).replace('|', '%7C')}|Open the crawl>"
