"""crawl_arguments.json, made of the arguments of `crawl`. `python -m tests.argument_table` writes it."""

import json
from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    BooleanOptionalAction,
    _AppendAction,
    _HelpAction,
    _StoreAction,
    _StoreTrueAction,
    _VersionAction,
)
from typing import Any

from crawler.management.usage import TABLE

_KINDS = {
    _AppendAction: "append",
    _StoreTrueAction: "store_true",
    BooleanOptionalAction: "boolean",
    _StoreAction: "store",
}


def table() -> str:
    from django.core.management import load_command_class

    from crawler.exports.formats import ENDINGS
    from crawler.management.crawl_options import usual

    parser = load_command_class("crawler", "crawl").create_parser("bin/crawl", "crawl")
    content = {
        "usage": parser.usage,
        "description": parser.description,
        "epilog": parser.epilog,
        "groups": [_group(parser, place) for place in range(len(parser._action_groups))],
        "hidden": [_hidden(action) for action in parser._actions if _is_of_django(action)],
        "settled": list(usual()),
        "endings": ENDINGS,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _group(parser: ArgumentParser, place: int) -> dict[str, Any]:
    group = parser._action_groups[place]
    actions = [action for action in group._group_actions if type(action) in _KINDS and not _is_of_django(action)]
    return {"title": group.title if place > 1 else "", "arguments": [_argument(action) for action in actions]}


def _argument(action: Action) -> dict[str, Any]:
    kind = _KINDS[type(action)]
    flags = action.option_strings[:1] if kind == "boolean" else action.option_strings or [action.dest]
    given = {
        "flags": flags,
        "action": kind,
        "type": action.type.__name__ if callable(action.type) else None,
        "nargs": action.nargs if kind == "store" else None,
        "choices": [*action.choices] if action.choices else None,
        "default": [] if action.nargs == "*" else action.default,
        "metavar": action.metavar,
        "help": action.help,
    }
    return {name: value for name, value in given.items() if value is not None}


def _is_of_django(action: Action) -> bool:
    return action.help == SUPPRESS and not isinstance(action, _HelpAction | _VersionAction)


def _hidden(action: Action) -> dict[str, Any]:
    return {"flags": action.option_strings, "action": "store_true" if action.nargs == 0 else "store"}


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.test")
    django.setup()
    TABLE.write_text(table(), encoding="utf-8")
