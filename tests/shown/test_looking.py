"""The judges see what they are there to see."""

import pytest

from tests.evil import MARK, TEXTS
from tests.shown.looking import csv_faults, html_faults, terminal_faults

PAGE = "<!doctype html><title>x</title><p>{}</p>"


@pytest.mark.parametrize(
    "text", [TEXTS[name] for name in ("html", "attribute", "quoted", "script", "elements", "style")]
)
def test_a_text_that_is_not_escaped_is_seen(text: str) -> None:
    assert html_faults(PAGE.format(text), "/") or html_faults(PAGE.format(f'<a title="{text}">'), "/")


@pytest.mark.parametrize(
    "element",
    [
        "<a href='javascript:x'>",
        "<a href='java\tscript:x'>",
        "<a href='data:text/html,x'>",
        "<a href='http://evil.test/' rel='noopener'>",
        "<a href='//evil.test/'>",
        "<img src='//evil.test/'>",
        "<form action='http://evil.test/'>",
        "<p style='color:red'>",
        "<p onclick='x'>",
        "<script>x</script>",
        f"<style>{MARK}</style>",
        "<meta http-equiv='refresh' content='0'>",
    ],
)
def test_an_element_that_should_not_be_there_is_seen(element: str) -> None:
    assert html_faults(PAGE.format(element), "/")


def test_a_page_of_ours_is_well() -> None:
    ours = '<a href="/x" hx-get="/y"></a><a href="https://a.test/" rel="noopener noreferrer nofollow"></a>'
    assert html_faults(PAGE.format(ours + '<script type="application/json">{"a": "<b>"}</script>'), "/") == []


@pytest.mark.parametrize("cell", ["=1", " =1", '"=1"', "+1", "-1", "@x", "x;=1", '"x\n=1"'])
def test_a_cell_that_would_run_is_seen(cell: str) -> None:
    assert csv_faults(f"a,{cell}{MARK}\r\n") or csv_faults(f"a,{cell.rstrip(chr(34))}{MARK}{chr(34)}\r\n")


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b2J", "\u202e", "a\r", "\u2028", "x\nBcc: y"])
def test_what_steers_a_terminal_is_seen(text: str) -> None:
    assert terminal_faults(text)
