"""Records changes of accounts, groups and allowances in the audit log, whether made in the admin, on the pages or by
Django's commands. Of a password it records only that it changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group, User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save

from crawler.accounts.audit import note
from crawler.accounts.logins import begin_session
from crawler.models import Allowance

WATCHED: dict[type[Model], tuple[str, ...]] = {
    User: ("username", "email", "is_active", "is_staff", "is_superuser", "password"),
    Group: ("name",),
    Allowance: ("active_crawls", "pages_a_day"),
}
NAMED = {User: "account", Group: "group", Allowance: "quota"}
MEMBERS = {
    User.groups.through: ("groups", "user_set"),
    User.user_permissions.through: ("user_permissions", "user_set"),
    Group.permissions.through: ("permissions", "group_set"),
}
"""The many-to-many tables: the field on each side."""

_BEFORE = "_before_this"  # attribute of a row that is being saved: its previous values


def watch() -> None:
    """Connect the signals; idempotent."""
    for model in WATCHED:
        name = NAMED[model]
        pre_save.connect(_remember, sender=model, dispatch_uid=f"audit: {name} is to be saved")
        post_save.connect(_saved, sender=model, dispatch_uid=f"audit: {name} was saved")
        post_delete.connect(_deleted, sender=model, dispatch_uid=f"audit: {name} was deleted")
    for through in MEMBERS:
        m2m_changed.connect(_members, sender=through, dispatch_uid=f"audit: {through.__name__}")
    user_logged_in.connect(_logged_in, dispatch_uid="audit: login")
    user_logged_out.connect(_logged_out, dispatch_uid="audit: logout")


def _remember(sender: type[Model], instance: Any, raw: bool, update_fields: Iterable[str] | None, **_: Any) -> None:
    """Remember the stored values; none for a new row, or if no watched field is written (a login)."""
    fields = WATCHED[sender]
    written = fields if update_fields is None else [field for field in fields if field in set(update_fields)]
    was = None
    if not raw and instance.pk is not None and written:
        was = sender._default_manager.filter(pk=instance.pk).values(*written).first()
    setattr(instance, _BEFORE, was)


def _saved(sender: type[Model], instance: Any, created: bool, raw: bool, **_: Any) -> None:
    was = getattr(instance, _BEFORE, None)
    if created and not raw:
        _note(sender, "made", instance, after=_values(instance, WATCHED[sender]))
    if not was:
        return
    changed = [field for field in was if was[field] != getattr(instance, field)]
    if changed:
        after = _values(instance, changed) | ({"password": "another"} if "password" in changed else {})
        before = {field: was[field] for field in changed if field != "password"}
        _note(sender, "changed", instance, before=before, after=after)


def _deleted(sender: type[Model], instance: Any, **_: Any) -> None:
    _note(sender, "deleted", instance, before=_values(instance, WATCHED[sender]))


def _values(instance: Any, fields: Iterable[str]) -> dict[str, Any]:
    """Without the password: not even its digest may be stored for years."""
    return {field: getattr(instance, field) for field in fields if field != "password"}


def _note(sender: type[Model], what: str, instance: Any, **values: Any) -> None:
    about = instance.user if sender is Allowance else instance
    note(f"{NAMED[sender]}.{what}", about, **values)


def _members(
    sender: Any, instance: Any, action: str, reverse: bool, pk_set: set[int] | None, model: Any, **_: Any
) -> None:
    """Record the names of groups or permissions that were given or taken."""
    held = MEMBERS[sender][1 if reverse else 0]
    if action == "pre_clear":
        rows = getattr(instance, held).all()
    elif action in {"post_add", "post_remove"} and pk_set:
        rows = model._default_manager.filter(pk__in=pk_set)
    else:
        return
    names = {held: sorted(_called(row) for row in rows)}
    if not names[held]:
        return
    of = NAMED.get(type(instance), "permission")
    if action == "post_add":
        note(f"{of}.given", instance, after=names)
    else:
        note(f"{of}.taken", instance, before=names)


def _called(row: Any) -> str:
    return str(getattr(row, "username", "") or getattr(row, "codename", "") or row.name)


def _logged_in(sender: Any, request: Any, user: Any, **_: Any) -> None:
    begin_session(request.session)
    note("login", user, by=user, after={"by": getattr(request, "comes_by", "password")})


def _logged_out(sender: Any, request: Any, user: Any, **_: Any) -> None:
    if user is not None:
        note("logout", user, by=user)
