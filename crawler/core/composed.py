"""Structs whose fields belong to several capabilities: each gives a part, and the struct has all their fields, flat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast, dataclass_transform, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Part:
    """Some fields of a composed struct, declared as in a struct. There are no instances."""

    follows: ClassVar[str] = ""  # the field they stand behind; "" = the last one of the struct's own
    are_given: ClassVar[bool] = False  # by other parts: where none gives one, its default is a constant of the struct

    @classmethod
    def of(cls, struct: msgspec.Struct) -> Self:
        """The same struct, typed as having these fields: it was composed of this part."""
        return cast(Self, struct)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a field besides its type. It stands where the field's default does."""

    name: str = ""  # of the field

    @property
    def default(self) -> Any:
        raise NotImplementedError


class ComposedStruct(msgspec.StructMeta):
    """Makes a struct of the parts that its class inherits, its own fields, and the `parts` in its body.

    1. The inherited parts come first, as a base class does; type checkers know their fields. The `parts` are
       unknown to them: `Part.of` has their types.
    2. All become fields of one struct. It has no base but those that are no parts, so that it is as small, and as
       fast, as one that is written in one piece. What else is in a part, such as a property, is in the struct.
    3. A field that has an entry has the default of the entry. The struct's class has the entries.
    """

    entries: dict[str, Any]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> ComposedStruct:
        inherited = [base for base in bases if issubclass(base, Part)]
        others = tuple(base for base in bases if base not in inherited)
        expected = [part for part in inherited if part.are_given]
        inherited = [part for part in inherited if not part.are_given]
        fields = dict[str, Any]()
        for part in inherited:
            fields |= _fields(part)
        fields |= namespace.get("__annotations__", {})
        fields.pop("parts", None)
        parts: tuple[type[Part], ...] = namespace.pop("parts", ())
        last = list(fields)[-1]
        for part in reversed(parts):  # of two behind one field, the first is next to it
            fields = _with(fields, part.follows or last, _fields(part))
        for part in (*parts, *reversed(inherited)):
            namespace = _body(part) | namespace
        for part in expected:
            namespace |= {field: default for field, default in _body(part).items() if field not in fields}
        entries = {field: namespace[field] for field in fields if isinstance(namespace.get(field), Entry)}
        namespace |= {field: entry.default for field, entry in entries.items()}
        made = super().__new__(mcs, name, others, {**namespace, "__annotations__": fields}, **config)
        made.entries = {field: replace(entry, name=field) for field, entry in entries.items()}
        return made


def part_of(fields: Mapping[str, tuple[Any, Any]], follows: str = "") -> type[Part]:
    """A part of fields that are known only when the program runs: each with its type, and its default or entry."""
    types = {field: hint for field, (hint, _) in fields.items()}
    values = {field: value for field, (_, value) in fields.items()}
    return type("Fields", (Part,), {"__annotations__": types, "follows": follows, **values})


def _fields(part: type[Part]) -> dict[str, Any]:
    """The fields with their types, which are read where the part is: the struct's module may not know their names."""
    hints = get_type_hints(part, include_extras=True)
    return {field: hint for field, hint in hints.items() if get_origin(hint) is not ClassVar}


def _with(fields: Mapping[str, Any], place: str, further: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with further ones behind that place."""
    both = sorted(further.keys() & fields.keys())
    if both:
        raise TypeError(f"two parts have the field {', '.join(both)}")
    names = list(fields)
    index = names.index(place) + 1
    return {name: {**fields, **further}[name] for name in (*names[:index], *further, *names[index:])}


def _body(part: type[Part]) -> dict[str, Any]:
    """What a part says of its fields, and what else it has; not what every class has."""
    own = {
        key: value for base in reversed(part.__mro__[: part.__mro__.index(Part)]) for key, value in vars(base).items()
    }
    return {key: value for key, value in own.items() if not key.startswith("__") and key not in vars(Part)}
