"""Markdown of saved pages: what a reader who compared it with the page found right, and what it costs."""

import multiprocessing
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from crawler.capabilities.content import main_content, markdown
from crawler.core.html import links
from crawler.core.html.document import document_of
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

PAGES = sorted((Path(__file__).parents[2] / "data" / "pages").glob("*.html"))
URL = "https://docs.example/manual/"
HAVE_THE_WORDS = 42  # exit code; no death of a process looks like it
FORKING = multiprocessing.get_context("forkserver")  # each process begins with what is loaded once
FORKING.set_forkserver_preload([__name__])
WRITERS = [writer for writer in (markdown.compiled, markdown.in_python) if writer]
LINKED_CODE = re.compile(
    r"\[`[^`]+`\]\(([^ )]+)"
)  # markdownify leaves out a link within code, which the Apache manual has


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_saved_page_is_written_as_it_was_reviewed(page: Path) -> None:
    assert main_content.markdown_of(page.read_bytes(), URL + page.name) == page.with_suffix(".md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_markdownify_keeps_the_same_headings_lists_tables_code_links_and_images(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "write", markdown.in_python)
    found = structure_of(main_content.markdown_of(page.read_bytes(), URL + page.name))
    reviewed = page.with_suffix(".md").read_text()
    expected = structure_of(reviewed)
    links_in_code = Counter(LINKED_CODE.findall(reviewed))
    assert found.pop("links") >= expected.pop("links") - links_in_code
    assert found == expected


def structure_of(text: str) -> dict[str, object]:
    """What of it is no running text."""
    code = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE).replace("\xa0", " ")
    return {
        "headings": re.findall(r"^#+ .*$", rest, re.MULTILINE),
        "items": Counter(re.findall(r"^ *(-|\d+\.) ", rest, re.MULTILINE)),
        "cells": Counter(cell for row in re.findall(r"^\| (.*) \|$", rest, re.MULTILINE) for cell in cells_of(row)),
        "code": [(language, [line.strip() for line in lines.splitlines()]) for language, lines in code],
        "images": re.findall(r"!\[[^]]*\]\(([^ )]+)", rest),
        "links": Counter(re.findall(r"(?<!!)\[(?:[^][]|!\[[^]]*\]\([^)]*\)|\[[^]]*\])*\]\(([^ )]+)", rest)),
    }


def cells_of(row: str) -> list[str]:
    """Of a row without a heading, markdownify makes an empty one."""
    return [cell for part in row.split(" | ") if (cell := part.strip(" `")) and cell != "---"]


def test_without_the_compiled_package_markdownify_writes_it() -> None:
    program = (
        "import sys; sys.modules['html_to_markdown'] = None\n"
        "from crawler.capabilities.content.main_content import markdown_of\n"
        "from crawler.capabilities.content import markdown\n"
        "assert markdown.compiled is None\n"
        "print(markdown_of(b'<h1>Title</h1><ul><li>a</ul>', 'https://example.com/'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "# Title\n\n- a"


def test_markdown_costs_a_page_little_more_than_reading_it() -> None:
    """A whole crawl is to cost twice as much at most, and reading is a quarter of it. By markdownify it is 12 times."""
    bodies = [(page.read_bytes(), URL + page.name) for page in PAGES]

    def read(body: bytes, url: str) -> None:
        links.extract(document_of(body), url)

    def kept(body: bytes, url: str) -> None:
        document = document_of(body)
        links.extract(document, url)
        main_content.Readable(document, url).markdown()

    assert least_time_of(kept, bodies) < 7 * least_time_of(read, bodies)


def least_time_of(work: Callable[[bytes, str], None], bodies: list[tuple[bytes, str]]) -> float:
    """Seconds of CPU; the least of several turns, because other processes disturb the caches."""
    taken = []
    for _ in range(8):
        began = time.process_time()
        for body, url in bodies:
            work(body, url)
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize("write", WRITERS)
def test_code_keeps_its_language_and_its_lines(write: Callable[[str], str]) -> None:
    written = write('<pre><code class="language-python">x = 1\n\n    y = 2\n</code></pre>z')
    assert written.strip().startswith("```python\nx = 1\n\n    y = 2\n```\n\n")


def test_no_address_that_would_run_something_is_left_in_any_element() -> None:
    tags = (
        "a",
        "area",
        "audio",
        "embed",
        "frame",
        "graphic",
        "image",
        "img",
        "input",
        "link",
        "source",
        "track",
        "video",
    )
    names = ("href", "src", "poster", "url", "xlink:href", "filename", "srcset", "cite", "data", "action", "data-src")
    for tag in (*tags, "blockquote", "q", "form", "button", "math", "body", "picture", "ins", "del"):
        said = " ".join(f'{name}="javascript:run()"' for name in names)
        assert "run()" not in main_content.markdown_of(f"<p>x <{tag} {said}>words</{tag}> y".encode(), URL), tag


def test_a_picture_that_waits_to_be_loaded_has_its_own_address() -> None:
    html = b"<p><img src='data:image/gif;base64,R0' data-src='/shown.png' alt=words>"
    assert main_content.markdown_of(html, URL) == "![words](https://docs.example/shown.png)\n"


def test_what_a_style_hides_is_kept_as_the_text_keeps_it() -> None:
    html = b"<p style='display:none'>hidden<p>shown"
    assert main_content.markdown_of(html, URL) == "hidden\n\nshown\n"
    assert main_content.text_of(html) == "hidden\n\nshown"


@pytest.mark.parametrize("tag", ["xmp", "plaintext", "noembed", "noframes"])
def test_tags_that_are_text_are_not_read_as_tags(tag: str) -> None:
    html = f"<p>x</p><{tag}>{'<blockquote>' * 500}y".encode()
    assert main_content.markdown_of(html, URL) == main_content.text_of(html)


@pytest.mark.parametrize(
    "part",
    ["<ul><li>", "<ol><li><p>", "<blockquote>", "<pre>", "<table><tr><td>", "<dl><dd>", "<details><summary>", "<b>",
     "<a href=x><h1>", "<svg><a>", "<ruby><rt>", "<select><option>", "<label><legend>", "<basefont>", "<spacer><li>",
     "<math><mi>", "<form><ul><li>", "<figure><figcaption>", "<button><ul>", "<object><ul><li>", "<video><ol><li>"],
)  # fmt: skip
def test_nesting_neither_ends_the_process_nor_loses_words(part: str) -> None:
    """html-to-markdown goes down by recursion."""
    pages = [f"<p>object {part * times}below".encode() for times in (15, 120, 1000, 6000)]
    process = FORKING.Process(target=write_with_a_small_stack, args=(pages,))
    process.start()
    process.join()
    assert process.exitcode == HAVE_THE_WORDS


def write_with_a_small_stack(pages: list[bytes]) -> NoReturn:
    """Each in a thread whose stack is as small as it is on macOS."""
    written: list[str] = []
    threading.stack_size(512 * 1024)
    for html in pages:
        thread = threading.Thread(target=lambda html=html: written.append(main_content.markdown_of(html, URL)))
        thread.start()
        thread.join()
    have_words = len(written) == len(pages) and all("below" in text or "object" in text for text in written)
    sys.exit(HAVE_THE_WORDS if have_words else 1)


@pytest.mark.parametrize("part", [b"<pre>", b"<a href=x>", b"<td>x", b"<li>x", b"<p style=x>", b"<img src=x alt='y'>"])
def test_no_markdown_takes_longer_than_the_page_is_long(part: bytes) -> None:
    grown = climb(
        lambda html: main_content.markdown_of(html, URL), lambda size: filled(b"", part, b"", size), 64 * 1024, 4.0
    )
    assert not grown.fault


def test_a_table_of_one_long_cell_stays_small() -> None:
    rows = b"<tr><td>a<td>b" * 4000
    assert len(main_content.markdown_of(b"<table><tr><td>" + b"x" * 100_000 + b"<td>y" + rows, URL)) < 200_000


def test_the_text_can_be_had_after_markdown_but_not_before() -> None:
    found = main_content.Readable(document_of(b"<p>Words</p>"), URL)
    assert (found.markdown(), found.text()) == ("Words\n", "Words")
    with pytest.raises(ValueError, match="changed the tree"):
        found.markdown()


class Panic(BaseException):
    """As Rust's panics come, in one class or the other."""


Panic.__module__ = "pyo3_runtime"


def test_a_panic_of_the_compiled_writer_is_an_error_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    import html_to_markdown

    for panic in (Panic("at src/lib.rs"), html_to_markdown.PanicError("at src/lib.rs")):

        def panics(*_: object, panic: BaseException = panic) -> None:
            raise panic

        monkeypatch.setattr(html_to_markdown, "convert", panics)
        with pytest.raises(RuntimeError, match="html-to-markdown"):
            main_content.markdown_of(b"<p>x", URL)


def test_what_looks_like_binary_data_is_kept_as_text() -> None:
    html = b"<p>" + b"\x01\x02\x03\x04" * 200 + b"words"
    assert "words" in main_content.markdown_of(html, URL)
