"""The fields of a crawl's options, from the catalogue or written by hand, and how the form groups them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.forms import BaseForm, BoundField, CheckboxInput, ChoiceField, MultipleChoiceField

from crawler.core.errors import BadInput
from crawler.core.extraction.rules import EXAMPLE, FieldRule, check_rules, rules_of, text_of
from crawler.core.options.catalogue import DEFAULTS, GROUPED, OPTIONS, RULES, SEVERAL
from crawler.core.options.events import OF_PAGES
from crawler.core.options.kinds import (
    Choice,
    Duration,
    Number,
    Option,
    OptionGroup,
    Seconds,
    Size,
    Switch,
    Text,
    Texts,
    WholeNumber,
)
from crawler.core.options.limits import FIRST
from crawler.reports.text import EVENTS
from crawler.web.forms.fields import DefaultOnCheckbox, LinesField, NumberInput, SecretBoundField, SizeField, SpanField


def field_of(option: Option) -> forms.Field:
    """The field for an option of this kind."""
    kind = option.kind
    common: dict[str, Any] = {"label": option.label, "required": False, "help_text": option.form_help}
    match kind:
        case Size():
            return SizeField(**common)
        case Duration():
            return SpanField(placeholder=kind.empty, **common)
        case WholeNumber():
            return forms.IntegerField(**_typed_number(option, kind, "numeric", "whole number"), **common)
        case Number():
            return forms.FloatField(**_typed_number(option, kind, "decimal", "number"), **common)
        case Seconds():
            return forms.FloatField(**_typed_number(option, kind, "decimal", "number of seconds"), **common)
        case Switch() if option.default:
            return forms.BooleanField(initial=True, widget=DefaultOnCheckbox(), **common)
        case Switch():
            return forms.BooleanField(**common)
        case Choice():
            unknown = {"invalid_choice": f"{option.label} can be {', '.join(kind.labels)}; not “%(value)s”."}
            choices = list(kind.labels.items())
            return forms.ChoiceField(initial=option.default, choices=choices, error_messages=unknown, **common)
        case Text():
            widget = forms.TextInput(attrs={"placeholder": kind.empty, "autocomplete": "off", "spellcheck": "false"})
            return forms.CharField(widget=widget, **common)
        case Texts():
            return LinesField(placeholder=kind.example, **common)
    assert_never(kind)


def _typed_number(option: Option, kind: WholeNumber | Number | Seconds, inputmode: str, what: str) -> dict[str, Any]:
    placeholder = "no limit" if option.default is None else f"{option.default:g}"
    invalid = f"{option.label} must be a {what}, such as {kind.example}."
    return {"widget": NumberInput(inputmode, placeholder=placeholder), "error_messages": {"invalid": invalid}}


if TYPE_CHECKING:
    CatalogueFields = forms.Form
else:
    CatalogueFields = type(
        "CatalogueFields", (forms.Form,), {name: field_of(option) for name, option in OPTIONS.items()}
    )


def events_field(**more: Any) -> forms.MultipleChoiceField:
    """The field of the events that receivers of a crawl's notices get."""
    choices = [(event.value, EVENTS[event].capitalize()) for event in OF_PAGES]
    return forms.MultipleChoiceField(
        label="Events", required=False, choices=choices, widget=forms.CheckboxSelectMultiple(), **more
    )


class OptionFields(CatalogueFields):
    """Every option except `private_hosts`, which only superusers have, and the options of `ContentFields`."""

    keep_parameters = forms.BooleanField(
        label="Keep tracking and session parameters",
        required=False,
        help_text="If off, utm_source, PHPSESSID and similar parameters are removed from URLs.",
    )
    drop_parameters = LinesField(
        label="Remove these parameters, too",
        required=False,
        placeholder="ref_*",
        help_text="Names of query parameters, one per line, such as sid, or ref_* for all that begin with ref_.",
    )
    notify_events = events_field(
        initial=list(DEFAULTS.notify_events),
        help_text="Only webhooks get page notices, with many pages in each.",
        error_messages={"invalid_choice": "%(value)s is not an event of a crawl."},
    )


# Extraction rules and content formats.


class RulesField(forms.CharField):
    """Extraction rules in YAML or JSON."""

    def __init__(self, **kwargs: Any) -> None:
        attributes = {"rows": 6, "placeholder": EXAMPLE, "spellcheck": "false", "autocapitalize": "off"}
        super().__init__(widget=forms.Textarea(attrs=attributes), strip=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return text_of(value) if isinstance(value, tuple) else value

    def to_python(self, value: Any) -> tuple[FieldRule, ...]:  # type: ignore[override]  # rules in place of text
        typed = super().to_python(value) or ""
        try:
            rules = rules_of("rules", typed)
            check_rules("rules", rules)
        except BadInput as error:
            raise forms.ValidationError(error.message) from None
        return rules


class RulesFields(forms.Form):
    """Extraction rules, and a page to try them on."""

    rules = RulesField(
        label="Fields to read from each page",
        required=False,
        help_text="YAML or JSON: a list of rules with name and selector (CSS) or xpath, and optionally attribute, "
        "what (text, html), many, pattern, type (text, number, integer, date, url, boolean). Each becomes a column.",
    )
    try_url = forms.CharField(
        label="Page to try the rules on",
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "the start URL", "autocomplete": "off"}),
        help_text="Requested once when you press the button; nothing is stored.",
    )


def _box(label: str, help: str) -> forms.Field:
    return forms.BooleanField(label=label, required=False, help_text=help)


if TYPE_CHECKING:
    ContentFields = RulesFields
else:
    _BOXES = {entry.fields[value]: _box(*texts) for entry in SEVERAL for value, texts in entry.boxes.items()}
    ContentFields = type("ContentFields", (RulesFields if RULES else forms.Form,), _BOXES)


def chosen_content(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The options in these fields of a valid form."""
    return {entry.name: typed["rules"] for entry in RULES} | {
        entry.name: tuple(value for value, field in entry.fields.items() if typed[field]) for entry in SEVERAL
    }


def typed_content(other: dict[str, Any]) -> dict[str, Any]:
    """The input of these fields for options that differ from the default; these are removed from `other`."""
    typed: dict[str, Any] = {entry.fields[value]: True for entry in SEVERAL for value in other.pop(entry.name, ())}
    for entry in RULES:
        if entry.name in other:
            typed["rules"] = other.pop(entry.name)
    return typed


# Groups of fields: which are always shown, which are folded under a heading, and which were changed.

ALWAYS_SHOWN = tuple(name for name, option in OPTIONS.items() if option.group is FIRST)
"""Options that are shown without unfolding a group."""

LISTED = ("upload", "list_column", "priority_column")
"""Fields that are shown for a URL list."""

_WITHOUT_OPTIONS = (
    OptionGroup(
        *("Authentication", "headers, cookies, passwords, a proxy", "", 20),
        ("same_credentials", "headers", "cookies", "auth", "bearer", "proxy"),
    ),
    OptionGroup("Schedule", "repeat the crawl", "", 160, ("schedule",)),
    OptionGroup("Sharing", "who else sees it", "", 180, ("group", "group_controls")),
    OptionGroup("Private networks", "this machine and its network", "", 190, ("allow_private",)),
)
_GROUPS = {entry.group for entry in GROUPED} - {FIRST} | set(_WITHOUT_OPTIONS)


def _names(group: OptionGroup) -> tuple[str, ...]:
    others = (name for name, option in OPTIONS.items() if option.group is group)
    return tuple(dict.fromkeys([*group.first, *others]))


FOLDED = tuple((group, _names(group)) for group in sorted(_GROUPS, key=lambda group: group.place))
"""The groups of the other options, each with its fields. A field is in one group."""

FIELDS = tuple(name for _, names in FOLDED for name in names)

MAX_SUMMARY_CHARACTERS = 40  # characters of a value in a summary


@dataclass(frozen=True)
class Group:
    """Fields under one heading."""

    heading: str
    about: str  # in a few words
    fields: list[BoundField]
    changed: str  # what differs from the default: "Obey robots.txt: off · Delay: 0.5"; "" = nothing
    is_open: bool  # a field has an error or must be typed again

    @property
    def has_rules(self) -> bool:
        """Whether it contains extraction rules, which can be tested on a page."""
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
    """Add the default of each field to the page, from which `static/crawler/form.js` shows changes."""
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
    return text if len(text) <= MAX_SUMMARY_CHARACTERS else text[: MAX_SUMMARY_CHARACTERS - 1] + "…"
