"""Which query parameters a crawl drops, as a person chooses them."""

import pytest

from crawler.core.urls.query_params import TRACKING_PARAMETERS, chosen, typed_for


@pytest.mark.parametrize(
    ("more", "keep_tracking", "dropped"),
    [
        ((), False, TRACKING_PARAMETERS),
        (("sid",), False, (*TRACKING_PARAMETERS, "sid")),
        (("sid",), True, ("sid",)),
        ((), True, ()),
        (("sid", "gclid", "sid"), False, (*TRACKING_PARAMETERS, "sid")),  # once is enough
    ],
)
def test_names_are_added_to_the_usual_ones_unless_those_are_kept(
    more: tuple[str, ...], keep_tracking: bool, dropped: tuple[str, ...]
) -> None:
    assert chosen(more, keep_tracking=keep_tracking) == dropped


@pytest.mark.parametrize(
    "dropped", [TRACKING_PARAMETERS, (*TRACKING_PARAMETERS, "sid"), ("sid",), (), ("utm_*", "sid")]
)
def test_what_was_chosen_can_be_typed_again(dropped: tuple[str, ...]) -> None:
    more, keep_tracking = typed_for(dropped)
    assert chosen(more, keep_tracking=keep_tracking) == dropped
