"""Who else sees a crawl: chosen in the form that starts it, changed on its page; and what of its page others get."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, Group, User

from crawler.accounts.permissions import groups_of, may, rights_of
from crawler.core.access.permissions import Right
from crawler.crawls.control import share_begun
from crawler.encryption import shown
from crawler.models import Crawl
from crawler.reports.receipt import deleted_on

NEEDED = {"delete": Right.OWN}
"""What a button of a crawl's page takes, where that is not the right to control it."""


class SharingFields(forms.Form):
    """With which group, and whether its members may do more than look. Who is in no group has no such fields."""

    group = forms.ModelChoiceField(
        label="Share with",
        queryset=Group.objects.none(),
        required=False,
        empty_label="no group",
        help_text="Members of this group can view the crawl.",
        error_messages={"invalid_choice": "You are not in this group; choose one of yours."},
    )
    group_controls = forms.BooleanField(
        label="Members can control it",
        required=False,
        help_text="Pause, resume and cancel the crawl, retry dead letters, release traps.",
    )

    def offer_groups(self, user: User | AnonymousUser, shared_with: int | None = None) -> None:
        """One's own groups, and the one it is shared with by now."""
        groups = groups_of(user)
        if shared_with is not None:
            groups = groups | Group.objects.filter(pk=shared_with).order_by("name")
        if not groups.exists():
            del self.fields["group"], self.fields["group_controls"]
            return
        field: Any = self.fields["group"]
        field.queryset = groups.distinct()


class SharingForm(SharingFields):
    """The same on a crawl's page."""

    def __init__(self, data: Any = None, *, user: User | AnonymousUser, crawl: Crawl) -> None:
        chosen = {"group": crawl.group_id, "group_controls": crawl.group_controls}
        super().__init__(data, initial=chosen, label_suffix="")
        self.offer_groups(user, crawl.group_id)


def share_as_chosen(form: forms.Form, crawl: Crawl, owner: User | None) -> None:
    """Share a crawl that has just begun, and the schedule it was begun with, as its form says."""
    if owner is not None and (group := form.cleaned_data.get("group")) is not None:
        share_begun(crawl, owner, group, group_controls=form.cleaned_data["group_controls"])


def permitted(can: dict[str, bool], user: User | AnonymousUser, crawl: Crawl) -> dict[str, bool]:
    """Which of the buttons this person gets."""
    rights = rights_of(user, crawl)
    return {verb: is_so and NEEDED.get(verb, Right.CONTROL) in rights for verb, is_so in can.items()}


def is_locked(user: User | AnonymousUser, crawl: Crawl) -> bool:
    """Whether this person may look at the crawl, and no more."""
    return not may(user, Right.CONTROL, crawl)


def sharing_of(user: User | AnonymousUser, crawl: Crawl) -> dict[str, Any]:
    """What a crawl's page tells of its owner, its group and its time; with the forms, and what it sends to sign in,
    where it is the reader's."""
    rights = rights_of(user, crawl)
    owns = Right.OWN in rights
    form = SharingForm(user=user, crawl=crawl) if owns else None
    deleted: datetime | None = deleted_on(crawl)
    return {
        "sharing": form if form is not None and form.fields else None,
        "owns": owns,
        "locked": Right.CONTROL not in rights,
        "sent": shown(crawl.sealed) if owns else [],
        "is_mine": crawl.owner_id == user.pk,
        "deleted_on": deleted,
    }
