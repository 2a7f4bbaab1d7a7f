"""How the form's fields stand together: which are always seen, which are folded away under a heading, and what of those
was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm, BoundField, CheckboxInput, ChoiceField, MultipleChoiceField

from crawler.core.crawl import options
from crawler.core.crawl.option_kinds import OptionGroup
from crawler.web.forms.credential_fields import SecretBoundField

USUAL = tuple(name for name, option in options.OPTIONS.items() if option.group is options.FIRST)
"""Beside the start URLs, what is seen without unfolding anything."""

LISTED = ("upload", "list_column", "priority_column")
"""What is seen with them when a list is to be crawled."""


def _fold(group: OptionGroup, *names: str) -> tuple[OptionGroup, tuple[str, ...]]:
    """The group with these fields, and behind them its other options."""
    others = [name for name, option in options.OPTIONS.items() if option.group is group]
    return group, tuple(dict.fromkeys([*names, *others]))


FOLDED = (
    _fold(options.SITE),
    _fold(
        OptionGroup("Authentication", "headers, cookies, passwords, a proxy"),
        *("same_credentials", "headers", "cookies", "auth", "bearer", "proxy"),
    ),
    _fold(options.LINKS),
    _fold(options.REPORTS),
    _fold(options.SITEMAPS),
    _fold(options.POLITENESS, "obey_robots", "throttle", "concurrency"),
    _fold(options.LIMITS, "deadline", "page_ttl"),
    _fold(options.TRAPS, "traps", "keep_parameters", "drop_parameters"),
    _fold(options.CACHING),
    _fold(OptionGroup("Extraction", "fields by CSS selectors"), "rules", "try_url"),
    _fold(
        OptionGroup("Content", "HTML, text, Markdown, WARC"),
        *("keep_html", "keep_text", "keep_markdown", "keep_warc"),
    ),
    _fold(OptionGroup("Schedule", "a schedule"), "schedule"),
    _fold(options.NOTICES, *options.RECEIVERS.values(), "notify_events"),
    _fold(OptionGroup("Sharing", "who else sees it"), "group", "group_controls"),
    _fold(OptionGroup("Private networks", "this machine and its neighbours"), "allow_private"),
)
"""The other options as the page shows them: their groups, each with its fields. A field stands in one group."""

FIELDS = tuple(name for _, names in FOLDED for name in names)

SHOWN = 40  # characters of a value in a summary


@dataclass(frozen=True)
class Group:
    """Fields below one heading."""

    heading: str
    about: str  # in a few words
    fields: list[BoundField]
    changed: str  # what differs from the default: "Obey robots.txt: off · Delay: 0.5"; "" = nothing
    is_open: bool  # something in it is wrong or must be typed again, which must not hide

    @property
    def has_rules(self) -> bool:
        """Whether what is typed in it can be tried on a page."""
        return any(field.name == "rules" for field in self.fields)


def groups_of(form: BaseForm) -> list[Group]:
    """The folded groups that have a field on this form."""
    groups = []
    for group, names in FOLDED:
        fields = [form[name] for name in names if name in form.fields]
        if fields:
            changes = [change for change in map(_change, fields) if change]
            is_open = any(field.errors or _is_lost(field) for field in fields)
            groups.append(Group(group.heading, group.about, fields, " · ".join(changes), is_open))
    return groups


def mark_defaults(form: BaseForm) -> None:
    """Tell the page what a field has when nobody touched it; `static/crawler/form.js` sums up changes by that."""
    for field in form.fields.values():
        if field.initial:
            field.widget.attrs["data-usual"] = _usual(field.initial)


def _usual(initial: Any) -> Any:
    if isinstance(initial, list):
        return " ".join(initial)
    return "on" if initial is True else initial


def _change(field: BoundField) -> str:
    """The field with its value when that is not the default, else ""."""
    value, usual = field.value(), field.field.initial
    if isinstance(field.field.widget, CheckboxInput):
        return "" if bool(value) == bool(usual) else f"{field.label}: {'on' if value else 'off'}"
    if _is_lost(field):
        return f"{field.label}: to be typed again"
    if isinstance(field.field, MultipleChoiceField) and sorted(value or ()) == sorted(usual):
        return ""
    return "" if not value or value == usual else f"{field.label}: {_shown(field, value)}"


def _is_lost(field: BoundField) -> bool:
    return isinstance(field, SecretBoundField) and bool(field.lost)


def _shown(field: BoundField, value: Any) -> str:
    if isinstance(field.field, MultipleChoiceField):
        names = dict(field.field.choices)  # type: ignore[arg-type]  # plain pairs, as we gave them
        return ", ".join(str(names.get(key, key)) for key in value)
    if isinstance(field.field, ChoiceField):
        return str(dict(field.field.choices).get(value, value))  # type: ignore[arg-type]  # plain pairs, as we gave them
    text = ", ".join(filter(None, map(str.strip, str(value).splitlines())))
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
