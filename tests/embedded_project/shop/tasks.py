"""A job of this project, whose argument is an object of one of its classes."""

from dataclasses import dataclass

from shop.apps import write


@dataclass
class Order:
    number: int


def confirm(order: Order) -> None:
    write("orders.txt", str(order.number))
