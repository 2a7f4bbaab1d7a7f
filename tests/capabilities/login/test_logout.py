"""Which links log out, by their URL and by their text."""

import pytest

from crawler.capabilities.login.logout import TEXTS, WORDS, is_logout_text, is_logout_url
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.core.urls.normalise import normalise

LOGOUTS = [
    "/logout",
    "/logout/",
    "/user/logout/now",
    "/user/sign-out",
    "/Account/LogOff",
    "/LogOut.do",
    "/signOut",
    "/logout.php?sid=1",
    "/account_logout",
    "/log-out-all",
    "/wp-login.php?action=logout&_wpnonce=1",
    "/?logout",
    "/wiki/Special:UserLogout",
    "/?a=1;logout=1",
    "/index.php?route=account/logout",
    "/index.php?title=Special:UserLogout",
    "/abmelden",
    "/d%C3%A9connexion",
    "/se-deconnecter",
    "/cerrar-sesion",
    "/wyloguj",
    "/çıkış-yap",  # noqa: RUF001 (Turkish)
    "/выход",
    "/登出",
]
OTHERS = [
    "/",
    "/login",
    "/login?next=/logout",
    "/login?next=https://example.com/logout",
    "/how-to-log-out-everywhere",
    "/blog/logout-flow-explained",
    "/blogout",
    "/log/out",
    "/layout",
    "/out/log-outdoor",
    "/salir",
    "/?q=logout+flow+explained",
]


@pytest.mark.parametrize("path", LOGOUTS)
def test_this_url_logs_out(path: str) -> None:
    assert is_logout_url(normalise(f"https://example.com{path}") or "")


@pytest.mark.parametrize("path", OTHERS)
def test_this_url_does_not(path: str) -> None:
    assert not is_logout_url(normalise(f"https://example.com{path}") or "")


@pytest.mark.parametrize(
    "text", ["Log out", "Sign out »", "LOGOUT", "Abmelden", "Se déconnecter", "ログアウト", "退出"]
)
def test_this_text_logs_out(text: str) -> None:
    assert is_logout_text(text)


@pytest.mark.parametrize("text", ["", "Log in", "How to log out", "Outlook", "Log out of all devices with one click"])
def test_this_text_does_not(text: str) -> None:
    assert not is_logout_text(text)


def test_every_word_of_the_tables_is_found_by_itself() -> None:
    assert [word for word in TEXTS if not is_logout_text(word)] == []
    assert [word for word in WORDS if not is_logout_url(f"https://example.com/{word}")] == []


def test_only_a_crawl_that_logs_in_leaves_them_out() -> None:
    start, url = "https://example.com/", "https://example.com/logout"
    assert Scope.of([start], CrawlOptions()).side(url) is Side.INSIDE
    assert Scope.of([start], CrawlOptions(login_url=f"{start}login")).side(url) is Side.NOWHERE
