"""An incoming webhook of Slack, or of a compatible server such as Mattermost.

Text from a site or a user is in plain_text blocks, in which Slack parses no links and no mentions, with "&", "<" and
">" escaped, which begin them (docs.slack.dev, "Formatting message text"). The only link is to the crawl's page.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult

from crawler.core.channels import discord
from crawler.core.channels.kind import ChannelKind, Message, check_service_url
from crawler.core.text.sanitize import one_line

HEADER, TEXT, FIELD, FIELDS = 150, 3000, 2000, 10  # Slack's limits: characters, and number of fields
EXAMPLE = "https://hooks.slack.com/services/T000/B000/XXXX"


def recognises(url: SplitResult) -> bool:
    """Discord accepts Slack's format at addresses that end in /slack."""
    return url.hostname == "hooks.slack.com" or (discord.recognises(url) and url.path.rstrip("/").endswith("/slack"))


def content(message: Message) -> dict[str, Any]:
    """The blocks, and a line of text for clients that show no blocks (notifications of a phone)."""
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
    """On one line, escaped, and within Slack's limit; no escape is cut in two."""
    text = one_line(" ".join(text.split()))
    whole = escaped(text)
    while len(whole) > at_most:
        text = text[: len(text) - max(1, (len(whole) - at_most) // 5)]
        whole = escaped(text)
    return whole


def _link(address: str) -> str:
    return f"<{escaped(address).replace('|', '%7C')}|Open the crawl>"


KIND = ChannelKind(
    name="slack",
    noun="Slack",
    option="notify_slack",
    field_label="Write to Slack",
    help="Incoming webhooks of Slack that get the notices. They are stored encrypted.",
    example=EXAMPLE,
    placeholder="https://hooks.slack.com/services/…",
    check=check_service_url("Slack", EXAMPLE),
    is_secret=True,
    recognises=recognises,
    content=content,
)
