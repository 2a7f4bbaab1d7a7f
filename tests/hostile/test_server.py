"""Nothing that is asked of the traps is overlooked."""

import socket
import struct

from tests.hostile.server import Canary


def test_who_connects_to_the_canary_has_knocked_and_need_not_say_a_word() -> None:
    canary = Canary("127.0.0.1")
    try:
        with socket.create_connection(("127.0.0.1", canary.port)) as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its close is a reset
        with socket.create_connection(("127.0.0.1", canary.port)) as second:
            second.sendall(b"hello")
            assert second.recv(1) == b""
        assert canary.knocks == [b"", b"hello"]
    finally:
        canary.close()
