"""A passkey, with Chromium's own authenticator: set up on the account's page, and used to log in."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import answers
from tests.conftest import free_port
from tests.stack import Stack

PASSWORD = "correct horse battery"


@pytest.fixture
def address(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[str]:
    """A server with django-allauth. Passkeys belong to a name, which an address in numbers is not."""
    port = free_port()
    stack = Stack(
        tmp_path_factory.mktemp("passkeys"),
        redis_url,
        CRAWLER_ALLAUTH="on",
        DJANGO_SETTINGS_MODULE="tests.quick_passwords",
    )
    try:
        stack.run("python", "manage.py", "migrate", "--skip-checks")
        stack.within(lambda: User.objects.create_user("ann", "ann@example.com", PASSWORD))
        stack.spawn(
            "gunicorn", "crawler.settings.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "8", "--no-control-socket"
        )
        stack.wait_for(lambda: answers(port))
        yield f"http://localhost:{port}"
    finally:
        stack.end()


@pytest.fixture
def tab(chromium_running: Browser) -> Iterator[Page]:
    context = chromium_running.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield page
    context.close()


@pytest.mark.long
def test_a_passkey_logs_in_without_a_password(address: str, tab: Page) -> None:
    refused = list[str]()
    tab.on(
        "console", lambda message: refused.append(message.text) if "Content Security Policy" in message.text else None
    )
    tab.goto(f"{address}/login/?next=/accounts/2fa/webauthn/add/")
    tab.get_by_label("Username").fill("ann")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in", exact=True).click()
    tab.get_by_label("Password").fill(PASSWORD)  # asked again before a change
    tab.get_by_role("main").get_by_role("button").first.click()
    tab.get_by_label("Passwordless").check()
    tab.get_by_role("button", name="Add").click()
    tab.wait_for_url(lambda url: "/webauthn/add" not in url)
    tab.context.clear_cookies()
    tab.goto(f"{address}/login/")
    tab.get_by_role("button", name="Log in with a passkey").click()
    tab.wait_for_url(f"{address}/")
    expect(tab.get_by_text("ann").first).to_be_visible()
    assert refused == []
