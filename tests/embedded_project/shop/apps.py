"""Connects to the signals, and writes down what it hears."""

from pathlib import Path
from typing import Any

from django.apps import AppConfig


class ShopConfig(AppConfig):
    name = "shop"

    def ready(self) -> None:
        from crawler.signals import crawl_finished, page_closed

        page_closed.connect(note_page)
        crawl_finished.connect(note_crawl)


def note_page(sender: Any, page: Any, **more: Any) -> None:
    write("pages.txt", page.url)


def note_crawl(sender: Any, crawl: Any, **more: Any) -> None:
    write("crawls.txt", f"{crawl.id} {crawl.state} {crawl.receipt['discovered']}")


def write(file: str, line: str) -> None:
    with Path(file).open("a") as lines:
        lines.write(f"{line}\n")
