"""Credentials at rest and on their way: encrypted and signed under a key made from SECRET_KEY.

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

_PURPOSE = b"site crawler: credentials of crawls, 1"  # a key for this alone, whatever else SECRET_KEY serves for


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


@lru_cache(maxsize=64)
def _opened(secret: str, sealed: str) -> Credentials:
    try:
        return from_json(_fernet(secret).decrypt(sealed.encode()))
    except (InvalidToken, UnicodeError, msgspec.MsgspecError):
        raise SealBroken from None  # the cause would say nothing, and its traceback might say too much


@lru_cache(maxsize=2)
def _fernet(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
