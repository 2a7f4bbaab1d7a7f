"""A server that shakes hands over TLS 1.3 and then sends session tickets without end, a thousand to a record.

It encrypts them itself, with the secret its own TLS writes down for debugging: so it is faster than who reads them.
"""

import contextlib
import os
import socket
import ssl
import struct
import threading
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

_TICKET = struct.pack(">II", 1, 1) + b"\1\0" + b"\0\1x" + b"\0\0"  # RFC 8446, 4.6.1: a lifetime, a nonce, a ticket
_MESSAGE = b"\4" + struct.pack(">I", len(_TICKET))[1:] + _TICKET
_RECORD = _MESSAGE * (16_000 // len(_MESSAGE)) + b"\x16"  # the last byte says that this is of the handshake


class TicketFlood:
    """Floods whoever comes first until the end of its `with` block, or until it is `ENOUGH`."""

    def __init__(self, context: ssl.SSLContext, folder: Path) -> None:
        self._secrets = folder / "secrets"
        self._context = context
        context.keylog_filename = str(self._secrets)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0  # its own ones would be numbered like ours
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            with (
                socket.socket(fileno=os.dup(sock.fileno())) as raw,
                self._context.wrap_socket(sock, server_side=True) as secured,
            ):
                self._flood(raw, secured)

    def _flood(self, raw: socket.socket, secured: ssl.SSLSocket) -> None:
        _, _, bits = secured.cipher() or ("", "", 0)
        raw.settimeout(5)
        seal, start = self._keys(bits)
        head = b"\x17\x03\x03" + struct.pack(">H", len(_RECORD) + 16)
        for number in count():
            if self._over.is_set() or number == ENOUGH:
                return
            nonce = bytes(a ^ b for a, b in zip(start, number.to_bytes(12, "big"), strict=True))
            raw.sendall(head + seal.encrypt(nonce, _RECORD, head))

    def _keys(self, bits: int) -> tuple[AESGCM, bytes]:
        lines = self._secrets.read_text().splitlines()
        secret = bytes.fromhex(next(line.split()[2] for line in lines if line.startswith("SERVER_TRAFFIC_SECRET_0")))
        return AESGCM(_expanded(secret, b"tls13 key", bits // 8)), _expanded(secret, b"tls13 iv", 12)


ENOUGH = 1000  # records: some ten seconds of work for who reads them


def _expanded(secret: bytes, label: bytes, length: int) -> bytes:
    kind = hashes.SHA384() if len(secret) == 48 else hashes.SHA256()
    info = struct.pack(">H", length) + bytes([len(label)]) + label + b"\0"
    return HKDFExpand(kind, length, info).derive(secret)
