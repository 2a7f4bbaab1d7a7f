"""What a person may type to start a crawl. The form only reads it; whether it can be used is judged in one place,
`core.options` and `start_crawl`, so that the page and the command line say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from crawler.core import dropping
from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options import CrawlOptions
from crawler.models import Crawl
from crawler.web.fields import LinesField, NumberInput, SizeField, SpanField, TickedUnlessSaid
from crawler.web.groups import USUAL, Group, groups_of, mark_defaults

DEFAULTS = CrawlOptions()


class CrawlForm(forms.Form):
    """Start URLs and options. Fields are named as in `CrawlOptions`."""

    start_urls = LinesField(
        label="Start URL",
        rows=1,
        placeholder="https://example.com/",
        error_messages={"required": "Type the address of the site, such as https://example.com/."},
    )
    upload = forms.FileField(
        label="Or upload a list",
        required=False,
        allow_empty_file=True,
        help_text="Text with one URL a line, or CSV; packed by gzip or not. Each is asked for, no link is followed.",
    )
    list_column = forms.CharField(
        label="Column of URLs",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "url", "autocomplete": "off"}),
        help_text="Of a CSV list: its name, or its number from 1.",
    )
    priority_column = forms.CharField(
        label="Column of priorities",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "priority", "autocomplete": "off"}),
        help_text="Whole numbers from 0 (last) to 10 (first), or 0.0 to 1.0 as in sitemaps.",
    )
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
    schedule = forms.CharField(
        label="Repeat",
        required=False,
        widget=NumberInput("text", placeholder="only once"),
        help_text='Such as "every 6h", or "0 3 * * *" for each night at three (UTC). The first run begins at once.',
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
    allow_private = forms.BooleanField(
        label="Allow addresses that are not public (this machine, private networks)",
        required=False,
        help_text="Only superusers see this. Off, a link into your own network is never followed.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        files: MultiValueDict[str, UploadedFile[Any]] | None = None,
        *,
        user: User | AnonymousUser,
        like: Crawl | None = None,
    ) -> None:
        """`like`: a crawl whose start URLs and options the empty form begins with."""
        super().__init__(data, files, label_suffix="", initial=_typed_for(like) if like else None)
        self.fields["start_urls"].required = not (files and files.get("upload"))
        if not user.is_superuser:
            del self.fields["allow_private"]
        mark_defaults(self)
        self._mark_errors()

    def options(self) -> CrawlOptions:
        """What was chosen; not judged yet. A field that was left empty means the default, a zero does not."""
        typed = {name: self.cleaned_data[name] for name in CrawlOptions.__struct_fields__ if name in self.cleaned_data}
        chosen = {name: _plain(value) for name, value in typed.items() if value not in (None, "")}
        chosen["drop_parameters"] = dropping.chosen(
            self.cleaned_data["drop_parameters"], keep_usual=self.cleaned_data["keep_parameters"]
        )
        return CrawlOptions(**chosen)

    @property
    def private_allowed(self) -> bool:
        return bool(self.cleaned_data.get("allow_private", False))

    def refuse(self, error: BadInput) -> None:
        """Put what `start_crawl` did not accept beside the field it is about."""
        name = {"private_hosts": "allow_private", "list": "upload"}.get(error.field, error.field)
        if name not in self.fields:
            name = "start_urls"
        self.add_error(name, error.message)
        if isinstance(error, RefusedAddress) and "allow_private" in self.fields:
            self.add_error("allow_private", "Tick this to allow it for this crawl.")
        self._mark_errors()

    def usual(self) -> list[forms.BoundField]:
        """The options that are always seen."""
        return [self[name] for name in USUAL]

    def groups(self) -> list[Group]:
        """The options under the headings they stand below."""
        return groups_of(self)

    @property
    def options_open(self) -> bool:
        """Whether the folded options must be unfolded: neither an error nor a choice of another time hides."""
        return any(group.is_open or group.changed for group in self.groups())

    def _mark_errors(self) -> None:
        """The cursor starts in the first field with an error, else in the first of all."""
        wrong = [name for name in self.fields if name in self.errors]
        for name, field in self.fields.items():
            field.widget.attrs.pop("autofocus", None)
            if name in wrong:
                field.widget.attrs["aria-invalid"] = "true"
        first = wrong[0] if wrong else "start_urls"
        self.fields[first].widget.attrs["autofocus"] = True


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _typed_for(crawl: Crawl) -> dict[str, Any]:
    """What had to be typed for this crawl: field -> value, for those that differ from the default."""
    chosen = {name: getattr(crawl.chosen, name) for name in CrawlOptions.__struct_fields__}
    other = {name: value for name, value in chosen.items() if value != getattr(DEFAULTS, name)}
    if "*" in other.pop("private_hosts", ()):
        other["allow_private"] = True
    if "drop_parameters" in other:
        other["drop_parameters"], other["keep_parameters"] = dropping.typed_for(other["drop_parameters"])
    if crawl.source:  # a list has to be chosen anew: no page can do that for a person
        other.pop("recursive", None)
        return other
    return {"start_urls": crawl.start_urls, **other}
