"""The form's fields for what is read from each page by rules, and in which forms its content is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from crawler.core.errors import BadInput
from crawler.core.forms import FORMS
from crawler.core.rules import FieldRule, check_rules
from crawler.core.rules_text import EXAMPLE, rules_of, text_of


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
