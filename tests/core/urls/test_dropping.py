"""Which query parameters a crawl drops, as a person chooses them."""

from __future__ import annotations

import pytest

from crawler.core.urls.query_params import USUAL, chosen, typed_for


@pytest.mark.parametrize(
    ("more", "keep_usual", "dropped"),
    [
        ((), False, USUAL),
        (("sid",), False, (*USUAL, "sid")),
        (("sid",), True, ("sid",)),
        ((), True, ()),
        (("sid", "gclid", "sid"), False, (*USUAL, "sid")),  # once is enough
    ],
)
def test_names_are_added_to_the_usual_ones_unless_those_are_kept(
    more: tuple[str, ...], keep_usual: bool, dropped: tuple[str, ...]
) -> None:
    assert chosen(more, keep_usual=keep_usual) == dropped


@pytest.mark.parametrize("dropped", [USUAL, (*USUAL, "sid"), ("sid",), (), ("utm_*", "sid")])
def test_what_was_chosen_can_be_typed_again(dropped: tuple[str, ...]) -> None:
    more, keep_usual = typed_for(dropped)
    assert chosen(more, keep_usual=keep_usual) == dropped
