"""A YAML loader for text that users write. A module of its own, because a worker starts without PyYAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import yaml

from crawler.core.text.sanitize import short_repr

MAX_NESTED = 16  # levels of lists and mappings; rules need two, and PyYAML slows down with each level
NO_ANCHORS = "anchors (&) and aliases (*) are not supported"


class SafeLoader(yaml.SafeLoader):
    """YAML without anchors, by which a few lines can stand for a billion, and without duplicate keys."""

    nested = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # its types leave it out
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(problem=NO_ANCHORS, problem_mark=event.start_mark)
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
            raise yaml.MarkedYAMLError(problem=f"{short_repr(twice)} occurs twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)
