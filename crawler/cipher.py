"""Authenticated encryption with keys derived from secrets: Fernet, with keys by HKDF (RFC 5869).

Separate from `encryption`, because loading it takes a tenth of a process's start-up time, and most processes never
encrypt anything.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def encrypted(secret: str, purpose: bytes, content: bytes) -> str:
    """The encrypted content; different each time."""
    return _fernet(secret, purpose).encrypt(content).decode()


def decrypted(secrets: Sequence[str], purpose: bytes, sealed: str) -> bytes | None:
    """The content encrypted with one of these secrets for this purpose; None if it was not, or was modified."""
    try:
        return MultiFernet([_fernet(secret, purpose) for secret in secrets]).decrypt(sealed.encode())
    except (InvalidToken, UnicodeError):
        return None


@lru_cache(maxsize=16)
def _fernet(secret: str, purpose: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
