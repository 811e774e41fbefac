"""OpenID Connect for the pages: authorization code flow with PKCE (S256), `state` and `nonce`.

browser ─► /sign-in/provider ─► provider's page ─► /sign-in/provider/back ─► session
                │ cookie: one secret                 │ code ─► token endpoint ─► ID token
                └── state, nonce, verifier ◄─────────┘ derived from that secret again

The secret stays in a cookie of the browser that began, so nobody else can finish its sign-in, and nothing
is stored here. What the provider says of a person is a subject and no more: roles and data sets are those of
the user to whom a steward bound it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Mapping
from http.client import HTTPException
from importlib.util import find_spec
from urllib.error import HTTPError
from urllib.parse import quote_plus, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ...errors import InvalidArgument
from ..addresses import is_private_address
from ..config import Config, OpenIdOptions
from .id_token import IdentityRefused, read_id_token

BACK = "/sign-in/provider/back"
COOKIE_SECONDS = 600
"""Time for the provider's page; afterwards the sign-in begins anew."""

ANSWER_SECONDS = 5.0
MAX_BYTES = 1_000_000
SIDE_BY_SIDE = 4
"""Exchanges with the provider at a time; a further one waits ANSWER_SECONDS and is refused then."""


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect, which could carry the client's secret elsewhere."""

    def redirect_request(self, *_: object) -> None:
        """Return no request, so that the status is an error."""


class Provider:
    """OpenID provider of a configuration, with what a sign-in needs of it."""

    def __init__(self, options: OpenIdOptions, url: str) -> None:
        self.options = options
        self._back = url + BACK
        self._opener = build_opener(_NoRedirect)
        self._exchanges = threading.BoundedSemaphore(SIDE_BY_SIDE)

    def begin(self, secret: str) -> str:
        """Return the provider's address to which a browser with this secret is sent.

        Refuses: a provider that is away or whose description is not accepted (IdentityRefused).
        """
        challenge = hashlib.sha256(_derive(secret, "verifier").encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self.options.client_id,
            "redirect_uri": self._back,
            "scope": "openid",
            "state": _derive(secret, "state"),
            "nonce": _derive(secret, "nonce"),
            "code_challenge": _base64url(challenge),
            "code_challenge_method": "S256",
        }
        endpoint = self._endpoint(self._metadata(), "authorization_endpoint")
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(asked)}"

    def finish(self, secret: str, query: Mapping[str, str]) -> str:
        """Return the subject that the provider signed for the sign-in of this secret.

        Refuses: a reply to another sign-in or of another provider, a refusal of the provider, and an ID
        token that is not accepted (IdentityRefused).
        """
        # Checked first: a reply that this browser did not ask for reaches no provider (login CSRF).
        state = _derive(secret, "state")
        if not secret or not secrets.compare_digest(
            query.get("state", "").encode(), state.encode()
        ):
            raise IdentityRefused("state")
        # A provider that names itself in its reply (RFC 9207) must be the one that was asked.
        if query.get("iss", self.options.issuer) != self.options.issuer:
            raise IdentityRefused("issuer of the reply")
        code = query.get("code", "")
        if not code or "error" in query:
            raise IdentityRefused("declined")
        metadata = self._metadata()
        tokens = self._fetch(self._endpoint(metadata, "token_endpoint"), self._grant(secret, code))
        keys = self._fetch(self._endpoint(metadata, "jwks_uri")).get("keys")
        token = tokens.get("id_token")
        if not isinstance(token, str) or not isinstance(keys, list):
            raise IdentityRefused("token form")
        return read_id_token(
            token,
            keys,
            issuer=self.options.issuer,
            client_id=self.options.client_id,
            nonce=_derive(secret, "nonce"),
        )

    def _grant(self, secret: str, code: str) -> dict[str, str]:
        return {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._back,
            "code_verifier": _derive(secret, "verifier"),
            "client_id": self.options.client_id,
        }

    def _metadata(self) -> Mapping[str, object]:
        """Read the provider's description, which must name the configured issuer."""
        path = "/.well-known/openid-configuration"
        metadata = self._fetch(self.options.issuer.rstrip("/") + path)
        if metadata.get("issuer") != self.options.issuer:
            raise IdentityRefused("issuer of the description")
        return metadata

    def _endpoint(self, metadata: Mapping[str, object], name: str) -> str:
        """Return an address of the description; refuses one that others could read."""
        address = metadata.get(name)
        if not isinstance(address, str) or not is_private_address(address):
            raise IdentityRefused("address in the description")
        return address

    def _fetch(self, url: str, form: Mapping[str, str] | None = None) -> Mapping[str, object]:
        """Read a JSON object from the provider, or send it a form with the client's secret."""
        request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 http or https, checked
        if form is not None:
            request.data = urlencode(form).encode()
            if self.options.secret:
                # Both parts are form-encoded before they are joined (RFC 6749, section 2.3.1).
                pair = f"{quote_plus(self.options.client_id)}:{quote_plus(self.options.secret)}"
                basic = base64.b64encode(pair.encode()).decode()
                request.add_unredirected_header("Authorization", f"Basic {basic}")
        if not self._exchanges.acquire(timeout=ANSWER_SECONDS):
            raise IdentityRefused("provider busy")
        try:
            with self._opener.open(request, timeout=ANSWER_SECONDS) as reply:
                body = reply.read(MAX_BYTES + 1)
            found = json.loads(body) if len(body) <= MAX_BYTES else None
        except HTTPError as refusal:
            refusal.close()
            raise IdentityRefused("provider refused") from None
        except (OSError, HTTPException):
            raise IdentityRefused("provider away") from None
        except (ValueError, RecursionError):
            found = None
        finally:
            self._exchanges.release()
        if not isinstance(found, dict):
            raise IdentityRefused("provider said no JSON object")
        return found


def open_provider(config: Config) -> Provider | None:
    """Return the provider of a configuration, None without one; asks it nothing yet.

    Refuses: a missing package, before the first request comes in.
    """
    if config.openid is None:
        return None
    if find_spec("cryptography") is None:
        raise InvalidArgument("[oidc] needs cryptography: pip install 'discreet[sign]'")
    return Provider(config.openid, config.url)


def new_secret() -> str:
    """Return the secret of a new sign-in, for a cookie."""
    return secrets.token_urlsafe(32)


def _derive(secret: str, purpose: str) -> str:
    """Return the state, nonce or verifier of a sign-in; none of them tells another or the secret."""
    return _base64url(hmac.digest(secret.encode(), purpose.encode(), "sha256"))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
