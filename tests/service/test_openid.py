"""Sign-in by an OpenID provider: what a token must be, and what comes of every reply that is wrong."""

from __future__ import annotations

import hmac
import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.errors import InvalidArgument, NotAllowed
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.http.id_token import IdentityRefused, read_id_token
from discreet.service.stores.people import Members
from discreet.service.stores.store import open_store

from .deployment import build
from .inside import inside
from .openid_provider import CLIENT, EC, RSA, SECRET, Key, base64url, providing

ISSUER = "https://login.example"
NOW = 1_800_000_000
CLAIMS = {"iss": ISSUER, "sub": "42", "aud": CLIENT, "nonce": "n", "iat": NOW, "exp": NOW + 300}
KEYS = [EC.jwk, {"kty": "OKP"}, "nonsense", RSA.jwk]


def read(token, keys=KEYS, now=NOW):
    return read_id_token(token, keys, issuer=ISSUER, client_id=CLIENT, nonce="n", now=now)


def _without(*names):
    return {name: value for name, value in CLAIMS.items() if name not in names}


def _signed_with_public_key():
    """HS256 with the public key as secret: what a verifier that trusts `alg` accepts."""
    head = {"alg": "HS256", "kid": "one"}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (head, CLAIMS))
    secret = RSA.jwk["n"].encode()
    return f"{signed}.{base64url(hmac.digest(secret, signed.encode(), 'sha256'))}"


def _swapped(token, index, part):
    parts = token.split(".")
    parts[index] = part
    return ".".join(parts)


GOOD = RSA.sign(CLAIMS)
OTHER = Key("RS256", "one")
WEAK = Key("RS256", "weak", bits=1024)
OTHER_SUBJECT = base64url(json.dumps(CLAIMS | {"sub": "43"}).encode())
WRONG = {
    "no token": "",
    "two parts": "a.b",
    "too long": GOOD + "A" * 20_000,
    "deep": _swapped(GOOD, 0, base64url(b"[" * 10_000)),
    "a list": _swapped(GOOD, 0, base64url(b"[]")),
    "padding": GOOD + "=",
    "no signature": _swapped(GOOD, 2, ""),
    "signature of another": _swapped(GOOD, 2, RSA.sign(CLAIMS | {"sub": "43"}).split(".")[2]),
    "claims of another": _swapped(GOOD, 1, OTHER_SUBJECT),
    "none": _swapped(RSA.sign(CLAIMS, alg="none"), 2, ""),
    "HS256": _signed_with_public_key(),
    "another algorithm": RSA.sign(CLAIMS, alg="RS512"),
    "algorithm of another key": RSA.sign(CLAIMS, alg="ES256"),
    "critical": RSA.sign(CLAIMS, crit=["b64"]),
    "unknown key": RSA.sign(CLAIMS, kid="three"),
    "foreign key": OTHER.sign(CLAIMS),
    "weak key": WEAK.sign(CLAIMS),
    "issuer": RSA.sign(CLAIMS | {"iss": ISSUER + "/"}),
    "audience": RSA.sign(CLAIMS | {"aud": "another"}),
    "two audiences": RSA.sign(CLAIMS | {"aud": [CLIENT, "another"]}),
    "another party": RSA.sign(CLAIMS | {"azp": "another"}),
    "nonce": RSA.sign(CLAIMS | {"nonce": "m"}),
    "no nonce": RSA.sign(_without("nonce")),
    "expired": RSA.sign(CLAIMS | {"exp": NOW - 60}),
    "no end": RSA.sign(_without("exp")),
    "end is NaN": RSA.sign(CLAIMS | {"exp": float("nan")}),
    "end is true": RSA.sign(CLAIMS | {"exp": True}),
    "future": RSA.sign(CLAIMS | {"iat": NOW + 61}),
    "no subject": RSA.sign(_without("sub")),
    "long subject": RSA.sign(CLAIMS | {"sub": "4" * 256}),
    "odd subject": RSA.sign(CLAIMS | {"sub": "é\n"}),
}


class TestIdToken:
    """A subject is returned only of a token that the provider signed for this sign-in."""

    @pytest.mark.parametrize("key", [RSA, EC], ids=["RS256", "ES256"])
    def test_what_is_right_is_read(self, key):
        assert read(key.sign(CLAIMS)) == "42"
        assert read(key.sign(CLAIMS | {"aud": [CLIENT]})) == "42"
        assert read(key.sign(CLAIMS | {"aud": [CLIENT, "b"], "azp": CLIENT})) == "42"
        assert read(key.sign(CLAIMS | {"exp": NOW - 59})) == "42"

    @pytest.mark.parametrize("token", WRONG.values(), ids=WRONG)
    def test_what_is_wrong_is_refused(self, token):
        with pytest.raises(IdentityRefused):
            read(token, keys=[*KEYS, WEAK.jwk])

    def test_keys_for_something_else_do_not_count(self):
        for change in ({"use": "enc"}, {"alg": "RS512"}, {"n": "!"}, {"e": None}, {"kty": "EC"}):
            with pytest.raises(IdentityRefused):
                read(GOOD, keys=[RSA.jwk | change])
        for change in ({"crv": "P-384"}, {"x": EC.jwk["y"]}):
            with pytest.raises(IdentityRefused):
                read(EC.sign(CLAIMS), keys=[EC.jwk | change])


@pytest.fixture(scope="module")
def provider():
    with providing() as running:
        yield running


@pytest.fixture(scope="module")
def place(provider, tmp_path_factory):
    folder = tmp_path_factory.mktemp("openid")
    (folder / "secret.txt").write_text(SECRET + "\n")
    table = f'[oidc]\nissuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\n'
    table += 'secret_file = "secret.txt"\nlabel = "Example & Co"'
    return build(folder, service=table)


@pytest.fixture(scope="module")
def client(place):
    with inside(build_app(read_config(place.config)), place.url) as opened:
        yield opened


@pytest.fixture
def people(place, provider):
    """Users of the service; ana is bound to the provider's subject, and afterwards nobody."""
    before = vars(provider).copy()
    store = open_store(read_config(place.config).store)
    members = Members(store)
    members.bind("ana", provider.issuer, provider.subject)
    yield members
    vars(provider).update(before)
    store.ask("DELETE FROM discreet_identities")
    store.close()


def _cookies(response):
    """The cookies that a response sets, but for those that it deletes."""
    found = re.findall(
        r"^([\w-]+)=([^;]*)", "\n".join(response.headers.get_list("set-cookie")), re.M
    )
    return {name: value for name, value in found if value not in ("", '""')}


def worn(cookies):
    """The header that sends cookies back."""
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}


def begin(client, path="/sign-in/provider"):
    """Go to the provider; return the browser's cookies and the provider's address."""
    response = client.request("GET", path)
    assert response.status_code == 303
    [cookie] = response.headers.get_list("set-cookie")
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    return _cookies(response), response.headers["location"]


def back(client, provider, cookies, address, **change):
    """Come back from the provider, as a browser does, perhaps with another reply."""
    query = {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}
    reply = urlsplit(provider.authorize(query))
    reply = {name: value for name, [value] in parse_qs(reply.query).items()} | change
    given = {name: value for name, value in reply.items() if value is not None}
    return client.request("GET", "/sign-in/provider/back", params=given, headers=worn(cookies))


def sign_in(client, provider, **change):
    return back(client, provider, *begin(client), **change)


class TestFlow:
    """The flow with a provider over HTTP."""

    def test_the_page_offers_it(self, client):
        page = client.request("GET", "/sign-in?next=/history%3Fa%3D1%26b%3D2").text
        assert "Sign in with Example &amp; Co" in page
        assert 'href="/sign-in/provider?next=/history%3Fa%3D1%26b%3D2"' in page

    @pytest.mark.parametrize("key", [RSA, EC], ids=["RS256", "ES256"])
    def test_the_bound_user_is_signed_in(self, client, provider, people, key):
        provider.key = key
        cookies, address = begin(client, "/sign-in/provider?next=/workbench/people")
        response = back(client, provider, cookies, address)
        assert response.status_code == 200
        assert (
            'content="0; url=/workbench/people"' in response.text
            and "ana, analyst" in response.text
        )
        session = _cookies(response)
        assert list(session) == ["discreet"]
        assert client.request("GET", "/history", headers=worn(session)).status_code == 200
        # An analyst stays one: nothing that the provider says makes a steward.
        assert client.request("GET", "/people", headers=worn(session)).status_code == 403

    def test_claims_of_roles_mean_nothing(self, client, provider, people):
        provider.change = {"role": "steward", "groups": ["steward"], "name": "stella"}
        session = _cookies(sign_in(client, provider))
        assert client.request("GET", "/people", headers=worn(session)).status_code == 403

    def test_a_stranger_is_told_the_subject_and_gets_nothing(self, client, provider, people):
        provider.subject = "<b>7</b>"
        response = sign_in(client, provider)
        assert response.status_code == 403 and "&lt;b&gt;7&lt;/b&gt;" in response.text
        assert not _cookies(response)

    @pytest.mark.parametrize("act", ["revoke", "expire", "unbind"])
    def test_who_may_no_longer_is_not_signed_in(self, client, provider, people, act):
        name = f"cy-{act}"
        people.add(name, "analyst", ["people"])
        people.bind("ana", provider.issuer, None)
        people.bind(name, provider.issuer, provider.subject)
        session = _cookies(sign_in(client, provider))
        assert client.request("GET", "/history", headers=worn(session)).status_code == 200
        if act == "revoke":
            people.revoke(name)
        elif act == "unbind":
            people.bind(name, provider.issuer, None)
        else:
            people._store.ask(
                "UPDATE discreet_people SET expires = ? WHERE name = ?", time.time() - 1, name
            )
        assert client.request("GET", "/history", headers=worn(session)).status_code == 303
        assert sign_in(client, provider).status_code == 403

    @pytest.mark.parametrize(
        "change",
        [
            {"state": "forged"}, {"state": None}, {"code": None}, {"code": "forged"},
            {"iss": "https://elsewhere.example"}, {"error": "access_denied"},
        ],
        ids=str,
    )  # fmt: skip
    def test_wrong_replies(self, client, provider, people, change):
        response = sign_in(client, provider, **change)
        assert response.status_code == 401 and not _cookies(response)

    def test_a_reply_that_nobody_asked_for_reaches_no_provider(self, client, provider, people):
        cookies, address = begin(client)
        provider.asked.clear()
        # Somebody else's browser, without and with a sign-in of its own (login CSRF).
        assert back(client, provider, {}, address).status_code == 401
        assert back(client, provider, begin(client)[0], address).status_code == 401
        assert provider.asked == ["/.well-known/openid-configuration"]
        assert back(client, provider, cookies, address).status_code == 200

    def test_the_code_of_another_sign_in_is_refused(self, client, provider, people):
        """PKCE and nonce: a code that was stolen fits no other browser."""
        _, address = begin(client)
        query = {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}
        stolen = parse_qs(urlsplit(provider.authorize(query)).query)["code"][0]
        assert sign_in(client, provider, code=stolen).status_code == 401

    @pytest.mark.parametrize(
        "change",
        [
            {"metadata": {"issuer": "https://elsewhere.example"}},
            {"metadata": {"jwks_uri": "http://127.0.0.1:1/"}},
            {"reply": {"id_token": None}},
            {"reply": {"id_token": 7, "pad": "x" * 1_100_000}},
            {"keys": "none"}, {"keys": []}, {"change": {"nonce": "x"}},
        ],
        ids=lambda change: str(change)[:50],
    )  # fmt: skip
    def test_wrong_providers(self, client, provider, people, change):
        begun = begin(client)
        vars(provider).update(change)
        response = back(client, provider, *begun)
        assert response.status_code == 401 and not _cookies(response)

    @pytest.mark.parametrize("address", ["http://login.example/keys", "file:///etc/passwd", 7])
    def test_addresses_that_others_could_read(self, place, client, provider, people, address):
        begun = begin(client)
        provider.metadata = {"jwks_uri": address}
        assert back(client, provider, *begun).status_code == 401
        assert (
            "address in the description"
            in (place.folder / "audit.log").read_text().splitlines()[-1]
        )

    def test_the_secret_follows_no_redirect(self, client, provider, people):
        provider.redirect = f"{provider.issuer}/elsewhere"
        provider.asked.clear()
        assert sign_in(client, provider).status_code == 401
        assert "/elsewhere" not in provider.asked

    def test_nothing_secret_is_told(self, place, client, provider, people):
        sign_in(client, provider, state="forged")
        told = (place.folder / "audit.log").read_text()
        assert "sign-in provider: state" in told and SECRET not in told
        assert SECRET not in repr(read_config(place.config))

    def test_strangers_are_limited(self, place, provider):
        config = place.config.read_text().replace(
            "requests_per_minute = 100000", "requests_per_minute = 3"
        )
        limited = place.folder / "limited.toml"
        limited.write_text(config)
        with inside(build_app(read_config(limited)), place.url) as opened:
            codes = [opened.request("GET", "/sign-in/provider").status_code for _ in range(5)]
        assert codes[:3] == [303] * 3 and 429 in codes


class TestBinding:
    """Stewards say who is who."""

    def test_a_steward_binds_and_the_list_shows_it(self, client, place, provider, people):
        page = Browser(client, place.tokens["stella"])
        page.post("/people/bob/identity", subject="77")
        assert 'value="77"' in page.get("/people").text
        page.post("/people/bob/identity", subject="")
        assert people.subjects(provider.issuer).get("bob") is None

    def test_a_subject_is_one_users(self, people, provider):
        people.bind("bob", provider.issuer, "7")
        with pytest.raises(NotAllowed, match="bound to another"):
            people.bind("bob", provider.issuer, provider.subject)
        # A refused binding took nothing away.
        assert people.subjects(provider.issuer) == {"ana": provider.subject, "bob": "7"}
        # Bound anew after its holder was revoked.
        people.add("dee", "analyst", ["people"])
        people.bind("dee", provider.issuer, "99")
        people.revoke("dee")
        people.bind("bob", provider.issuer, "99")
        assert people.subjects(provider.issuer)["bob"] == "99"
        for subject in ("", "x" * 256, "a\nb"):
            with pytest.raises(InvalidArgument):
                people.bind("bob", provider.issuer, subject)

    def test_by_the_command_line(self, place, provider, people):
        def bind(*words):
            config = place.folder / "curator.toml"
            ended = CliRunner().invoke(app, ["people", "bind", *words, "--config", str(config)])
            return ended.exit_code, people.subjects(provider.issuer).get("bob")

        assert bind("bob", "77") == (0, "77")
        assert bind("bob", provider.subject)[0] != 0  # ana's
        assert bind("bob") == (0, None)

    def test_only_for_own_people(self, client, place, people):
        headers = {"Authorization": f"Bearer {place.tokens['sid']}"}
        response = client.request(
            "POST", "/api/v1/people/ana/identity", json={"subject": "1"}, headers=headers
        )
        assert response.status_code == 403

    def test_all_sessions_end(self, client, place):
        """Of this user, in all browsers, and of nobody else."""
        pages = [Browser(client, place.tokens[name]) for name in ("ana", "ana", "bob")]
        pages[0].post("/sign-out", everywhere="1")
        assert [page.get("/history").status_code for page in pages] == [303, 303, 200]


class Browser:
    """Somebody who is signed in by token."""

    def __init__(self, client, token):
        self.client = client
        opened = client.request("POST", "/sign-in", content=f"token={token}")
        self.cookies = _cookies(opened)

    def get(self, path):
        return self.client.request("GET", path, headers=worn(self.cookies))

    def post(self, path, **form):
        csrf = re.search(r'name="csrf" value="([^"]+)"', self.get("/history").text)[1]
        response = self.client.request(
            "POST", path, data={"csrf": csrf} | form, headers=worn(self.cookies)
        )
        assert response.status_code == 303, response.text
        return response


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ('issuer = "http://login.example"\nclient_id = "a"', "https"),
        ('issuer = "https://login.example?a=1"\nclient_id = "a"', "query"),
        ('issuer = "https://login.example"', "client_id"),
        ('issuer = "https://login.example"\nclient_id = "a"\nsecret = "b"', "secret"),
        (
            'issuer = "https://login.example"\nclient_id = "a"\nsecret_file = "none"',
            "cannot be read",
        ),
        (
            'issuer = "https://login.example"\nclient_id = "a"\nsecret_variable = "NONE_SUCH"',
            "empty",
        ),
    ],
)
def test_configurations_that_cannot_be(tmp_path, table, word):
    deployment = build(tmp_path)
    deployment.config.write_text(f"{deployment.config.read_text()}[oidc]\n{table}")
    with pytest.raises(InvalidArgument, match=word):
        read_config(deployment.config)


def test_a_secret_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("OIDC_SECRET", "word\n")
    table = 'issuer = "https://login.example"\nclient_id = "a"\nsecret_variable = "OIDC_SECRET"'
    deployment = build(tmp_path, service=f"[oidc]\n{table}")
    assert read_config(deployment.config).openid.secret == "word"  # noqa: S105
