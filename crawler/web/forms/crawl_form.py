"""The form that starts a crawl. It only reads input; `core.options.catalogue` and `start_crawl` validate it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.core.files.uploadedfile import UploadedFile
from django.forms.boundfield import BoundWidget
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.datastructures import MultiValueDict
from django.views.decorators.cache import never_cache

from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options.catalogue import DEFAULTS, RULES, SEVERAL, CrawlOptions, check_options
from crawler.core.options.presets import Preset, applied, found_in
from crawler.core.options.receivers import MAY_BE_SECRET
from crawler.core.urls import query_params
from crawler.core.urls.normalise import parse_user_url
from crawler.crawls.credentials import own_hosts, taken_over
from crawler.crawls.start import timetable_of
from crawler.encryption import seal, shown
from crawler.models import Crawl
from crawler.web.decorators import page_to_post
from crawler.web.forms import fields
from crawler.web.forms.fields import BOTH, GONE, LinesField, ListFileField, NumberInput, SignInFields, typed_in
from crawler.web.forms.option_fields import (
    ALWAYS_SHOWN,
    FIELDS,
    LISTED,
    ContentFields,
    Group,
    OptionFields,
    chosen_content,
    groups_of,
    mark_defaults,
    typed_content,
)
from crawler.web.forms.sharing import SharingFields

PLACES = {
    "private_hosts": "allow_private",
    "list": "upload",
    "credentials": "same_credentials",
    **{entry.name: "rules" for entry in RULES},
    **{entry.name: next(iter(entry.fields.values())) for entry in SEVERAL},
}
"""Field of an error -> form field, where the names differ."""

PRESETS = {
    Preset.SITE: ("Whole site", "Follows all links within the site."),
    Preset.SECTION: ("One section", "Follows links within the folder of the URL."),
    Preset.LIST: ("A list of URLs", "Requests the URLs you paste or upload; follows no links."),
    Preset.SITEMAP: ("Sitemap only", "Requests the URLs in the site's sitemaps; follows no links."),
}
"""Each with its label and description."""

ASK_A_SUPERUSER = "Only a superuser can allow it."


class CrawlForm(SharingFields, SignInFields, ContentFields, OptionFields):
    """Start URLs or a list, options, and credentials."""

    field_order = (
        "preset",
        "start_urls",
        *LISTED,
        *ALWAYS_SHOWN,
        *FIELDS,
    )  # as on the page: the first error gets the cursor

    preset = forms.ChoiceField(
        label="What to crawl",
        required=False,
        initial=Preset.SITE.value,
        choices=[(preset.value, name) for preset, (name, _) in PRESETS.items()],
        widget=forms.RadioSelect(),
        error_messages={"invalid_choice": "Choose one of: whole site, one section, a list of URLs, sitemap only."},
    )
    start_urls = LinesField(
        label="Start URL",
        rows=1,
        placeholder="https://example.com/",
        error_messages={"required": "Type the address of the site, such as https://example.com/."},
    )
    upload = ListFileField(
        label="Or upload a list",
        required=False,
        allow_empty_file=True,
        help_text="Text with one URL per line, CSV or JSONL, gzipped or not. Requests each URL; follows no links.",
    )
    list_column = forms.CharField(
        label="Column of URLs",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "url", "autocomplete": "off"}),
        help_text="For a CSV list: the column's name, or its number from 1.",
    )
    priority_column = forms.CharField(
        label="Column of priorities",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "priority", "autocomplete": "off"}),
        help_text="Whole numbers from 0 (last) to 10 (first), or 0.0 to 1.0 as in sitemaps.",
    )
    schedule = forms.CharField(
        label="Repeat",
        required=False,
        widget=NumberInput("text", placeholder="only once"),
        help_text='Such as "every 6h", or "0 3 * * *" for every night at 3:00 (UTC). The first run starts at once.',
    )
    allow_private = forms.BooleanField(
        label="Allow addresses that are not public (this machine, private networks)",
        required=False,
        help_text="Only superusers see this. If off, links into your own network are never followed.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        files: MultiValueDict[str, UploadedFile[Any]] | None = None,
        *,
        user: User | AnonymousUser,
        like: Crawl | None = None,
    ) -> None:
        """`like`: a crawl whose start URLs and options fill the form, and whose credentials may be reused. The user
        must have the right to see it."""
        self.may_allow_private = False  # whether an address was refused that this user may allow
        self.like = like if like and like.sealed else None
        self._kept = fields.kept_of(like)
        self.again = like.id if like is not None and (like.sealed or self._kept) else None
        super().__init__(data, files, label_suffix="", initial=_typed_for(like, self._kept) if like else None)
        self.fields["start_urls"].required = not self._has_list()
        if not user.is_superuser:
            del self.fields["allow_private"]
        self.offer_groups(user)
        self._offer_credentials()
        mark_defaults(self)
        self._mark_errors()

    def options(self) -> CrawlOptions:
        """The chosen options, not validated yet. An empty field means the default, a zero does not."""
        typed = {name: self.cleaned_data[name] for name in CrawlOptions.__struct_fields__ if name in self.cleaned_data}
        chosen = {name: _plain(value) for name, value in typed.items() if value not in (None, "")}
        chosen |= {name: tuple(fields.unmasked(self._kept, chosen[name])) for name in MAY_BE_SECRET}
        chosen["notify_events"] = chosen["notify_events"] or DEFAULTS.notify_events
        chosen["drop_parameters"] = query_params.chosen(
            self.cleaned_data["drop_parameters"], keep_tracking=self.cleaned_data["keep_parameters"]
        )
        chosen |= chosen_content(self.cleaned_data)
        return applied(Preset(self.chosen_preset), CrawlOptions(**chosen), self._start_urls())

    @property
    def chosen_preset(self) -> str:
        """The chosen preset. An uploaded list means the list preset."""
        chosen = self.cleaned_data.get("preset") or Preset.SITE.value
        return Preset.LIST.value if self.cleaned_data.get("upload") else chosen

    def clean_upload(self) -> UploadedFile[Any] | None:
        """None when another preset was chosen: the page does not show the file then."""
        upload: UploadedFile[Any] | None = self.cleaned_data["upload"]
        return upload if self._has_list() else None

    def clean_same_credentials(self) -> bool:
        if self.cleaned_data["same_credentials"] and self.like is None:
            raise forms.ValidationError(GONE)
        return bool(self.cleaned_data["same_credentials"])

    def sealed(self) -> str:
        """The encrypted credentials; "" for none. BadInput when they cannot be sent."""
        typed = typed_in(self.cleaned_data)
        if self.like is None or not self.cleaned_data["same_credentials"]:
            return seal(typed)
        if typed:
            raise BadInput("same_credentials", BOTH)
        return taken_over(self.like, self._own_hosts())

    def _own_hosts(self) -> tuple[str, ...]:
        options, listed = check_options(self.options()), self.cleaned_data["upload"] is not None
        return own_hosts(self._start_urls(), options, listed=listed)

    def _has_list(self) -> bool:
        return bool(self.files.get("upload")) and self.data.get("preset", Preset.LIST) == Preset.LIST

    def _start_urls(self) -> list[str]:
        return [parse_user_url(typed) for typed in self.cleaned_data["start_urls"]]

    def _offer_credentials(self) -> None:
        """Show the box that reuses credentials if there are some, or if it was checked for some that are gone."""
        if self.like is not None:
            self.fields["same_credentials"].help_text = " · ".join(shown(self.like.sealed))
        elif not self.data.get("same_credentials"):
            del self.fields["same_credentials"]

    @property
    def private_allowed(self) -> bool:
        return bool(self.cleaned_data.get("allow_private", False))

    def refuse(self, error: BadInput) -> None:
        """Show an error of `start_crawl` at its field."""
        name = PLACES.get(error.field, error.field)
        if name not in self.fields:
            name = "start_urls"
        message = error.message
        if isinstance(error, RefusedAddress):
            self.may_allow_private = "allow_private" in self.fields
            message = f"{message}." if self.may_allow_private else f"{message}. {ASK_A_SUPERUSER}"
        self.add_error(name, message)
        if self.may_allow_private:
            self.add_error("allow_private", "Tick this to allow it for this crawl.")
        self._mark_errors()

    def presets(self) -> list[tuple[BoundWidget, str]]:
        """The presets: the button of each, and its description."""
        about = [text for _, text in PRESETS.values()]
        return list(zip(self["preset"], about, strict=True))

    def listed(self) -> list[forms.BoundField]:
        """The fields of a URL list."""
        return [self[name] for name in LISTED]

    @property
    def checked(self) -> list[str]:
        """The fields that are validated when the user leaves them: text fields, except secrets."""
        judged = {"start_urls", "schedule", *CrawlOptions.__struct_fields__}
        return [name for name, field in self.fields.items() if name in judged and _is_typed(field)]

    def usual(self) -> list[forms.BoundField]:
        """The options that are always shown."""
        return [self[name] for name in ALWAYS_SHOWN]

    def groups(self) -> list[Group]:
        """The other options, in groups."""
        return groups_of(self)

    @property
    def options_open(self) -> bool:
        """Whether the options must be unfolded, because of an error or a changed value."""
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


def _is_typed(field: forms.Field) -> bool:
    typed = isinstance(field.widget, (forms.Textarea, forms.TextInput))
    return typed and "data-secret" not in field.widget.attrs


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _typed_for(crawl: Crawl, kept: fields.StoredValues) -> dict[str, Any]:
    """The form input for this crawl: field -> value, for those that differ from the default."""
    preset, options = found_in(crawl.chosen, crawl.start_urls, listed=bool(crawl.source))
    chosen = {name: getattr(options, name) for name in CrawlOptions.__struct_fields__}
    other = {name: value for name, value in chosen.items() if value != getattr(DEFAULTS, name)}
    other |= typed_content(other)
    other |= {name: fields.shown(kept, other[name]) for name in MAY_BE_SECRET if name in other}
    if "*" in other.pop("private_hosts", ()):
        other["allow_private"] = True
    if crawl.sealed:
        other["same_credentials"] = True
    if "drop_parameters" in other:
        other["drop_parameters"], other["keep_parameters"] = query_params.typed_for(other["drop_parameters"])
    if crawl.source:  # the user has to choose a list again: a page cannot do that
        return {"preset": preset.value, **other}
    return {"preset": preset.value, "start_urls": crawl.start_urls, **other}


# The view that validates one field when the user leaves it, with the code of the form and of a start.


@never_cache
@page_to_post
def crawl_check(request: HttpRequest) -> HttpResponse:
    """The errors of the field named by `field`, as the form shows them; nothing if it is valid. No host is looked up:
    only the start of a crawl does that."""
    name = request.POST.get("field", "")
    form = CrawlForm(request.POST, user=request.user)
    if name not in form.checked:
        raise Http404
    return render(request, "crawler/complaints.html", {"complaints": complaints(form, name)})


def complaints(form: CrawlForm, name: str) -> list[str]:
    """An empty field is no trouble before the form is sent."""
    if name in form.errors:
        return [str(error) for error in form.errors[name]] if form[name].data else []
    value = form.cleaned_data.get(name)
    if not value and value != 0:
        return []
    try:
        _judge(form, name, value)
    except BadInput as error:
        return [error.message]
    return []


def _judge(form: CrawlForm, name: str, value: Any) -> None:
    """BadInput when a crawl could not be started with this value."""
    if name == "start_urls":
        applied(Preset(form.chosen_preset), CrawlOptions(), [parse_user_url(typed) for typed in value])
    elif name == "schedule":
        timetable_of(value)
    else:
        chosen: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value}
        check_options(CrawlOptions(**chosen))
