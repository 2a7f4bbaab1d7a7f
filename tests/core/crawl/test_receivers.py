"""Whom a notice goes to: what is typed, and what is shown of it."""

from __future__ import annotations

import pytest

from crawler.core.crawl.notices import (
    SEALED,
    Means,
    Receiver,
    check_address,
    is_sealed,
    is_secret,
    masked,
    receiver_of,
    shown,
)
from crawler.core.errors import BadInput

SLACK, DISCORD = "https://hooks.slack.com/services/T/B/X", "https://discord.com/api/webhooks/1/X"


@pytest.mark.parametrize(
    ("typed", "means", "address"),
    [
        ("me@example.com", Means.EMAIL, "me@example.com"),
        ("https://example.com/hook", Means.WEBHOOK, "https://example.com/hook"),
        ("https://me@example.com/hook", Means.WEBHOOK, "https://me@example.com/hook"),
        (SLACK, Means.SLACK, SLACK),
        (DISCORD, Means.DISCORD, DISCORD),
        ("https://discord.com/api/v10/webhooks/1/X", Means.DISCORD, "https://discord.com/api/v10/webhooks/1/X"),
        (f"{DISCORD}/slack", Means.SLACK, f"{DISCORD}/slack"),  # Discord speaks as Slack does there
        ("slack:https://chat.example.com/hooks/1", Means.SLACK, "https://chat.example.com/hooks/1"),
        ("discord:https://chat.example.com/hooks/1", Means.DISCORD, "https://chat.example.com/hooks/1"),
        ("https://hooks.slack.com.evil.example/x", Means.WEBHOOK, "https://hooks.slack.com.evil.example/x"),
        ("https://discord.com/invite/x", Means.WEBHOOK, "https://discord.com/invite/x"),
        ("https://[broken/x", Means.WEBHOOK, "https://[broken/x"),
    ],
)
def test_an_address_says_how_it_is_reached(typed: str, means: Means, address: str) -> None:
    assert receiver_of("notify", typed) == Receiver(means, address)


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(BadInput, match="neither an e-mail address nor a web address"):
        receiver_of("notify", "me")


@pytest.mark.parametrize(
    ("means", "address"),
    [
        (Means.EMAIL, "me"),
        (Means.EMAIL, "a@b\nBcc: c@d"),
        (Means.WEBHOOK, "ftp://example.com/"),
        (Means.WEBHOOK, SLACK),  # it would answer "no_text" for good
        (Means.WEBHOOK, DISCORD),
        (Means.SLACK, "hooks.slack.com/services/T"),
        (Means.SLACK, "https://hooks.slack.com"),
        (Means.DISCORD, "javascript:alert(1)"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(means: Means, address: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_address("field", means, address)
    assert caught.value.field == "field"


@pytest.mark.parametrize(
    ("means", "address"), [(Means.SLACK, SLACK), (Means.SLACK, f"{SEALED}abc"), (Means.DISCORD, DISCORD)]
)
def test_a_secret_address_may_be_plain_or_sealed(means: Means, address: str) -> None:
    check_address("field", means, address)


def test_no_refusal_repeats_a_secret() -> None:
    with pytest.raises(BadInput) as caught:
        check_address("field", Means.SLACK, "https://hooks.slack.com/services/T B secret")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("means", "address", "mask"),
    [
        (Means.EMAIL, "jane@example.com", "j…@example.com"),
        (Means.WEBHOOK, "https://user:pw@example.com:8443/hook?key=1", "https://example.com:8443/…"),
        (Means.SLACK, SLACK, "https://hooks.slack.com/…"),
    ],
)
def test_a_mask_is_enough_to_recognise_it_by_and_masking_twice_changes_nothing(
    means: Means, address: str, mask: str
) -> None:
    assert masked(means, address) == mask
    assert masked(means, mask) == mask


def test_a_secret_is_masked_for_everybody() -> None:
    assert shown(Means.SLACK, SLACK, in_full=True) == "https://hooks.slack.com/…"
    assert shown(Means.EMAIL, "jane@example.com", in_full=True) == "jane@example.com"
    assert shown(Means.EMAIL, "jane@example.com", in_full=False) == "j…@example.com"


@pytest.mark.parametrize("means", Means)
def test_every_web_address_is_stored_encrypted(means: Means) -> None:
    assert is_sealed(means) is (means is not Means.EMAIL)


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("https://example.com/hook", False),
        ("https://example.com:8443/hook/abc#part", False),
        ("https://example.com/hook?token=abc", True),
        ("https://user:password@example.com/hook", True),
        ("https://user@example.com/hook", True),
        ("http://[bad", True),
        (f"{SEALED}abc", True),
    ],
)
def test_a_webhook_is_secret_where_it_has_a_password_or_a_token(address: str, secret: bool) -> None:
    assert is_secret(Means.WEBHOOK, address) is secret
    if secret and not address.startswith(("http://[", SEALED)):
        assert shown(Means.WEBHOOK, address, in_full=True) == "https://example.com/…"


@pytest.mark.parametrize(("means", "address"), [(Means.WEBHOOK, "http://[a"), (Means.SLACK, "https://[a/b")])
def test_an_address_that_cannot_be_taken_apart_is_refused_and_shown_as_little(means: Means, address: str) -> None:
    with pytest.raises(BadInput):
        check_address("notify", means, address)
    assert masked(means, address) == "…"
