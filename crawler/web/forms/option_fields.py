"""The fields of a crawl's options: those of the catalogue, and those with their own code. They are named as in
`CrawlOptions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

from django import forms

from crawler.core.crawl.notices import OF_PAGES
from crawler.core.crawl.option_kinds import Choice, Lines, Number, Option, Seconds, Size, Span, Switch, Whole
from crawler.core.crawl.options import DEFAULTS, FORMS, OPTIONS
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import EXAMPLE, FieldRule, check_rules, rules_of, text_of
from crawler.reports.text import EVENTS
from crawler.web.forms.fields import LinesField, NumberInput, SizeField, SpanField, TickedUnlessSaid


def field_of(option: Option) -> forms.Field:
    """The field for an option of this kind."""
    kind = option.kind
    words: dict[str, Any] = {"label": option.field.label, "required": False, "help_text": option.field.help}
    match kind:
        case Size():
            return SizeField(**words)
        case Span():
            return SpanField(placeholder=kind.empty, **words)
        case Whole():
            return forms.IntegerField(**_typed_number(option, kind, "numeric", "whole number"), **words)
        case Number():
            return forms.FloatField(**_typed_number(option, kind, "decimal", "number"), **words)
        case Seconds():
            return forms.FloatField(**_typed_number(option, kind, "decimal", "number of seconds"), **words)
        case Switch() if option.default:
            return forms.BooleanField(initial=True, widget=TickedUnlessSaid(), **words)
        case Switch():
            return forms.BooleanField(**words)
        case Choice():
            unknown = {"invalid_choice": kind.unknown}
            choices = list(kind.labels.items())
            return forms.ChoiceField(initial=option.default, choices=choices, error_messages=unknown, **words)
        case Lines():
            return LinesField(placeholder=kind.example, **words)
    assert_never(kind)


def _typed_number(option: Option, kind: Whole | Number | Seconds, inputmode: str, what: str) -> dict[str, Any]:
    placeholder = "no limit" if option.default is None else f"{option.default:g}"
    invalid = f"{kind.subject} must be a {what}, such as {kind.example}."
    return {"widget": NumberInput(inputmode, placeholder=placeholder), "error_messages": {"invalid": invalid}}


if TYPE_CHECKING:
    CatalogueFields = forms.Form
else:
    CatalogueFields = type(
        "CatalogueFields", (forms.Form,), {name: field_of(option) for name, option in OPTIONS.items()}
    )


class OptionFields(CatalogueFields):
    """Every option but `private_hosts`, which is a matter of who asks, and those of `ContentFields`."""

    keep_parameters = forms.BooleanField(
        label="Keep the usual parameters",
        required=False,
        help_text="Off, utm_source, PHPSESSID and their like are cut from URLs: they say nothing about the page.",
    )
    drop_parameters = LinesField(
        label="Cut these parameters too",
        required=False,
        placeholder="ref_*",
        help_text="Names of query parameters, one a line, such as sid, or ref_* for all that begin so.",
    )
    notify_events = forms.MultipleChoiceField(
        label="Tell them of",
        required=False,
        initial=list(DEFAULTS.notify_events),
        choices=[(event.value, EVENTS[event].capitalize()) for event in OF_PAGES],
        widget=forms.CheckboxSelectMultiple(),
        help_text="Of pages only webhooks are told, many pages at a time.",
        error_messages={"invalid_choice": "%(value)s is nothing anybody can be told of."},
    )


# The form's fields for what is read from each page by rules, and in which forms its content is kept.


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


class ContentFields(forms.Form):
    """Both groups of fields."""

    rules = RulesField(
        label="Fields to read from each page",
        required=False,
        help_text="YAML or JSON: a list of rules with name and selector (CSS), and if you like attribute, what (text, "
        "html), many, pattern, type (text, number, integer, date, url, boolean). Each becomes a column.",
    )
    try_url = forms.CharField(
        label="Page to try them on",
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "the start URL", "autocomplete": "off"}),
        help_text="Asked for once, now, when you press the button. Nothing of it is kept.",
    )
    keep_html = forms.BooleanField(label="HTML", required=False, help_text="Each page as it was sent.")
    keep_text = forms.BooleanField(
        label="Text", required=False, help_text="The main content of each page, as plain text."
    )
    keep_markdown = forms.BooleanField(
        label="Markdown", required=False, help_text="The same with headings, links, lists and tables."
    )
    keep_warc = forms.BooleanField(
        label="WARC", required=False, help_text="Each request and answer, as an archive that other tools can replay."
    )


def chosen_content(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a valid form has in these fields."""
    return {"fields": typed["rules"], "keep": tuple(form for form in FORMS if typed[f"keep_{form}"])}


def typed_content(other: dict[str, Any]) -> dict[str, Any]:
    """What has to be typed in these fields for options that differ from the usual; the options are taken out."""
    typed: dict[str, Any] = {f"keep_{form}": True for form in other.pop("keep", ())}
    if "fields" in other:
        typed["rules"] = other.pop("fields")
    return typed
