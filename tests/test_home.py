"""Where data are kept: in the folder of a clone, or in the user's where pip has installed the project."""

from pathlib import Path

import pytest

from crawler.home import data_folder_of, home_of


def test_a_clone_keeps_them_in_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "manage.py").touch()
    assert (home_of(tmp_path), data_folder_of(tmp_path)) == (tmp_path, tmp_path / ".data")


def test_what_pip_installed_keeps_them_in_the_data_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_of(tmp_path) == data_folder_of(tmp_path)
    assert tmp_path in home_of(tmp_path).parents
    assert home_of(tmp_path).name == "site-crawler"
