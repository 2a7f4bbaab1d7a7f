"""What the form makes of what a person typed."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.forms import BooleanField
from django.http import QueryDict
from syrupy.assertion import SnapshotAssertion

from crawler.core.access.credentials import parse
from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import seal, seal_address
from crawler.models import Crawl
from crawler.web.forms.crawl_form import CrawlForm
from crawler.web.forms.option_fields import ALWAYS_SHOWN, FIELDS, LISTED
from crawler.web.forms.sharing import SharingFields
from tests.options import TYPED
from tests.text_files import listed

PERSON = User(username="ann")
SUPERUSER = User(username="root", is_superuser=True)


NAMED = {"private_hosts": "allow_private", "fields": "rules", "keep": "keep_html"}
"""Options whose fields have other names; see test_content_fields for the last two."""


def a_form(user: User = PERSON, like: Crawl | None = None, **typed: Any) -> CrawlForm:
    data = QueryDict(mutable=True)
    for name, value in {"start_urls": "https://example.com/", **typed}.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return CrawlForm(data, user=user, like=like)


def options_of(form: CrawlForm) -> CrawlOptions:
    assert form.is_valid(), form.errors
    return form.options()


def test_an_empty_field_means_the_default() -> None:
    empty = a_form(max_pages="", max_depth="", delay="", concurrency="", include="", deadline="", notify_emails=" \n ")
    assert options_of(empty) == CrawlOptions()


ALL_OPTIONS = CrawlOptions(**{name: typed.value for name, typed in TYPED.items()})


def test_every_option_can_be_typed() -> None:
    assert set(TYPED) == set(CrawlOptions.__struct_fields__) - {"private_hosts", "fields", "keep"}  # see NAMED
    form = a_form(PERSON, **{name: typed.field for name, typed in TYPED.items()})
    assert options_of(form) == ALL_OPTIONS


def test_the_usual_parameters_can_be_kept() -> None:
    assert options_of(a_form(keep_parameters="on")).drop_parameters == ()
    assert options_of(a_form(keep_parameters="on", drop_parameters="sid")).drop_parameters == ("sid",)


def sent_by(form: CrawlForm, like: Crawl) -> CrawlForm:
    """The form as a browser sends it back when nothing is touched: a box that is not ticked is not sent."""
    typed: dict[str, Any] = {}
    for field in form:
        value = field.value()
        if not isinstance(field.field, BooleanField):
            typed[field.name] = list(value) if isinstance(value, tuple) else "" if value is None else value
        elif field.field.initial:
            typed[field.name] = ["off", "on"] if value else ["off"]
        elif value:
            typed[field.name] = "on"
    return a_form(like=like, **typed)


@pytest.mark.parametrize(
    "options",
    [
        CrawlOptions(),
        ALL_OPTIONS,
        CrawlOptions(drop_parameters=()),
        CrawlOptions(drop_parameters=("sid",), max_bytes=1234, deadline=0.25),
    ],
    ids=["default", "everything", "no parameter dropped", "odd values"],
)
def test_a_form_like_another_crawl_makes_the_same_crawl(options: CrawlOptions) -> None:
    like = Crawl(start_urls=["https://a.example/", "https://b.example/"], options=options.to_plain())
    form = CrawlForm(user=PERSON, like=like)
    again = sent_by(form, like)
    assert options_of(again) == options
    assert again.cleaned_data["start_urls"] == like.start_urls
    assert form.options_open is (options != CrawlOptions())


def test_a_secret_address_of_another_crawl_is_taken_over_and_not_shown() -> None:
    sealed = seal_address("https://hooks.slack.com/services/T/B/X")
    like = Crawl(start_urls=["https://a.example/"], options=CrawlOptions(notify_slack=(sealed,)).to_plain())
    form = CrawlForm(user=PERSON, like=like)
    html = str(form["notify_slack"])
    assert "the last address, 1" in html
    assert "hooks.slack.com" not in html.replace("https://hooks.slack.com/services/…", "")
    assert sealed not in html
    assert options_of(sent_by(form, like)).notify_slack == (sealed,)


def test_a_folded_group_says_what_was_changed_in_it(golden: SnapshotAssertion) -> None:
    form = CrawlForm(user=PERSON, like=Crawl(start_urls=["https://a.example/"], options=ALL_OPTIONS.to_plain()))
    assert listed({group.heading: group.changed.split(" · ") for group in form.groups() if group.changed}) == golden


def test_an_untouched_form_says_nothing_of_changes() -> None:
    for form in (CrawlForm(user=SUPERUSER), a_form(SUPERUSER)):
        assert {group.changed for group in form.groups()} == {""}
        assert not form.options_open


def test_a_long_value_is_cut_short_where_the_group_is_summed_up() -> None:
    form = a_form(include="a" * 100)
    assert f"Only URLs that match: {'a' * 39}…" in [group.changed for group in form.groups()]


def test_only_a_group_with_an_error_is_unfolded() -> None:
    form = a_form(delay="soon", subdomains="on")
    assert [group.heading for group in form.groups() if group.is_open] == ["Politeness"]


def test_a_form_like_a_crawl_of_private_addresses_has_its_box_ticked_for_superusers_alone() -> None:
    like = Crawl(start_urls=["http://127.0.0.1/"], options=CrawlOptions(private_hosts=("*",)).to_plain())
    assert "checked" in str(CrawlForm(user=SUPERUSER, like=like)["allow_private"])
    assert "allow_private" not in CrawlForm(user=PERSON, like=like).fields


def test_a_zero_is_passed_on_to_be_judged() -> None:
    options = options_of(a_form(max_pages="0", concurrency="0"))
    assert (options.max_pages, options.concurrency) == (0, 0)


@pytest.mark.parametrize(
    ("sent", "obeyed"),
    [
        (None, True),  # a script that posts the URL alone does not turn robots.txt off
        (["off"], False),  # the box was unticked
        (["off", "on"], True),  # the box was ticked
    ],
)
def test_robots_are_obeyed_unless_the_box_was_unticked(sent: list[str] | None, obeyed: bool) -> None:
    form = a_form() if sent is None else a_form(obey_robots=sent)
    assert options_of(form).obey_robots is obeyed


def test_several_start_urls_come_one_a_line() -> None:
    form = a_form(start_urls="https://a.example/\r\n\r\n  https://b.example/  ")
    assert form.is_valid()
    assert form.cleaned_data["start_urls"] == ["https://a.example/", "https://b.example/"]


def test_blank_lines_alone_are_no_start_url() -> None:
    form = a_form(start_urls=" \n ")
    assert form.errors["start_urls"] == ["Type the address of the site, such as https://example.com/."]


@pytest.mark.parametrize("field", ["max_pages", "delay", "max_bytes", "deadline"])
def test_what_is_not_a_number_is_kept_and_named(field: str) -> None:
    form = a_form(PERSON, **{field: "many"})
    assert "must be a" in form.errors[field][0]
    assert 'value="many"' in str(form[field])
    assert 'aria-invalid="true"' in str(form[field])


def test_a_refusal_stands_beside_its_field_and_the_cursor_goes_there() -> None:
    form = a_form(include="(")
    assert form.is_valid()
    form.refuse(BadInput("include", "'(' is not a regular expression."))
    assert form.errors["include"] == ["'(' is not a regular expression."]
    assert form.options_open
    assert "autofocus" in str(form["include"])
    assert "autofocus" not in str(form["start_urls"])


def test_a_refusal_about_something_the_page_does_not_show_stands_at_the_start_url() -> None:
    form = a_form()
    form.refuse(BadInput("private_hosts", "127.0.0.1 is not public."))
    assert form.errors["start_urls"] == ["127.0.0.1 is not public."]


def test_only_superusers_may_allow_private_addresses() -> None:
    person, superuser = a_form(allow_private="on"), a_form(SUPERUSER, allow_private="on")
    assert person.is_valid()
    assert superuser.is_valid()
    assert (person.private_allowed, superuser.private_allowed) == (False, True)


def test_a_refused_address_points_at_the_box_that_allows_it() -> None:
    form = a_form(SUPERUSER)
    form.refuse(RefusedAddress("start_urls", "127.0.0.1 is not public"))
    assert form.errors["start_urls"] == ["127.0.0.1 is not public."]
    assert form.may_allow_private
    assert form.errors["allow_private"] == ["Tick this to allow it for this crawl."]
    assert form.options_open


def test_a_refused_address_unfolds_nothing_for_those_who_may_not_allow_it() -> None:
    form = a_form()
    form.refuse(RefusedAddress("start_urls", "127.0.0.1 is not public"))
    assert not form.options_open
    assert not form.may_allow_private
    assert form.errors["start_urls"] == ["127.0.0.1 is not public. Only a superuser can allow it."]


def test_every_field_stands_in_one_group() -> None:
    like = Crawl(start_urls=["https://a.example/"], options={}, sealed=seal(parse(bearer="abc")))
    offered = [name for name in FIELDS if name not in SharingFields.base_fields]  # there is no group to share with
    assert ["preset", "start_urls", *LISTED, *ALWAYS_SHOWN, *offered] == list(
        CrawlForm(user=SUPERUSER, like=like).fields
    )
    assert len(set(FIELDS)) == len(FIELDS)


def test_every_option_has_a_field() -> None:
    named = {NAMED.get(name, name) for name in CrawlOptions.__struct_fields__}
    assert named <= set(CrawlForm.base_fields)
