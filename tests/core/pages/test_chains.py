"""Redirects are followed to their end, or until they come back."""

import pytest

from crawler.core.pages.graph import Chain, beginnings, chain_from


@pytest.mark.parametrize(
    ("leads_to", "chain"),
    [
        ({}, Chain(("a",), loops=False)),
        ({"a": "b"}, Chain(("a", "b"), loops=False)),
        ({"a": "b", "b": "c", "x": "b"}, Chain(("a", "b", "c"), loops=False)),
        ({"a": "a"}, Chain(("a", "a"), loops=True)),
        ({"a": "b", "b": "c", "c": "b"}, Chain(("a", "b", "c", "b"), loops=True)),  # the loop has a way in
    ],
)
def test_a_redirect_is_followed(leads_to: dict[str, str], chain: Chain) -> None:
    assert chain_from("a", leads_to) == chain
    assert chain.hops == len(chain.urls) - 1


@pytest.mark.parametrize(
    ("leads_to", "heads"),
    [
        ({"b": "c", "a": "b", "x": "b"}, ["a", "x"]),
        ({"a": "b", "b": "a"}, ["a"]),  # nobody leads into the loop
        ({"a": "b", "b": "a", "x": "a"}, ["x"]),
        ({"s": "s", "a": "b"}, ["a", "s"]),
    ],
)
def test_chains_begin_where_no_redirect_leads_to(leads_to: dict[str, str], heads: list[str]) -> None:
    assert beginnings(leads_to) == heads
