"""An OpenID Connect provider for tests: discovery, codes, signed ID tokens, user info."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "crawler", "client-secret"


@dataclass
class IdentityProvider:
    """`claims` are those of the user who is logged in there."""

    claims: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)  # of the requests for authorization

    @contextmanager
    def serving(self) -> Iterator[IdentityProvider]:
        provider = self

        class Handler(_Handler):
            idp = provider

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def jwks(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "1", "alg": "RS256", "use": "sig"}]}

    def id_token(self, nonce: str | None) -> str:
        now = int(time.time())
        about = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **self.claims}
        return jwt.encode({**about, "nonce": nonce} if nonce else about, self.key, "RS256", headers={"kid": "1"})


class _Handler(BaseHTTPRequestHandler):
    idp: IdentityProvider

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(where.query).items()}
        match where.path:
            case "/.well-known/openid-configuration":
                self._json(self.idp.configuration())
            case "/jwks":
                self._json(self.idp.jwks())
            case "/userinfo":
                self._json(self.idp.claims)
            case "/authorize":
                code = secrets.token_hex(8)
                self.idp.codes[code] = asked
                self.send_response(302)
                back = urlencode({"code": code, "state": asked["state"]})
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.send_header("Content-Length", "0")
                self.end_headers()
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        asked = self.idp.codes.pop(sent.get("code", ""), None)
        if asked is None or sent.get("client_secret") != CLIENT_SECRET:
            self._json({"error": "invalid_grant"}, 400)
            return
        token = {"access_token": "access", "token_type": "Bearer", "expires_in": 300}
        self._json({**token, "id_token": self.idp.id_token(asked.get("nonce"))})

    def _json(self, content: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        return
