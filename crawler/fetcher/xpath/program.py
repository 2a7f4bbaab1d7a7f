"""The program that evaluates XPath expressions. `evaluator` runs it as a file, without the project's modules.

A request on standard input and each answer on standard output: its length in four bytes, then MessagePack. A request is

    nodes        the page in document order, as `core.extraction.xpath.nodes_of` writes it
    expressions  what to evaluate from its document node
    seconds      CPU time for each expression
    most         how many items of an answer are returned
    longest      characters of a string that are returned

and has an answer for each expression: {"error": text}, or {"found": items}. An item is the number of an element, a
string in a list of one, a number as a string in a list of one, or a boolean. An expression that uses up its time ends
the process.
"""

from __future__ import annotations

import resource
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec
from lxml import etree

MAX_MEMORY = 1024 * 1024 * 1024  # bytes of address space


def main() -> None:
    with suppress(ValueError, OSError):  # macOS knows no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    while request := _read(sys.stdin.buffer):
        nodes, expressions, seconds, most, longest = msgspec.msgpack.decode(request)
        elements = _tree_of(nodes)
        numbers = {element: number for number, element in enumerate(elements)}
        for expression in expressions:
            _write(sys.stdout.buffer, _answer(expression, numbers, elements, seconds, most, longest))


def _read(pipe: BinaryIO) -> bytes:
    """The next message; empty at the end of the input."""
    length = pipe.read(4)
    return pipe.read(int.from_bytes(length)) if len(length) == 4 else b""


def _write(pipe: BinaryIO, answer: dict[str, Any]) -> None:
    message = msgspec.msgpack.encode(answer)
    pipe.write(len(message).to_bytes(4) + message)
    pipe.flush()


def _tree_of(nodes: list[list[Any]]) -> list[etree._Element]:
    """The elements in document order. The tree is built node by node: nothing is parsed, so there are no entities."""
    elements: list[etree._Element] = []
    last: list[etree._Element | None] = []  # of each element its last child, or comment
    for parent, name, content in nodes:
        if name == "":
            _add_text(elements[parent], last[parent], content)
        elif name is None:
            last[parent] = etree.Comment(content)
            elements[parent].append(last[parent])
        else:
            element = (
                etree.Element(name, content) if not elements else etree.SubElement(elements[parent], name, content)
            )
            if elements:
                last[parent] = element
            elements.append(element)
            last.append(None)
    return elements


def _add_text(element: etree._Element, last: etree._Element | None, text: str) -> None:
    if last is None:
        element.text = (element.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def _answer(
    expression: str,
    numbers: dict[etree._Element, int],
    elements: list[etree._Element],
    seconds: float,
    most: int,
    longest: int,
) -> dict[str, Any]:
    if not elements:
        return {"found": []}
    signal.setitimer(signal.ITIMER_PROF, seconds)  # nobody handles its signal, which ends the process
    try:
        found = etree.XPath(expression, regexp=False, smart_strings=True)(elements[0].getroottree())
    except (etree.XPathError, MemoryError, ValueError) as error:
        return {"error": str(error) or type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if isinstance(found, bool):
        return {"found": [found]}
    if isinstance(found, float):
        return {"found": [[f"{found:.15g}"]] if found == found else []}  # noqa: PLR0124 (NaN is no value)
    items = found if isinstance(found, list) else [found]
    return {"found": [_item(item, numbers, longest) for item in items[:most]]}


def _item(item: Any, numbers: dict[etree._Element, int], longest: int) -> int | list[str]:
    if not isinstance(item, str):
        number = numbers.get(item)
        return [item.text[:longest].strip()] if number is None else number  # a comment
    if getattr(item, "is_attribute", False):
        return [item[:longest].strip()]
    return [" ".join(item[:longest].split())]


if __name__ == "__main__":
    main()
