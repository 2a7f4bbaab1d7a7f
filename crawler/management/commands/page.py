"""`manage.py page`: one page of a crawl in full."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.pages.page_fields import label
from crawler.core.text.sanitize import one_line
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.management.pages import page_of
from crawler.reports import page_detail
from crawler.reports import text as words
from crawler.reports.page_detail import page_report
from crawler.reports.page_parts import page_parts

LINKS = 20  # of either kind, by default
MAX_LINKS = 100_000


class Command(CrawlerCommand):
    """Show one page in full: response, headers, times, redirects, metadata, and links from and to it.

    examples:
      python manage.py page 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/old-page
      python manage.py page 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/ --links 500 --json

    exit codes:
      0    the page was printed
      1    the database is down
      2    there is no such crawl, or it has no such page
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("url", metavar="URL", help="the page")
        parser.add_argument(
            "--links",
            type=int,
            default=LINKS,
            metavar="N",
            help=f"maximum links to show in each direction (default: {LINKS})",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def perform(self, options: dict[str, Any]) -> int:
        if not 0 <= options["links"] <= MAX_LINKS:
            raise BadInput("links", f"The number of links must be between 0 and {MAX_LINKS:,}, not {options['links']}.")
        crawl = crawl_of(options["id"])
        report = page_report(crawl, page_of(crawl, options["url"]), links=options["links"])
        self.print(json.dumps(report, indent=2) + "\n" if options["json"] else "".join(_text(report)))
        return Exit.DONE


def _text(report: Mapping[str, Any]) -> Iterator[str]:
    """The page as text, block by block."""
    yield f"{one_line(report['url'])}\n"
    yield _block(
        "Response", words.aligned([*page_detail.answered(report), (label("fetched_at"), page_detail.fetched(report))])
    )
    yield _block("Page metadata", words.aligned(page_detail.said(report)), page_detail.unread(report))
    for part in page_parts():
        yield _block(part.title, words.aligned(part.lines(report)), *part.details(report))
    if report["meta"]:
        yield _block(label("meta"), words.aligned(page_detail.meta(report)))
    yield _block("Redirects to", *map(_line, report["redirects"]["onwards"]))
    yield _block("Redirected here", *map(_line, report["redirects"]["sources"]))
    yield _block("How it was found", words.aligned(page_detail.found(report)))
    yield _block("From the start to here", *(_step(step) for step in report["path"]["steps"]))
    yield _links("Links to it", report["links_in"], report["links_in"]["number"], "page")
    yield _links("Links on it", report["links_out"], report["links_out"]["number"], "link")
    if report["said"]:
        yield _block("Malformed links", *map(_malformed, report["said"]["malformed"]["links"]))
    yield _block("Headers", *(report["headers"] or ["not known"]))


def _line(page: Mapping[str, Any]) -> str:
    return one_line(f"{page_detail.answer(page)}  {page['url']}")


def _step(step: Mapping[str, Any]) -> str:
    return f"{_line(step)}  {page_detail.LEADS_BY[step['leads_by']]}"


def _links(title: str, part: Mapping[str, Any], number: int, noun: str) -> str:
    lines = (_link(link) for link in part["links"])
    shown = len(part["links"])
    more = f"... and more: {words.counted(number, noun)} in all, see --links" if shown < number else ""
    return _block(title, *(lines if number else ["none"]), more)


def _link(link: Mapping[str, Any]) -> str:
    page = _line(link) if "http_status" in link else one_line(link["url"])
    text = f'  "{one_line(link["text"])}"' if link["text"] else ""
    rel = f"  [{one_line(link['rel'])}]" if link["rel"] else ""
    return f"{page}{text}{rel}"


def _malformed(link: Mapping[str, Any]) -> str:
    text = f'  "{one_line(link["text"])}"' if link["text"] else ""
    return f"{one_line(link['written'])}{text}  ({one_line(link['problem'])})"


def _block(title: str, *parts: str) -> str:
    """A title with indented lines below it; "" without lines. Untrusted text cannot control the terminal."""
    lines = [line for part in parts for line in part.splitlines()]
    return f"\n{title}\n" + "".join(f"  {one_line(line)}\n" for line in lines) if lines else ""
