"""`manage.py extract`: tests extraction rules on one page without a crawl, or extracts fields again from kept HTML."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import OPTIONS, CrawlOptions
from crawler.core.urls.normalise import parse_user_url
from crawler.crawls import kept_extraction
from crawler.encryption import seal
from crawler.fetcher.preview import Preview, preview
from crawler.fetcher.xpath.evaluator import evaluate
from crawler.management.base import CrawlerCommand, Exit, ExitWith
from crawler.management.crawls import crawl_of
from crawler.management.inputs import add_secrets, credentials_of, rules_in
from crawler.reports import text

MAX_LENGTH = 200  # characters of a value
PROGRESS_INTERVAL_S = 5.0  # between two lines of progress


class Command(CrawlerCommand):
    """Test extraction rules on one page: fetch it as a crawl would, and show the value of each rule. With --kept, run
    the rules and hooks again on the stored HTML of a crawl, and replace its fields, without requests.

    examples:
      python manage.py extract https://example.com/product/1 --fields rules.yaml
      python manage.py extract https://example.com/product/1 --fields rules.json --json
      python manage.py extract ID --kept                        by the crawl's rules and your hooks
      python manage.py extract ID --kept --fields rules.yaml    by new rules, which replace the crawl's

    exit codes:
      0    the page was read, even if no rule found a value; or all stored pages were read
      1    the page could not be fetched, or some stored pages were not read
      2    invalid arguments
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL|ID", help="the page; with --kept the crawl")
        parser.add_argument("--fields", metavar="FILE", help="the rules, in YAML or JSON; with --kept optional")
        parser.add_argument("--kept", action="store_true", help="extract the fields of a crawl again from kept HTML")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--allow-private", action="store_true", help="allow addresses such as 127.0.0.1")
        parser.add_argument("--ignore-robots", action="store_true", help="ignore robots.txt (on sites you own)")
        parser.add_argument("--ignore-tls-errors", action="store_true", help="accept certificates that are not trusted")
        parser.add_argument("--user-agent", default="", metavar="TEXT", help="send this User-Agent header")
        parser.add_argument("--login-url", default="", metavar="URL", help="log in at this page first")
        parser.add_argument(
            "--login-check", default="", metavar="CSS", help="CSS selector that matches only after log-in"
        )
        add_secrets(parser)

    def perform(self, options: dict[str, Any]) -> int:
        if options["kept"]:
            return self._read_kept(options)
        if not options["fields"]:
            raise BadInput("fields", "Give a file of rules with --fields; only --kept works without one.")
        chosen = CrawlOptions(
            fields=rules_in(options["fields"]),
            obey_robots=not options["ignore_robots"],
            user_agent=options["user_agent"],
            ignore_tls_errors=options["ignore_tls_errors"],
            **{name: options[name] for name in ("login_url", "login_check") if name in OPTIONS},
        )
        tried = preview(
            options["url"],
            chosen,
            start_urls=[parse_user_url(options["url"])],
            allow_private=options["allow_private"],
            sealed=seal(credentials_of(options)),
        )
        if tried.trouble:
            raise ExitWith(Exit.NOT_DONE, f"{tried.url} could not be tested: {tried.trouble}")
        self.print(_as_json(tried) if options["json"] else _as_text(tried))
        return Exit.DONE

    def _read_kept(self, options: dict[str, Any]) -> int:
        """In this process, whether workers run or not; one that is interrupted is finished by workers."""
        crawl = crawl_of(options["url"])
        begun = kept_extraction.start(crawl, rules_in(options["fields"]))
        while not kept_extraction.work(crawl.id, evaluate, for_seconds=PROGRESS_INTERVAL_S):
            begun.refresh_from_db()
            self.say(text.kept_extraction(begun))
        begun.refresh_from_db()
        self.print(f"{json.dumps(begun.counts) if options['json'] else text.kept_extraction(begun)}\n")
        return Exit.NOT_DONE if begun.failed else Exit.DONE


def _as_json(tried: Preview) -> str:
    fields = {row.name: row.value for row in tried.rows}
    notes = {row.name: row.note for row in tried.rows if row.note}
    return json.dumps({"url": tried.url, "fields": fields, "notes": notes}, ensure_ascii=False) + "\n"


def _as_text(tried: Preview) -> str:
    width = max(len(row.name) for row in tried.rows)
    lines = [tried.url]
    for row in tried.rows:
        values = row.value if isinstance(row.value, list) else [row.value]
        shown = [json.dumps(value, ensure_ascii=False)[:MAX_LENGTH] for value in values if value is not None] or ["-"]
        lines += [f"  {row.name if place == 0 else '':{width}}  {value}" for place, value in enumerate(shown)]
        if row.note:
            lines.append(f"  {'':{width}}  ({row.note})")
    return "\n".join(lines) + "\n"
