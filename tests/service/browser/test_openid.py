"""Sign-in by npm's oidc-provider in a real browser: its pages, its keys, its way back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from service.deployment import build, free_port, serving

from .conftest import SIZES

HERE = Path(__file__).parent
FOLDER = Path(__file__).parents[3] / ".venv-clients/openid"


@pytest.fixture(scope="module")
def package():
    made = subprocess.run([HERE / "setup_openid.sh", FOLDER], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("oidc-provider cannot be installed here")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "secret"), [("RS256", "a secret of the client"), ("ES256", "")]
)
def test_with_a_real_provider(tmp_path, package, chromium, algorithm, secret):
    port, own = free_port(), free_port()
    url = f"http://127.0.0.1:{own}"
    words = [str(FOLDER), str(port), f"{url}/sign-in/provider/back", secret, algorithm]
    (tmp_path / "secret").write_text(secret)
    table = f'[oidc]\nissuer = "http://localhost:{port}"\nclient_id = "discreet"\nlabel = "Example"'
    if secret:
        table += f'\nsecret_file = "{tmp_path}/secret"'
    deployment = build(tmp_path / "service", port=own, service=table)
    node = subprocess.Popen(
        ["node", HERE / "openid_provider.mjs", *words],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    context = chromium.new_context(viewport=SIZES["desktop"])
    try:
        assert "ready" in node.stdout.readline()
        with serving(deployment):
            page = context.new_page()
            page.set_default_timeout(30_000)
            # localhost and 127.0.0.1 are two sites: the way back crosses sites, as in real life.
            _enter(page, url, "ana's subject")
            expect(page.get_by_text("this is your subject: ana's subject")).to_be_visible()
            with deployment.client("stella") as steward:
                bound = steward.post("/people/ana/identity", json={"subject": "ana's subject"})
            assert bound.json() == {"name": "ana", "subject": "ana's subject"}
            _enter(page, url, None)
            expect(page.get_by_text("ana, analyst")).to_be_visible()
            page.goto(f"{url}/history")
            expect(page.get_by_text("ana, analyst")).to_be_visible()
    finally:
        context.close()
        node.kill()
        node.wait()
        node.stdout.close()


def _enter(page, url, subject):
    """Sign in; without a subject the provider still knows the browser."""
    page.goto(f"{url}/sign-in?next=/workbench/people")
    page.get_by_role("link", name="Sign in with Example").click()
    if subject is not None:
        page.get_by_placeholder("Enter any login").fill(subject)
        page.get_by_placeholder("and password").fill("x")
        page.get_by_role("button", name="Sign-in").click()
        page.get_by_role("button", name="Continue").click()
