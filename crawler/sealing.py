"""Credentials, and addresses of notices that are secret, at rest and on their way: encrypted and signed under keys made
from SECRET_KEY.

Tables, job arguments and dashboards hold what `seal` makes. Whoever has another SECRET_KEY cannot read it, and is told
so by name: no page is asked for without the credentials it was meant to be asked with.
"""

from __future__ import annotations

import base64
from functools import lru_cache

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from crawler import conf
from crawler.core.credentials import NOTHING, Credentials, from_json, masked, to_json
from crawler.core.errors import SealBroken
from crawler.core.receivers import SEALED

_PURPOSE = b"site crawler: credentials of crawls, 1"  # a key for this alone, whatever else SECRET_KEY serves for
_ADDRESSES = b"site crawler: addresses of notices, 1"


def seal(credentials: Credentials) -> str:
    """The credentials as they are stored; "" for none. Sealed twice they look different, but both can be opened."""
    return _fernet(conf.secret_key()).encrypt(to_json(credentials)).decode() if credentials else ""


def opened(sealed: str) -> Credentials:
    """What was sealed, or SealBroken."""
    return _opened(conf.secret_key(), sealed) if sealed else NOTHING


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
    return SEALED + _fernet(conf.secret_key(), _ADDRESSES).encrypt(address.encode()).decode()


def opened_address(stored: str) -> str:
    """The address in plain, or SealBroken. One that is no secret was stored in plain."""
    return _opened_address(conf.secret_key(), stored) if stored.startswith(SEALED) else stored


@lru_cache(maxsize=64)
def _opened_address(secret: str, stored: str) -> str:
    try:
        return _fernet(secret, _ADDRESSES).decrypt(stored.removeprefix(SEALED).encode()).decode()
    except (InvalidToken, UnicodeError):
        raise SealBroken from None


@lru_cache(maxsize=64)
def _opened(secret: str, sealed: str) -> Credentials:
    try:
        return from_json(_fernet(secret).decrypt(sealed.encode()))
    except (InvalidToken, UnicodeError, msgspec.MsgspecError):
        raise SealBroken from None  # the cause would say nothing, and its traceback might say too much


@lru_cache(maxsize=4)
def _fernet(secret: str, purpose: bytes = _PURPOSE) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
