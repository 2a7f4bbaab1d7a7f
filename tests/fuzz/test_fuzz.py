"""The fuzzer: a short attack finds nothing in the parsers there are, and finds what was hidden in others."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz import session
from tests.fuzz.__main__ import main
from tests.fuzz.parsers import PARSERS, Parser
from tests.fuzz.session import attack

LONG = 64_000  # bytes; eight times as long as the first that is measured


@pytest.mark.filterwarnings("ignore")  # of soupsieve and bs4, about what they are given
@pytest.mark.parametrize("name", PARSERS)
def test_no_parser_takes_the_square_of_a_few_inputs_made_longer(name: str) -> None:
    parser = replace(PARSERS[name], longest=min(PARSERS[name].longest, LONG))
    assert [fault.what for fault in attack(parser, 2, inputs=12).faults] == []


def _explodes(data: bytes) -> None:
    re.match(rb"(a+)+$", data)


def _takes_the_square(data: bytes) -> None:
    re.findall(rb"a*b", data)


def _raises(data: bytes) -> None:
    if b"<<" in data:
        raise ValueError(data)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (_raises, ("ValueError at test_fuzz.py",)),
        (_explodes, ("TookTooLong",)),
        (_takes_the_square, ("it takes", "TookTooLong")),  # a busy machine loses its patience first
    ],
    ids=["raises", "explodes", "square"],
)
def test_it_finds_a_fault_that_was_hidden(
    read: Callable[[bytes], None], said: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.4)
    parser = Parser("hidden", read, (b"<a>", b"aa-"), (b"<", b"a"), longest=16 * 1024, floor=0.03)
    found = attack(parser, 1, inputs=60)
    assert [fault.what for fault in found.faults if fault.what.startswith(said)]


def test_the_command_tries_an_input_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "url-1.bin"
    file.write_bytes(b"http://[")
    assert main(["url", "--replay", str(file)]) == 0
    assert "nothing happens" in capsys.readouterr().out
    assert main(["no-such"]) == 2
