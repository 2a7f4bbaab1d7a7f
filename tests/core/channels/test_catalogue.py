"""The receivers of notices: what users type, and what they are shown."""

import pytest

from crawler.core.channels.catalogue import (
    CHANNELS,
    SEALED,
    Receiver,
    check_address,
    is_encrypted,
    is_secret,
    masked,
    receiver_of,
    shown,
)
from crawler.core.errors import BadInput

SLACK, DISCORD = "https://hooks.slack.com/services/T/B/X", "https://discord.com/api/webhooks/1/X"


@pytest.mark.parametrize(
    ("typed", "transport", "address"),
    [
        ("me@example.com", "email", "me@example.com"),
        ("https://example.com/hook", "webhook", "https://example.com/hook"),
        ("https://me@example.com/hook", "webhook", "https://me@example.com/hook"),
        (SLACK, "slack", SLACK),
        (DISCORD, "discord", DISCORD),
        ("https://discord.com/api/v10/webhooks/1/X", "discord", "https://discord.com/api/v10/webhooks/1/X"),
        (f"{DISCORD}/slack", "slack", f"{DISCORD}/slack"),  # Discord speaks as Slack does there
        ("slack:https://chat.example.com/hooks/1", "slack", "https://chat.example.com/hooks/1"),
        ("discord:https://chat.example.com/hooks/1", "discord", "https://chat.example.com/hooks/1"),
        ("https://hooks.slack.com.evil.example/x", "webhook", "https://hooks.slack.com.evil.example/x"),
        ("https://discord.com/invite/x", "webhook", "https://discord.com/invite/x"),
        ("https://[broken/x", "webhook", "https://[broken/x"),
    ],
)
def test_an_address_says_how_it_is_reached(typed: str, transport: str, address: str) -> None:
    assert receiver_of("notify", typed) == Receiver(transport, address)


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(BadInput, match="neither an e-mail address nor a web address"):
        receiver_of("notify", "me")


@pytest.mark.parametrize(
    ("transport", "address"),
    [
        ("email", "me"),
        ("email", "a@b\nBcc: c@d"),
        ("webhook", "ftp://example.com/"),
        ("webhook", SLACK),  # it would answer "no_text" for good
        ("webhook", DISCORD),
        ("slack", "hooks.slack.com/services/T"),
        ("slack", "https://hooks.slack.com"),
        ("discord", "javascript:alert(1)"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(transport: str, address: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_address("field", transport, address)
    assert caught.value.field == "field"


@pytest.mark.parametrize(("transport", "address"), [("slack", SLACK), ("slack", f"{SEALED}abc"), ("discord", DISCORD)])
def test_a_secret_address_may_be_plain_or_sealed(transport: str, address: str) -> None:
    check_address("field", transport, address)


def test_no_refusal_repeats_a_secret() -> None:
    with pytest.raises(BadInput) as caught:
        check_address("field", "slack", "https://hooks.slack.com/services/T B secret")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("transport", "address", "mask"),
    [
        ("email", "jane@example.com", "j…@example.com"),
        ("webhook", "https://user:pw@example.com:8443/hook?key=1", "https://example.com:8443/…"),
        ("slack", SLACK, "https://hooks.slack.com/…"),
    ],
)
def test_a_mask_is_enough_to_recognise_it_by_and_masking_twice_changes_nothing(
    transport: str, address: str, mask: str
) -> None:
    assert masked(transport, address) == mask
    assert masked(transport, mask) == mask


def test_a_secret_is_masked_for_everybody() -> None:
    assert shown("slack", SLACK, in_full=True) == "https://hooks.slack.com/…"
    assert shown("email", "jane@example.com", in_full=True) == "jane@example.com"
    assert shown("email", "jane@example.com", in_full=False) == "j…@example.com"


@pytest.mark.parametrize("transport", CHANNELS)
def test_every_web_address_is_stored_encrypted(transport: str) -> None:
    assert is_encrypted(transport) is (transport != "email")


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
    assert is_secret("webhook", address) is secret
    if secret and not address.startswith(("http://[", SEALED)):
        assert shown("webhook", address, in_full=True) == "https://example.com/…"


@pytest.mark.parametrize(("transport", "address"), [("webhook", "http://[a"), ("slack", "https://[a/b")])
def test_an_address_that_cannot_be_taken_apart_is_refused_and_shown_as_little(transport: str, address: str) -> None:
    with pytest.raises(BadInput):
        check_address("notify", transport, address)
    assert masked(transport, address) == "…"
