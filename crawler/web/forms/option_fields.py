"""The fields of a crawl's options, with what each means and an example. They are named as in `CrawlOptions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from crawler.core.crawl.notices import OF_PAGES
from crawler.core.crawl.options import FORMS, CrawlOptions
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import EXAMPLE, FieldRule, check_rules, rules_of, text_of
from crawler.reports.text import EVENTS
from crawler.web.forms.fields import LinesField, NumberInput, SizeField, SpanField, TickedUnlessSaid

DEFAULTS = CrawlOptions()


class OptionFields(forms.Form):
    """Every option but `private_hosts`, which is a matter of who asks."""

    max_pages = forms.IntegerField(
        label="Page limit",
        required=False,
        widget=NumberInput(placeholder="no limit"),
        help_text="Pages asked for, at most, such as 500.",
        error_messages={"invalid": "The page limit must be a whole number, such as 500."},
    )
    max_depth = forms.IntegerField(
        label="Depth limit",
        required=False,
        widget=NumberInput(placeholder="no limit"),
        help_text="Links in a row, at most, such as 3.",
        error_messages={"invalid": "The depth limit must be a whole number, such as 3."},
    )
    subdomains = forms.BooleanField(
        label="Take in subdomains", required=False, help_text="For example.com also docs.example.com."
    )
    hosts = LinesField(
        label="Further hosts",
        required=False,
        placeholder="*.example.org",
        help_text="Hosts that belong to the site too, one a line, such as cdn.example.net; "
        "*.example.org means all below example.org.",
    )
    path_prefixes = LinesField(
        label="Only below these paths",
        required=False,
        placeholder="/docs/",
        help_text="Beginnings of paths, one a line. A page must begin with one of them.",
    )
    include = LinesField(
        label="Only URLs that match",
        required=False,
        placeholder=r"/20\d\d/",
        help_text="Regular expressions, one a line. One of them must be found in the URL.",
    )
    exclude = LinesField(
        label="No URLs that match",
        required=False,
        placeholder=r"\?print=1$",
        help_text="Regular expressions, one a line. None of them may be found in the URL.",
    )
    recursive = forms.BooleanField(
        label="Follow links",
        required=False,
        initial=True,
        widget=TickedUnlessSaid(),
        help_text="Off, what you typed above is asked for, and nothing it leads to.",
    )
    externals = forms.ChoiceField(
        label="Links to other sites",
        required=False,
        initial=DEFAULTS.externals,
        choices=[
            ("ignore", "Leave them out"),
            ("record", "Record them"),
            ("check", "Check each of them once"),
        ],
        help_text="Recorded, they are listed but not asked for. Checked, you learn which of them are broken.",
        error_messages={"invalid_choice": "Links to other sites can be left out, recorded or checked."},
    )
    obey_nofollow = forms.BooleanField(
        label="Obey nofollow",
        required=False,
        help_text="Leave out links marked nofollow, ugc or sponsored, and all links of pages that say nofollow.",
    )
    obey_noindex = forms.BooleanField(
        label="Obey noindex", required=False, help_text="Leave pages that say noindex out of downloads."
    )
    near_duplicates = forms.BooleanField(
        label="Find near-duplicates",
        required=False,
        help_text="Compare what pages say, for the report on those that say nearly the same.",
    )
    sitemaps = forms.BooleanField(
        label="Read the site's sitemaps",
        required=False,
        help_text="Take pages from the sitemaps robots.txt names, and from /sitemap.xml.",
    )
    sitemap_urls = LinesField(
        label="Further sitemaps",
        required=False,
        placeholder="https://example.com/news.xml",
        help_text="Web addresses, one a line. They are read whether the box above is ticked or not.",
    )
    obey_robots = forms.BooleanField(
        label="Obey robots.txt",
        required=False,
        initial=True,
        widget=TickedUnlessSaid(),
        help_text="Leave this on for sites that are not yours.",
    )
    throttle = forms.BooleanField(
        label="Slow down when the site does",
        required=False,
        initial=True,
        widget=TickedUnlessSaid(),
        help_text="Ask a host less often while its answers take long or are errors.",
    )
    concurrency = forms.IntegerField(
        label="Connections per host",
        required=False,
        widget=NumberInput(placeholder=str(DEFAULTS.concurrency)),
        help_text="At one time, over all workers, such as 1 for a small site.",
        error_messages={"invalid": "Connections per host must be a whole number, such as 4."},
    )
    delay = forms.FloatField(
        label="Delay",
        required=False,
        widget=NumberInput("decimal", placeholder="0"),
        help_text="Seconds between two requests to one host, at least, such as 0.5.",
        error_messages={"invalid": "The delay must be a number of seconds, such as 0.5."},
    )
    per_minute = forms.FloatField(
        label="Requests a minute",
        required=False,
        widget=NumberInput("decimal", placeholder="no limit"),
        help_text="To one host, at most, such as 30.",
        error_messages={"invalid": "Requests a minute must be a number, such as 30."},
    )
    max_bytes = SizeField(
        label="Limit on bytes",
        required=False,
        help_text="Such as 500MB or 2GB. When so much was read, nothing more is asked for.",
    )
    deadline = SpanField(
        label="Time for the crawl",
        required=False,
        help_text="Such as 2h, 30m or 90s. What is open when it has passed is not asked for any more.",
    )
    page_ttl = SpanField(
        label="Time for a page",
        required=False,
        help_text="Such as 30m, from the moment it is found. A page open for longer is not asked for any more.",
    )
    traps = forms.BooleanField(
        label="Watch for endless series",
        required=False,
        initial=True,
        widget=TickedUnlessSaid(),
        help_text="Set pages aside that a calendar or a filter makes without end. You can let them in later.",
    )
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
    revisit = forms.BooleanField(
        label="Ask only for what changed",
        required=False,
        help_text="A page that is as it was when it was last crawled this way is not sent again.",
    )
    response_ttl = SpanField(
        label="Reuse answers younger than",
        required=False,
        placeholder="never",
        help_text="Such as 10m. An answer another crawl got so recently is taken instead of asking again.",
    )
    notify_emails = LinesField(
        label="E-mail to",
        required=False,
        placeholder="me@example.com",
        help_text="Addresses, one a line.",
    )
    notify_webhooks = LinesField(
        label="Call a webhook",
        required=False,
        placeholder="https://example.com/hook",
        help_text="Web addresses, one a line. Each gets the receipt as signed JSON.",
    )
    notify_slack = LinesField(
        label="Write to Slack",
        required=False,
        placeholder="https://hooks.slack.com/services/…",
        help_text="Addresses of incoming webhooks, one a line. They are stored encrypted.",
    )
    notify_discord = LinesField(
        label="Write to Discord",
        required=False,
        placeholder="https://discord.com/api/webhooks/…",
        help_text="Addresses of channel webhooks, one a line. They are stored encrypted.",
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
