"""Takes the pictures: each place in every view, with what a person would do there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, FloatRect, Page, StorageState, ViewportSize

from tests.browser.conftest import press_link
from tests.browser.test_accessible import failings
from tools.pictures.chosen import CHOSEN, Chosen
from tools.pictures.walk import Place

SIZES: Mapping[str, ViewportSize] = {"wide": {"width": 1280, "height": 800}, "narrow": {"width": 360, "height": 740}}
COLOURS = ("light", "dark")
PATIENCE = 20_000  # ms
ZONE = "Europe/Berlin"


@dataclass
class Camera:
    """Writes `<name>-<size>-<colours>.png` into a folder; into another the documentation's pictures, by name."""

    browser: Browser
    base_url: str
    folder: Path
    documentation: Path | None
    only: str = ""  # part of the names of the places that are wanted
    asks_axe: bool = False  # then the security policy is lifted, because axe tries out styles
    cookies: StorageState | None = None  # of whoever is logged in

    def log_in(self, link: str) -> None:
        with self._tab("wide", "light") as tab:
            press_link(tab, link)
            self.cookies = tab.context.storage_state()

    def take(self, places: Iterable[Place], names: Mapping[str, object]) -> list[str]:
        """What was wrong with them, told at once as well: scripts that failed, pages wider than the screen."""
        complaints = []
        wanted = [place for place in places if self.only in place.name]
        for size, colours in product(SIZES, COLOURS):
            with self._tab(size, colours) as tab:
                for place in wanted:
                    for line in self._picture(tab, place, size, colours, names):
                        complaints.append(f"{place.name}, {size}, {colours}: {line}")
                        print(complaints[-1], flush=True)
        return complaints

    def _picture(self, tab: Page, place: Place, size: str, colours: str, names: Mapping[str, object]) -> list[str]:
        said: list[str] = []
        hears = lambda message: said.append(message.text) if is_complaint(message) else None  # noqa: E731
        tab.on("console", hears)
        tab.goto(self.base_url + place.address.format(**names))
        try:
            if place.act:
                place.act(tab)
            tab.wait_for_load_state("networkidle")
        except Error as error:
            said.append(error.message)
        tab.screenshot(path=self.folder / f"{place.name}-{size}-{colours}.png", full_page=True)
        for name, chosen in CHOSEN.items():
            if self.documentation and (chosen.place, chosen.size, chosen.colours) == (place.name, size, colours):
                tab.screenshot(path=self.documentation / f"{name}.png", full_page=True, clip=_part(tab, chosen))
        if tab.evaluate("document.documentElement.scrollWidth") > SIZES[size]["width"]:
            said.append("it is wider than the screen")
        tab.remove_listener("console", hears)
        return said + (failings(tab) if self.asks_axe else [])

    @contextmanager
    def _tab(self, size: str, colours: str) -> Iterator[Page]:
        context = self.browser.new_context(
            viewport=SIZES[size],
            color_scheme="dark" if colours == "dark" else "light",
            reduced_motion="reduce",
            timezone_id=ZONE,
            locale="en-GB",
            storage_state=self.cookies,
            bypass_csp=self.asks_axe,
        )
        if self.asks_axe:
            context.add_init_script(Axe().axe_script)
        try:
            context.set_default_timeout(PATIENCE)
            yield context.new_page()
        finally:
            context.close()


def is_complaint(message: ConsoleMessage) -> bool:
    """An error that is spoken of in the console; that some pages are answered with a 4xx is what they show."""
    return message.type == "error" and not re.search(r"status of 4\d\d", message.text)


def _part(tab: Page, chosen: Chosen) -> FloatRect:
    top = tab.locator(chosen.top).first.evaluate("node => node.getBoundingClientRect().top + window.scrollY")
    whole = tab.evaluate("document.documentElement.scrollHeight")
    margin = 16 if top else 0
    return {
        "x": 0,
        "y": top - margin,
        "width": SIZES[chosen.size]["width"],
        "height": min(chosen.height, whole - top + margin),
    }
