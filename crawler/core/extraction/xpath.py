"""XPath 1.0 in extraction rules: checking an expression, and writing a page for the process that evaluates it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import bs4
from bs4.element import Comment, NavigableString, PreformattedString

from crawler.core.errors import BadInput
from crawler.extras import XPATH

FUNCTIONS = (
    "last",
    "position",
    "count",
    "id",
    "local-name",
    "namespace-uri",
    "name",
    "string",
    "concat",
    "starts-with",
    "contains",
    "substring-before",
    "substring-after",
    "substring",
    "string-length",
    "normalize-space",
    "translate",
    "boolean",
    "not",
    "true",
    "false",
    "lang",
    "number",
    "sum",
    "floor",
    "ceiling",
    "round",
)
NODE_TYPES = ("comment", "text", "processing-instruction", "node")

_LITERAL = re.compile(r"""\"[^\"]*\"|'[^']*'""")
_CALL = re.compile(r"(?<![\w.:-])([\w.:-]++)\s*+\(")
_PREFIX = re.compile(r"(?<!:):(?!:)")
_ODD_NAME = re.compile(r"[^A-Za-z0-9_.-]")
_HYPHEN_OF_END = re.compile(r"-(?=-|\Z)")  # which XML does not allow in a comment
_NOT_OF_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Node = tuple[int, str | None, str | dict[str, str]]
"""The number of the parent among the elements, the name ("" for text, None for a comment), attributes or text."""

Matches = list[int | list[str] | bool]
"""What an expression selects: numbers of elements, texts in a list of one each, or whether it is true."""


class TookTooLong:
    """The answer to an expression that used up its time or its memory."""


XPathResult = Matches | str | TookTooLong
"""A text is why the expression cannot be evaluated on this page."""


class Evaluate(Protocol):
    """Evaluates expressions on a page; see `crawler.fetcher.xpath.evaluator`."""

    def __call__(
        self, nodes: Sequence[Node], expressions: Sequence[str], most: int, longest: int
    ) -> list[XPathResult]: ...


def check_xpath(field: str, who: str, expression: str) -> None:
    """BadInput if it is no XPath 1.0, or uses what no page has: variables, prefixes, other functions."""
    if XPATH.missing:
        raise BadInput(field, f"{who}: {XPATH.missing}")
    from lxml import etree  # only for rules with XPath

    try:
        etree.XPath(expression, regexp=False)
    except (etree.XPathSyntaxError, ValueError) as error:
        raise BadInput(field, f"{who}: {expression!r} is invalid: {_reason(error)}") from None
    bare = _LITERAL.sub("''", expression)
    unknown = next((name for name in _CALL.findall(bare) if not _is_known(name)), None)
    if unknown is not None:
        raise BadInput(field, f"{who}: XPath 1.0 has no function {unknown}().")
    if "$" in bare:
        raise BadInput(field, f"{who}: variables ($) are not supported.")
    if _PREFIX.search(bare):
        raise BadInput(
            field, f"{who}: prefixes are not supported; write the element's name as on the page, such as svg."
        )


def nodes_of(tree: bs4.BeautifulSoup) -> tuple[list[bs4.Tag], list[Node]]:
    """The page's elements, and its nodes in document order. In names of elements and attributes each character that XML
    does not allow there is a "_"."""
    root = tree.find(True)
    if not isinstance(root, bs4.Tag):
        return [], []
    elements, nodes = [root], [_element(-1, root)]
    numbers = {id(root): 0}
    for node in root.descendants:
        parent = numbers[id(node.parent)]
        if isinstance(node, bs4.Tag):
            numbers[id(node)] = len(elements)
            elements.append(node)
            nodes.append(_element(parent, node))
        elif isinstance(node, Comment):
            nodes.append((parent, None, _HYPHEN_OF_END.sub("\u2010", _of_xml(node))))
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            nodes.append((parent, "", _of_xml(node)))
    return elements, nodes


def _element(parent: int, tag: bs4.Tag) -> Node:
    attributes: dict[str, str] = {}
    for name, value in tag.attrs.items():
        attributes.setdefault(_name(name), _of_xml(" ".join(value) if isinstance(value, list) else value))
    return parent, _name(tag.name), attributes


def _name(name: str) -> str:
    safe = _ODD_NAME.sub("_", name)
    return safe if safe[:1].isalpha() or safe[:1] == "_" else f"_{safe}"


def _of_xml(text: str) -> str:
    return _NOT_OF_XML.sub("\ufffd", text)


def _is_known(name: str) -> bool:
    if name.rpartition("::")[2] in (*FUNCTIONS, *NODE_TYPES):
        return True
    return name in ("and", "or", "div", "mod")  # operators before a bracket


def _reason(error: Exception) -> str:
    first = (str(error) or "it cannot be parsed").splitlines()[0].rstrip(".:")
    return f"{first[:1].lower()}{first[1:]}."
