"""The forms on a crawl's page that add pages to it and change its options. They only read input; the verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms

from crawler import clock
from crawler.accounts.permissions import AnyUser, namer, sees_addresses
from crawler.core.access import credentials
from crawler.core.access.reach import NAMING, is_limited
from crawler.core.options.catalogue import CHANGEABLE, OPTIONS
from crawler.core.options.receivers import MAY_BE_SECRET, RECEIVERS
from crawler.core.pages.placement import Placement, placed
from crawler.crawls.crawl_checks import has_use
from crawler.models import Crawl
from crawler.web.forms import fields
from crawler.web.forms.fields import LinesField, MomentField, NumberInput, SpanField
from crawler.web.forms.option_fields import events_field, field_of


class AddForm(forms.Form):
    """Pages to add to a crawl."""

    urls = LinesField(
        label="Pages",
        rows=4,
        placeholder="https://example.com/new",
        help_text="One URL per line.",
        error_messages={"required": "Type the URL of at least one page."},
    )
    delay = SpanField(
        label="Not before", required=False, placeholder="at once", help_text="Time from now. Example: 10m."
    )
    not_before = MomentField(
        label="Or not before the time",
        required=False,
        help_text="In UTC, unless you give a zone; with the above empty.",
    )
    ttl = SpanField(label="Time for a page", required=False, help_text="Give up after this time. Example: 1h.")
    priority = forms.IntegerField(
        label="Priority",
        required=False,
        widget=NumberInput("numeric", placeholder="5"),
        help_text="10 is first, 0 is last.",
        error_messages={"invalid": "The priority must be a whole number from 0 (last) to 10 (first)."},
    )
    again = forms.BooleanField(label="Request pages again that are already done", required=False)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, label_suffix="", auto_id="add_%s")

    def place(self) -> Placement:
        """BadInput if it cannot be used."""
        typed = self.cleaned_data
        return placed(typed["priority"], typed["delay"], typed["not_before"], typed["ttl"], clock.epoch_seconds())


class ChangeForm(forms.Form):
    """The options that this user may change, with the values they have; credentials without. Those and receivers of
    notices are the owner's alone."""

    def __init__(self, data: Any = None, *, crawl: Crawl, user: AnyUser) -> None:
        owns = sees_addresses(user, crawl)
        hidden = () if owns else (*RECEIVERS.values(), "notify_events")
        if is_limited(namer(user, crawl), crawl.chosen.private_hosts):
            hidden += NAMING
            owns = False
        self._names = [name for name in CHANGEABLE if name not in hidden and has_use(crawl.chosen, name)]
        if crawl.source:
            self._names = [name for name in self._names if name not in ("include", "exclude")]
        self._kept = fields.kept_of(crawl)
        chosen = {name: getattr(crawl.chosen, name) for name in self._names}
        chosen |= {name: fields.shown(self._kept, chosen[name]) for name in MAY_BE_SECRET if name in chosen}
        super().__init__(data, initial=chosen, label_suffix="", auto_id="change_%s")
        for name in self._names:
            secrets = {
                kind: change for kind, change in credentials.CHANGEABLE.items() if owns and change.before == name
            }
            for kind, change in secrets.items():
                self.fields[kind] = fields.secret_field(credentials.KINDS[kind], change.help)
            self.fields[name] = field_of(OPTIONS[name]) if name in OPTIONS else events_field()

    def values(self) -> dict[str, Any]:
        """The options with their new values; an empty field means the default, that of a credential no change."""
        values = {name: self.cleaned_data[name] for name in self._names}
        values |= {name: fields.unmasked(self._kept, values[name]) for name in MAY_BE_SECRET if name in values}
        values = {name: None if value in ("", []) else value for name, value in values.items()}
        typed = {name: self.cleaned_data.get(name) for name in credentials.CHANGEABLE}
        return values | {name: value for name, value in typed.items() if value}


def first_error(form: forms.Form) -> str:
    return str(next(iter(form.errors.values()))[0])
