"""A name server for tests: its answers, and the queries it received."""

import socket
from typing import Any


class Names:
    """Gives one answer after another, the last for ever. An answer is one or more addresses in numbers."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **kwargs: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [_answer(address, port) for address in answer.split()]


def _answer(address: str, port: int) -> tuple[Any, ...]:
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
