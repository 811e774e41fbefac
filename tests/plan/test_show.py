"""How a plan shows itself: text, notebook, JSON."""

import json
from fractions import Fraction

from answer.cases import COLUMNS, REGIONS, question, relation
from discreet.data import Rows, Schema
from discreet.plan import plan_question
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import (
    Correlation,
    Count,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Variance,
)
from discreet.query.algebra.tree import Scan

X, Y = Field("x"), Field("y")
ALL = {"n": Count(), "m": Mean(X), "v": Variance(X), "c": Covariance(X, Y), "r": Correlation(X, Y),
       "q": Quantile(X, Fraction(1, 2)), "mode": Mode(Field("region"))}  # fmt: skip


def test_every_statistic_has_its_line_and_its_error():
    plan = plan_question(question(relation(), ALL), PureDP(2))
    lines = str(plan).splitlines()
    for name in ALL:
        line = next(line for line in lines if line.startswith(name + " "))
        assert "±" in line
    assert "as above" in str(plan)  # a shared total has one share and one price
    assert lines[0].split("  ")[0] == "statistic"
    assert "spends ε = 2" in lines[-1]


def test_shares_in_the_table_add_up():
    for spend in (PureDP(2), ZCDP(1)):
        rows = plan_question(question(relation(), ALL), spend).to_dict()["rows"]
        assert (
            sum(row["share"] or 0 for row in rows) == 1
            or abs(sum(row["share"] or 0 for row in rows) - 1) < 1e-12
        )


def test_gaussian_noise_is_priced_in_rho_and_the_level_is_named():
    text = str(plan_question(question(relation(), {"n": Count()}), ZCDP("1/8"), level=0.9))
    assert "90 % error" in text
    assert "ρ = 0.125" in text


def test_selected_keys_have_a_line():
    plan = plan_question(
        question(relation("people"), {"n": Count()}, [("town", None)]), ApproxDP(1, "1e-6")
    )
    rows = plan.to_dict()["rows"]
    assert rows[0]["statistic"] == "(keys)"
    assert rows[0]["share"] == rows[1]["share"] == 0.5


def test_relative_errors_where_a_size_is_known():
    rows = Scan(Schema("visits", Rows(), COLUMNS, size=3000))
    plan = plan_question(
        question(rows, {"n": Count(), "m": Mean(X)}, [("region", REGIONS)]), PureDP(1)
    )
    shown = plan.to_dict()
    assert shown["size"] == 1000
    assert shown["rows"][0]["relative"] == plan.statistic_errors()["n"] / 1000
    assert shown["rows"][1]["relative"] is None
    assert "1,000 rows per key (declared, divided evenly: a smaller key is further off)" in str(
        plan
    )


def test_html_is_escaped_and_json_is_plain():
    asked = question(relation(), {"a<b": Count()}, columns=(("n", Field("a<b")),))
    plan = plan_question(asked, PureDP(1))
    assert "a&lt;b" in plan._repr_html_()
    assert "a<b" not in plan._repr_html_()
    assert json.loads(json.dumps(plan.to_dict()))["rows"][0]["error"] == 3
