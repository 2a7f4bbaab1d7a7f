"""The addresses that responses of the API contain: below another one where another Django project includes them."""

from __future__ import annotations

from django.urls import reverse


def address(*parts: object) -> str:
    """The path of an operation: `address("crawls", crawl.id)` is "/api/v1/crawls/..."."""
    return f"{reverse('api-1:api-root')}{'/'.join(map(str, parts))}"
