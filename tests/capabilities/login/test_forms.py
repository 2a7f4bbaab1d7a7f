"""Which form is the one to log in with, and what a browser would send with it."""

import pytest

from crawler.capabilities.login.forms import Form, login_form
from crawler.core.html.document import document_of

SEARCH = '<form action="/search"><input name="q" value="x"></form>'


def found(html: str, *names: str) -> Form | None:
    return login_form(document_of(html), names, or_password=True)


def sent(html: str, *names: str) -> list[tuple[str, str]]:
    form = found(html, *(names or ("user",)))
    assert form is not None
    return form.values


def test_the_form_with_the_fields_is_found_among_others() -> None:
    form = found(
        f'{SEARCH}<form action="/in" method="POST"><input name="user"><input name="pin"></form>', "user", "pin"
    )
    assert form is not None
    assert (form.action, form.method) == ("/in", "post")


def test_without_one_it_is_that_with_a_password() -> None:
    form = found(f'{SEARCH}<form action="/in"><input name="a"><input type="password" name="b"></form>', "user")
    assert form is not None
    assert form.action == "/in"
    assert found(SEARCH, "user") is None


@pytest.mark.parametrize(
    ("controls", "values"),
    [
        ('<input type="hidden" name="csrf" value="a&amp;b">', [("csrf", "a&b")]),
        ('<input type="checkbox" name="stay"><input type="checkbox" name="all" checked>', [("all", "on")]),
        ('<input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked>', [("r", "2")]),
        ("<select name=l><option>de<option value=en selected>x</select>", [("l", "en")]),
        ("<select name=l><option value=de>x<option>en</select>", [("l", "de")]),
        ("<textarea name=t>some text</textarea>", [("t", "some text")]),
        ('<button name="go" value="1">x</button><button name="other">x</button>', [("go", "1")]),
        ('<input type="submit" name="go" value="Go"><input type="image" name="i">', [("go", "Go")]),
        ('<button type="button" name="show">x</button><input type="file" name="f">', []),
        ('<input name="off" value="1" disabled><input value="no name">', []),
    ],
)
def test_it_sends_what_a_browser_sends(controls: str, values: list[tuple[str, str]]) -> None:
    assert sent(f'<form><input name="user">{controls}</form>') == [("user", ""), *values]


def test_controls_outside_of_it_may_belong_to_it() -> None:
    assert sent('<form id="in"><input name="user"></form><input form="in" name="late" value="1">')[1:] == [
        ("late", "1")
    ]
    table = '<table><form action="/in"><tr><td><input name="user"><input name="hidden" value="1"></table>'
    assert sent(table)[1:] == [("hidden", "1")]


def test_given_values_replace_those_of_the_form() -> None:
    form = found('<form><input name="user" value="old"><input name="csrf" value="1"></form>', "user")
    assert form is not None
    assert form.filled_in([("user", "ann"), ("stay", "1")]) == [("csrf", "1"), ("user", "ann"), ("stay", "1")]


def test_a_page_of_deeply_nested_elements_takes_no_time() -> None:
    assert found("<form>" + "<div>" * 15_000 + '<input name="user">' * 4_000, "user") is None
