"""The options of pages that are rendered in a browser."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.capabilities.browser.rules import MAX_RENDER_SECONDS, RENDER_SECONDS
from crawler.core.composed import Part
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import check_selector
from crawler.core.options.conflicts import Conflict, all_of, chosen, has, none_of
from crawler.core.options.kinds import Choice, Duration, OptionGroup, OptionSet, Switch, Texts, WireForm, each, option
from crawler.core.pages.content_formats import PICTURES, WARC
from crawler.core.text.controls import by_surface
from crawler.core.urls.normalise import check_host

RENDERING = OptionGroup("Rendering", "run the scripts of pages in a browser", "rendering", 120)

NEVER, AUTO, ALWAYS = "never", "auto", "always"
RENDER = Choice(
    "auto",
    NEVER,
    {NEVER: "Never", AUTO: "Pages that need it", ALWAYS: "Always"},
)


def _check_css(field: str, typed: Sequence[str]) -> None:
    for selector in typed:
        check_selector(field, "Wait for an element", selector)


def _check_blocked(field: str, typed: str) -> None:
    check_host(field, typed)
    if ":" in typed:
        raise BadInput(field, f"{typed!r} includes a port; hosts are blocked on all ports: leave it out.")


class RenderOptions(Part):
    """Whether and how pages are rendered."""

    follows = "near_duplicates"

    render: str = option(
        RENDER,
        RENDERING,
        "Render in a browser",
        "Run the scripts of pages in Chromium. The crawler reads the result; it takes about a second per page and "
        "needs a browser worker (bin/worker --render).",
        in_fetch=True,
        version=2,  # an earlier one would take the pages for empty
    )
    wait_for: tuple[str, ...] = option(
        Texts("main article", _check_css, "CSS"),
        RENDERING,
        "Wait for an element",
        "Render until a CSS selector matches. Without one, until the page has loaded and sends no more requests.",
        in_fetch=True,
    )
    render_timeout: float | None = option(
        Duration("10s", empty="15 seconds", most=MAX_RENDER_SECONDS),
        RENDERING,
        "Time in the browser",
        "Limit the time of a page in the browser. The crawler reads its state at that time.",
        in_fetch=WireForm("render_seconds", float, lambda seconds: seconds or RENDER_SECONDS),
    )
    scroll: bool = option(
        Switch(),
        RENDERING,
        "Scroll to the end",
        "Scroll rendered pages to their end. This makes some load more content.",
        in_fetch=True,
    )
    blocked_hosts: tuple[str, ...] = option(
        Texts("*.tracker.example", each(_check_blocked), "HOST"),
        RENDERING,
        "Blocked hosts",
        "Load nothing from these hosts. *.tracker.example includes tracker.example and its subdomains; a page's own "
        "host is never blocked.",
        flag="--block-host",
        in_fetch=True,
    )


class RenderPolicy(RenderOptions):
    """The same as a fetch job gets it."""

    render_seconds: float = 0.0


_RENDERED = by_surface(
    command="--render auto or always", page="“Render in a browser”", api='`render` "auto" or "always"'
)


def _without_rendering(*pictures: str) -> Conflict:
    return Conflict(
        "keep",
        has("keep", *pictures),
        none_of("render"),
        f"Content is kept as {' and '.join(pictures)} only of pages that a browser renders, and this crawl renders "
        f"none; choose {_RENDERED} with it.",
    )


CONFLICTS = (
    _without_rendering(*PICTURES),
    *map(_without_rendering, PICTURES),
    Conflict(
        "engine",
        chosen("engine"),
        chosen("render"),
        "Scrapy runs no scripts of pages, so they are not rendered in a browser with it. Leave out the option to "
        "render (“Render in a browser” on the form), or choose the engine “Built in”.",
    ),
    Conflict(
        "login_url",
        chosen("login_url"),
        all_of(chosen("render"), has("keep", WARC)),
        "A WARC of a rendered page would contain the session's cookies. Leave out the log-in, the rendering or the "
        "WARC.",
    ),
    Conflict(
        "render",
        chosen("render"),
        chosen("revisit", "response_ttl"),
        "A rendered page can change while its HTML does not, so rendering cannot be combined with the options to "
        "fetch only changes or to reuse responses. Leave out these, or do not render.",
    ),
)

OPTIONS = (OptionSet(RenderOptions, CONFLICTS),)
