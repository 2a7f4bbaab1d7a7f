"""A job of this project, whose argument is an object of one of its classes."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Order:
    number: int


def confirm(order: Order) -> None:
    Path("orders.txt").write_text(str(order.number))
