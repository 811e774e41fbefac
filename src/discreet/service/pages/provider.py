"""Sign-in by OpenID: redirect to the configured provider, and callback that opens a session."""

from __future__ import annotations

from urllib.parse import quote, unquote

from starlette.responses import Response
from starlette.routing import Route

from ..config import Config
from ..http.authentication import address_of
from ..http.id_token import IdentityRefused
from ..http.openid import BACK, COOKIE_SECONDS, Provider, new_secret
from ..http.session import cookie_name, set_cookie
from ..state import State
from .page_request import PROVIDER_PATH, PageRequest, for_all, local_path, table_routes, to
from .people import show_sign_in

FAILED = (
    "The sign-in with your organisation did not succeed. Begin again; "
    "if it fails again, ask your steward."
)
"""One message for all reasons; the audit log has the reason."""

UNKNOWN = (
    "Your organisation knows you, but nobody here is bound to you. "
    "Your steward can bind you; this is your subject: {}"
)
_MAX_COOKIE = 1500


def provider_routes(state: State) -> list[Route]:
    """Return the routes to sign in by the provider; none without one."""
    provider = state.provider
    if provider is None:
        return []

    def begin(visit: PageRequest) -> Response:
        return _begin(visit, provider)

    def finish(visit: PageRequest) -> Response:
        return _finish(visit, provider)

    return table_routes(
        state,
        for_all,
        ("GET", PROVIDER_PATH, begin),
        ("GET", BACK, finish),
    )


def _begin(visit: PageRequest, provider: Provider) -> Response:
    """Send the browser to the provider, with the secret of this sign-in in a cookie."""
    secret = new_secret()
    try:
        address = provider.begin(secret)
    except IdentityRefused as failure:
        return _fail(visit, failure)
    back = quote(local_path(visit.request.query_params.get("next")), safe="")
    if len(back) > _MAX_COOKIE:
        back = ""
    response = to(address)
    config = visit.state.config
    # Lax, since the provider's page sends the browser back from another site.
    response.set_cookie(
        _cookie(config),
        f"{secret}.{back}",
        max_age=COOKIE_SECONDS,
        path="/",
        secure=config.secure,
        httponly=True,
        samesite="lax",
    )
    return response


def _finish(visit: PageRequest, provider: Provider) -> Response:
    """Open the session of the user to whom the proved identity is bound."""
    state = visit.state
    secret, _, back = visit.request.cookies.get(_cookie(state.config), "").partition(".")
    try:
        subject = provider.finish(secret, visit.request.query_params)
    except IdentityRefused as failure:
        return _fail(visit, failure)
    session = state.sessions.open_as(provider.options.issuer, subject)
    if session is None:
        state.log.write("sign-in provider: bound to nobody", status=403)
        return _forget(visit, show_sign_in(visit, None, wrong=UNKNOWN.format(subject), status=403))
    state.log.write("sign-in provider", who=session.person.name, status=200)
    if visit.session is not None:
        state.sessions.close(visit.session.id)
    # A page, no redirect: browsers leave a Strict cookie out of redirects that another site began.
    opened = PageRequest(state, visit.request, {}, session)
    response = opened.show("signed_in.html", next=local_path(unquote(back)))
    set_cookie(state.config, response, session)
    return _forget(visit, response)


def _fail(visit: PageRequest, failure: IdentityRefused) -> Response:
    """Say that it failed, and count it as a failed sign-in of its address."""
    visit.state.log.write(f"sign-in provider: {failure}", status=401)
    visit.state.limits.failure(address_of(visit.request))
    return _forget(visit, show_sign_in(visit, None, wrong=FAILED, status=401))


def _forget(visit: PageRequest, response: Response) -> Response:
    """Drop the cookie of a sign-in that has ended, so that a code is used once."""
    config = visit.state.config
    response.delete_cookie(
        _cookie(config), path="/", secure=config.secure, httponly=True, samesite="lax"
    )
    return response


def _cookie(config: Config) -> str:
    return f"{cookie_name(config)}-sign-in"
