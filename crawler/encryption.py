"""Encrypts credentials, cookies and addresses of notices, at rest and in transit, with keys derived from SECRET_KEY.

Tables, job arguments and dashboards hold the result of `seal`. It is decrypted with SECRET_KEY or one of
SECRET_KEY_FALLBACKS. A process without the key raises SealBroken: no page is requested without its credentials.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from crawler import conf
from crawler.core.access.credentials import NOTHING, Credentials, from_json, masked, to_json
from crawler.core.channels.catalogue import SEALED
from crawler.core.errors import SealBroken

_PURPOSE = b"site crawler: credentials of crawls, 1"  # a key for this purpose only
_ADDRESSES = b"site crawler: addresses of notices, 1"
_COOKIES = b"site crawler: cookies of crawls, 1"


def seal(credentials: Credentials) -> str:
    """The encrypted credentials; "" for none. Different each time."""
    return _sealed(_PURPOSE, to_json(credentials)) if credentials else ""


def opened(sealed: str) -> Credentials:
    """The decrypted credentials. Raises SealBroken."""
    return _opened(_keys(), sealed) if sealed else NOTHING


def is_readable(sealed: str) -> bool:
    try:
        opened(sealed)
    except SealBroken:
        return False
    return True


def shown(sealed: str) -> tuple[str, ...]:
    """A masked line for each credential, or one line with the error."""
    try:
        return masked(opened(sealed))
    except SealBroken as error:
        return (str(error),)


def seal_address(address: str) -> str:
    """The encrypted address. An encrypted one is returned unchanged if it can be decrypted; else SealBroken."""
    if address.startswith(SEALED):
        opened_address(address)
        return address
    return SEALED + _sealed(_ADDRESSES, address.encode())


def opened_address(stored: str) -> str:
    """The decrypted address. Raises SealBroken. E-mail addresses, and web addresses of earlier versions, are stored in
    plain text."""
    return _opened_address(_keys(), stored) if stored.startswith(SEALED) else stored


def seal_cookies(jar: bytes) -> str:
    """The encrypted cookies of a crawl that has logged in. They are never re-encrypted: the crawl logs in again."""
    return _sealed(_COOKIES, jar)


def opened_cookies(sealed: str) -> bytes:
    """The decrypted cookies. Raises SealBroken."""
    content = _content(_keys(), _COOKIES, sealed)
    if content is None:
        raise SealBroken
    return content


def reencrypted(sealed: str) -> str:
    """Re-encrypt credentials with the current key. Raises SealBroken."""
    return seal(opened(sealed))


def reencrypted_address(stored: str) -> str:
    """Re-encrypt an address with the current key; one in plain text is returned unchanged."""
    if not stored.startswith(SEALED):
        return stored
    return seal_address(opened_address(stored))


def uses_current_key(sealed: str) -> bool:
    """Whether credentials or an address are encrypted with the current key."""
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
        raise SealBroken from None  # the traceback of the cause might show secrets


def _sealed(purpose: bytes, content: bytes) -> str:
    from crawler import cipher  # loaded late, see its docstring

    return cipher.encrypted(conf.secret_key(), purpose, content)


def _content(secrets: tuple[str, ...], purpose: bytes, sealed: str) -> bytes | None:
    from crawler import cipher  # as above

    return cipher.decrypted(secrets, purpose, sealed)
