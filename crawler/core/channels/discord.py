"""A webhook of a Discord channel.

`allowed_mentions` disables mentions, and Discord's markup, masked links included, is escaped. The only link is to the
crawl's page: Discord also makes links of bare URLs (in angle brackets, too, which only suppress the preview), unless
the colon before the slashes is escaped; Discord shows it without the backslash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult

from crawler.core.channels.kind import ChannelKind, Message, check_service_url
from crawler.core.options.events import Event
from crawler.core.text.sanitize import one_line

TITLE, NAME, VALUE, FIELDS = 256, 256, 1024, 25  # Discord's limits: characters, and number of fields
EMBED = 6000  # characters of all of them together
DESCRIPTION = 4000  # below Discord's 4096, so that there is room for the figures
EXAMPLE = "https://discord.com/api/webhooks/1234/XXXX"

_GREEN, _RED, _AMBER, _BLUE = 0x2E7D32, 0xC62828, 0xB26A00, 0x1565C0
_COLOURS = {Event.FINISHED: _GREEN, Event.FAILED: _RED, Event.CANCELLED: _AMBER, Event.PAUSED: _AMBER}
_MARKUP = re.compile(r"[\\*_~`|<>\[\]()#@-]|:(?=//)")
_HOSTS = ("discord.com", "discordapp.com", "canary.discord.com", "ptb.discord.com")


def recognises(url: SplitResult) -> bool:
    return url.hostname in _HOSTS and url.path.startswith("/api/") and "/webhooks/" in url.path


def content(message: Message) -> dict[str, Any]:
    """One embed."""
    title, description = escaped(message.subject, TITLE), escaped(message.sentence, DESCRIPTION)
    embed: dict[str, Any] = {
        "title": title,
        "description": description,
        "color": _COLOURS.get(Event(message.event), _BLUE),
        "fields": _fields(message.figures, EMBED - len(title) - len(description)),
    }
    if message.link:
        embed["url"] = message.link
    if message.at:
        embed["timestamp"] = message.at
    return {"username": "Site Crawler", "embeds": [embed], "allowed_mentions": {"parse": []}}


def _fields(figures: Sequence[tuple[str, str]], room: int) -> list[dict[str, Any]]:
    """As many as fit: Discord rejects the whole message for one character too many."""
    fields = list[dict[str, Any]]()
    for name, value in figures[:FIELDS]:
        texts = {"name": escaped(name, NAME), "value": escaped(value, VALUE)}
        room -= sum(map(len, texts.values()))
        if room < 0:
            break
        fields.append({**texts, "inline": True})
    return fields


def escaped(text: str, at_most: int) -> str:
    """On one line, without markup, and within the limit; no escape is cut in two."""
    line = one_line(" ".join(text.split()))
    kept, room = [], at_most
    for place, letter in enumerate(line):
        piece = f"\\{letter}" if _MARKUP.match(line, place) else letter
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept)


KIND = ChannelKind(
    name="discord",
    noun="Discord",
    option="notify_discord",
    field_label="Write to Discord",
    help="Webhooks of Discord channels that get the notices. They are stored encrypted.",
    example=EXAMPLE,
    placeholder="https://discord.com/api/webhooks/…",
    check=check_service_url("Discord", EXAMPLE),
    is_secret=True,
    recognises=recognises,
    content=content,
)
