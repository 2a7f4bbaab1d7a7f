"""arguments.json, made of the parsers of all commands. `python -m tests.argument_table` writes it."""

import json
from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    BooleanOptionalAction,
    _AppendAction,
    _ExtendAction,
    _HelpAction,
    _StoreAction,
    _StoreTrueAction,
    _SubParsersAction,
    _VersionAction,
)
from importlib import import_module
from typing import Any

from crawler.management import numbers
from crawler.management.parsers import TABLE

_KINDS = {
    _AppendAction: "append",
    _ExtendAction: "extend",
    _StoreTrueAction: "store_true",
    BooleanOptionalAction: "boolean",
    _StoreAction: "store",
}
_PLAIN = bool | int | float | str | list
LINE_LENGTH = 160  # of a value that is not divided


def table() -> str:
    from django.core.management import load_command_class

    from crawler.core.access.credentials import KINDS
    from crawler.exports.formats import ENDINGS
    from crawler.launch import site_crawler
    from crawler.launch.manage import commands
    from crawler.management.crawl_options import usual

    launched = [name for name in site_crawler.LAUNCHED if name != "crawl"]
    parsers: dict[str, ArgumentParser] = {name: import_module(f"crawler.launch.{name}").parser() for name in launched}
    for name in commands():
        if name not in site_crawler.HIDDEN:
            parsers[name.replace("_", "-")] = load_command_class("crawler", name).create_parser("", name)
    content = {
        "commands": {name: _command(parsers[name]) for name in sorted(parsers)},
        "hidden": [_hidden(action) for action in parsers["crawl"]._actions if _is_of_django(action)],
        "settled": list(usual()),
        "secret": sorted(kind.flag for kind in KINDS.values()),
        "endings": ENDINGS,
    }
    return _written(content) + "\n"


def _command(parser: ArgumentParser) -> dict[str, Any]:
    places = range(len(parser._action_groups))
    found = {
        **({"usage": parser.usage} if parser.usage else {}),
        "description": parser.description or "",
        "epilog": parser.epilog or "",
        "groups": [group for place in places if (group := _group(parser, place))["arguments"]],
    }
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            found["commands"] = {
                name: {"help": helps[name], **_command(below)} for name, below in action.choices.items()
            }
    return found


def _group(parser: ArgumentParser, place: int) -> dict[str, Any]:
    group = parser._action_groups[place]
    actions = [action for action in group._group_actions if type(action) in _KINDS and not _is_of_django(action)]
    alternatives = {
        id(action): one.required for one in parser._mutually_exclusive_groups for action in one._group_actions
    }
    arguments = [_argument(action, alternatives.get(id(action))) for action in actions]
    return {"title": group.title if place > 1 else "", "arguments": arguments}


def _argument(action: Action, one_is_required: bool | None) -> dict[str, Any]:
    """`one_is_required`: of the alternatives that it belongs to; None = it is none."""
    kind = _KINDS[type(action)]
    flags = action.option_strings[:1] if kind == "boolean" else action.option_strings or [action.dest]
    given = {
        "flags": flags,
        "action": kind,
        "type": _type_name(action),
        "nargs": None if kind in ("store_true", "boolean") else action.nargs,
        "required": (action.required and bool(action.option_strings)) or None,
        "alternative": None if one_is_required is None else True,
        "one_required": one_is_required or None,
        "choices": [*action.choices] if action.choices else None,
        "default": [] if action.nargs == "*" else action.default if isinstance(action.default, _PLAIN) else None,
        "metavar": action.metavar,
        "help": action.help,
    }
    return {name: value for name, value in given.items() if value is not None}


def _type_name(action: Action) -> str | None:
    name = getattr(action.type, "__name__", "")
    return name if name and getattr(numbers, name, None) is action.type else None


def _is_of_django(action: Action) -> bool:
    return action.help == SUPPRESS and not isinstance(action, _HelpAction | _VersionAction)


def _hidden(action: Action) -> dict[str, Any]:
    return {"flags": action.option_strings, "action": "store_true" if action.nargs == 0 else "store"}


def _written(value: Any, indent: str = "") -> str:
    """JSON that a change of one argument changes in one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= LINE_LENGTH or isinstance(value, str) or (isinstance(value, dict) and "flags" in value):
        return line
    below = f"{indent} "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_written(part, below)}" for name, part in value.items()]
        return "{\n" + ",\n".join(f"{below}{part}" for part in parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{below}{_written(part, below)}" for part in value) + f"\n{indent}]"


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.test")
    django.setup()
    TABLE.write_text(table(), encoding="utf-8")
