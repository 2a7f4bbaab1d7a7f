"""Notices as people get them: the mail shows the very receipt the command line shows."""

from __future__ import annotations

from django.core import mail

from crawler.reports import words
from crawler.reports.receipt import receipt_of
from tests.engine.conftest import Bench


def test_the_mail_holds_the_receipt_of_the_command_line_and_where_to_read_more(bench: Bench) -> None:
    crawl = bench.start(notify_emails=("me@example.com",))
    bench.work()
    assert bench.state() == "finished"
    [sent] = mail.outbox
    opening, receipt, address = sent.body.split("\n\n")
    assert (opening, f"{receipt}\n") == ("The crawl is finished.", words.receipt_table(receipt_of(bench.crawl)))
    assert address.endswith(f"/crawls/{crawl.id}/\n")
