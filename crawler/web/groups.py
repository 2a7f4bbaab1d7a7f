"""How the form's fields stand together: which are always seen, which are folded away under a heading, and what of
those was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm, BoundField

USUAL = ("max_pages", "max_depth")
"""Beside the start URLs, what is seen without unfolding anything."""

FOLDED = (
    ("What belongs to the site", ("subdomains", "hosts", "path_prefixes", "include", "exclude")),
    ("Links", ("recursive", "externals", "obey_nofollow", "obey_noindex")),
    ("Sitemaps", ("sitemaps", "sitemap_urls")),
    ("Manners", ("obey_robots", "throttle", "concurrency", "delay", "per_minute")),
    ("Limits of time and size", ("deadline", "page_ttl", "max_bytes")),
    ("Endless series", ("traps", "keep_parameters", "drop_parameters")),
    ("What was crawled before", ("revisit", "response_ttl")),
    ("When it is finished", ("notify_emails", "notify_webhooks")),
    ("Private networks", ("allow_private",)),
)
"""The other options as the page shows them; a field stands in one group."""

SHOWN = 40  # characters of a value in a summary


@dataclass(frozen=True)
class Group:
    """Fields below one heading."""

    heading: str
    fields: list[BoundField]
    changed: str  # what differs from the default: "Delay: 0.5, Obey robots.txt: off"; "" = nothing
    is_open: bool  # something in it is wrong, which must not hide


def groups_of(form: BaseForm) -> list[Group]:
    """The folded groups that have a field on this form."""
    groups = []
    for heading, names in FOLDED:
        fields = [form[name] for name in names if name in form.fields]
        if fields:
            changes = [change for change in map(_change, fields) if change]
            groups.append(Group(heading, fields, ", ".join(changes), any(field.errors for field in fields)))
    return groups


def _change(field: BoundField) -> str:
    """The field with its value when that is not the default, else ""; `static/crawler/form.js` says the same."""
    value = field.value()
    usual = field.field.initial
    if field.widget_type in ("checkbox", "tickedunlesssaid"):
        return "" if bool(value) == bool(usual) else f"{field.label}: {'on' if value else 'off'}"
    shown = _shown(field, value)
    return "" if not shown or value == usual else f"{field.label}: {shown}"


def _shown(field: BoundField, value: Any) -> str:
    choices: Any = getattr(field.field, "choices", None)
    if choices:
        return str(dict(choices).get(value, value or ""))
    text = " ".join(str("" if value is None else value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
