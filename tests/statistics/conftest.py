"""Plans whose statistics have totals of their own, as all had before they could share them."""

import pytest

from discreet.statistics.shared_totals import SumWay


@pytest.fixture
def apart():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "discreet.plan.layout.possible_ways", lambda statistics, basis: (SumWay.APART,)
        )
        yield
