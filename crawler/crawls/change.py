"""Changes what a user chose for a crawl that is under way: limits, pace, patterns, log-in, notices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction

from crawler.accounts import audit
from crawler.accounts.permissions import installation_hosts
from crawler.core.access import credentials
from crawler.core.access.reach import Namer, check_change, private_hosts_for
from crawler.core.channels.catalogue import KINDS
from crawler.core.errors import BadInput, NoCrawl
from crawler.core.options.catalogue import CHANGEABLE, CrawlOptions, check_options
from crawler.core.options.receivers import RECEIVERS
from crawler.core.protocol.completion import State
from crawler.crashpoints import crash_point
from crawler.crawls.control import if_redis_responds, wake_manager
from crawler.crawls.crawl_checks import check_use, crawl_checks
from crawler.crawls.credentials import how_many, resealed
from crawler.crawls.start import encrypted_addresses
from crawler.http.guard import guard_of
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.storage import additions

LOADING = "Its list is still being read; change it once the crawl runs."
OF_LINKS = ("include", "exclude")


class Changed(msgspec.Struct, frozen=True):
    """The options that have another value now, as stored; receivers and credentials as their number: they may be
    secrets."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]


def change(crawl_id: UUID, values: Mapping[str, Any], *, by: Namer) -> Changed:
    """Give a crawl other values of these options, all or none. `by`: who does it. Raises NoCrawl.

    BadInput names the first option that cannot be changed or used. The next tick uses the new values; what a batch
    that is handed out already was told, it keeps. Credentials are changed like options, see
    `core.access.credentials.CHANGEABLE`; a batch that has the earlier ones hands its pages back.
    """
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        raise NoCrawl
    for name in values:
        if name not in (*CHANGEABLE, *credentials.CHANGEABLE):
            others = ", ".join((*CHANGEABLE, *credentials.CHANGEABLE))
            raise BadInput(name, f"This option cannot be changed after the start. Options you can change: {others}.")
    given = {name: _plain(crawl, name, value, by) for name, value in values.items() if name in CHANGEABLE}
    secrets = {name: value or () for name, value in values.items() if name in credentials.CHANGEABLE}
    queues.connection().ping()  # if Redis does not respond, nothing is changed
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id).first()
        if crawl is None:
            raise NoCrawl
        if crawl.state == State.LOADING:
            raise BadInput("id", LOADING)
        before = crawl.chosen
        after = check_options(_with(before, given, is_list=bool(crawl.source)))
        names = [name for name in CHANGEABLE if name in given and getattr(before, name) != getattr(after, name)]
        if not names and not secrets:
            return Changed({}, {})
        check_change(by, before.private_hosts, [*names, *secrets])
        check_use(after, [*names, *secrets])
        plain, sealed = after.to_plain(), crawl.sealed
        crawl.options = {**crawl.options, **{name: plain[name] for name in names}}
        if outdated := [*secrets, *(name for check in crawl_checks() for name in names if name in check.resealed)]:
            crawl.sealed = resealed(crawl, after, secrets, outdated[0])
        crawl.save(update_fields=["options", "sealed"])
        if "deadline" in names:
            additions.change_deadline(crawl, before.deadline, after.deadline)
        done = Changed(  # also the same credentials again: whether they are is not told
            {**_told(before, names), **how_many(sealed, secrets)},
            {**_told(after, names), **how_many(crawl.sealed, secrets)},
        )
        audit.note("crawl.changed", crawl, before=done.before, after=done.after)
    crash_point("change: committed")
    if not crawl.is_over:
        _wake(crawl, sealed)
    return done


def _wake(crawl: Crawl, sealed: str) -> None:
    """`sealed`: the credentials as they were before."""
    with if_redis_responds(crawl, "changed"):  # else a session goes on until the site ends it
        if sealed != crawl.sealed:
            for check in crawl_checks():  # before the tick, which deletes all keys if the crawl is over by now
                check.credentials_changed(crawl.id, sealed)
        wake_manager(crawl)


def _plain(crawl: Crawl, name: str, value: Any, by: Namer) -> Any:
    """A value as it is stored; None = the default. Other web addresses than before are checked and encrypted."""
    if value is None:
        return getattr(CrawlOptions(), name)
    if isinstance(value, (list, tuple)) and tuple(value) == getattr(crawl.chosen, name):
        return tuple(value)
    kind = next((kind for kind in KINDS if kind.option == name and kind.is_web), None)
    if kind is None:
        return value
    return encrypted_addresses(
        guard_of(private_hosts_for(by, crawl.chosen.private_hosts, installation_hosts())), kind, value
    )


def _with(options: CrawlOptions, given: Mapping[str, Any], *, is_list: bool) -> CrawlOptions:
    """BadInput for a value of another type, or patterns for a list, which names all its pages."""
    for name in OF_LINKS:
        if is_list and given.get(name):
            raise BadInput(name, f"A list contains all its pages, and links are not followed; leave out {name}.")
    try:
        return msgspec.convert({**options.to_plain(), **given}, CrawlOptions)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise BadInput(where.rstrip("`").partition("[")[0] or "options", f"{what}.") from None


def _told(options: CrawlOptions, names: list[str]) -> dict[str, Any]:
    plain = options.to_plain()
    return {name: len(plain[name]) if name in RECEIVERS.values() else plain[name] for name in names}
