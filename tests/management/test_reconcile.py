import pytest
from django.core.management import call_command

from tests.factories import make_crawl, make_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


def test_it_says_what_it_found_and_what_it_woke(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=1)
    make_page(crawl, "http://site.test/")
    call_command("reconcile")
    assert capsys.readouterr().out == "1 running crawl, 1 woken; 0 notices to deliver.\n"


def test_a_second_look_within_a_second_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reconcile")
    call_command("reconcile")
    first, second = capsys.readouterr().out.splitlines()
    assert first == "0 running crawls, 0 woken; 0 notices to deliver."
    assert second == "Nothing was done, because another process did this less than a second ago."
