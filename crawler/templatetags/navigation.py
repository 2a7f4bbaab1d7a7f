"""The places of `crawler.web.navigation` for the templates that show them."""

from __future__ import annotations

from typing import Any

from django import template

from crawler.core.pages.content_formats import SCREENSHOT
from crawler.storage.content.kept import pages_with
from crawler.web.navigation import NavigationLink, account_places, parts_of, places

register = template.Library()


@register.simple_tag(takes_context=True)
def main_places(context: dict[str, Any]) -> list[NavigationLink]:
    return places(context["request"].path)


@register.simple_tag(takes_context=True)
def own_places(context: dict[str, Any]) -> list[NavigationLink]:
    return account_places(context["request"].path)


@register.simple_tag(takes_context=True)
def crawl_parts(context: dict[str, Any], crawl: Any) -> list[NavigationLink]:
    has_gallery = SCREENSHOT in crawl.chosen.keep and pages_with(crawl, SCREENSHOT).exists()
    return parts_of(crawl.pk, context["request"].path, has_gallery=has_gallery)
