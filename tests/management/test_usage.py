"""Help, version and wrong arguments of `bin/crawl`, before anything is installed or Django is imported."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import BaseCommand, load_command_class

from crawler import version
from crawler.management import parsers, usage
from tests.argument_table import table

ROOT = Path(__file__).resolve().parents[2]
SLOW = ("django", "msgspec", "ada_url", "redis", "crawler.settings")


def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
    """By a Python that has the standard library alone."""
    command = [sys.executable, "-P", "-S", "-m", "crawler.management.usage", *arguments]
    environment = {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


def refusal(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        usage.parse(arguments)
    assert ended.value.code == parsers.BAD_USAGE
    return capsys.readouterr().err


def test_the_table_has_the_arguments_of_the_command() -> None:
    assert parsers.TABLE.read_text(encoding="utf-8") == table(), "python -m tests.argument_table"


def test_what_is_typed_is_read_as_by_the_command() -> None:
    words = "https://a.test --max-pages 5 --no-sitemaps --keep html --timeout 2h --header A:b --fields x.yaml"
    arguments = words.split()
    command = vars(load_command_class("crawler", "crawl").create_parser("bin/crawl", "crawl").parse_args(arguments))
    typed = vars(usage.parse(arguments))
    of_django = {action.dest for action in BaseCommand().create_parser("", "")._actions}
    assert {name: value for name, value in typed.items() if name not in of_django} == {
        name: value for name, value in command.items() if name not in of_django
    }


def test_the_version_is_this_projects() -> None:
    printed = bare("--version")
    assert (printed.returncode, printed.stdout) == (0, f"{version.described()}\n")


def test_the_help_needs_nothing_installed() -> None:
    printed = bare("--help")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert "--max-pages N" in printed.stdout
    assert "--allow-private" in printed.stdout


def test_arguments_that_can_be_used_go_on() -> None:
    printed = bare("https://a.test/", "--export", "pages.csv")
    assert (printed.returncode, printed.stdout, printed.stderr) == (usage.GOES_ON, "", "")


def test_bin_crawl_judges_its_arguments_before_it_imports_django() -> None:
    script = (
        "import sys\nfrom crawler.launch import crawl\ntry:\n    crawl.main(['--version'])\nexcept SystemExit:\n"
        f"    print([name for name in {SLOW} if name in sys.modules])"
    )
    command = [sys.executable, "-P", "-c", script]
    printed = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["a.test", "--max-page", "3"],
            "There is no option --max-page. Did you mean --max-pages? (see bin/crawl --help)",
        ),
        (["a.test", "--max-page=3"], "There is no option --max-page. Did you mean --max-pages? (see bin/crawl --help)"),
        (["a.test", "--qqqqq"], "There is no option --qqqqq (see bin/crawl --help)"),
        (["ftp://a.test/"], "Only http and https can be crawled, not ftp: 'ftp://a.test/'."),
        ([" "], "A web address is missing; enter one such as https://example.com/."),
        (["two words"], "'two words' is not a web address; enter one such as https://example.com/."),
        (["https://"], "'https://' has no host; enter a web address such as https://example.com/."),
        (["a.test", "--resume", "x"], "A resumed crawl keeps its original options; leave out the URL."),
        (
            ["a.test", "--json", "--export", "-"],
            "--json and --export - both write to stdout; give --export a file name.",
        ),
    ],
)
def test_wrong_arguments_are_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(*arguments, capsys=capsys) == f"{line}\n"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8801/", "localhost:8801", "http://[::1]/"])
def test_this_machine_is_refused_unless_it_is_allowed(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(usage, "_ROOT", tmp_path)
    monkeypatch.delenv("CRAWLER_PRIVATE_HOSTS", raising=False)
    assert "add --allow-private" in refusal(url, capsys=capsys)
    assert usage.parse([url, "--allow-private"]).urls == [url]


def test_this_machine_is_not_refused_where_a_setting_may_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_PRIVATE_HOSTS", "127.0.0.1")
    assert usage.parse(["http://127.0.0.1:8801/"]).urls == ["http://127.0.0.1:8801/"]
