"""The form of a notice channel of an account. `notices.user_channels` validates its values."""

from __future__ import annotations

from typing import Any

from django import forms

from crawler.core.channels.catalogue import ADDRESS_HELP, KINDS, is_secret
from crawler.core.errors import BadInput
from crawler.core.options.events import DEFAULT_EVENTS, OF_A_CRAWL
from crawler.models import Channel
from crawler.notices.user_channels import NAME_LENGTH, ChannelValues
from crawler.reports.text import EVENTS


class ChannelForm(forms.Form):
    """A new channel, or one to change: then an empty secret address keeps the old one."""

    transport = forms.ChoiceField(
        label="Type", choices=[(kind.name, kind.label) for kind in KINDS], initial=KINDS[0].name
    )
    address = forms.CharField(
        label="Address",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}),
        help_text=ADDRESS_HELP,
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[(event.value, EVENTS[event].capitalize()) for event in OF_A_CRAWL],
        initial=list(DEFAULT_EVENTS),
        required=False,
        widget=forms.CheckboxSelectMultiple(),
        error_messages={"invalid_choice": "%(value)s is not an event of a channel."},
    )
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "the team's room"}),
        help_text="Optional, for your own use.",
    )

    def __init__(self, data: Any = None, *, channel: Channel | None = None) -> None:
        super().__init__(data, label_suffix="", initial=_typed_for(channel) if channel else None)
        if channel is not None and is_secret(channel.transport, channel.address):
            self.fields["address"].help_text = "Stored encrypted and not shown. Leave it empty to keep it."

    def wanted(self) -> ChannelValues:
        """The input, not validated yet."""
        return ChannelValues(
            name=self.cleaned_data["name"],
            transport=self.cleaned_data["transport"],
            address=self.cleaned_data["address"],
            events=tuple(self.cleaned_data["events"]),
        )

    def refuse(self, error: BadInput) -> None:
        """Show an error at its field."""
        self.add_error(error.field if error.field in self.fields else None, error.message)
        if error.field in self.fields:
            self.fields[error.field].widget.attrs["aria-invalid"] = "true"


def _typed_for(channel: Channel) -> dict[str, Any]:
    return {
        "name": channel.name,
        "transport": channel.transport,
        "address": "" if is_secret(channel.transport, channel.address) else channel.address,
        "events": channel.events,
    }
