"""Which links end the session of a crawl that has logged in."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus

WORDS = frozenset(
    {
        *("logout", "logoff", "signout", "signoff", "endsession", "destroysession"),  # English
        *("abmelden", "ausloggen"),  # German
        *("deconnexion", "déconnexion", "deconnecter", "déconnecter", "sedeconnecter"),  # French
        *("cerrarsesion", "cerrarsesión", "desconectar", "desconectarse"),  # Spanish
        *("terminarsessao", "terminarsessão", "encerrarsessao", "encerrarsessão"),  # Portuguese
        *("disconnetti", "disconnettersi", "esci"),  # Italian
        *("uitloggen", "afmelden"),  # Dutch
        *("loggaut", "loggut", "logud", "loggaf"),  # Swedish, Norwegian, Danish
        *("kirjauduulos", "uloskirjautuminen"),  # Finnish
        *("wyloguj", "wylogowanie"),  # Polish
        *("odhlasit", "odhlásit", "odhlaseni", "odhlášení", "odhlasenie", "odhlásenie"),  # Czech, Slovak
        *("kijelentkezes", "kijelentkezés"),  # Hungarian
        *("deconectare", "deautentificare"),  # Romanian
        *("odjava", "odjavi"),  # Croatian, Serbian, Slovene
        *("oturumukapat", "cikisyap", "çıkışyap"),  # noqa: RUF001 (Turkish)
        *("выход", "выйти", "вихід", "вийти"),  # Russian, Ukrainian
        *("αποσυνδεση", "αποσύνδεση"),  # Greek
        *("ログアウト", "サインアウト"),  # Japanese
        *("退出登录", "退出登錄", "登出", "注销", "註銷"),  # Chinese
        "로그아웃",  # Korean
        *("đăngxuất", "dangxuat"),  # Vietnamese
    }
)
"""Words of URLs, in lower case and without separators."""

TEXTS = WORDS | {
    *("logmeout", "signmeout", "logoutnow"),
    *("sedéconnecter", "medéconnecter", "medeconnecter"),
    *("salir", "sair", "terminarasessão", "encerrarasessão", "fazerlogout"),
    *("vonderseiteabmelden", "abmeldung"),
    *("wylogujsię", "wylogujsie"),
    *("odhlásitse", "odhlásiťsa", "odhlásiť"),
    *("logaf", "ieșire", "изход", "keluar"),
    *("çıkış", "cikis"),  # noqa: RUF001 (Turkish)
    *("выйтиизсистемы", "вийтизсистеми", "退出", "ออกจากระบบ", "تسجيلالخروج", "خروج", "התנתק", "התנתקות", "יציאה"),
}
"""Whole texts of links, in lower case and without blanks."""

MAX_OTHER_WORDS = 1  # besides the one of WORDS: "user-logout" is a log-out, "how-to-log-out-everywhere" an article
MAX_ANCHOR_CHARACTERS = 40  # a longer text is no name of a button

_PARTS = re.compile("[/:]")
_SEPARATORS = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"\.(?:php\d?|phtml|aspx?|ashx|jspx?|jsf|do|action|cgi|pl|html?|cfm)$", re.IGNORECASE)
_RETURN = re.compile(r"(?:https?:)?/")  # the beginning of a value that is an address to return to


def is_logout_url(url: str) -> bool:
    """Whether this normalised URL looks like a log-out: a part of its path, or the name or a part of the value of a
    parameter, is one of WORDS, with one word more at most: /logout.php, /user/sign-out, ?action=logout, /LogOut.do.

    An address to return to, as in /login?next=/logout, does not count.
    """
    path, _, query = url[url.index("/", 8) :].partition("?")
    if any(_is_word(unquote(part)) for part in _PARTS.split(path)):
        return True
    return any(_is_parameter(parameter) for parameter in re.split("[&;]", query))


def is_logout_text(text: str) -> bool:
    """Whether this text of a link is one of TEXTS."""
    return len(text) <= MAX_ANCHOR_CHARACTERS and _SEPARATORS.sub("", text).lower() in TEXTS


def _is_parameter(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    value = unquote_plus(value)
    parts = () if _RETURN.match(value) else _PARTS.split(value)
    return any(map(_is_word, (unquote_plus(name), *parts)))


def _is_word(part: str) -> bool:
    spaced = _CAMEL.sub(" ", _ENDING.sub("", part))
    words = [word.lower() for word in _SEPARATORS.split(spaced) if word]
    most = len(words)
    for begin in range(min(MAX_OTHER_WORDS, most) + 1):
        for end in range(max(begin + 1, most - MAX_OTHER_WORDS + begin), most + 1):
            if "".join(words[begin:end]) in WORDS:
                return True
    return False
