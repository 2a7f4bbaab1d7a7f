"""Says who else may look at a crawl or a schedule, and whether it is kept whatever its age."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.db import transaction

from crawler import audit
from crawler.accounts import groups_of
from crawler.core.errors import BadInput
from crawler.models import Crawl, Schedule


def share(item: Crawl | Schedule, user: User, group: Group | None, *, group_controls: bool = False) -> bool:
    """Share with a group, or (None) with nobody any more; whether anything changed. BadInput for a group that this
    person is not in. The caller has checked that the crawl or schedule is theirs to share."""
    if group is not None and group.pk != item.group_id and not groups_of(user).filter(pk=group.pk).exists():
        raise BadInput("group", f"You are not in the group {group.name}; choose one of yours.")
    controls = group_controls and group is not None
    if (item.group_id, item.group_controls) == (group.pk if group else None, controls):
        return False
    before = _shared(item)
    item.group, item.group_controls = group, controls
    with transaction.atomic():
        item.save(update_fields=["group", "group_controls"])
        audit.note(f"{item._meta.model_name}.shared", item, before=before, after=_shared(item))
    return True


def _shared(item: Crawl | Schedule) -> dict[str, object]:
    return {"group": item.group.name if item.group else None, "members_control": item.group_controls}


def share_begun(crawl: Crawl, owner: User, group: Group | None, *, group_controls: bool) -> None:
    """Share a crawl that has just begun, and the schedule it was begun with."""
    if group is None:
        return
    share(crawl, owner, group, group_controls=group_controls)
    if crawl.schedule is not None:
        share(crawl.schedule, owner, group, group_controls=group_controls)


def keep(crawl: Crawl, *, is_kept: bool) -> bool:
    """Keep a crawl whatever its age, or no longer; whether anything changed."""
    with transaction.atomic():
        if Crawl.objects.filter(pk=crawl.pk, keep=not is_kept).update(keep=is_kept) != 1:
            return False
        audit.note("crawl.kept" if is_kept else "crawl.not_kept", crawl)
    return True
