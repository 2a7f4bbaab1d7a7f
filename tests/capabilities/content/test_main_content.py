"""The main content of a page as text and as Markdown."""

import time

import pytest

from crawler.capabilities.content.main_content import MAX_CHARACTERS, MAX_TAGS, markdown_of, text_of
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

URL = "https://example.com/docs/page"
AROUND = "<header>Logo</header><nav>Menu</nav>{}<aside>More</aside><footer>Legal</footer>"


def test_text_has_a_line_for_each_block_and_keeps_code_as_it_is() -> None:
    html = "<h1>Title</h1><p>One\n  <b>two</b><br>three</p><ul><li>a<li>b</ul><pre>if x:\n    y\n</pre>"
    assert text_of(html.encode()) == "Title\n\nOne two\nthree\n\na\nb\n\nif x:\n    y"


def test_markdown_has_headings_links_lists_tables_and_code() -> None:
    html = (
        "<h2>Title</h2><p>See <a href='../x?a=1#part'>this</a> or <a href='#below'>below</a>.</p>"
        "<ol start=3><li>a<li>b</ol>"
        "<table><tr><th>k<th>v<tr><td>1<td>2</table><pre>x = 1</pre>"
    )
    written = markdown_of(html.encode(), URL)
    assert written.startswith("## Title\n\nSee [this](https://example.com/x?a=1#part) or [below](#below).")
    assert "3. a\n4. b" in written
    assert "| k | v |\n| --- | --- |\n| 1 | 2 |" in written
    assert "```\nx = 1\n```" in written


@pytest.mark.parametrize("main", ["<main>Words</main>", "<div role=main>Words</div>", "<div>Words</div>"])
def test_what_stands_around_the_content_is_left_out(main: str) -> None:
    assert text_of(AROUND.format(main).encode()) == "Words"


def test_a_page_of_nothing_but_menus_is_taken_as_a_whole() -> None:
    assert text_of(b"<nav>Menu</nav>") == "Menu"


def test_a_main_element_that_holds_next_to_nothing_is_not_believed() -> None:
    assert text_of(f"<main>x</main><div>{'word ' * 100}</div>".encode()).endswith("word")


def test_links_that_would_run_something_are_none() -> None:
    html = b"<p><a href='javascript:alert(1)'>a</a> <a href=' data:x'>b</a> <img src='data:x' alt=c>"
    written = markdown_of(html, URL)
    assert "javascript" not in written
    assert "data:" not in written


@pytest.mark.parametrize(
    "html",
    [
        b"<div>" * 2000 + b"x",
        b"<blockquote>" * 20 + b"x",
        b"<p>" + b"<i>x</i>" * MAX_TAGS,
        b"<p>x" * (MAX_CHARACTERS // 4),
    ],
    ids=["deep", "quoted", "many", "long"],
)
def test_of_an_extreme_page_markdown_is_its_text(html: bytes) -> None:
    assert markdown_of(html, URL) == text_of(html)


def test_blanks_of_a_long_page_are_single_wherever_it_is_parted() -> None:
    for shift in range(3):
        assert text_of(b"<p>" + b"x" * (1_000_000 - 2 + shift) + b"  \n y") == "x" * (999_998 + shift) + " y"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (b"", ""),
        (b"\0", ""),
        (b"<", "<"),
        (b"<frameset>", ""),
        (b"<title>x", ""),
        (b"<body hidden>x", "x"),
        (b"<!--", ""),
    ],
)
def test_odd_pages_do_no_harm(html: bytes, text: str) -> None:
    assert text_of(html) == text
    assert markdown_of(html, URL).strip() == text


def test_elements_around_the_content_that_hold_one_another_are_counted_in_no_time() -> None:
    began = time.process_time()
    text_of(b"<nav>" * 5000 + b"x " * 100_000)
    text_of(b"<p>a b c</p>" + b"<nav>" * 150 + b" " * 1_000_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("part", [b"<nav>", b"<pre>", b"<i class=a%d><p>x"])
def test_no_page_takes_longer_than_its_length_says(part: bytes) -> None:
    opened = b"".join(part.replace(b"%d", b"%d" % number) for number in range(1500))
    assert not climb(text_of, lambda size: filled(opened, b"words ", b"", size), 256 * 1024, 4.0).fault


def test_what_stands_around_the_content_may_lie_in_what_stands_around_it() -> None:
    assert text_of(b"<nav><nav>a b</nav> c d</nav><p>Words and words") == "Words and words"
    assert text_of(b"<pre>a\n<pre>b  c</pre></pre>") == "a\nb  c"
