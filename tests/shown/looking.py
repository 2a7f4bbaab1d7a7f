"""Judges of what is shown: each reads it with the parser of its kind and tells where a text got structure."""

import csv
import io
import json
import re
from collections.abc import Iterator

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.evil import ELSEWHERE, MARK

HERE = "http://testserver"
URLS = {"href", "src", "action", "formaction", "data", "poster", "xlink:href", "ping", "background", "cite", "manifest"}
URLS |= {"hx-get", "hx-post", "hx-put", "hx-patch", "hx-delete", "hx-push-url"}
NEVER = {"iframe", "object", "embed", "base", "frame", "frameset", "applet", "math", "marquee", "portal", "bgsound"}
"""Elements that no page of ours has."""

OUTWARDS = {"noopener", "noreferrer", "nofollow"}
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""What moves a cursor, or turns text round; tabs and line feeds are looked at by themselves."""

FORMULA = re.compile(r"[\s\ufeff\u200b\x00]*[=+\-@\uff1d\uff0b\uff0d\uff20]")


def html_faults(html: str, address: str, *, own: tuple[str, ...] = ()) -> list[str]:
    """What a text has made of a page. `own` are beginnings of event handlers that belong to the page."""
    tree = LexborHTMLParser(html)
    found = [fault for node in tree.css("*") for fault in _faults_of(node, address, own)]
    if html and len(tree.css("title:not(svg title)")) != 1:
        found.append(f"{[title.text() for title in tree.css('title')]} are titles of {address}")
    return found


def _faults_of(node: LexborNode, address: str, own: tuple[str, ...]) -> Iterator[str]:
    what = f"<{node.tag}> of {address}"
    if node.tag in NEVER or (node.tag == "meta" and "http-equiv" in node.attrs):
        yield f"there is a {what}"
    if node.tag in {"script", "style"} and (MARK in (node.text() or "") or ELSEWHERE in (node.text() or "")):
        if node.attrs.get("type") != "application/json":
            yield f"a text stands in {what}"
        else:
            json.loads(node.text())
    if node.tag == "script" and not node.attrs.get("src") and node.attrs.get("type") != "application/json" and not own:
        yield f"{what} is written into the page"
    for name, value in node.attrs.items():
        yield from _faults_of_attribute(node, name.lower(), value or "", what, own)


def _faults_of_attribute(node: LexborNode, name: str, value: str, what: str, own: tuple[str, ...]) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9:-]*", name) or MARK.lower() in name:
        yield f"{what} has an attribute {name!r}"
    if name.startswith("on") and not value.startswith(own or ("\0",)):
        yield f"{what} has {name}={value!r}"
    if name in {"style", "srcdoc", "srcset"} and (not own or MARK in value or ELSEWHERE in value):
        yield f"{what} has {name}={value!r}"
    if name in URLS and value not in {"true", "false"}:
        yield from _faults_of_url(node, value, what)


def _faults_of_url(node: LexborNode, value: str, what: str) -> Iterator[str]:
    try:
        url = ada_url.URL(value, base=f"{HERE}/a/b/")
    except ValueError:
        return  # leads nowhere
    if url.origin == HERE and url.protocol == "http:":
        return
    if url.protocol not in {"http:", "https:"}:
        yield f"{what} leads to {value!r}"
    elif node.tag != "a":
        yield f"{what} loads {value!r}"
    elif not set((node.attrs.get("rel") or "").split()) >= OUTWARDS:
        yield f"{what} leads out to {value!r} with rel={node.attrs.get('rel')!r}"


def csv_faults(text: str) -> list[str]:
    """Cells that a spreadsheet would run, whichever separator it takes the file to have."""
    return [
        f"{separator!r}: {cell!r}"
        for separator in ",;\t"
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for cell in row
        if FORMULA.match(cell) and MARK in cell
    ]


def terminal_faults(text: str) -> list[str]:
    """Characters that would do something to a terminal or a log; and lines that begin as a line of its own would."""
    found = [f"{mark!r}" for mark in STEERS.findall(text)]
    return found + [line for line in text.split("\n") if line.startswith(("2026-01-01 00:00:00", "event:", "Bcc:"))]
