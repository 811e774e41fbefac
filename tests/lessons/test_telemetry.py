"""The collector takes reports of its own parameters, all or none, and refuses everything else."""

from __future__ import annotations

import pytest

from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.lessons.telemetry import METRIC, OPTIONS, PER_MINUTE, ReportCollector
from discreet.local.reports.report import LocalReport, pack
from discreet.service.http.rate_limit import TooMany


def line(collector, option=OPTIONS[0], **changed):
    params = collector._collector.params
    report = LocalReport(
        changed.get("metric", METRIC),
        changed.get("params", params),
        collector.mechanism.randomize(option),
    )
    return pack(report)


def test_a_report_is_taken_and_a_foreign_one_spoils_its_batch():
    collector = ReportCollector()
    collector.take("here", [line(collector), line(collector)])
    assert collector.look()[0] == 2
    for wrong in (
        line(collector, metric="other"),
        line(collector, params="0" * 16),
        "{}",
        line(collector).replace('"report":', '"report":7'),
    ):
        with pytest.raises(InvalidArgument):
            collector.take("here", [line(collector), wrong])
    assert collector.look()[0] == 2


def test_a_batch_that_no_longer_fits_is_not_taken_in_part():
    collector = ReportCollector()
    collector._collector.most = 3
    collector.take("here", [line(collector), line(collector)])
    with pytest.raises(BudgetExceeded, match="1 more"):
        collector.take("here", [line(collector), line(collector)])
    assert collector.look()[0] == 2
    collector.take("here", [line(collector)])
    assert collector.look()[0] == 3


def test_one_address_cannot_flood():
    collector = ReportCollector()
    for _ in range(PER_MINUTE):
        collector.take("there", [line(collector)])
    with pytest.raises(TooMany):
        collector.take("there", [line(collector)])
    collector.take("elsewhere", [line(collector)])
    with pytest.raises(InvalidArgument, match="1 to 500"):
        collector.take("elsewhere", [line(collector)] * 501)


def test_the_page_and_its_scripts_are_served(client):
    page = client.request("GET", "/telemetry")
    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for script in ("/device/discreet-device.js", "/static/telemetry.js"):
        assert client.request("GET", script).status_code == 200
    refused = client.request("POST", "/telemetry/reports", content=b"reports=%7B%7D")
    assert refused.status_code == 422
