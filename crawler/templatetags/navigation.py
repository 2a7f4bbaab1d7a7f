"""The places of `crawler.web.navigation` for the templates that show them."""

from __future__ import annotations

from typing import Any

from django import template

from crawler.web.navigation import Place, account_places, parts_of, places

register = template.Library()


@register.simple_tag(takes_context=True)
def main_places(context: dict[str, Any]) -> list[Place]:
    return places(context["request"].path)


@register.simple_tag(takes_context=True)
def own_places(context: dict[str, Any]) -> list[Place]:
    return account_places(context["request"].path)


@register.simple_tag(takes_context=True)
def crawl_parts(context: dict[str, Any], crawl: Any) -> list[Place]:
    return parts_of(crawl.pk, context["request"].path)
