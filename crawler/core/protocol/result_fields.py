"""What capabilities add to the result of a page, see `core.protocol.messages.PageResult`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from crawler.core.protocol.messages import PageResult

T = TypeVar("T")


class ResultField(msgspec.Struct, Generic[T], frozen=True):
    """One field. It has a name of its own on the wire, so the rules for changing messages hold for it, too."""

    name: str
    type: Any  # T, as msgspec decodes it
    default: T

    def of(self, result: PageResult) -> T:
        value: T = getattr(result, self.name)
        return value

    def given(self, value: T) -> dict[str, T]:
        """For the construction of a result, or `msgspec.structs.replace`."""
        return {self.name: value}


def extended(base: type[msgspec.Struct], fields: Iterable[ResultField[Any]], name: str) -> type[msgspec.Struct]:
    """The struct with these fields, too."""
    further = [(field.name, field.type, field.default) for field in fields]
    options = {"frozen": True, "kw_only": True, "omit_defaults": True, "module": base.__module__}
    return msgspec.defstruct(name, further, bases=(base,), **options)  # type: ignore[arg-type]  # they are its options
