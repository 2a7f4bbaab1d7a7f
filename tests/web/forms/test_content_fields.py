"""Rules and forms of content on the form that starts a crawl."""

import pytest
from django.contrib.auth.models import User

from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.models import Crawl
from crawler.web.forms.crawl_form import CrawlForm
from tests.web.forms.test_crawl_form import PERSON, a_form, options_of, sent_by

CHOSEN = CrawlOptions(
    fields=(FieldRule(name="title", selector="h1"), FieldRule(name="links", selector="a", attribute="href", many=True)),
    keep=("html", "warc"),
)


def test_rules_and_forms_can_be_typed() -> None:
    typed = "- {name: title, selector: h1}\n- {name: links, selector: a, attribute: href, many: true}"
    assert options_of(a_form(rules=typed, keep_warc="on", keep_html="on")) == CHOSEN


def test_a_rule_that_cannot_be_used_is_told_at_its_field() -> None:
    form = a_form(rules="title: h1[")
    assert not form.is_valid()
    assert list(form.errors) == ["rules"]
    assert "Rule 1 ('title'), selector" in form.errors["rules"][0]


def test_crawling_again_fills_them_in_as_they_were() -> None:
    like = Crawl(start_urls=["https://example.com/"], options=CHOSEN.to_plain())
    assert options_of(sent_by(CrawlForm(user=PERSON, like=like), like)) == CHOSEN


def test_pictures_can_be_ticked_with_their_options() -> None:
    chosen = options_of(a_form(keep_screenshot="on", keep_pdf="on", screenshot="page", screenshot_format="png"))
    assert chosen == CrawlOptions(keep=("screenshot", "pdf"), screenshot="page", screenshot_format="png")
    like = Crawl(start_urls=["https://example.com/"], options=chosen.to_plain())
    assert options_of(sent_by(CrawlForm(user=PERSON, like=like), like)) == chosen


@pytest.mark.django_db
def test_what_cannot_be_kept_is_told_at_a_field_of_its_group(ann: User) -> None:
    form = a_form(ann, keep_pdf="on")
    assert form.is_valid()
    from crawler.core.errors import BadInput
    from crawler.core.options.catalogue import check_options

    with pytest.raises(BadInput) as caught:
        check_options(form.options())
    form.refuse(caught.value)
    assert list(form.errors) == ["keep_html"]
