"""A message names a control as the surface does on which it is shown."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.text.controls import Surface, by_surface, spoken

MESSAGE = f"Give the page, too ({by_surface(command='--login-url', page='“Log-in form”', api='`login_url`')})."


@pytest.mark.parametrize(
    ("surface", "text"),
    [
        (Surface.COMMAND, "Give the page, too (--login-url)."),
        (Surface.PAGE, "Give the page, too (“Log-in form”)."),
        (Surface.API, "Give the page, too (`login_url`)."),
    ],
)
def test_each_surface_has_its_own_name(surface: Surface, text: str) -> None:
    assert spoken(MESSAGE, surface) == text
    assert BadInput("login_url", MESSAGE).on(surface) == text


def test_a_message_without_a_control_stays_as_it_is() -> None:
    assert spoken("It is wrong.", Surface.API) == "It is wrong."


def test_an_error_is_for_the_command_line_and_its_message_for_pages() -> None:
    error = BadInput("login_url", MESSAGE)
    assert (str(error), error.message) == ("Give the page, too (--login-url).", "Give the page, too (“Log-in form”).")
    assert BadInput("other", error.raw).on(Surface.API) == "Give the page, too (`login_url`)."
