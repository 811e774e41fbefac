"""A service that is stopped, silent or started again under its client: one charge, or a word about what it may be."""

from __future__ import annotations

import signal
import threading

import pytest

import discreet as dp
from service.deployment import COUNT, build, free_port, serving, start


@pytest.fixture
def deployment(tmp_path):
    return build(tmp_path, port=free_port(), service='grid = "0.05"\nlease = "1"')


def test_a_restart_under_a_question_is_not_noticed(deployment):
    with serving(deployment):
        ana = dp.connect(deployment.url, token=deployment.tokens["ana"], patience=60)
        assert ana.left() == dp.PureDP(100)
    with ana:
        told = []
        asking = threading.Thread(target=lambda: told.append(ana.sql(COUNT, spend=dp.PureDP(1))))
        asking.start()
        asking.join(0.5)
        assert not told
        with serving(deployment):
            asking.join()
            assert told[0].receipt.who == "ana" and ana.spent() == dp.PureDP(1)


def test_a_silent_service_ends_at_the_deadline_and_the_same_is_charged_once(deployment):
    server = start(deployment)
    try:
        with dp.connect(
            deployment.url, token=deployment.tokens["ana"], patience=1, deadline=2
        ) as ana:
            server.process.send_signal(signal.SIGSTOP)
            with pytest.raises(
                dp.Unreachable, match="does not answer; nothing was asked that costs"
            ):
                ana.left()
            with pytest.raises(
                dp.Unreachable, match="does not answer; ε = 0.5 may have been spent"
            ) as lost:
                ana.sql(COUNT, spend=dp.PureDP("1/2"))
            assert lost.value.spent == dp.PureDP("1/2")
            server.process.send_signal(signal.SIGCONT)
        with dp.connect(deployment.url, token=deployment.tokens["ana"]) as ana:
            again = ana.sql(COUNT, spend=dp.PureDP("1/2"), key=lost.value.key)
            assert again == ana.sql(COUNT, spend=dp.PureDP("1/2")) and ana.spent() == dp.PureDP(
                "1/2"
            )
    finally:
        server.process.send_signal(signal.SIGCONT)
        server.stop()
