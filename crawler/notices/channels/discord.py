"""Sends a message to a webhook of a Discord channel.

Nobody is mentioned whatever the text holds (`allowed_mentions`), and what Discord would read as markup, masked links
among it, is escaped. The one link is ours: Discord also makes links of bare addresses (in angle brackets, too, which
only spare the preview), unless the colon before the slashes is escaped; it is shown without the backslash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crawler.core.crawl.notices import Event
from crawler.core.text.sanitize import one_line
from crawler.notices.channels.transport import Message, Poster, post_json

TITLE, NAME, VALUE, FIELDS = 256, 256, 1024, 25  # characters and number Discord takes at most
EMBED = 6000  # characters of all of them together
DESCRIPTION = 4000  # fewer than the 4096 it takes, so that there is room for the figures

_GREEN, _RED, _AMBER, _BLUE = 0x2E7D32, 0xC62828, 0xB26A00, 0x1565C0
_COLOURS = {Event.FINISHED: _GREEN, Event.FAILED: _RED, Event.CANCELLED: _AMBER, Event.PAUSED: _AMBER}
_MARKUP = re.compile(r"[\\*_~`|<>\[\]()#@-]|:(?=//)")


def send(message: Message, url: str, *, poster: Poster) -> str:
    """Post the message; TransportError unless Discord takes it."""
    return post_json(poster, url, content(message))


def content(message: Message) -> dict[str, Any]:
    """What is posted: one embed."""
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
    """As many as there is room for: Discord refuses the whole message for one character too many."""
    fields = list[dict[str, Any]]()
    for name, value in figures[:FIELDS]:
        told = {"name": escaped(name, NAME), "value": escaped(value, VALUE)}
        room -= sum(map(len, told.values()))
        if room < 0:
            break
        fields.append({**told, "inline": True})
    return fields


def escaped(text: str, at_most: int) -> str:
    """On one line, without markup, and no longer than Discord takes; no escape is cut in two."""
    line = one_line(" ".join(text.split()))
    kept, room = [], at_most
    for place, letter in enumerate(line):
        piece = f"\\{letter}" if _MARKUP.match(line, place) else letter
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept)
