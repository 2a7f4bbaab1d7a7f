"""Second factor, single sign-on and password reset, on a server where they are switched on."""

import base64
import hashlib
import hmac
import re
import shutil
import struct
import time
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
import requests
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured

from crawler.models import AuditEntry
from crawler.settings import sign_in
from tests.api.conftest import answers, free_port
from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider
from tests.stack import Stack

PASSWORD = "correct horse battery"


class Browser:
    """A user's browser, by requests: it keeps cookies, follows redirects and sends the CSRF token."""

    def __init__(self, address: str) -> None:
        self.address, self.session = address, requests.Session()

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.address + path, timeout=20)

    def post(self, path: str, **fields: str) -> requests.Response:
        token = self.session.cookies.get("csrftoken") or self.get("/login/").cookies["csrftoken"]
        headers = {"Referer": self.address + path}
        sent = {**fields, "csrfmiddlewaretoken": token}
        return self.session.post(self.address + path, sent, headers=headers, timeout=20)

    def log_in(self, name: str, password: str = PASSWORD) -> requests.Response:
        return self.post("/login/", username=name, password=password)

    @property
    def is_in(self) -> bool:
        return self.get("/account/").url == f"{self.address}/account/"


def code_of(secret: str, at: float) -> str:
    """The code that an authenticator app shows (RFC 6238)."""
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", int(at // 30)), hashlib.sha1).digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def next_code(secret: str) -> str:
    """A code that was not used yet: each is taken once."""
    return code_of(secret, time.time() + 30)


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider().serving() as serving:
        yield serving


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, redis_url: str, provider: IdentityProvider
) -> Iterator[tuple[Stack, str]]:
    address = f"127.0.0.1:{free_port()}"
    stack = Stack(
        tmp_path_factory.mktemp("sign-in"),
        redis_url,
        DJANGO_SETTINGS_MODULE="tests.quick_passwords",
        CRAWLER_ALLAUTH="on",
        CRAWLER_OIDC_URL=provider.url,
        CRAWLER_OIDC_CLIENT_ID=CLIENT_ID,
        CRAWLER_OIDC_CLIENT_SECRET=CLIENT_SECRET,
        CRAWLER_OIDC_NAME="Example Login",
        CRAWLER_LOGIN_TRIES="4",
    )
    stack.redis.flushall()
    try:
        stack.run("python", "manage.py", "migrate", "--skip-checks")
        stack.spawn("gunicorn", "crawler.settings.wsgi", "--bind", address, "--threads", "8", "--no-control-socket")
        stack.wait_for(lambda: answers(int(address.rpartition(":")[2])))
        yield stack, f"http://{address}"
    finally:
        stack.end()


@pytest.fixture
def stack(served: tuple[Stack, str]) -> Stack:
    stack, _ = served
    stack.redis.flushall()
    shutil.rmtree(stack.folder / "mail", ignore_errors=True)
    return stack


@pytest.fixture
def browser(stack: Stack, served: tuple[Stack, str]) -> Browser:
    return Browser(served[1])


@pytest.fixture
def ann(stack: Stack) -> str:
    """The name of a new account, which is an e-mail address."""
    name = a_name()
    stack.within(lambda: an_account(name))
    return name


def an_account(username: str, **fields: Any) -> User:
    return User.objects.create_user(username, **{"email": username, "password": PASSWORD, **fields})


def a_name() -> str:
    return f"{token_hex(4)}@example.com"


def with_second_factor(browser: Browser, ann: str) -> str:
    """Ann sets up an app, and logs out. Returns its secret."""
    browser.log_in(ann)
    browser.post("/accounts/reauthenticate/", password=PASSWORD)
    page = browser.get("/accounts/2fa/totp/activate/").text
    secret = re.findall(r'id="authenticator_secret" type="text" value="(\w+)"', page)[0]
    done = browser.post("/accounts/2fa/totp/activate/", code=code_of(secret, time.time()))
    assert "/recovery-codes/" in done.url
    browser.post("/logout/")
    return secret


# A second factor


def test_without_a_second_factor_the_password_is_enough(browser: Browser, ann: str, stack: Stack) -> None:
    browser.log_in(ann)
    assert browser.is_in
    assert stack.within(lambda: AuditEntry.objects.filter(act="login").latest("pk").after) == {"by": "password"}


def test_with_a_second_factor_the_password_is_not_enough(browser: Browser, ann: str) -> None:
    with_second_factor(browser, ann)
    assert browser.log_in(ann).url.endswith("/accounts/2fa/authenticate/")
    assert not browser.is_in


def test_the_code_of_the_app_logs_in(browser: Browser, ann: str, stack: Stack) -> None:
    secret = with_second_factor(browser, ann)
    browser.log_in(ann)
    browser.post("/accounts/2fa/authenticate/", code=next_code(secret))
    assert browser.is_in
    way = stack.within(lambda: AuditEntry.objects.filter(act="login").latest("pk").after)
    assert way == {"by": "password and totp"}


@pytest.mark.long
def test_wrong_codes_are_limited_and_then_even_the_right_one_waits(browser: Browser, ann: str) -> None:
    secret = with_second_factor(browser, ann)
    browser.log_in(ann)
    for _ in range(4):
        browser.post("/accounts/2fa/authenticate/", code="000000")
    page = browser.post("/accounts/2fa/authenticate/", code=next_code(secret)).text
    assert "Too many tries." in page
    assert not browser.is_in


def test_the_page_of_the_package_does_not_go_around_the_limits_of_ours(browser: Browser) -> None:
    assert browser.get("/accounts/login/").url == f"{browser.address}/login/"
    assert browser.get("/accounts/signup/").url == f"{browser.address}/login/"


def test_the_password_is_asked_again_before_a_second_factor_is_set_up(browser: Browser, ann: str) -> None:
    browser.log_in(ann)
    assert "/accounts/reauthenticate/" in browser.get("/accounts/2fa/totp/activate/").url


def test_wrong_passwords_before_that_are_limited(browser: Browser, ann: str) -> None:
    browser.log_in(ann)
    for _ in range(4):
        browser.post("/accounts/reauthenticate/", password="wrong")
    assert "Too many tries." in browser.post("/accounts/reauthenticate/", password=PASSWORD).text


# Single sign-on


def by_provider(browser: Browser) -> requests.Response:
    return browser.get("/accounts/oidc/sso/login/")


def test_the_login_page_leads_to_the_provider(browser: Browser) -> None:
    assert "Log in with Example Login" in browser.get("/login/").text


def test_a_verified_address_gets_the_account_of_that_name(
    browser: Browser, ann: str, provider: IdentityProvider
) -> None:
    provider.claims = {"sub": ann, "email": ann, "email_verified": True}
    by_provider(browser)
    assert ann in browser.get("/account/").text
    assert browser.is_in


@pytest.mark.parametrize(
    ("verified", "account"),
    [
        (False, {}),
        (None, {}),
        ("true", {}),
        (True, {"username": "mallory"}),  # what a user typed as the address of an account
        (True, {"is_superuser": True}),
    ],
)
def test_an_address_that_is_not_verified_or_names_no_ordinary_account_gets_nothing(
    browser: Browser, stack: Stack, provider: IdentityProvider, verified: object, account: dict[str, Any]
) -> None:
    name = a_name()
    stack.within(lambda: an_account(**{"username": name, "email": name, **account}))
    provider.claims = {"sub": name, "email": name, "email_verified": verified}
    by_provider(browser)
    assert not browser.is_in


def test_nobody_gets_an_account_unless_the_operator_says_so(
    browser: Browser, stack: Stack, provider: IdentityProvider
) -> None:
    name = a_name()
    provider.claims = {"sub": name, "email": name, "email_verified": True}
    by_provider(browser)
    assert not browser.is_in
    assert not stack.within(User.objects.filter(email=name).exists)


def test_the_second_factor_holds_for_single_sign_on_too(browser: Browser, ann: str, provider: IdentityProvider) -> None:
    with_second_factor(browser, ann)
    provider.claims = {"sub": ann, "email": ann, "email_verified": True}
    assert by_provider(browser).url.endswith("/accounts/2fa/authenticate/")
    assert not browser.is_in


# A forgotten password


def test_a_mail_leads_to_a_new_password(browser: Browser, ann: str, stack: Stack) -> None:
    browser.post("/accounts/password/reset/", email=ann)
    mail = next(Path(stack.folder, "mail").iterdir()).read_bytes()
    text = message_from_bytes(mail, policy=policy.default).get_content()
    link = re.findall(r"http://\S+(/accounts/password/reset/key/\S+)", text)[0]
    form = browser.get(link)
    browser.post(form.url.removeprefix(browser.address), password1="another long one", password2="another long one")
    assert "Please enter a correct username" in browser.log_in(ann).text
    browser.log_in(ann, password="another long one")
    assert browser.is_in


def test_an_unknown_address_gets_the_same_page(browser: Browser) -> None:
    assert browser.post("/accounts/password/reset/", email="who@example.com").url.endswith("/password/reset/done/")


# The settings


def test_nothing_is_loaded_unless_it_is_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CRAWLER_ALLAUTH", "CRAWLER_OIDC_URL"):
        monkeypatch.delenv(name, raising=False)
    changed = sign_in.settings_of(["crawler"], [])
    assert not changed["CRAWLER_ALLAUTH"]
    assert "INSTALLED_APPS" not in changed


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"CRAWLER_ALLAUTH": "", "CRAWLER_OIDC_URL": "https://id.example"}, "Set CRAWLER_ALLAUTH=on"),
        ({"CRAWLER_ALLAUTH": "on", "CRAWLER_OIDC_URL": "https://id.example"}, "set CRAWLER_OIDC_CLIENT_ID"),
    ],
)
def test_half_a_configuration_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=said):
        sign_in.settings_of([], [])
