"""The forms of a page: what a browser would send, and which form asks for a log-in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from crawler.core.html.document import Document, attribute

MAX_CONTROLS = 1000  # of a page that are read
MAX_DEPTH = 300  # elements between a control and its form

_UNSENT = frozenset({"button", "file", "image", "reset", "submit"})
"""Types of <input> whose value a browser does not send, unless it was pressed."""

Pair = tuple[str, str]


@dataclass(slots=True)
class Form:
    """A form with the values it has when the page is loaded."""

    action: str  # as written; "" = the page itself
    method: str  # "get", "post" or what else is written, in lower case
    base: str  # of the page's <base>, as written; "" = the page itself
    values: list[Pair] = field(default_factory=list)  # what a browser sends, in order
    names: set[str] = field(default_factory=set)  # of all its controls
    has_password: bool = False
    is_submitted: bool = False  # it has the value of a submit button; browsers send that of the first

    def has_all(self, names: Iterable[str]) -> bool:
        return self.names.issuperset(names)

    def filled_in(self, given: Sequence[Pair]) -> list[Pair]:
        """The values to send, those given in place of the form's own."""
        replaced = {name for name, _ in given}
        return [*(pair for pair in self.values if pair[0] not in replaced), *given]


def login_form(document: Document, names: Collection[str], *, or_password: bool) -> Form | None:
    """The first form that has all these fields; `or_password`: else the first that has a field for a password."""
    forms = list(_forms_of(document))
    named = next((form for form in forms if form.has_all(names)), None)
    if named is not None or not or_password:
        return named
    return next((form for form in forms if form.has_password), None)


def matches(document: Document, selector: str) -> bool:
    """Whether this CSS selector matches an element. The selector was checked."""
    return document.tree.css_first(selector) is not None


def _forms_of(document: Document) -> Iterator[Form]:
    """In the order of the page. A control belongs to the form it is in, or that its attribute `form` names, or to a
    form without content before it: the parser leaves one so that begins between a table and its rows."""
    tree = document.tree
    first = tree.css_first("base[href]")
    base = attribute(first, "href") if first is not None else ""
    forms = dict[int, Form]()  # by the parser's number of the element
    by_id, empty = dict[str, Form](), None
    for node in tree.css("form, input, select, textarea, button")[: MAX_CONTROLS * 2]:
        if node.tag == "form":
            form = Form(attribute(node, "action").strip(), attribute(node, "method").strip().lower() or "get", base)
            forms[node.mem_id] = form
            by_id.setdefault(attribute(node, "id"), form)
            empty = form if node.first_child is None else None
            continue
        owner = by_id.get(attribute(node, "form")) if "form" in node.attrs else _around(node, forms) or empty
        if owner is not None and len(owner.values) < MAX_CONTROLS:
            _add(owner, node)
    yield from forms.values()


def _around(node: LexborNode, forms: dict[int, Form]) -> Form | None:
    at = node.parent
    for _ in range(MAX_DEPTH):
        if at is None:
            return None
        if at.tag == "form":
            return forms.get(at.mem_id)
        at = at.parent
    return None


def _add(form: Form, node: LexborNode) -> None:
    name, kind = attribute(node, "name"), attribute(node, "type").strip().lower()
    if not name or "disabled" in node.attrs:
        return
    form.names.add(name)
    if node.tag == "select":
        form.values += [(name, value) for value in _selected(node)]
    elif node.tag == "textarea":
        form.values.append((name, node.text()))
    elif node.tag == "button":
        if kind in ("", "submit"):
            _add_submit(form, name, node)
    elif kind == "submit":
        _add_submit(form, name, node)
    elif kind in ("checkbox", "radio"):
        if "checked" in node.attrs:
            form.values.append((name, attribute(node, "value") if "value" in node.attrs else "on"))
    elif kind not in _UNSENT:
        form.has_password = form.has_password or kind == "password"
        form.values.append((name, attribute(node, "value")))


def _add_submit(form: Form, name: str, node: LexborNode) -> None:
    if not form.is_submitted:
        form.is_submitted = True
        form.values.append((name, attribute(node, "value")))


def _selected(node: LexborNode) -> list[str]:
    options = [each for each in node.css("option") if "disabled" not in each.attrs]
    chosen = [each for each in options if "selected" in each.attrs]
    if not chosen and "multiple" not in node.attrs:
        chosen = options[:1]
    return [attribute(each, "value") if "value" in each.attrs else each.text().strip() for each in chosen]
