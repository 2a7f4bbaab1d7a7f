"""What the audit log has after each deed: who, from where, what, and what it was before; and that it stays so."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from crawler.accounts import audit
from crawler.accounts.login_links import invite, link_for
from crawler.core.access.permissions import Scope
from crawler.crawls import delete
from crawler.crawls.delete import begin_delete
from crawler.crawls.reconcile import scan
from crawler.models import Allowance, AuditEntry, Channel, Crawl
from crawler.web.account.login import make_link
from tests.api.calling import a_token
from tests.factories import a_browser, a_crawl, a_finished_crawl, a_group, a_person
from tests.web.conftest import NOWHERE

pytestmark = pytest.mark.django_db

START = {"start_urls": "http://127.0.0.1:8/?token=swordfish", "allow_private": "on"}
HERE = "127.0.0.1"


@pytest.fixture
def ann() -> User:
    return a_person("ann")


@pytest.fixture
def root() -> User:
    return a_person("root", superuser=True)


def entry(act: str) -> AuditEntry:
    """The one entry of a deed."""
    return AuditEntry.objects.get(act=act)


def by(one: AuditEntry) -> tuple[str, str, str]:
    return one.actor, one.via, one.address


def test_a_start_and_each_move_of_a_crawl(root: User, real_redis: object) -> None:
    browser = a_browser(root)
    browser.post("/crawls/", START)
    crawl = Crawl.objects.get()
    for verb in ("pause", "resume", "cancel", "delete"):
        assert browser.post(f"/crawls/{crawl.id}/{verb}").status_code == 302
    entries = list(AuditEntry.objects.filter(kind="crawl").order_by("pk"))
    names = ("started", "paused", "resumed", "cancelled", "deleted")
    assert [one.act for one in entries] == [f"crawl.{name}" for name in names]
    assert {(by(one), one.actor_id, one.key, one.name) for one in entries} == {
        (("root", "web", HERE), root.pk, str(crawl.id), "127.0.0.1")
    }
    assert entries[0].after == {"start_urls": 1, "signs_in": False, "allow_private": True}
    assert entries[-1].before == {"state": "cancelled", "owner": "root", "discovered": 1}


def test_a_deletion_that_is_requested_twice_is_recorded_once(
    root: User, real_redis: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.crawls.delete.DELETE_STEPS_PER_CALL", 0)
    crawl = a_crawl(root)
    for _ in range(2):
        begin_delete(crawl.id)
    acts = AuditEntry.objects.filter(kind="crawl").order_by("pk").values_list("act", flat=True)
    assert list(acts) == ["crawl.cancelled", "crawl.deleted"]
    assert entry("crawl.deleted").before == {"state": "running", "owner": "root", "discovered": 1}


def test_what_was_asked_for_in_vain_is_not_in_it(ann: User, real_redis: object) -> None:
    crawl = a_finished_crawl(ann)
    browser = a_browser(ann)
    for verb in ("pause", "resume", "cancel"):
        browser.post(f"/crawls/{crawl.id}/{verb}")
    a_browser(a_person("bob")).post(f"/crawls/{crawl.id}/delete")
    assert not AuditEntry.objects.filter(kind="crawl").exists()


def test_a_program_is_distinguished_from_its_user_below_a_prefix_too(ann: User, real_redis: object) -> None:
    crawl = a_crawl(ann)
    token = {"Authorization": f"Bearer {a_token(ann, Scope.CRAWLS_WRITE)}"}
    Client(headers=token).post(f"/api/v1/crawls/{crawl.id}/cancel", SCRIPT_NAME="/x")
    cancelled = entry("crawl.cancelled")
    assert (by(cancelled), cancelled.token_id) == (("ann", "api", HERE), ann.api_tokens.get().pk)


def test_the_command_line_is_recorded_by_the_systems_user(real_redis: object) -> None:
    crawl = a_crawl(None)
    call_command("cancel", str(crawl.id), stdout=StringIO())
    assert by(entry("crawl.cancelled")) == (audit.os_user(), "command", "")


def test_due_actions_are_recorded_as_the_systems(ann: User, root: User, real_redis: object) -> None:
    held = timezone.now() - timedelta(minutes=1)
    crawl = a_crawl(ann, state="paused", held_until=held)
    a_browser(root).get(f"/crawls/{crawl.id}/")  # whoever looks wakes what is due
    assert by(entry("crawl.resumed")) == ("", "system", "")
    scan()


def test_who_else_sees_a_crawl(ann: User) -> None:
    crawl, editors = a_crawl(ann), a_group("editors", ann)
    a_browser(ann).post(f"/crawls/{crawl.id}/share", {"group": editors.pk, "group_controls": "on"})
    shared = entry("crawl.shared")
    assert shared.before == {"group": None, "members_control": False}
    assert shared.after == {"group": "editors", "members_control": True}


def test_accounts_groups_and_quotas(root: User) -> None:
    browser, editors = a_browser(root), a_group("editors")
    ann = a_person("ann")
    typed = {
        "username": "ann",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00",
        "is_active": "on",
        "is_staff": "on",
        "groups": [editors.pk],
        "allowance-TOTAL_FORMS": 1,
        "allowance-INITIAL_FORMS": 0,
        "allowance-0-user": ann.pk,
        "allowance-0-pages_a_day": 500,
    }
    assert browser.post(f"/admin/auth/user/{ann.pk}/change/", typed).status_code == 302
    assert browser.post(f"/admin/auth/user/{ann.pk}/delete/", {"post": "yes"}).status_code == 302
    entries = AuditEntry.objects.filter(via="web", address=HERE, actor="root").exclude(act="login").order_by("pk")
    told = [(one.act, one.name, one.before, one.after) for one in entries]
    assert told[:3] == [
        ("account.changed", "ann", {"is_staff": False}, {"is_staff": True}),
        ("account.given", "ann", None, {"groups": ["editors"]}),
        ("quota.made", "ann", None, {"active_crawls": None, "pages_a_day": 500}),
    ]
    assert {act for act, *_ in told[3:]} == {"quota.deleted", "account.deleted"}


def test_permissions_and_members_from_the_other_side(ann: User) -> None:
    group, permission = Group.objects.create(name="editors"), Permission.objects.get(codename="view_user")
    group.user_set.add(ann)
    group.permissions.add(permission)
    ann.user_permissions.add(permission)
    ann.user_permissions.clear()
    told = [(one.act, one.name, one.before, one.after) for one in AuditEntry.objects.order_by("pk")[1:]]
    assert told == [
        ("group.made", "editors", None, {"name": "editors"}),
        ("group.given", "editors", None, {"user_set": ["ann"]}),
        ("group.given", "editors", None, {"permissions": ["view_user"]}),
        ("account.given", "ann", None, {"user_permissions": ["view_user"]}),
        ("account.taken", "ann", {"user_permissions": ["view_user"]}, None),
    ]


def test_coming_in_and_going(ann: User, root: User) -> None:
    browser = Client()
    browser.post("/login/", {"username": "ann", "password": "secret"})
    browser.post("/logout/")
    Client().post(make_link(""))
    invited = invite("bob@example.com")
    Client().post(link_for(invited, ""), {"new_password1": "correct horse", "new_password2": "correct horse"})
    entries = AuditEntry.objects.filter(act__in=["login", "logout"]).order_by("pk")
    assert list(entries.values_list("act", "actor", "after")) == [
        ("login", "ann", {"by": "password"}),
        ("logout", "ann", None),
        ("login", "root", {"by": "link"}),
        ("login", "bob@example.com", {"by": "invitation"}),
    ]
    assert by(entry("invitation.accepted")) == ("bob@example.com", "web", HERE)


def test_failed_logins_in_summary(ann: User, settings: Any, real_redis: object) -> None:
    settings.CRAWLER_LOGIN_TRIES = 7
    for _ in range(9):
        Client().post("/login/", {"username": "ann", "password": "wrong"})
    Client().post("/login/", {"username": "swordfish", "password": "wrong"})
    failures = AuditEntry.objects.filter(act="login.failed").order_by("pk")
    assert [(one.name, one.after) for one in failures] == [
        ("ann", {"tries": 1}),
        ("ann", {"tries": 5}),
        ("ann", {"tries": 7}),
        ("", {"tries": 1}),  # what was typed may be a password
    ]


def test_failed_logins_are_recorded_without_a_limit_too(ann: User, settings: Any, real_redis: object) -> None:
    settings.CRAWLER_LOGIN_TRIES = 0
    for _ in range(12):
        assert Client().post("/login/", {"username": "ann", "password": "wrong"}).status_code == 200
    failures = AuditEntry.objects.filter(act="login.failed").order_by("pk")
    assert [(one.name, one.after) for one in failures] == [("ann", {"tries": 1}), ("ann", {"tries": 5})]


def test_a_password_is_another_and_no_more_is_said(ann: User) -> None:
    typed = {"old_password": "secret", "new_password1": "correct horse", "new_password2": "correct horse"}
    a_browser(ann).post("/account/password/", typed)
    changed = entry("account.changed")
    assert (changed.before, changed.after, by(changed)) == (None, {"password": "another"}, ("ann", "web", HERE))


def test_channels_without_their_addresses_and_tokens_without_their_secrets(ann: User, settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]
    browser = a_browser(ann)
    channel = {"transport": "slack", "address": "http://127.0.0.1:8/services/swordfish", "events": ["crawl.finished"]}
    assert browser.post("/account/notifications/add", channel).status_code == 302
    changed = {**channel, "address": "http://127.0.0.1:8/services/swordfish-2"}
    assert browser.post(f"/account/notifications/{Channel.objects.get().id}/", changed).status_code == 302
    browser.post(f"/account/notifications/{Channel.objects.get().id}/switch")
    browser.post(f"/account/notifications/{Channel.objects.get().id}/remove")
    page = browser.post("/account/tokens/", {"name": "nightly", "scopes": ["crawls:read"], "expires_at": "30"})
    browser.post(f"/account/tokens/{ann.api_tokens.get().pk}/revoke")
    acts = AuditEntry.objects.filter(kind__in=["channel", "apitoken"]).order_by("pk").values_list("act", flat=True)
    made = ["channel.added", "channel.changed", "channel.paused", "channel.removed", "token.made", "token.revoked"]
    assert list(acts) == made
    written = json.dumps(list(AuditEntry.objects.values("before", "after", "name", "key")))
    assert "swordfish" not in written
    assert page.context["secret"] not in written
    assert entry("channel.changed").after["address"] == "another"


def test_a_deed_that_is_undone_is_not_in_it(ann: User) -> None:
    ann.is_staff = True
    with transaction.atomic():
        ann.save()
        assert entry("account.changed").after == {"is_staff": True}
        transaction.set_rollback(True)
    assert not AuditEntry.objects.filter(act="account.changed").exists()


def test_nothing_in_it_is_changed_or_deleted(ann: User) -> None:
    written = AuditEntry.objects.first()
    assert written is not None
    written.actor = "somebody else"
    for change in (
        written.save,
        written.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(actor="x"),
        lambda: AuditEntry.objects.bulk_update([written], ["actor"]),
    ):
        with pytest.raises(TypeError, match="added to"):
            change()


def test_it_outlives_whom_it_is_about(ann: User, real_redis: object) -> None:
    ann_id = ann.pk
    ann.delete()
    assert {one.key for one in AuditEntry.objects.filter(name="ann")} == {str(ann_id)}


def test_it_is_kept_for_as_long_as_is_set(ann: User, settings: Any) -> None:
    settings.CRAWLER_AUDIT_DAYS = 30
    delete.forget_expired(timezone.now() + timedelta(days=29))
    assert AuditEntry.objects.exists()
    settings.CRAWLER_AUDIT_DAYS = 0
    delete.forget_expired(timezone.now() + timedelta(days=9999))
    assert AuditEntry.objects.exists()
    settings.CRAWLER_AUDIT_DAYS = 30
    delete.forget_expired(timezone.now() + timedelta(days=31))
    assert not AuditEntry.objects.exists()


def test_superusers_see_it_in_the_admin_and_cannot_change_it(root: User) -> None:
    written, browser = AuditEntry.objects.latest("pk"), a_browser(root)
    where = f"/admin/crawler/auditentry/{written.pk}"
    assert [browser.get(f"/admin/crawler/auditentry/{more}").status_code for more in ("", "?q=root")] == [200, 200]
    assert browser.get(f"{where}/change/").status_code == 200
    assert browser.post(f"{where}/change/", {"actor": "x"}).status_code == 403
    assert browser.post(f"{where}/delete/", {"post": "yes"}).status_code == 403
    helper = User.objects.create_user("helper", is_staff=True)
    helper.user_permissions.add(*Permission.objects.filter(content_type__app_label="crawler"))
    assert a_browser(helper).get("/admin/crawler/auditentry/").status_code == 403


def said(*options: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("audit", *options, stdout=out)
    return out.getvalue()


def test_the_command_shows_it(ann: User, real_redis: object) -> None:
    a_browser(ann).post(f"/crawls/{a_crawl(ann).id}/cancel")
    assert said().splitlines()[-1].endswith("crawl.cancelled       ann by web from 127.0.0.1  crawl example.com")
    [line] = said("--act", "crawl", "--who", "ann", "--json").splitlines()
    assert json.loads(line)["act"] == "crawl.cancelled"
    assert said("--act", "craw") == said("--who", "bob") == said("--about", "nothing") == ""


def test_the_command_takes_a_crawl_as_the_others_do(ann: User, real_redis: object) -> None:
    def about(crawl: str) -> list[str]:
        return [json.loads(line)["id"] for line in said("--about", crawl, "--json").splitlines()]

    older, newer = (str(a_crawl(ann).id) for _ in range(2))
    for crawl in (older, newer):
        a_browser(ann).post(f"/crawls/{crawl}/cancel")
    gone = "ffffffff-0000-4000-8000-000000000001"
    AuditEntry.objects.create(act="crawl.deleted", kind="crawl", key=gone, name="gone.test")
    assert about("@last") == about(newer[:13]) == about(newer.upper()) == [newer]
    assert about("example.com") == [older, newer]
    assert about("https://example.com/") == [newer]
    assert about("ffffffff-0000") == [gone], "a deleted crawl"


def test_the_command_refuses_a_beginning_of_several_crawls(capsys: pytest.CaptureFixture[str]) -> None:
    for last in "12":
        AuditEntry.objects.create(act="crawl.deleted", kind="crawl", key=f"ffffffff-0000-4000-8000-00000000000{last}")
    with pytest.raises(SystemExit):
        call_command("audit", "--about", "ffff")
    assert "Several crawls begin with ffff; type more characters of the ID" in capsys.readouterr().err


def test_the_log_is_written_to_however_redis_is(ann: User, settings: Any) -> None:
    settings.REDIS_URL = NOWHERE
    a_browser(ann).post(f"/crawls/{a_crawl(ann).id}/cancel")
    assert entry("crawl.cancelled").actor == "ann"
    Allowance.objects.create(user=ann)
    assert entry("quota.made").name == "ann"
