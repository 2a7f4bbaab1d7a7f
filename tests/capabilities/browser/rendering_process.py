"""Renders a page that does not end, to be killed: python -m tests.capabilities.browser.rendering_process PORT."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.test")

from crawler.capabilities.browser.renderer import Renderer
from crawler.capabilities.browser.rules import RenderChoices
from tests.capabilities.browser.pages import AGENT, HERE, fetched

Renderer().render(
    f"http://127.0.0.1:{sys.argv[1]}/",
    fetched("<script>fetch('/endless')</script>"),
    RenderChoices(seconds=120.0),
    guard=HERE,
    user_agent=AGENT,
    headers_for=lambda url: {},
    may_request=lambda url: True,
    take_turn=lambda: True,
)
