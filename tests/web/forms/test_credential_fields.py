"""Credentials on the page: taken as they stand, kept sealed, and never sent back."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from crawler.core.access.credentials import Credentials, parse, to_json
from crawler.crawls.credentials import OTHER_HOSTS_MESSAGE, UNREADABLE_MESSAGE
from crawler.encryption import opened, seal
from crawler.models import Crawl, Schedule
from crawler.web.forms.crawl_form import CrawlForm
from crawler.web.forms.fields import BOTH, GONE, SECRETS
from tests.factories import a_delivery, a_finished_crawl, a_page, a_person

URL = "http://127.0.0.1:2/"
TYPED = {
    "headers": "X-Key: swordfish-1\r\nX-Other: swordfish-2",
    "cookies": "a=swordfish-3; b=swordfish-4\r\nc=swordfish-5",
    "auth": "ann:swordfish 6 ",
    "proxy": "http://me:swordfish-7@127.0.0.1:3128",
}
KNOWN = parse(
    headers=["X-Key: swordfish-1", "X-Other: swordfish-2"],
    cookies=["a=swordfish-3", "b=swordfish-4", "c=swordfish-5"],
    auth="ann:swordfish 6 ",
    proxy="http://me:swordfish-7@127.0.0.1:3128",
)


def start(browser: Client, **typed: Any) -> Any:
    return browser.post("/crawls/", {"start_urls": URL, "allow_private": "on", **typed})


def sent_by(crawl: Crawl) -> Credentials:
    return opened(crawl.sealed)


def signed_in_crawl(owner: User, **fields: Any) -> Crawl:
    """A crawl that is over, with credentials."""
    return a_finished_crawl(owner, **{"start_urls": [URL], "sealed": seal(KNOWN), **fields})


def test_what_is_typed_is_kept_sealed_with_the_crawl(as_root: Client, real_redis: object) -> None:
    assert start(as_root, **TYPED).status_code == 302
    crawl = Crawl.objects.get()
    assert sent_by(crawl) == KNOWN
    assert "swordfish" not in crawl.sealed


def test_a_schedule_keeps_them_for_every_run(as_root: Client, real_redis: object) -> None:
    assert start(as_root, bearer="swordfish-token", schedule="every 6h").status_code == 302
    assert opened(Schedule.objects.get().sealed) == sent_by(Crawl.objects.get()) == parse(bearer="swordfish-token")


def test_an_uploaded_list_says_which_hosts_are_sent_them(as_root: Client, real_redis: object) -> None:
    refused = upload(as_root, bearer="swordfish-token")
    assert "Name the hosts that receive" in refused.context["form"].errors["hosts"][0]
    assert upload(as_root, bearer="swordfish-token", hosts="127.0.0.1:2").status_code == 302
    assert sent_by(Crawl.objects.get()) == parse(bearer="swordfish-token")


def upload(browser: Client, **typed: str) -> Any:
    return start(browser, start_urls="", upload=SimpleUploadedFile("urls.txt", URL.encode()), **typed)


@pytest.mark.parametrize("field", SECRETS)
@pytest.mark.parametrize("kind", ["@", "env:"])
def test_no_file_and_no_variable_of_the_server_can_be_read(
    as_root: Client, real_redis: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str, kind: str
) -> None:
    held = "X-Key: swordfish" if field == "headers" else "user=swordfish:swordfish"
    monkeypatch.setenv("HELD", held)
    (tmp_path / "held.txt").write_text(held)
    response = start(as_root, **{field: f"@{tmp_path}/held.txt" if kind == "@" else "env:HELD"})
    assert b"swordfish" not in response.content
    assert not any(b"swordfish" in to_json(sent_by(crawl)) for crawl in Crawl.objects.all())


def test_what_looks_like_a_name_of_a_file_or_a_variable_is_the_secret_itself(
    as_root: Client, real_redis: object
) -> None:
    start(as_root, auth="env:PATH")
    assert sent_by(Crawl.objects.get()).basic == ("env", "PATH")


@pytest.mark.parametrize(
    ("field", "typed", "line"),
    [
        ("headers", "swordfish", "Enter each header as &#x27;Name: value&#x27;"),
        ("auth", "swordfish", "Enter user and password as user:password"),
        ("proxy", "socks4://swordfish:1", "begins with socks5://"),
    ],
)
def test_what_cannot_be_sent_is_said_at_its_field_without_repeating_it(
    as_root: Client, real_redis: object, field: str, typed: str, line: str
) -> None:
    response = start(as_root, **{field: typed})
    assert (response.status_code, list(response.context["form"].errors)) == (400, [field])
    html = response.content.decode()
    assert line in html
    assert "swordfish" not in html
    assert not Crawl.objects.exists()


def test_after_another_error_secrets_are_gone_and_asked_for_again(as_root: Client) -> None:
    response = start(as_root, delay="soon", bearer="swordfish-8", login_fields="password=swordfish-9", **TYPED)
    html = response.content.decode()
    assert "swordfish-" not in html
    assert "swordfish 6" not in html
    assert html.count("Type this again") == len(SECRETS)
    (group,) = [group for group in response.context["form"].groups() if group.heading == "Authentication"]
    assert group.is_open
    assert group.changed.startswith("Headers: to be typed again · Cookies: to be typed again · ")


def test_redis_being_away_sends_no_secret_back_either(as_root: Client) -> None:
    response = start(as_root, bearer="swordfish-8")
    assert response.status_code == 503
    assert b"swordfish-8" not in response.content
    assert b"Type this again" in response.content


def test_a_fields_box_for_a_password_is_filled_in_by_no_browser() -> None:
    form = CrawlForm(user=User(username="ann"))
    for name in ("auth", "bearer"):
        assert 'type="password"' in str(form[name])
        assert 'autocomplete="new-password"' in str(form[name])
    assert all('data-secret="on"' in str(form[name]) for name in SECRETS)


def test_a_crawls_page_shows_them_masked(as_ann: Client, ann: User) -> None:
    html = as_ann.get(f"/crawls/{signed_in_crawl(ann).id}/").content.decode()
    assert "X-Key: …(11 characters)" in html
    assert "Authorization: Basic ann:sw…(12 characters)" in html
    assert "Proxy: http://…@127.0.0.1:3128" in html
    assert "swordfish-" not in html


@pytest.mark.parametrize(
    "path",
    ["/", "/?again={}", *(f"/crawls/{{}}/{name}" for name in ("", "status", "why/", "export.csv", "export.jsonl"))],
)
def test_neither_a_secret_nor_its_sealed_form_leaves_the_server(as_ann: Client, ann: User, path: str) -> None:
    crawl = signed_in_crawl(ann)
    a_page(crawl, URL)
    a_delivery(crawl)
    response = as_ann.get(path.format(crawl.id))
    sent = b"".join(response) if response.streaming else response.content
    assert response.status_code == 200
    assert b"swordfish-" not in sent
    assert b"swordfish 6" not in sent
    assert crawl.sealed[:20].encode() not in sent
    if "again" not in path and not path.endswith("/"):
        assert b"characters)" not in sent  # not even masked: that is for the crawl's page alone


def test_crawl_again_offers_the_same_credentials_and_sends_them(
    as_root: Client, root: User, real_redis: object
) -> None:
    earlier = signed_in_crawl(root)
    html = as_root.get(f"/?again={earlier.id}").content.decode()
    assert f'<input type="hidden" name="again" value="{earlier.id}">' in html
    assert "X-Key: …(11 characters) · " in html
    form = as_root.get(f"/?again={earlier.id}").context["form"]
    assert "The same credentials as last time: on" in [group.changed for group in form.groups()]

    assert start(as_root, again=str(earlier.id), same_credentials="on").status_code == 302
    assert sent_by(Crawl.objects.exclude(id=earlier.id).get()) == KNOWN


def test_unticked_they_are_not_sent(as_root: Client, root: User, real_redis: object) -> None:
    earlier = signed_in_crawl(root)
    assert start(as_root, again=str(earlier.id)).status_code == 302
    assert Crawl.objects.exclude(id=earlier.id).get().sealed == ""


def test_the_box_is_still_there_after_an_error(as_root: Client, root: User) -> None:
    earlier = signed_in_crawl(root)
    form = start(as_root, again=str(earlier.id), delay="soon").context["form"]
    assert (form.like, form["same_credentials"].value()) == (earlier, False)


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ({"start_urls": "http://127.0.0.2:2/"}, OTHER_HOSTS_MESSAGE),
        ({"hosts": "127.0.0.2:2"}, OTHER_HOSTS_MESSAGE),
        ({"bearer": "swordfish-8"}, BOTH),
    ],
)
def test_the_same_credentials_are_for_the_same_hosts_and_stand_alone(
    as_root: Client, root: User, real_redis: object, typed: dict[str, str], complaint: str
) -> None:
    earlier = signed_in_crawl(root)
    response = start(as_root, again=str(earlier.id), same_credentials="on", **typed)
    assert (response.status_code, response.context["form"].errors) == (400, {"same_credentials": [complaint]})
    assert Crawl.objects.count() == 1


def test_a_proxy_alone_is_taken_over_for_any_host(as_root: Client, root: User, real_redis: object) -> None:
    earlier = signed_in_crawl(root, start_urls=["http://127.0.0.2:2/"], sealed=seal(parse(proxy="127.0.0.1:3128")))
    assert start(as_root, again=str(earlier.id), same_credentials="on").status_code == 302


def test_somebody_elses_credentials_are_neither_offered_nor_sent(as_ann: Client, real_redis: object) -> None:
    others = signed_in_crawl(a_person("bob"))
    html = as_ann.get(f"/?again={others.id}").content.decode()
    assert "same_credentials" not in html
    response = start(as_ann, again=str(others.id), same_credentials="on")
    assert response.context["form"].errors == {"same_credentials": [GONE]}
    assert "X-Key" not in response.content.decode().replace("X-Api-Key", "")
    assert Crawl.objects.count() == 1


def test_credentials_that_cannot_be_read_any_more_start_no_crawl(
    as_root: Client, root: User, real_redis: object
) -> None:
    earlier = signed_in_crawl(root, sealed="sealed under another key")
    assert "cannot be read" in as_root.get(f"/crawls/{earlier.id}/").content.decode()
    response = start(as_root, again=str(earlier.id), same_credentials="on")
    assert response.context["form"].errors == {"same_credentials": [UNREADABLE_MESSAGE]}
