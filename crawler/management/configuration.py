"""The options of `crawl` that were not typed: from the environment, and from site-crawler.toml with its profiles.

1. What is typed, by a parser without defaults.
2. The files: the one of --config; else that of the user, and above it that of the project.
3. The layers, each above the one before: files, the profile in them, the environment.
4. Of each option that was not typed, the value of the highest layer is put before what was typed, as if it were typed.

So the names of options, their types and what may be chosen are those of the parser. Needs the standard library alone.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from argparse import SUPPRESS, Action, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crawler.command_names import as_typed
from crawler.core.errors import BadInput
from crawler.exports.file import reason
from crawler.home import user_config_folder
from crawler.management import parsers

FILE = "site-crawler.toml"
PREFIX = "SITE_CRAWLER_"
_OWN = ("config", "profile", "no-config", "show-config")
"""The options that say where options come from."""

_TYPED_ONLY = {"help", "version", "resume", *_OWN}
_NOT_WHEN = {
    "urls": ("list", "list-column", "priority-column", "invalid"),
    "list": ("urls",),
    "detach": ("export", "timeout", "workers"),
}
"""Typed option -> options of files and the environment that then do not count, since the two exclude each other."""

_YES_NO = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_REFERENCE = re.compile(r"(?:[^=]+=)?env:[A-Za-z_][A-Za-z0-9_]*")


class Setting(NamedTuple):
    """The value of an option in one layer."""

    value: Any
    source: str  # for messages: a file and its line, or a variable
    words: list[str]  # as it would be typed
    file: str = ""


class Configured(NamedTuple):
    """What is to be parsed."""

    arguments: list[str]
    note: str  # which files were used; "" = none
    table: str | None  # which value comes from where, if that was asked for


def configure(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> Configured:
    """The arguments of `crawl`, with those of files and the environment before them. Raises BadInput."""
    options = _options()
    rest, off = _without_negations(arguments, options)
    typed = _typed(rest)
    named, profile = (typed.get(name) or environ.get(_variable(name), "") for name in ("config", "profile"))
    is_off = "no-config" in typed or (
        "config" not in typed and _YES_NO.get(environ.get(_variable("no-config"), ""), False)
    )
    files = [] if is_off else _files(named)
    settings = dict[str, Setting]()
    for file in files:
        settings |= _of_file(file, "", options)
    for file in _with_profile(files, profile) if profile else ():
        settings |= _of_file(file, profile, options)
    settings |= _of_environment(environ, options)
    left_out = {*typed, *off, *_excluded_by(typed, options)}
    used = {name: setting for name, setting in settings.items() if name not in left_out}
    before = [word for setting in used.values() for word in setting.words]
    paths = [file.shown for file in files if file.shown in {setting.file for setting in used.values()}]
    return Configured(
        [*before, *rest],
        f"Options from {' and '.join(paths)}." if paths else "",
        _table(options, typed, off, used) if "show-config" in typed else None,
    )


def _options() -> dict[str, Action]:
    """The options that a file may have, by the keys they have there."""
    actions = parsers.parser_of("crawl", "bin/crawl")._actions
    found = {_key(action): action for action in actions if action.help != SUPPRESS}
    return {key: action for key, action in found.items() if key not in _TYPED_ONLY}


def _key(action: Action) -> str:
    return (action.option_strings[0] if action.option_strings else action.dest).removeprefix("--")


def _variable(key: str) -> str:
    return PREFIX + key.replace("-", "_").upper()


def _typed(arguments: Sequence[str]) -> dict[str, Any]:
    """Exits, as a parser does, if they cannot be used."""
    parser = parsers.parser_of("crawl", "bin/crawl")
    for action in parser._actions:
        action.default = SUPPRESS
    keys = {action.dest: _key(action) for action in parser._actions}
    return {keys[dest]: value for dest, value in vars(parser.parse_args(arguments)).items()}


def _without_negations(arguments: Sequence[str], options: Mapping[str, Action]) -> tuple[list[str], set[str]]:
    """The arguments without each --no-NAME for a switch that only a file or a variable can have turned on."""
    flags = {flag for action in options.values() for flag in action.option_strings} | {f"--{name}" for name in _OWN}
    negations = {f"--no-{key}": key for key, action in options.items() if action.nargs == 0}
    switched = {word: negations[word] for word in arguments if word in negations and word not in flags}
    return [word for word in arguments if word not in switched], set(switched.values())


def _excluded_by(typed: Mapping[str, Any], options: Mapping[str, Action]) -> set[str]:
    excluded = {other for key in typed for other in _NOT_WHEN.get(key, ())}
    if "resume" in typed:  # the crawl has its options already
        settled = parsers.table()["settled"]
        excluded |= {key for key, action in options.items() if action.dest in settled or _is_secret(action)}
    return excluded


# Files.


class _File:
    """A file that was read. Raises BadInput if it cannot be. `is_confined`: it names no file outside of its folder."""

    def __init__(self, path: Path, *, is_confined: bool = False) -> None:
        self.path, self._is_confined = path, is_confined
        here = Path.cwd()
        self.shown = str(path.relative_to(here) if path.is_relative_to(here) else path)
        try:
            self._text = path.read_text(encoding="utf-8")
            self.content = tomllib.loads(self._text)
        except UnicodeDecodeError:
            raise BadInput("config", f"{self.shown} is not text in UTF-8.") from None
        except OSError as error:
            raise BadInput("config", f"{self.shown} cannot be read: {reason(error)}.") from None
        except tomllib.TOMLDecodeError as error:
            raise BadInput("config", f"{self.shown} is not TOML: {error}.") from None
        self.profiles: dict[str, Any] = self.content.pop("profile", {})
        if not isinstance(self.profiles, dict) or not all(isinstance(one, dict) for one in self.profiles.values()):
            raise BadInput(
                "config", f"{self.shown}: profile must be a table for each profile, such as [profile.nightly]."
            )

    def path_of(self, key: str, value: str, source: str) -> str:
        """A path that is relative to the file."""
        folder = self.path.parent
        path = folder / Path(value).expanduser()
        if self._is_confined and not path.resolve().is_relative_to(folder.resolve()):
            why = f"it must be below {folder}; type --{key} {value}, or name this file by --config"
            raise BadInput("config", f"{source}: {key}: {why}.")
        return str(path)

    def place(self, profile: str, key: str) -> str:
        """The file, and the line of a key where that is found."""
        table = ""
        for number, line in enumerate(self._text.splitlines(), start=1):
            if header := re.match(r"\s*\[([^\[\]]+)\]", line):
                table = header[1].replace('"', "").replace(" ", "")
            elif table == (f"profile.{profile}" if profile else "") and line.partition("=")[0].strip(' \t"') == key:
                return f"{self.shown}, line {number}"
        return self.shown


def _files(named: str) -> list[_File]:
    """The file that is named; else that of the user, and that of the project, if they exist."""
    if named:
        return [_File(Path(named).expanduser().absolute())]
    of_user = user_config_folder()
    of_project = next((path for folder in _folders(Path.cwd()) if (path := folder / FILE).is_file()), None)
    found = [_File(of_user / FILE)] if of_user is not None and (of_user / FILE).is_file() else []
    if of_project is not None and of_project not in [file.path for file in found]:
        found.append(_File(of_project, is_confined=True))  # which may come with the files of a stranger
    return found


def _folders(folder: Path) -> list[Path]:
    """The working folder, and those above it up to the root of its repository or the home of the user. Outside of both
    it is alone: what others put above it, such as into /tmp, is not read."""
    above = [folder, *folder.parents]
    ends = [place for place, one in enumerate(above) if (one / ".git").exists() or one == Path.home()]
    return above[: ends[0] + 1 if ends else 1]


def _with_profile(files: Sequence[_File], profile: str) -> list[_File]:
    chosen = [file for file in files if profile in file.profiles]
    if chosen:
        return chosen
    if not files:
        raise BadInput("profile", f"--profile {profile}: there is no {FILE} here or above; --config FILE names one.")
    known = sorted({name for file in files for name in file.profiles})
    meant = parsers.did_you_mean(profile, known) or (
        f". It has {', '.join(known)}." if known else ". It has no profiles."
    )
    raise BadInput("profile", f"There is no profile {profile!r} in {' or '.join(file.shown for file in files)}{meant}")


def _of_file(file: _File, profile: str, options: Mapping[str, Action]) -> dict[str, Setting]:
    """The settings at the top of a file, or in a profile."""
    found = dict[str, Setting]()
    for key, value in (file.profiles[profile] if profile else file.content).items():
        source = file.place(profile, key)
        if key not in options:
            why = (
                "can only be given on the command line."
                if key in _TYPED_ONLY
                else f"is not an option of a crawl{_near(key, options)}"
            )
            raise BadInput("config", f"{source}: {key!r} {why}")
        if _is_secret(options[key]) and not all(_REFERENCE.fullmatch(str(one)) for one in _listed(value)):
            raise BadInput(
                "config",
                f"{source}: {key} is a credential; name its environment variable, such as {_example(key)}.",
            )
        if options[key].metavar == "FILE" and isinstance(value, str) and value != "-":
            value = file.path_of(key, value, source)  # noqa: PLW2901 (of the file, not of this folder)
        found[key] = Setting(value, source, _words(key, options[key], value, source), file.shown)
    return found


def _near(key: str, options: Mapping[str, Action]) -> str:
    return parsers.did_you_mean(key.replace("_", "-"), list(options)) or as_typed(" (see bin/crawl --help).")


def _is_secret(action: Action) -> bool:
    return not set(parsers.table()["secret"]).isdisjoint(action.option_strings)


def _example(key: str) -> str:
    name = f"env:{key.replace('-', '_').upper()}"
    return f'"password={name}"' if key == "login-field" else f'"{name}"'


def _of_environment(environ: Mapping[str, str], options: Mapping[str, Action]) -> dict[str, Setting]:
    found = dict[str, Setting]()
    for key, action in options.items():
        if text := environ.get(_variable(key), ""):
            value: Any = text.splitlines() if _is_list(action) else text
            if action.nargs == 0:
                value = _YES_NO.get(text.lower(), text)
            found[key] = Setting(value, _variable(key), _words(key, action, value, _variable(key)))
    return found


# Values.


def _words(key: str, action: Action, value: Any, source: str) -> list[str]:
    """As the value would be typed. Raises BadInput if the option does not take it."""

    def refused(why: str) -> BadInput:
        return BadInput("config", f"{source}: {key}: {why}.")

    if action.nargs == 0:
        if not isinstance(value, bool):
            raise refused(f"it must be true or false, not {_written(value)}")
        negative = [flag for flag in action.option_strings if flag.startswith("--no-") and flag != f"--{key}"]
        return [f"--{key}"] if value else negative
    if isinstance(value, list) and not _is_list(action):
        raise refused(f"it takes one value, not {_written(value)}")
    words = list[str]()
    for one in _listed(value):
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            raise refused(f"it must be text or a number, not {_written(one)}")
        if action.choices and one not in action.choices:
            raise refused(f"{one!r} is not one of {', '.join(action.choices)}")
        if callable(action.type):
            try:
                action.type(str(one))
            except ArgumentTypeError as error:
                raise refused(str(error)) from None
        words.append(f"--{key}={one}" if action.option_strings else str(one))
    return words


def _is_list(action: Action) -> bool:
    return isinstance(action.default, list)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _written(value: Any) -> str:
    """As TOML has it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _table(options: Mapping[str, Action], typed: Mapping[str, Any], off: set[str], used: Mapping[str, Setting]) -> str:
    """What differs from the defaults, as a file that may be used in turn, and where each value is from."""
    lines = list(_lines(options, typed, off, used))
    width = max((len(line) for line, _ in lines), default=0)
    return "".join(f"{line:<{width}}  # {source}\n" for line, source in lines) + "# all other options: default\n"


def _lines(
    options: Mapping[str, Action], typed: Mapping[str, Any], off: set[str], used: Mapping[str, Setting]
) -> Iterator[tuple[str, str]]:
    for key, action in options.items():
        if key in typed or key in off:
            value, source = typed.get(key, False), "command line"
        elif key in used:
            value, source = used[key].value, used[key].source
        else:
            continue
        is_open = not _is_secret(action) or all(_REFERENCE.fullmatch(str(one)) for one in _listed(value))
        yield (f"{key} = {_written(value)}" if is_open else f"# {key} is a credential"), source
