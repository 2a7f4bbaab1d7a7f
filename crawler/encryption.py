"""Credentials, and the web addresses notices go to, at rest and on their way: encrypted and signed under keys made
from SECRET_KEY.

Tables, job arguments and dashboards hold what `seal` makes. It can be opened with the key it was sealed under, be that
today's or one of SECRET_KEY_FALLBACKS. Whoever has neither is told so by name: no page is asked for without the
credentials it was meant to be asked with.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from crawler import conf
from crawler.core.access.credentials import NOTHING, Credentials, from_json, masked, to_json
from crawler.core.channels.catalogue import SEALED
from crawler.core.errors import SealBroken

_PURPOSE = b"site crawler: credentials of crawls, 1"  # a key for this alone, whatever else SECRET_KEY serves for
_ADDRESSES = b"site crawler: addresses of notices, 1"


def seal(credentials: Credentials) -> str:
    """The credentials as they are stored; "" for none. Sealed twice they look different, but both can be opened."""
    return _sealed(_PURPOSE, to_json(credentials)) if credentials else ""


def opened(sealed: str) -> Credentials:
    """What was sealed, or SealBroken."""
    return _opened(_keys(), sealed) if sealed else NOTHING


def is_readable(sealed: str) -> bool:
    try:
        opened(sealed)
    except SealBroken:
        return False
    return True


def shown(sealed: str) -> tuple[str, ...]:
    """A line for each thing that is sent, masked; one line saying so when it cannot be read."""
    try:
        return masked(opened(sealed))
    except SealBroken as error:
        return (str(error),)


def seal_address(address: str) -> str:
    """An address as it is stored. One that is sealed already stays as it is, if it can be opened; else SealBroken."""
    if address.startswith(SEALED):
        opened_address(address)
        return address
    return SEALED + _sealed(_ADDRESSES, address.encode())


def opened_address(stored: str) -> str:
    """The address in plain, or SealBroken. E-mail addresses are stored in plain, and so are web addresses by earlier
    versions."""
    return _opened_address(_keys(), stored) if stored.startswith(SEALED) else stored


def sealed_anew(sealed: str) -> str:
    """The same credentials under today's key; SealBroken when no key opens them."""
    return seal(opened(sealed))


def address_sealed_anew(stored: str) -> str:
    """The same of an address; one in plain stays so."""
    if not stored.startswith(SEALED):
        return stored
    return seal_address(opened_address(stored))


def is_of_today(sealed: str) -> bool:
    """Whether credentials, or an address, are sealed under today's key, and not one of those before."""
    purpose = _ADDRESSES if sealed.startswith(SEALED) else _PURPOSE
    return _content((conf.secret_key(),), purpose, sealed.removeprefix(SEALED)) is not None


def _keys() -> tuple[str, ...]:
    return (conf.secret_key(), *conf.former_secret_keys())


@lru_cache(maxsize=64)
def _opened_address(secrets: tuple[str, ...], stored: str) -> str:
    content = _content(secrets, _ADDRESSES, stored.removeprefix(SEALED))
    if content is None:
        raise SealBroken
    return content.decode()


@lru_cache(maxsize=64)
def _opened(secrets: tuple[str, ...], sealed: str) -> Credentials:
    content = _content(secrets, _PURPOSE, sealed)
    if content is None:
        raise SealBroken
    try:
        return from_json(content)
    except msgspec.MsgspecError:
        raise SealBroken from None  # the cause would say nothing, and its traceback might say too much


def _sealed(purpose: bytes, content: bytes) -> str:
    from crawler import cipher  # see there

    return cipher.encrypted(conf.secret_key(), purpose, content)


def _content(secrets: tuple[str, ...], purpose: bytes, sealed: str) -> bytes | None:
    from crawler import cipher

    return cipher.decrypted(secrets, purpose, sealed)
