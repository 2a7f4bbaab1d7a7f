"""Extraction rules as people write them, in YAML or JSON, and as they are shown to them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import msgspec
import yaml

from crawler.core.errors import BadInput
from crawler.core.rules import FieldRule, shown

MAX_TEXT = 100_000  # characters
MAX_NESTED = 16  # lists and mappings in one another; rules need two, and PyYAML takes the longer the more there are

EXAMPLE = """\
- name: price
  selector: .product .price
  type: number
- name: pictures
  selector: .product img
  attribute: src
  type: url
  many: true
- name: sku
  selector: .product
  pattern: 'SKU: (\\w+)'
"""

_PARTS = tuple(FieldRule.__struct_fields__)
_NO_ANCHORS = "anchors (&) and aliases (*) cannot be used"
_SHAPE = "Write a list of rules, each with a name and a selector; or a mapping of names to selectors."


class _Plain(yaml.SafeLoader):
    """YAML without anchors, by which a few lines can stand for a billion, and without a key that is given twice."""

    nested = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # its types leave it out
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(problem=_NO_ANCHORS, problem_mark=event.start_mark)
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise yaml.MarkedYAMLError(problem="it is nested too deeply", problem_mark=event.start_mark)
        node = super().compose_node(parent, index)
        self.nested -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        counted = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        twice = next((name for name, times in counted.items() if times > 1), None)
        if twice is not None:
            raise yaml.MarkedYAMLError(problem=f"{shown(twice)} is given twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


def rules_of(field: str, text: str) -> tuple[FieldRule, ...]:
    """The rules this text says; BadInput when it is none. Whether each can be used is judged by `rules.check_rules`.

    It is a list of mappings with the parts of a `FieldRule`, or a mapping of names to such mappings or to selectors
    alone. JSON is read as the YAML it is.
    """
    said = _parsed(field, text)
    match said:
        case None:
            return ()
        case list():
            return tuple(_rule(field, place, None, rule) for place, rule in enumerate(said, start=1))
        case dict():
            return tuple(_rule(field, place, *pair) for place, pair in enumerate(said.items(), start=1))
        case _:
            raise BadInput(field, f"These are no extraction rules. {_SHAPE}")


def text_of(rules: tuple[FieldRule, ...]) -> str:
    """The rules as YAML, for a person to go on with; "" for none."""
    plain = [msgspec.to_builtins(rule) for rule in rules]
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True) if plain else ""


def _parsed(field: str, text: str) -> Any:
    if len(text) > MAX_TEXT:
        raise BadInput(field, f"The extraction rules are longer than {MAX_TEXT:,} characters.")
    try:
        return yaml.load(text, _Plain)  # noqa: S506 (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        where = error.problem_mark or error.context_mark
        line = f"line {where.line + 1}: " if where else ""
        raise BadInput(field, f"The extraction rules are neither YAML nor JSON: {line}{error.problem}.") from None
    except (yaml.YAMLError, ValueError) as error:
        first = (str(error).splitlines() or ["a value cannot be read"])[0]
        raise BadInput(field, f"The extraction rules are neither YAML nor JSON: {first}.") from None
    except (LookupError, AttributeError, TypeError, OverflowError):  # PyYAML, of values that their tags do not fit
        raise BadInput(field, "The extraction rules hold a value that is not what its tag (!!...) says.") from None


def _rule(field: str, place: int, name: Any, said: Any) -> FieldRule:
    if name is not None and isinstance(said, str):
        said = {"selector": said}
    if not isinstance(said, Mapping):
        raise BadInput(field, f"Rule {place} is not a mapping of parts to values. {_SHAPE}")
    parts = {**said} if name is None else {"name": name, **said}
    who = f"Rule {place}" + (f" ({shown(parts['name'])})" if "name" in parts else "")
    for part, value in parts.items():
        _check_part(field, who, part, value)
    for needed in ("name", "selector"):
        if needed not in parts:
            raise BadInput(field, f"{who} has no {needed}; each rule needs a name and a selector.")
    return FieldRule(**parts)


def _check_part(field: str, who: str, part: Any, value: Any) -> None:
    if part not in _PARTS:
        raise BadInput(field, f"{who}: there is no part named {shown(part)}; there are {', '.join(_PARTS)}.")
    if part == "many":
        if not isinstance(value, bool):
            raise BadInput(field, f"{who}, many: it must be true or false, not {shown(value)}.")
    elif not isinstance(value, str):
        raise BadInput(field, f"{who}, {part}: it must be text, not {shown(value)}; put it in quotes.")
