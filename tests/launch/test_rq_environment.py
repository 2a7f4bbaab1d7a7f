"""The literal `rq` and `rq-dashboard`, with the project's environment active and no variables, use its Redis."""

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from crawler.launch import install
from crawler.settings.environment import embedded_socket
from tests.conftest import free_port
from tests.launch.conftest import link_project
from tests.launch.test_worker import without_settings
from tests.marking import long_unless
from tests.stack import ROOT

OUTSIDE = Path("/")
NAMES = ("RQ_REDIS_URL", "RQ_DASHBOARD_REDIS_URL", "RQ_DASHBOARD_BIND")
SETTINGS = "import os; print(*(os.environ.get(name) for name in {names}), sep='\\n')"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder with an environment as `bin/_setup` creates it, with the packages of this one."""
    root = tmp_path_factory.mktemp("project")
    link_project(root)
    venv.create(root / ".venv", symlinks=True)
    packages = install.packages(root / ".venv", f"{sys.version_info[0]}.{sys.version_info[1]}")
    install.write_startup_file(packages)
    (packages / "all.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return root


def started(project: Path, program: str, *arguments: str, folder: Path = OUTSIDE, **variables: str) -> list[str]:
    """The lines of a program of this name in the environment: what it finds in these variables."""
    script = project / ".venv" / "bin" / program
    names = ("RQ_REDIS_URL", "RQ_CONNECTION_CLASS", "RQ_DASHBOARD_REDIS_URL", "RQ_DASHBOARD_BIND")
    script.write_text(f"#!{project}/.venv/bin/python\n{SETTINGS.format(names=names)}\n")
    script.chmod(0o755)
    return run(script, *arguments, folder=folder, **variables).stdout.splitlines()


def run(*command: str | Path, folder: Path = OUTSIDE, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in without_settings().items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=folder, env={**clean, **variables}, capture_output=True, text=True, check=False, timeout=60
    )


def test_rq_finds_the_embedded_redis_of_the_project(project: Path) -> None:
    told = started(project, "rq", "worker", "crawl", "fetch")
    assert told == [f"unix://{embedded_socket(project / '.data')}", "crawler.redis_client.RedisClient", "None", "None"]


def test_rq_finds_the_redis_that_the_env_file_names(project: Path) -> None:
    (project / ".env").write_text("REDIS_URL=redis://:secret@redis.test/3\n")
    try:
        assert started(project, "rq", "info")[0] == "redis://:secret@redis.test/3"
    finally:
        (project / ".env").unlink()


def test_the_dashboard_finds_it_and_is_not_open_to_others(project: Path) -> None:
    variables = {"REDIS_URL": "redis://redis.test/3"}
    assert started(project, "rq-dashboard", **variables)[2:] == ["redis://redis.test/3", "127.0.0.1"]
    assert (project / ".data" / "dashboard_password").exists()


@pytest.mark.parametrize(
    "name", long_unless(["RQ_REDIS_URL"], ["RQ_REDIS_URL", "RQ_DASHBOARD_REDIS_URL", "RQ_DASHBOARD_BIND"])
)
def test_what_the_user_has_set_stays(project: Path, name: str) -> None:
    program = "rq-dashboard" if "DASHBOARD" in name else "rq"
    assert "of.the.user" in started(project, program, **{name: "of.the.user"})


@pytest.mark.parametrize(
    ("arguments", "variables"), [(["-c", "mine"], {}), (["--config=mine"], {}), ([], {"RQ_CONFIG": "mine"})]
)
def test_a_module_with_settings_of_rq_is_not_overridden(
    project: Path, arguments: list[str], variables: dict[str, str]
) -> None:
    assert started(project, "rq", "worker", *arguments, **variables) == ["None"] * 4


def test_other_programs_are_left_alone(project: Path) -> None:
    assert started(project, "honcho") == ["None"] * 4
    modules = run(project / ".venv" / "bin" / "python", "-c", "import sys; print('settings' in sys.modules)")
    assert (modules.stdout, modules.stderr) == ("False\n", "")


def test_another_copy_of_the_project_is_left_alone(project: Path) -> None:
    assert started(project, "rq", PYTHONPATH=str(ROOT)) == ["None"] * 4  # its modules come first
    assert started(project, "rq", folder=ROOT) == ["None"] * 4


def test_a_setting_that_cannot_be_used_is_one_line(project: Path) -> None:
    started(project, "rq")
    ended = run(project / ".venv" / "bin" / "rq", REDIS_URL="localhost")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("REDIS_URL is 'localhost'. It must begin with redis://")
    assert ended.stderr.count("\n") == 1


def test_where_the_project_is_gone_python_starts_nevertheless(project: Path) -> None:
    started(project, "rq")
    (project / "crawler").rename(project / "away")
    try:
        ended = run(project / ".venv" / "bin" / "rq")
    finally:
        (project / "away").rename(project / "crawler")
    assert (ended.returncode, ended.stdout.splitlines()) == (0, ["None"] * 4)


def test_the_literal_commands_work(project: Path, redis_url: str) -> None:
    """RQ's own programs, found as in an active environment."""
    redis_url = redis_url.replace("/0", "/9")  # without jobs of other tests
    own = Path(sys.executable).parent / "rq"
    shutil.copy(own, project / ".venv" / "bin" / "rq")
    lines = own.read_text().partition("\n")[2]
    (project / ".venv" / "bin" / "rq").write_text(f"#!{project}/.venv/bin/python\n{lines}")
    for arguments in (["info"], ["worker", "--burst", "crawl", "fetch"], ["worker-pool", "-b", "-n", "2", "crawl"]):
        ended = run(project / ".venv" / "bin" / "rq", *arguments, REDIS_URL=redis_url)
        assert ended.returncode == 0, ended.stderr
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    assert run(project / ".venv" / "bin" / "rq", "info", REDIS_URL=nowhere).returncode == 1
