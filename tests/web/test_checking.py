"""A field is judged as it is left, by what judges it at the start."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.models import Crawl
from crawler.web.forms import CrawlForm

PERSON = User(username="ann")


def said(browser: Client, field: str, typed: str, **more: str) -> str:
    response = browser.post("/crawls/check", {"field": field, field: typed, **more})
    assert response.status_code == 200
    return response.content.decode().strip()


@pytest.mark.parametrize(
    ("field", "typed", "complaint"),
    [
        ("start_urls", "ftp://example.com/", "ftp"),
        ("include", "(", "is not a usable regular expression"),
        ("exclude", "a\n(", "is not a usable regular expression"),
        ("deadline", "soon", "must be a time such as 2h"),
        ("page_ttl", "0", "must be more than 0 seconds"),
        ("delay", "-1", "The delay must be between"),
        ("max_pages", "0", "must be 1 or more"),
        ("max_bytes", "lots", "must be a size"),
        ("hosts", "http://x/", "is not a host"),
        ("schedule", "now and then", "now and then"),
        ("notify_emails", "me", "is not an e-mail address"),
    ],
)
def test_what_cannot_be_used_is_told(as_ann: Client, field: str, typed: str, complaint: str) -> None:
    assert complaint in said(as_ann, field, typed)


@pytest.mark.parametrize(
    ("field", "typed"),
    [("start_urls", "example.com"), ("include", "/a/"), ("deadline", "2h"), ("schedule", "every 6h"), ("delay", "0")],
)
def test_what_can_be_used_is_left_alone(as_ann: Client, field: str, typed: str) -> None:
    assert said(as_ann, field, typed) == ""


@pytest.mark.parametrize("field", ["start_urls", "include", "max_pages"])
def test_an_empty_field_is_no_trouble_yet(as_ann: Client, field: str) -> None:
    assert said(as_ann, field, "") == ""


def test_a_start_url_without_a_section_is_told_where_one_section_is_chosen(as_ann: Client) -> None:
    assert "choose Whole site" in said(as_ann, "start_urls", "https://example.com/", preset="section")
    assert said(as_ann, "start_urls", "https://example.com/", preset="site") == ""


def test_what_a_person_typed_is_shown_as_text(as_ann: Client) -> None:
    assert "<script>" not in said(as_ann, "include", "(<script>")


@pytest.mark.parametrize("field", ["", "nonsense", "bearer", "upload", "obey_robots"])
def test_only_fields_one_types_into_are_judged_and_never_a_secret(as_ann: Client, field: str) -> None:
    assert as_ann.post("/crawls/check", {"field": field, field: "x"}).status_code == 404


@pytest.mark.parametrize("name", CrawlForm(user=PERSON).checked)
def test_each_field_that_is_judged_can_be(as_ann: Client, name: str) -> None:
    said(as_ann, name, "7")


def test_a_check_starts_nothing_and_needs_a_login(client: Client, as_ann: Client) -> None:
    said(as_ann, "start_urls", "https://example.com/")
    assert not Crawl.objects.exists()
    assert client.post("/crawls/check", {"field": "include"}).status_code == 302


def test_the_page_sends_the_field_that_was_left_and_nothing_else(as_ann: Client) -> None:
    html = as_ann.get("/").content.decode()
    assert 'hx-params="csrfmiddlewaretoken,preset,field,include"' in html
    assert "field,bearer" not in html
