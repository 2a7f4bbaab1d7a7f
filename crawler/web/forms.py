"""What a person may type to start a crawl. The form only reads it; whether it can be used is judged in one place,
`core.options` and `start_crawl`, so that the page and the command line say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.utils.datastructures import MultiValueDict

from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options import CrawlOptions
from crawler.core.spans import seconds_of
from crawler.models import Crawl

Number = TypeVar("Number", int, float)

DEFAULTS = CrawlOptions()

GROUPS = (
    ("How far", ("max_pages", "max_depth", "subdomains")),
    ("How fast", ("concurrency", "delay", "obey_robots")),
    ("How long", ("deadline", "page_ttl")),
    ("Which pages", ("include", "exclude")),
    ("When it is finished", ("notify_emails", "notify_webhooks")),
    ("Private networks", ("allow_private",)),
)
"""The options as the page shows them; every field but the start URLs stands in one group."""


class LinesField(forms.CharField):
    """Several values, one a line; blank lines are dropped."""

    def __init__(self, *, rows: int = 2, placeholder: str = "", **kwargs: Any) -> None:
        attributes = {"rows": rows, "placeholder": placeholder, "spellcheck": "false", "autocapitalize": "off"}
        super().__init__(widget=forms.Textarea(attrs=attributes), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, (list, tuple)) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # lines in place of one text
        lines = (super().to_python(value) or "").splitlines()
        return [line.strip() for line in lines if line.strip()]


class NumberInput(forms.TextInput):
    """A number as text: what was typed comes back with its error, where a browser's number field would drop it."""

    def __init__(self, inputmode: str = "numeric", placeholder: str = "") -> None:
        super().__init__(attrs={"inputmode": inputmode, "placeholder": placeholder, "autocomplete": "off"})


class SpanField(forms.CharField):
    """A span of time, in seconds or with units; None when left empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=NumberInput("text", placeholder="no limit"), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return f"{value:.10g}" if isinstance(value, float) else value

    def to_python(self, value: Any) -> float | None:  # type: ignore[override]  # seconds in place of text
        typed = super().to_python(value)
        if not typed:
            return None
        seconds = seconds_of(typed)
        if seconds is None:
            raise forms.ValidationError(
                f"{self.label} must be a time such as 2h, 30m or 90s; a bare number is seconds."
            )
        return seconds


class TickedUnlessSaid(forms.CheckboxInput):
    """A box that is ticked by default: a request that does not name it at all leaves it ticked.

    The page sends a hidden "off" before the box, so unticking it does name it.
    """

    template_name = "crawler/widgets/ticked_unless_said.html"

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        if name not in data:
            return True
        values = data.getlist(name) if isinstance(data, MultiValueDict) else [data[name]]
        return values[-1] not in ("off", "false", "0", "", False)


class CrawlForm(forms.Form):
    """Start URLs and options. Fields are named as in `CrawlOptions`."""

    start_urls = LinesField(
        label="Start URL",
        rows=1,
        placeholder="https://example.com/",
        error_messages={"required": "Type the address of the site, such as https://example.com/."},
    )
    max_pages = forms.IntegerField(
        label="Page limit",
        required=False,
        widget=NumberInput(placeholder="no limit"),
        help_text="Pages asked for, at most.",
        error_messages={"invalid": "The page limit must be a whole number, such as 500."},
    )
    max_depth = forms.IntegerField(
        label="Depth limit",
        required=False,
        widget=NumberInput(placeholder="no limit"),
        help_text="Links from a start URL, at most.",
        error_messages={"invalid": "The depth limit must be a whole number, such as 3."},
    )
    include = LinesField(
        label="Only URLs that match",
        required=False,
        placeholder="/docs/",
        help_text="Regular expressions, one a line. One of them must be found in the URL.",
    )
    exclude = LinesField(
        label="No URLs that match",
        required=False,
        placeholder=r"\?print=1$",
        help_text="Regular expressions, one a line. None of them may be found in the URL.",
    )
    subdomains = forms.BooleanField(
        label="Take in subdomains", required=False, help_text="For example.com also docs.example.com."
    )
    obey_robots = forms.BooleanField(
        label="Obey robots.txt",
        required=False,
        initial=True,
        widget=TickedUnlessSaid(),
        help_text="Leave this on for sites that are not yours.",
    )
    delay = forms.FloatField(
        label="Delay",
        required=False,
        widget=NumberInput("decimal", placeholder="0"),
        help_text="Seconds between two requests to one host, at least.",
        error_messages={"invalid": "The delay must be a number of seconds, such as 0.5."},
    )
    concurrency = forms.IntegerField(
        label="Connections per host",
        required=False,
        widget=NumberInput(placeholder=str(DEFAULTS.concurrency)),
        help_text="At one time, over all workers.",
        error_messages={"invalid": "Connections per host must be a whole number, such as 4."},
    )
    deadline = SpanField(
        label="Time for the crawl",
        required=False,
        help_text="Such as 2h, 30m or 90s. What is open when it has passed is not asked for any more.",
    )
    page_ttl = SpanField(
        label="Time for a page",
        required=False,
        help_text="From the moment it is found. A page open for longer is not asked for any more.",
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
        self, data: Mapping[str, Any] | None = None, *, user: User | AnonymousUser, like: Crawl | None = None
    ) -> None:
        """`like`: a crawl whose start URLs and options the empty form begins with."""
        super().__init__(data, label_suffix="", initial=_typed_for(like) if like else None)
        if not user.is_superuser:
            del self.fields["allow_private"]
        self._mark_errors()

    def options(self) -> CrawlOptions:
        """What was chosen; not judged yet."""
        data = self.cleaned_data
        return CrawlOptions(
            max_pages=data["max_pages"],
            max_depth=data["max_depth"],
            include=tuple(data["include"]),
            exclude=tuple(data["exclude"]),
            subdomains=data["subdomains"],
            delay=_or(data["delay"], DEFAULTS.delay),
            concurrency=_or(data["concurrency"], DEFAULTS.concurrency),
            obey_robots=data["obey_robots"],
            deadline=data["deadline"],
            page_ttl=data["page_ttl"],
            notify_emails=tuple(data["notify_emails"]),
            notify_webhooks=tuple(data["notify_webhooks"]),
        )

    @property
    def private_allowed(self) -> bool:
        return bool(self.cleaned_data.get("allow_private", False))

    def refuse(self, error: BadInput) -> None:
        """Put what `start_crawl` did not accept beside the field it is about."""
        name = "allow_private" if error.field == "private_hosts" else error.field
        if name not in self.fields:
            name = "start_urls"
        self.add_error(name, error.message)
        if isinstance(error, RefusedAddress) and "allow_private" in self.fields:
            self.add_error("allow_private", "Tick this to allow it for this crawl.")
        self._mark_errors()

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The options under the headings they stand below."""
        return [(heading, [self[name] for name in names if name in self.fields]) for heading, names in GROUPS]

    @property
    def options_open(self) -> bool:
        """Whether the folded options must be open: neither an error nor a choice of another time hides."""
        return any(name not in {"start_urls", "__all__"} for name in {*self.errors, *self.initial})

    def _mark_errors(self) -> None:
        """The cursor starts in the first field with an error, else in the first of all."""
        wrong = [name for name in self.fields if name in self.errors]
        for name, field in self.fields.items():
            field.widget.attrs.pop("autofocus", None)
            if name in wrong:
                field.widget.attrs["aria-invalid"] = "true"
        first = wrong[0] if wrong else "start_urls"
        self.fields[first].widget.attrs["autofocus"] = True


def _typed_for(crawl: Crawl) -> dict[str, Any]:
    """What had to be typed for this crawl: field -> value, for those that differ from the default."""
    chosen = {name: getattr(crawl.chosen, name) for name in CrawlOptions.__struct_fields__}
    other = {name: value for name, value in chosen.items() if value != getattr(DEFAULTS, name)}
    if "*" in other.pop("private_hosts", ()):
        other["allow_private"] = True
    return {"start_urls": crawl.start_urls, **other}


def _or(given: Number | None, default: Number) -> Number:
    """The given number, zero included, or the default where the field was left empty."""
    return default if given is None else given
