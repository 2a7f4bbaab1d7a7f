"""The command: attack parsers for a while, print what came of it, and keep each input that brought a fault to light."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.session import Attacked


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    _set_up()
    from tests.fuzz.parsers import PARSERS
    from tests.fuzz.session import attack, tried

    unknown = [name for name in given.parsers if name not in PARSERS]
    if unknown:
        print(f"There is no parser named {unknown[0]}; there are {', '.join(PARSERS)}.", file=sys.stderr)
        return 2
    chosen = [PARSERS[name] for name in given.parsers or PARSERS]
    if given.replay:
        faults = [fault for parser in chosen if (fault := tried(parser, given.replay.read_bytes()))]
        print("\n".join(f"{fault.parser}: {fault.what}" for fault in faults) or "nothing happens")
        return int(bool(faults))
    seed = random.randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    came = [_shown(attack(parser, seed, seconds=given.seconds / len(chosen))) for parser in chosen]
    return _kept(came, given.out)


def _set_up() -> None:
    import django

    if not os.environ.get("DJANGO_SETTINGS_MODULE"):
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.test"
        django.setup()
    warnings.simplefilter("ignore")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("parsers", nargs="*", metavar="PARSER", help="which are attacked (default: all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, all parsers together (default: 60)")
    parser.add_argument("--seed", type=int, help="draw the inputs that were drawn with this seed before")
    parser.add_argument("--out", type=Path, help="folder for the inputs that bring a fault to light")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try such an input again, and nothing else")
    return parser.parse_args(arguments)


def _shown(one: Attacked) -> Attacked:
    print(f"{one.name:<11} {one.inputs:>8,} inputs {one.worst:>8,.0f} ms/MB {len(one.faults):>3} faults", flush=True)
    return one


def _kept(came: Sequence[Attacked], out: Path | None) -> int:
    faults = [fault for one in came for fault in one.faults]
    if not faults:
        return 0
    folder = out or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    for number, fault in enumerate(faults, start=1):
        file = folder / f"{fault.parser}-{number}.bin"
        file.write_bytes(fault.data)
        print(f"{fault.parser}: {fault.what}\n  python -m tests.fuzz {fault.parser} --replay {file}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
