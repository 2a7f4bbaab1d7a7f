"""A list of URLs on the page: starting a crawl over an uploaded one, and what a crawl's page tells of its own."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from crawler.core.columns import Columns
from crawler.core.errors import BadInput
from crawler.engine.load import load_list
from crawler.models import Crawl
from crawler.reports import words
from crawler.web.forms import CrawlForm


def started(form: CrawlForm, owner: User | None) -> Crawl | None:
    """The crawl over the list that was uploaded with a valid form; None when there is none. Raises as `load_list`."""
    typed = form.cleaned_data
    upload: UploadedFile[Any] | None = typed["upload"]
    if upload is None:
        return None
    if typed["start_urls"]:
        raise BadInput("list", "Give URLs or a list, not both.")
    if typed.get("schedule"):
        raise BadInput("list", "A list cannot be crawled by schedule: it would have to be uploaded anew each time.")
    return load_list(
        cast(BinaryIO, upload),  # it reads like one: from memory when small, else from a file
        upload.name or "list",
        form.options(),
        columns=Columns(typed["list_column"], typed["priority_column"]),
        owner=owner,
        allow_private=form.private_allowed,
        sealed=form.sealed(),
    )


def report_of(crawl: Crawl) -> dict[str, Any] | None:
    """What was read of the crawl's list, for its page: a summary, the first lines that cannot be used, and how many
    are not among them; None when it has no list."""
    if not crawl.source_report:
        return None
    examples = crawl.source_report["examples"]
    more = crawl.source_report["invalid"] - len(examples)
    return {
        "summary": f"{words.list_read(crawl.source_report)}.",
        "unusable": words.counted(crawl.source_report["invalid"], "line"),
        "examples": examples,
        "more": f"And {words.counted(more, 'more line')}." if more else "",
    }
