"""Commands in templates, as they are typed here."""

from django import template

from crawler import command_names

register = template.Library()


@register.filter
def as_typed(text: str) -> str:
    return command_names.as_typed(text)
