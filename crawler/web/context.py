"""What every page is given."""

from __future__ import annotations

from django.http import HttpRequest

from crawler import conf


def frame(request: HttpRequest) -> dict[str, str]:
    """The template around the pages: a context processor."""
    return {"crawler_frame": conf.base_template()}
