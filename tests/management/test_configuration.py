"""The options of `crawl` from site-crawler.toml, its profiles and the environment: what counts, and what is refused."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.core.errors import BadInput
from crawler.management import configuration, usage
from crawler.management.configuration import configure
from tests.documented import text_of

URL = "https://a.test/"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file; the working folder is that of a repository below the user's home."""
    project = tmp_path / "home" / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.delenv("SITE_CRAWLER_NO_CONFIG")

    def write(text: str, folder: str = ".") -> Path:
        file = project / folder / configuration.FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return write


def words(*arguments: str, **environ: str) -> list[str]:
    return configure(arguments, environ).arguments


def refusal(*arguments: str, **environ: str) -> str:
    with pytest.raises(BadInput) as refused:
        configure(arguments, environ)
    return str(refused.value)


def test_without_a_file_nothing_is_added(write: Write) -> None:
    assert configure([URL, "--json"], {}) == ([URL, "--json"], "", None)


def test_a_flag_is_above_the_environment_above_the_profile_above_the_file(write: Write) -> None:
    write("max-pages = 1\n[profile.big]\nmax-pages = 2\n")
    assert words(URL) == ["--max-pages=1", URL]
    assert words(URL, "--profile", "big") == ["--max-pages=2", URL, "--profile", "big"]
    assert words(URL, SITE_CRAWLER_PROFILE="big") == ["--max-pages=2", URL]
    assert words(URL, "--profile", "big", SITE_CRAWLER_MAX_PAGES="3")[0] == "--max-pages=3"
    assert words(URL, "--max-pages", "4", SITE_CRAWLER_MAX_PAGES="3") == [URL, "--max-pages", "4"]


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("delay = 0.5", ["--delay=0.5"]),
        ('deadline = "2h"', ["--deadline=2h"]),
        ("deadline = 90", ["--deadline=90"]),
        ("sitemaps = true", ["--sitemaps"]),
        ("traps = false", ["--no-traps"]),
        ("json = true", ["--json"]),
        ("json = false", []),
        ("no-recursive = true", ["--no-recursive"]),
        ('exclude = ["/a/", "-b"]', ["--exclude=/a/", "--exclude=-b"]),
        ('exclude = "/a/"', ["--exclude=/a/"]),
        ('externals = "check"', ["--externals=check"]),
        ('urls = ["https://b.test/"]', ["https://b.test/"]),
    ],
)
def test_a_value_is_what_would_be_typed(write: Write, line: str, typed: list[str]) -> None:
    write(line)
    assert words() == typed


@pytest.mark.parametrize(
    ("name", "value", "typed"),
    [
        ("EXCLUDE", "/a/\n/b/", ["--exclude=/a/", "--exclude=/b/"]),
        ("JSON", "yes", ["--json"]),
        ("TRAPS", "0", ["--no-traps"]),
        ("MAX_PAGES", "", []),
        ("COOKIE", "a=b", ["--cookie=a=b"]),
    ],
)
def test_a_variable_is_what_would_be_typed(write: Write, name: str, value: str, typed: list[str]) -> None:
    assert words(**{f"SITE_CRAWLER_{name}": value}) == typed


def test_what_is_typed_takes_the_place_of_a_whole_list(write: Write) -> None:
    write('exclude = ["/a/", "/b/"]\n')
    assert words(URL, "--exclude", "/c/") == [URL, "--exclude", "/c/"]


def test_a_switch_that_a_file_turns_on_is_turned_off_by_no(write: Write) -> None:
    write("json = true\nsitemaps = true\n")
    assert words(URL, "--no-json", "--no-sitemaps") == [URL, "--no-sitemaps"]


def test_options_that_exclude_each_other_do_not_meet(write: Write) -> None:
    write('urls = ["https://b.test/"]\nlist = "urls.txt"\nexport = "a.csv"\nworkers = 2\nmax-pages = 5\n')
    here = Path.cwd()
    assert words(URL, "--detach") == ["--max-pages=5", URL, "--detach"]
    assert words("--list", "x")[:-2] == [f"--export={here}/a.csv", "--workers=2", "--max-pages=5"]
    assert words("--resume", "@last")[:-2] == [f"--export={here}/a.csv", "--workers=2"]


def test_a_crawl_that_goes_on_keeps_its_credentials(write: Write) -> None:
    write('login-field = "password=env:PW"\n')
    assert words("--resume", "@last") == ["--resume", "@last"]


def test_the_file_is_looked_for_up_to_the_root_of_the_repository(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("max-pages = 1\n", "..")
    monkeypatch.chdir("..")
    assert words() == ["--max-pages=1"]
    below = Path("project", "below")
    below.mkdir()
    monkeypatch.chdir(below)
    assert words() == []
    write("max-pages = 2\n")
    assert words() == ["--max-pages=2"]
    write("max-pages = 3\n", "below")
    assert words() == ["--max-pages=3"]


def test_outside_of_repository_and_home_only_the_working_folder_counts(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("max-pages = 1\n", "../../shared")
    (tmp_path / "shared" / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "shared" / "mine")
    assert words() == []
    monkeypatch.chdir(tmp_path / "shared")
    assert words() == ["--max-pages=1"]


def test_the_file_of_the_project_is_above_that_of_the_user(write: Write) -> None:
    write("max-pages = 1\ndelay = 1\n[profile.slow]\ndelay = 9\n", "../.config/site-crawler")
    write("max-pages = 2\n")
    assert sorted(words()) == ["--delay=1", "--max-pages=2"]
    assert sorted(words("--profile=slow")) == ["--delay=9", "--max-pages=2", "--profile=slow"]


def test_a_named_file_is_read_alone_and_no_config_reads_none(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("max-pages = 1\n")
    write("delay = 1\n", "other")
    assert words("--config", "other/site-crawler.toml")[0] == "--delay=1"
    assert words(SITE_CRAWLER_CONFIG="other/site-crawler.toml") == ["--delay=1"]
    assert words("--no-config", SITE_CRAWLER_DELAY="2") == ["--delay=2", "--no-config"]
    assert words(SITE_CRAWLER_NO_CONFIG="1") == []


def test_files_in_a_file_are_relative_to_it(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write('export = "out/a.csv"\n').parent
    (folder / "below").mkdir()
    monkeypatch.chdir("below")
    assert words() == [f"--export={folder.resolve()}/out/a.csv"]
    write('export = "-"\n')
    assert words() == ["--export=-"]


def test_the_file_of_a_project_names_no_file_outside_of_its_folder(write: Write, tmp_path: Path) -> None:
    file = write(f'export = "{tmp_path}/a.csv"\n')
    assert refusal().startswith("site-crawler.toml, line 1: export: it must be below ")
    assert words("--config", str(file))[0] == f"--export={tmp_path}/a.csv"
    write('list = "../urls.txt"\n')
    assert refusal().endswith("type --list ../urls.txt, or name this file by --config.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\nmax-page = 5\n", "site-crawler.toml, line 1: 'a' is not an option of a crawl (see bin/crawl --help)."),
        (
            "max-page = 5\n",
            "site-crawler.toml, line 1: 'max-page' is not an option of a crawl. Did you mean max-pages?",
        ),
        (
            "\nmax_pages = 5\n",
            "site-crawler.toml, line 2: 'max_pages' is not an option of a crawl. Did you mean max-pages?",
        ),
        ('resume = "x"\n', "site-crawler.toml, line 1: 'resume' can only be given on the command line."),
        ("max-pages = true\n", "site-crawler.toml, line 1: max-pages: it must be text or a number, not true."),
        ('max-pages = "x"\n', "site-crawler.toml, line 1: max-pages: 'x' is not a whole number."),
        ("max-pages = [1]\n", "site-crawler.toml, line 1: max-pages: it takes one value, not [1]."),
        ("json = 1\n", "site-crawler.toml, line 1: json: it must be true or false, not 1."),
        ('keep = ["xml"]\n', "line 1: keep: 'xml' is not one of html, text, markdown, warc, screenshot, pdf."),
        ("max-pages 5\n", "site-crawler.toml is not TOML: Expected '=' after a key in a key/value pair (at line 1"),
        ("profile = 5\n", "site-crawler.toml: profile must be a table for each profile, such as [profile.nightly]."),
        ("[profile.p]\nx = 5\n[profile.q]\nmax-pages = 1\n", "line 2: 'x' is not an option of a crawl"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(write: Write, text: str, said: str) -> None:
    write(text)
    assert said in refusal(*(["--profile", "p"] if "profile.p" in text else []))


def test_a_variable_that_cannot_be_used_is_named(write: Write) -> None:
    assert refusal(SITE_CRAWLER_JSON="perhaps") == 'SITE_CRAWLER_JSON: json: it must be true or false, not "perhaps".'


def test_a_profile_that_there_is_not(write: Write) -> None:
    assert refusal("--profile", "a").startswith("--profile a: there is no site-crawler.toml here or above")
    write("[profile.nightly]\n[profile.docs]\n")
    assert refusal("--profile", "nightli") == (
        "There is no profile 'nightli' in site-crawler.toml. Did you mean nightly?"
    )
    assert refusal("--profile", "x") == "There is no profile 'x' in site-crawler.toml. It has docs, nightly."


def test_a_file_that_cannot_be_read(write: Write, tmp_path: Path) -> None:
    assert "missing.toml cannot be read: No such file or directory." in refusal("--config", "missing.toml")
    (tmp_path / "latin.toml").write_bytes(b'user-agent = "\xe9"')
    assert "latin.toml is not text in UTF-8." in refusal("--config", str(tmp_path / "latin.toml"))


@pytest.mark.parametrize(
    "line", ['cookie = "a=b"', 'cookie = "@file"', 'header = ["env:H", "X: y"]', 'auth = "ann:pw"']
)
def test_a_credential_in_a_file_only_names_a_variable(write: Write, line: str) -> None:
    write(line)
    key = line.partition(" ")[0]
    said = refusal()
    assert said.startswith(f"site-crawler.toml, line 1: {key} is a credential; name its environment variable")
    assert not any(secret in said for secret in ("a=b", "X: y", "ann:pw"))


def test_credentials_that_name_variables_are_taken(write: Write) -> None:
    write('header = "env:SITE_HEADER"\nlogin-field = ["user=env:USER_NAME", "password=env:PW"]\n')
    assert words() == ["--header=env:SITE_HEADER", "--login-field=user=env:USER_NAME", "--login-field=password=env:PW"]


def test_it_shows_where_each_value_comes_from(write: Write) -> None:
    write('max-pages = 5\njson = true\nheader = "env:H"\n[profile.p]\nexclude = ["/a/"]\n')
    arguments = [URL, "--profile", "p", "--no-json", "--bearer", "secret", "--show-config"]
    assert configure(arguments, {"SITE_CRAWLER_DELAY": "2"}).table == (
        'urls = ["https://a.test/"]  # command line\n'
        "max-pages = 5               # site-crawler.toml, line 1\n"
        'exclude = ["/a/"]           # site-crawler.toml, line 5\n'
        'delay = "2"                 # SITE_CRAWLER_DELAY\n'
        'header = "env:H"            # site-crawler.toml, line 3\n'
        "# bearer is a credential    # command line\n"
        "json = false                # command line\n"
        "# all other options: default\n"
    )


def test_the_command_ends_when_it_has_shown_that(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        usage.parse(["--show-config"])
    assert (ended.value.code, capsys.readouterr().out) == (0, "# all other options: default\n")


def test_the_command_ends_with_2_if_the_file_cannot_be_used(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("max-page = 5\n")
    with pytest.raises(SystemExit) as ended:
        usage.parse([URL])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_file_of_the_documents_can_be_used(write: Write) -> None:
    [text] = re.findall(r"```toml\n(.*?)```", text_of("command-line.md"), re.DOTALL)
    write(text)
    assert words("--profile", "nightly")[:4] == [
        "--max-pages=500",
        "--exclude=/archive/",
        "--exclude=\\?print=",
        "--header=env:SITE_HEADER",
    ]


def test_it_says_which_files_it_used(write: Write) -> None:
    write("max-pages = 5\n")
    assert configure([URL], {}).note == "Options from site-crawler.toml."
    assert configure([URL, "--max-pages", "1"], {}).note == ""
