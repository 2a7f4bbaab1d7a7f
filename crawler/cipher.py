"""Encryption and signature under keys made from secrets: Fernet, its keys by HKDF (RFC 5869).

Apart from `sealing`, because to load it takes a tenth of the time every process needs to begin, and most never seal
anything.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def encrypted(secret: str, purpose: bytes, content: bytes) -> str:
    """Twice the same content looks different."""
    return _fernet(secret, purpose).encrypt(content).decode()


def decrypted(secrets: Sequence[str], purpose: bytes, sealed: str) -> bytes | None:
    """What was encrypted under one of these secrets for this purpose; None = it was not, or was changed since."""
    try:
        return MultiFernet([_fernet(secret, purpose) for secret in secrets]).decrypt(sealed.encode())
    except (InvalidToken, UnicodeError):
        return None


@lru_cache(maxsize=16)
def _fernet(secret: str, purpose: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
