"""A small OpenID provider for tests: it signs in whoever comes, and can be told to do so wrongly."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

CLIENT = "discreet test"
SECRET = "s3cret: with %/+ signs"  # noqa: S105 of a provider that ends with its test


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value, length):
    return base64url(value.to_bytes(length, "big"))


class Key:
    """A key pair with its JSON Web Key; it signs compact tokens."""

    def __init__(self, algorithm, kid, bits=2048):
        self.algorithm = algorithm
        self.kid = kid
        if algorithm == "RS256":
            self.private = rsa.generate_private_key(65537, bits)
            numbers = self.private.public_key().public_numbers()
            self.jwk = {"kty": "RSA", "n": _number(numbers.n, bits // 8), "e": "AQAB"}
        else:
            self.private = ec.generate_private_key(ec.SECP256R1())
            numbers = self.private.public_key().public_numbers()
            self.jwk = {"kty": "EC", "crv": "P-256"}
            self.jwk |= {"x": _number(numbers.x, 32), "y": _number(numbers.y, 32)}
        self.jwk |= {"kid": kid, "use": "sig"}

    def signature(self, signed):
        if self.algorithm == "RS256":
            return self.private.sign(signed, padding.PKCS1v15(), hashes.SHA256())
        r, s = decode_dss_signature(self.private.sign(signed, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def sign(self, claims, **header):
        head = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT"} | header
        parts = [base64url(json.dumps(part).encode()) for part in (head, claims)]
        signed = ".".join(parts)
        return f"{signed}.{base64url(self.signature(signed.encode()))}"


RSA, EC = Key("RS256", "one"), Key("ES256", "two")


class Provider:
    """`subject` is who comes; `change` maps claims, `reply` maps the token endpoint's reply."""

    def __init__(self):
        self.subject, self.key, self.keys = "248289761001", RSA, [EC.jwk, RSA.jwk]
        self.metadata, self.change, self.reply = {}, {}, {}
        self.codes, self.asked, self.redirect = {}, [], ""
        self.issuer = ""

    def describe(self):
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        } | self.metadata

    def authorize(self, query):
        """What the provider's page does after the person has signed in there."""
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT and query["scope"] == "openid"
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def exchange(self, form, authorization):
        """The token endpoint: status and reply."""
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        name, _, secret = pair.partition(":")
        asked = self.codes.pop(form["code"], None)
        challenge = base64url(hashlib.sha256(form["code_verifier"].encode()).digest())
        right = (name, secret) == (urlencode({"": CLIENT})[1:], urlencode({"": SECRET})[1:])
        if not right or asked is None or challenge != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        assert form["redirect_uri"] == asked["redirect_uri"]
        now = time.time()
        claims = {"iss": self.issuer, "sub": self.subject, "aud": CLIENT, "nonce": asked["nonce"]}
        claims |= {"iat": now, "exp": now + 300} | self.change
        reply = {"id_token": self.key.sign(claims), "access_token": "x", "token_type": "Bearer"}
        return 200, reply | self.reply


def _handler(provider):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlsplit(self.path)
            provider.asked.append(url.path)
            if url.path == "/authorize":
                query = {name: value for name, [value] in parse_qs(url.query).items()}
                self._send(303, b"", Location=provider.authorize(query))
            elif url.path == "/keys":
                self._send(200, json.dumps({"keys": provider.keys}).encode())
            else:
                self._send(200, json.dumps(provider.describe()).encode())

        def do_POST(self):
            provider.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: value for name, [value] in parse_qs(body).items()}
            if provider.redirect:
                self._send(303, b"", Location=provider.redirect)
                return
            status, reply = provider.exchange(form, self.headers.get("Authorization", ""))
            self._send(status, reply if isinstance(reply, bytes) else json.dumps(reply).encode())

        def _send(self, status, body, **headers):
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Write nothing."""

    return Handler


@contextmanager
def providing():
    """Run a provider on a port of its own."""
    provider = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
