"""The pictures that Chromium takes of a page: what they are, how large, and what is said if there is none."""

import struct
from collections.abc import Iterator

import pytest
from playwright.async_api import CDPSession

from crawler.capabilities.browser import page_pictures
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.rules import UNSEEN_KINDS
from crawler.core.pages.content_formats import JPEG, PDF, PNG, SCREENSHOT, VIEWPORT, WEBP, WHOLE_PAGE
from tests.capabilities.browser.pages import Pages
from tests.http.server import Server, page

READY = {"wait_for": "#done", "seconds": 20.0}
TALL = "<!doctype html><body style='margin: 0'><p id=done style='margin: 0; height: 3000px'>tall"


@pytest.fixture
def server() -> Iterator[Server]:
    square = "<rect width='300' height='300' fill='green'/>"
    green = f"<svg xmlns='http://www.w3.org/2000/svg' width='300' height='300'>{square}</svg>"
    with Server({"/green.svg": page(green, content_type="image/svg+xml")}) as site:
        yield site


def size_of(picture: bytes) -> tuple[str, int, int]:
    """Format, width and height, as its first bytes tell them."""
    if picture.startswith(b"\x89PNG\r\n\x1a\n"):
        return (PNG, *struct.unpack(">II", picture[16:24]))
    if picture.startswith(b"\xff\xd8\xff"):
        at = 2
        while picture[at + 1] not in {0xC0, 0xC2}:  # start of frame
            at += 2 + int.from_bytes(picture[at + 2 : at + 4])
        height, width = struct.unpack(">HH", picture[at + 5 : at + 9])
        return JPEG, width, height
    assert (picture[:4], picture[8:12]) == (b"RIFF", b"WEBP")
    if picture[12:16] == b"VP8X":
        return WEBP, 1 + int.from_bytes(picture[24:27], "little"), 1 + int.from_bytes(picture[27:30], "little")
    width, height = struct.unpack("<HH", picture[26:30])
    return WEBP, width, height


def screenshot(rendering: Rendering) -> bytes:
    picture = rendering.pictures[SCREENSHOT]
    assert isinstance(picture, bytes), picture
    return picture


@pytest.mark.parametrize(("shown", "height"), [(VIEWPORT, 800), pytest.param(WHOLE_PAGE, 3000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "form", [WEBP, pytest.param(PNG, marks=pytest.mark.long), pytest.param(JPEG, marks=pytest.mark.long)]
)
def test_a_screenshot_has_the_format_and_size_that_were_chosen(
    pages: Pages, server: Server, form: str, shown: str, height: int
) -> None:
    rendering = pages.render(server, TALL, pictures=(SCREENSHOT,), screenshot=shown, screenshot_format=form, **READY)
    assert size_of(screenshot(rendering)) == (form, 1280, height)
    assert (rendering.error, b"tall" in rendering.html) == ("", True)


@pytest.mark.long
def test_a_page_that_is_too_high_is_cut(pages: Pages, server: Server) -> None:
    rendering = pages.render(
        server, TALL.replace("3000px", "60000px"), pictures=(SCREENSHOT,), screenshot=WHOLE_PAGE, **READY
    )
    assert size_of(screenshot(rendering)) == (WEBP, 1280, page_pictures.MAX_HEIGHT)


def test_a_page_becomes_a_pdf(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, TALL, pictures=(PDF,), **READY)
    pdf = rendering.pictures[PDF]
    assert isinstance(pdf, bytes)
    assert pdf.startswith(b"%PDF-")
    assert list(rendering.pictures) == [PDF]


def test_without_a_wish_there_is_none(pages: Pages, server: Server) -> None:
    assert pages.render(server, TALL, **READY).pictures == {}


@pytest.mark.long
def test_images_that_are_loaded_are_on_the_picture(pages: Pages, server: Server) -> None:
    document = "<!doctype html><body style='margin: 0'><p id=done><img src=/green.svg alt=''>"

    def picture(**choices: object) -> bytes:
        return screenshot(pages.render(server, document, pictures=(SCREENSHOT,), screenshot_format=PNG, **choices))

    assert picture(blocked_kinds=UNSEEN_KINDS, **READY) != picture(**READY)
    assert server.paths() == ["/green.svg"]


@pytest.mark.long
def test_a_page_that_goes_elsewhere_has_none(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, "<script>location.href = '/elsewhere'</script>", pictures=(SCREENSHOT, PDF))
    assert (rendering.redirect_to, rendering.pictures) == (f"{server.origin}/elsewhere", {})


@pytest.mark.long
def test_animations_are_at_their_end_and_the_page_at_its_top(pages: Pages, server: Server) -> None:
    def picture(style: str, **choices: object) -> bytes:
        document = f"<!doctype html><style>{style}</style><p id=done style='height: 3000px'>Hello<p>end"
        choices = {"pictures": (SCREENSHOT,), "screenshot_format": PNG, **READY, **choices}
        return screenshot(pages.render(server, document, **choices))

    fading_in = "@keyframes k { from { opacity: 0 } } p { animation: k 99s }"
    assert picture("p { opacity: 0 }") != picture("") == picture(fading_in, scroll=True)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("setInterval(() => { while (true); }, 10)", marks=pytest.mark.long),
        pytest.param("while (true);", marks=pytest.mark.long),
        pytest.param(
            "(function draw() { document.title += 1; requestAnimationFrame(draw); })()", marks=pytest.mark.long
        ),
    ],
)
def test_a_script_without_end_is_ended_for_the_picture(pages: Pages, server: Server, script: str) -> None:
    document = f"<p>before</p><script>{script}</script>"
    rendering = pages.render(server, document, pictures=(SCREENSHOT, PDF), seconds=1.0)
    assert size_of(screenshot(rendering)) == (WEBP, 1280, 800)
    assert b"before" in rendering.html


def test_a_picture_that_takes_too_long_or_too_much_costs_nothing_else(
    pages: Pages, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_pictures, "PICTURES_S", 0.001)
    late = pages.render(server, TALL, pictures=(SCREENSHOT, PDF), **READY)
    assert late.pictures == dict.fromkeys((SCREENSHOT, PDF), "it was not ready after 0.001 s")
    monkeypatch.setattr(page_pictures, "PICTURES_S", 20.0)
    monkeypatch.setattr(page_pictures, "MAX_PICTURE_BYTES", 1024)
    large = pages.render(server, TALL, pictures=(SCREENSHOT,), **READY)
    assert large.pictures == {SCREENSHOT: "it has more than 1,024 bytes"}
    assert b"tall" in late.html
    assert b"tall" in large.html


@pytest.mark.long
def test_a_page_that_crashes_while_it_is_drawn_is_not_lost(
    pages: Pages, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(session: CDPSession, choices: object) -> bytes:
        await session.send("Page.crash")
        return b""

    monkeypatch.setattr(page_pictures, "_screenshot", crash)
    monkeypatch.setattr(page_pictures, "PICTURES_S", 3.0)
    rendering = pages.render(server, TALL, pictures=(SCREENSHOT, PDF), **READY)
    assert b"tall" in rendering.html
    assert {form: type(picture) for form, picture in rendering.pictures.items()} == {SCREENSHOT: str, PDF: str}


@pytest.mark.long
def test_a_page_that_cannot_be_read_has_none_and_says_so(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, "<script>location.href = 'about:blank'</script>", pictures=(SCREENSHOT,))
    assert rendering.pictures == {SCREENSHOT: "the page cannot be read"}
