"""A site whose pages are for members: a log-in form with a token that changes, sessions that end, log-out links."""

import itertools
import re
import threading
from urllib.parse import parse_qs

from tests.site import Reply, Request, Server, moved

USER, PASSWORD = "ann", "pa ss&wörd=9"
FIELDS = (f"user={USER}", f"password={PASSWORD}")
SIGN = "a.account"  # what only members see
FORM_TITLE = "Log in"  # of the page with the form, also where it comes in place of another


class Members:
    """Answers for the site at this `url`. `/` is for everybody, `/members/0` to `/members/N` for those who are logged
    in; others are sent to the form, or get it in place of every third page. A session ends after so many pages
    (`session_pages`)."""

    url: str

    def __init__(self, members: int = 12, *, session_pages: int | None = None, forbidden: str = "") -> None:
        self.members, self.session_pages, self.forbidden = members, session_pages, forbidden
        self.logins = self.forms = self.logouts = 0
        self.requests: list[Request] = []
        self.secrets: set[str] = set()  # all session ids and tokens it has given
        self.before_answer_to_form = 0.0  # seconds
        self._lock, self._numbers = threading.Lock(), itertools.count(1)
        self.tokens: set[str] = set()  # of forms, which a page may hold
        self._tokens: dict[str, str] = {}  # id of a visitor -> token of the form
        self._pages_left: dict[str, float] = {}  # session -> pages
        self.shown_since_login = 0  # pages that members saw

    @property
    def expected(self) -> set[str]:
        """The pages that a member finds."""
        paths = ["/", "/login", *(f"/members/{number}" for number in range(self.members))]
        return {f"{self.url}{path}" for path in paths}

    def end_sessions(self) -> None:
        """All of them, as a site that is started again does."""
        with self._lock:
            self._pages_left.clear()
            self.shown_since_login = 0

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            path, _, _ = request.path.partition("?")
            cookie = re.search(r"sid=([^;]+)", request.headers.get("Cookie", ""))
            session = cookie[1] if cookie else ""
            match path:
                case "/":
                    return Reply(_page('<a href="/members/0">members</a> <a href="/login">log in</a>'))
                case "/login":
                    return self._sent(request, session) if request.body else self._form()
                case "/logout" | "/bye":
                    self.logouts += 1
                    self._pages_left.pop(session, None)
                    return moved("/")
            number = re.fullmatch(r"/members/(\d+)", path)
            return self._member(int(number[1]), path, session) if number else Reply("not here", status=404)

    def _member(self, number: int, path: str, session: str) -> Reply:
        if self._pages_left.get(session, 0) <= 0 or path == self.forbidden:
            return self._form() if number % 3 == 0 else moved(f"/login?next={path}")
        self._pages_left[session] -= 1
        self.shown_since_login += 1
        links = [f'<a href="/members/{next}">{next}</a>' for next in (number * 2 + 1, number * 2 + 2)]
        links = links[: max(0, self.members - number * 2 - 1)]
        account = '<a class="account" href="/members/0">me</a> <a href="/logout">out</a> <a href="/bye">Sign out</a>'
        return Reply(_page(account + "".join(links)))

    def _form(self) -> Reply:
        self.forms += 1
        visitor, token = self._secret(), self._secret()
        self._tokens[visitor] = token
        self.tokens.add(token)
        fields = '<input name="user"><input type="password" name="password"><button name="go" value="1">In</button>'
        hidden = f'<input type="hidden" name="csrf" value="{token}">'
        body = _page(f'<form method="post" action="/login">{hidden}{fields}</form>', FORM_TITLE)
        return Reply(body, headers={"Set-Cookie": f"sid={visitor}; Path=/; HttpOnly"})

    def _sent(self, request: Request, visitor: str) -> Reply:
        sent = {name: values[0] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
        self.logins += 1
        self.shown_since_login = 0
        is_genuine = sent.get("csrf") and self._tokens.pop(visitor, "") == sent["csrf"] and sent.get("go") == "1"
        if not is_genuine or request.headers.get("Origin") != self.url:
            return Reply(_page("a forged form"), status=403)
        if (sent.get("user"), sent.get("password")) != (USER, PASSWORD):
            return self._form()
        session = self._secret()
        self._pages_left[session] = self.session_pages or float("inf")
        headers = {"Location": "/members/0", "Set-Cookie": f"sid={session}; Path=/; HttpOnly"}
        return Reply(status=303, headers=headers, after=self.before_answer_to_form)

    def _secret(self) -> str:
        secret = f"kept-secret-{next(self._numbers):05}-{id(self):x}"
        self.secrets.add(secret)
        return secret


class LoginSite(Members, Server):
    """One that is served."""

    def __init__(self, members: int = 12, *, session_pages: int | None = None, forbidden: str = "") -> None:
        Members.__init__(self, members, session_pages=session_pages, forbidden=forbidden)
        Server.__init__(self)


def _page(body: str, title: str = "A page") -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
