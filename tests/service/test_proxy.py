"""The service behind a real nginx, as `docs/how-to/deploy.md` sets it up: people are told apart, and a restart loses nothing."""

from __future__ import annotations

import httpx
import pytest

import discreet as dp
from service.deployment import COUNT, ONE, build, free_port, serving
from service.proxy import set_up


@pytest.fixture(scope="module")
def behind(tmp_path_factory):
    """A service whose only way in is a proxy."""
    outside, inside = free_port(), free_port()
    folder = tmp_path_factory.mktemp("proxy")
    deployment = build(
        folder / "deployment",
        port=outside,
        service='grid = "0.05"\nproxies = ["127.0.0.1"]',
        limits="",
    )
    text = deployment.config.read_text().replace(
        "failures_per_minute = 100000", "failures_per_minute = 2"
    )
    deployment.config.write_text(text)
    proxy = set_up(folder / "nginx", outside, inside).start()
    with serving(deployment, port=inside):
        yield deployment, proxy
    proxy.stop()


def knock(deployment, address, who="", **headers):
    """Come from an address of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(transport=transport, trust_env=False) as client:
        heads = {"Authorization": f"Bearer {deployment.tokens.get(who, 'dsc_x')}"} | {
            name.replace("_", "-"): text for name, text in headers.items()
        }
        return client.get(deployment.url + "/api/v1/me", headers=heads).status_code


def test_strangers_are_told_apart_and_lock_nobody_out(behind):
    deployment, _ = behind
    assert [knock(deployment, "127.0.0.2") for _ in range(3)] == [401, 401, 429]
    assert knock(deployment, "127.0.0.2", X_Forwarded_For="127.0.0.9") == 429
    assert knock(deployment, "127.0.0.3") == 401
    assert knock(deployment, "127.0.0.2", "ana") == 200


def test_a_question_is_answered_once_through_a_proxy_that_is_restarted(behind):
    deployment, proxy = behind
    with dp.connect(deployment.url, token=deployment.tokens["ana"]) as remote:
        first = remote.sql(COUNT, spend=dp.PureDP(1))
        proxy.stop()
        with pytest.raises(httpx.TransportError), deployment.client("ana") as client:
            client.post("/datasets/people/sql", json={"sql": COUNT, "spend": ONE})
        proxy.start()
        assert remote.sql(COUNT, spend=dp.PureDP(1)) == first
        assert remote.spent() == dp.PureDP(1)


def test_a_page_and_its_cookie_pass(behind):
    deployment, _ = behind
    with httpx.Client(
        base_url=deployment.url, trust_env=False, headers={"Origin": deployment.url}
    ) as client:
        assert client.post("/sign-in", data={"token": deployment.tokens["bob"]}).status_code == 303
        assert "What do you want to know?" in client.get("/workbench/people").text
