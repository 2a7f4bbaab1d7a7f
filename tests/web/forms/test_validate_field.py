"""A field is judged as it is left, by what judges it at the start."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.web.forms.crawl_form import CrawlForm
from tests import options
from tests.options import Judged

PERSON = User(username="ann")


def said(browser: Client, field: str, typed: str, **more: str) -> str:
    response = browser.post("/crawls/check", {"field": field, field: typed, **more})
    assert response.status_code == 200
    return response.content.decode().strip()


JUDGED = {
    "start_urls": Judged("ftp://example.com/", "ftp", "example.com"),
    "schedule": Judged("now and then", "now and then", "every 6h"),
    **options.JUDGED,
}


def test_the_table_has_every_field_that_is_judged() -> None:
    assert set(JUDGED) == set(CrawlForm(user=PERSON).checked)


@pytest.mark.parametrize("field", JUDGED)
def test_what_cannot_be_used_is_told(as_ann: Client, field: str) -> None:
    judged = JUDGED[field]
    assert judged.complaint in said(as_ann, field, judged.wrong)


@pytest.mark.parametrize("field", JUDGED)
def test_what_can_be_used_is_left_alone(as_ann: Client, field: str) -> None:
    assert said(as_ann, field, JUDGED[field].right) == ""


@pytest.mark.parametrize("field", ["start_urls", "include", "max_pages"])
def test_an_empty_field_is_no_trouble_yet(as_ann: Client, field: str) -> None:
    assert said(as_ann, field, "") == ""


def test_a_start_url_without_a_section_is_told_where_one_section_is_chosen(as_ann: Client) -> None:
    assert "choose Whole site" in said(as_ann, "start_urls", "https://example.com/", preset="section")
    assert said(as_ann, "start_urls", "https://example.com/", preset="site") == ""


def test_what_a_person_typed_is_shown_as_text(as_ann: Client) -> None:
    complaint = said(as_ann, "include", "(<script>")
    assert "&lt;script&gt;" in complaint
    assert "<script>" not in complaint


@pytest.mark.parametrize("field", ["", "nonsense", "bearer", "upload", "obey_robots"])
def test_only_fields_one_types_into_are_judged_and_never_a_secret(as_ann: Client, field: str) -> None:
    assert as_ann.post("/crawls/check", {"field": field, field: "x"}).status_code == 404


def test_the_page_sends_the_field_that_was_left_and_nothing_else(as_ann: Client) -> None:
    html = as_ann.get("/").content.decode()
    assert 'hx-params="csrfmiddlewaretoken,preset,field,include"' in html
    assert "field,bearer" not in html
