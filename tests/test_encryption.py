"""Credentials at rest: nobody without the key learns anything, and nobody is left to guess why."""

import traceback
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from crawler import encryption
from crawler.core.access.credentials import NOTHING, parse
from crawler.core.channels.catalogue import SEALED
from crawler.core.errors import SealBroken
from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import is_readable, opened, opened_address, seal, seal_address
from crawler.models import Channel, Schedule
from tests.factories import SITE, a_crawl, a_delivery, a_person

ADDRESS = "https://hooks.slack.com/services/T/B/secret"
KNOWN = parse(headers=["X-Key: hidden"], cookies=["a=hidden"], auth="user:hidden", proxy="u:hidden@proxy.test")


def test_nothing_is_sealed_as_nothing() -> None:
    assert (encryption.seal(NOTHING), encryption.opened("")) == ("", NOTHING)
    assert encryption.is_readable("")


def test_the_sealed_text_tells_nothing_not_even_that_two_are_the_same() -> None:
    one, other = encryption.seal(KNOWN), encryption.seal(KNOWN)
    assert "hidden" not in one
    assert one != other
    assert encryption.opened(one) == KNOWN


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-2],
        lambda text: text[:40] + ("B" if text[40] == "A" else "A") + text[41:],
        lambda _: "é",
        str.upper,
    ],
)
def test_what_was_tampered_with_is_not_opened(spoil) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SealBroken):
        encryption.opened(spoil(encryption.seal(KNOWN)))


def test_another_secret_key_does_not_open_it_and_that_of_the_past_does(settings: Any) -> None:
    sealed, key = encryption.seal(KNOWN), settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    assert not encryption.is_readable(sealed)
    with pytest.raises(SealBroken, match="SECRET_KEY has changed") as caught:
        encryption.opened(sealed)
    assert "hidden" not in "".join(traceback.format_exception(caught.value))
    settings.SECRET_KEY = key
    assert encryption.is_readable(sealed)


def test_it_is_shown_masked(settings: Any) -> None:
    sealed = encryption.seal(parse(bearer="abcdefghijklmnopqrstuvwxyz012345"))
    assert encryption.shown(sealed) == ("Authorization: Bearer ab…(32 characters)",)
    assert encryption.shown("") == ()
    settings.SECRET_KEY = "another"
    assert encryption.shown(sealed)[0].startswith("The credentials of this crawl cannot be read")


def test_an_address_comes_back_as_it_was_and_looks_different_each_time() -> None:
    first, second = seal_address(ADDRESS), seal_address(ADDRESS)
    assert first != second
    assert opened_address(first) == opened_address(second) == ADDRESS
    assert "secret" not in first


def test_a_sealed_address_is_not_sealed_again_and_a_plain_one_stays_plain() -> None:
    sealed = seal_address(ADDRESS)
    assert seal_address(sealed) == sealed
    assert opened_address("me@example.com") == "me@example.com"


def test_under_another_secret_key_an_address_cannot_be_read(settings: Any) -> None:
    sealed = seal_address(ADDRESS)
    settings.SECRET_KEY = "another"
    with pytest.raises(SealBroken):
        opened_address(sealed)
    with pytest.raises(SealBroken):
        seal_address(sealed)


@pytest.mark.parametrize("made_up", ["sealed:", "sealed:abc", "sealed:ümlaut"])
def test_what_was_never_sealed_cannot_be_opened(made_up: str) -> None:
    with pytest.raises(SealBroken):
        opened_address(made_up)


def test_what_an_earlier_key_sealed_can_be_opened_while_that_key_is_kept(settings: Any) -> None:
    known = parse(bearer="swordfish")
    credentials, address = seal(known), seal_address("https://hooks.example.com/swordfish")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "today's", [settings.SECRET_KEY]
    assert opened(credentials) == known
    assert opened_address(address) == "https://hooks.example.com/swordfish"
    settings.SECRET_KEY_FALLBACKS = []
    assert not is_readable(credentials)
    with pytest.raises(SealBroken):
        opened_address(address)


def test_the_command_seals_all_of_it_anew(db: None, settings: Any) -> None:
    known, hook = parse(bearer="swordfish"), "https://hooks.example.com/swordfish"
    options = CrawlOptions(notify_slack=(seal_address(hook),), notify_emails=("me@example.com",))
    crawl = a_crawl(a_person(), options=options, sealed=seal(known))
    plain = a_delivery(crawl)
    delivery = a_delivery(crawl, seal_address(hook))
    channel = Channel.objects.create(owner=crawl.owner, transport="slack", address=seal_address(hook))
    former = a_delivery(crawl, "https://example.com/hooks/swordfish", transport="webhook")
    rule = {"rule": "every 6h", "next_at": timezone.now(), "start_urls": [SITE]}
    schedule = Schedule.objects.create(options=crawl.options, sealed=seal(known), **rule)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "today's", [settings.SECRET_KEY]
    out = StringIO()
    call_command("reseal", stdout=out)
    call_command("reseal", stdout=out)
    assert out.getvalue() == "Re-encrypted: 5.\nRe-encrypted: 0.\n"
    settings.SECRET_KEY_FALLBACKS = []
    for row in (crawl, schedule, channel, delivery, former, plain):
        row.refresh_from_db()
    assert opened(crawl.sealed) == opened(schedule.sealed) == known
    stored = (crawl.chosen.notify_slack[0], schedule.options["notify_slack"][0], channel.address, delivery.address)
    assert {opened_address(address) for address in stored} == {hook}
    assert former.address.startswith(SEALED)
    assert opened_address(former.address) == "https://example.com/hooks/swordfish"
    assert plain.address == "me@example.com"


def test_the_command_says_what_no_key_opens(db: None, settings: Any) -> None:
    a_crawl(None, sealed=seal(parse(bearer="swordfish")))
    settings.SECRET_KEY = "today's"
    with pytest.raises(SystemExit):
        call_command("reseal", stdout=StringIO(), stderr=(said := StringIO()))
    assert "Cannot be decrypted with any key: 1." in said.getvalue()
