"""The answer as a table: finishing, intervals, other tools, and how it shows itself."""

import csv
import io
import math
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer.cases import REGIONS, Remembered, question, relation, visits
from discreet.answer import answer_question, run_plan
from discreet.answer.answer import Answer
from discreet.answer.ask import gather
from discreet.answer.computed.interval_arithmetic import box_of
from discreet.answer.suggest import plan_bounds
from discreet.errors import InvalidArgument
from discreet.mechanisms import Geometric
from discreet.plan import plan_question
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.statistic import (
    Count,
    CountDistinct,
    CountPeople,
    Mean,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from discreet.show.bar import error_bar
from discreet.statistics.correlation import CorrelationEstimate
from discreet.statistics.covariance import CovarianceEstimate
from discreet.statistics.laws.interval_arithmetic import (
    blurred,
    clip,
    mixed_blur,
    mixed_moment,
    outward,
    second_moment,
    unbiased,
)
from discreet.statistics.mean import MeanEstimate
from discreet.statistics.releases.total import NoisyTotal, TotalEstimate
from discreet.statistics.variance import VarianceEstimate
from support.misses import most_misses
from support.profile import draws, examples

X = Field("x")
SURE = PureDP(10**7)
"""So much that the noise is 0 but for a chance below e^-1000."""
STORE = Remembered(visits(40))
BY_REGION = [("region", REGIONS)]


def sure(statistics, keys=(), unit="rows", **finish):
    return answer_question(question(relation(unit), statistics, keys, **finish), STORE, SURE)


class TestTable:
    def test_without_noise_it_is_the_exact_answer(self):
        rows = visits(40)
        answer = sure({"n": Count(), "mean": Mean(X), "mode": Mode(Field("region"))}, BY_REGION)
        for region, n, mean, mode in answer.rows:
            mine = [r for r in rows if r["region"] == region]
            values = [r["x"] for r in mine if r["x"] is not None]
            assert n == len(mine)
            assert mean == (pytest.approx(sum(values) / len(values)) if values else None)
            if mine:
                assert mode == region

    def test_finishing_works_on_noisy_values(self):
        n = Field("n")
        having = Call(Function.LESS, (Constant(0), n))
        answer = sure({"n": Count()}, BY_REGION, having=having, order=((n, False),), limit=1)
        assert answer.column("region") == ["S"]
        assert len(answer) == len(answer.interval()) == 1

    def test_computed_columns_have_intervals(self):
        shown = (
            ("twice", Call(Function.MULTIPLY, (Constant(2), Field("n")))),
            (
                "named",
                Call(
                    Function.CASE,
                    (Call(Function.LESS, (Field("n"), Constant(1))), Constant(1), Constant(2)),
                ),
            ),
            ("what", Call(Function.IS_NULL, (Field("mode"),))),
            ("region", Field("region")),
        )
        answer = sure({"n": Count(), "mode": Mode(Field("region"))}, BY_REGION, columns=shown)
        first = answer.interval()[0]
        assert set(first) == {"twice", "named", "what"}
        assert first["twice"] == (answer.rows[0][0], answer.rows[0][0])
        assert first["named"] == (1, 2)  # whichever it is
        assert first["what"] is None

    def test_counts_are_moved_above_zero_only_if_asked(self):
        plan = plan_question(question(relation(), {"n": Count()}), PureDP("1/1000"))
        raw = [run_plan(plan, Remembered([])).column("n")[0] for _ in range(40)]
        moved = [run_plan(plan, Remembered([]), nonnegative=True).column("n")[0] for _ in range(40)]
        assert (
            min(raw) < 0 <= min(moved)
        )  # 40 noises of scale 1000 are all above 0 with probability 1e-12

    def test_statistics_of_people_and_values(self):
        answer = sure(
            {"people": CountPeople(), "values": CountDistinct(Field("region"))}, unit="groups"
        )
        assert answer.rows[0] == pytest.approx(
            (40, 2), abs=1e-4
        )  # parts of a person are 2^-20 each, and noise may move one

    def test_a_receipt_goes_with_it(self):
        assert sure({"n": Count()}).with_receipt("7").receipt == "7"

    @pytest.mark.parametrize("level", [0, 1, True, "0.9"])
    def test_levels(self, level):
        with pytest.raises(InvalidArgument, match="level"):
            sure({"n": Count()}).interval(level)

    def test_quantiles_of_days(self):
        answer = sure(
            {
                "first": Quantile(Field("day"), Fraction(0)),
                "middle": Quantile(Field("day"), Fraction(1, 2)),
            }
        )
        days = sorted(r["day"] for r in visits(40))
        found = answer.to_dict(level=0.95)
        assert found["first"] == [date.fromisoformat(days[0])]
        assert found["middle_low"][0] <= found["middle"][0] <= found["middle_high"][0]
        assert "2024" in str(answer)


class TestMeans:
    def test_a_mean_without_noise_has_next_to_no_interval(self):
        still = Geometric(scale="1e-9", sensitivity=1)
        mean = MeanEstimate(
            NoisyTotal(500, Fraction(1), still),
            NoisyTotal(100, Fraction(1), still),
            *map(Fraction, (60, 0, 120)),
        )
        low, high = mean.interval(0.05)
        assert low <= 65 <= high and high - low < 1e-6

    @pytest.mark.parametrize("beta", [0.5, 0.05, 1e-6, 1e-8, 1e-9, 1e-12, 1e-15])
    def test_a_surer_interval_is_wider(self, beta):
        noise, few = Geometric(scale=200, sensitivity=60), Geometric(scale=4, sensitivity=1)
        mean = MeanEstimate(
            NoisyTotal(500, Fraction(1), noise),
            NoisyTotal(10_000, Fraction(1), few),
            *map(Fraction, (60, 0, 120)),
        )
        (low, high), (least, most) = mean.interval(beta), mean.interval(beta / 2)
        assert 0 <= least <= low < 60.05 < high <= most <= 120
        wild = MeanEstimate(
            NoisyTotal(500, Fraction(1), noise),
            NoisyTotal(2, Fraction(1), few),
            *map(Fraction, (60, 0, 120)),
        )
        assert wild.interval(1e-12) == (0.0, 120.0)

    @pytest.mark.statistical
    @pytest.mark.parametrize("exact", [-59, -7, 0, 40])
    def test_the_interval_holds_as_often_as_it_says(self, exact):
        """False alarm below 1e-10: as many draws as P[Binomial(runs, 5 %) > most] < 1e-11 allows may miss."""
        total, count = Geometric(scale=240, sensitivity=60), Geometric(scale=4, sensitivity=1)
        held, runs = 0, draws(2000) // 2
        for _ in range(runs):
            sums = NoisyTotal(total.release(exact * 50), Fraction(1), total)
            mean = MeanEstimate(
                sums,
                NoisyTotal(count.release(50), Fraction(1), count),
                *map(Fraction, (60, 0, 120)),
            )
            low, high = mean.interval(0.05)
            held += low <= 60 + exact <= high
        assert runs - held <= most_misses(runs)


class TestExports:
    ANSWER = sure({"n": Count(), "mode": Mode(Field("region"))}, BY_REGION)

    def test_dict(self):
        assert list(self.ANSWER.to_dict()) == ["region", "n", "mode"]
        with_ends = self.ANSWER.to_dict(level=0.9)
        assert list(with_ends) == [
            "region",
            "n",
            "n_low",
            "n_high",
            "mode",
            "mode_low",
            "mode_high",
        ]
        assert with_ends["n_low"] == with_ends["n"] == with_ends["n_high"]
        assert with_ends["mode_low"] == [None] * 3

    def test_csv(self, tmp_path):
        text = self.ANSWER.to_csv(tmp_path / "a.csv", level=0.95)
        assert (tmp_path / "a.csv").read_text(encoding="utf-8") == text
        rows = list(csv.DictReader(io.StringIO(self.ANSWER.to_csv())))
        assert [row["region"] for row in rows] == list(REGIONS)

    def test_frames(self):
        polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        assert isinstance(self.ANSWER.to_polars(level=0.95), polars.DataFrame)
        assert isinstance(self.ANSWER.to_pandas(), pandas.DataFrame)
        assert self.ANSWER.to_arrow().to_pydict() == self.ANSWER.to_dict()
        assert self.ANSWER.to_polars().to_dict(as_series=False) == self.ANSWER.to_dict()

    def test_text(self):
        lines = str(self.ANSWER).splitlines()
        assert len(lines) == 5
        assert lines[4] == "± is noise only, at 95 %"
        told = self.ANSWER.details().splitlines()
        assert "no interval of mode: it is picked, not measured" in told
        assert "●" in lines[1]
        assert "± 0" in lines[1]
        alone = str(sure({"n": Count()}))
        assert "●" not in alone
        assert str(sure({"mode": Mode(Field("region"))}, BY_REGION)).count("●") == 0

    def test_text_with_null(self):
        text = str(sure({"mean": Mean(X)}, BY_REGION))
        assert "NULL (-20 to 100)" in text

    def test_html_is_escaped(self):
        answer = sure(
            {"n": Count()}, BY_REGION, columns=(("<n>", Field("n")), ("region", Field("region")))
        )
        page = answer._repr_html_()
        assert "&lt;n&gt;" in page
        assert page.count("<svg") == 3

    def test_plot(self):
        pytest.importorskip("matplotlib")
        axes = sure({"mean": Mean(X), "n": Count()}, BY_REGION).plot()
        assert axes.get_ylabel() == "mean"
        assert [label.get_text() for label in axes.get_xticklabels()] == list(REGIONS)
        assert self.ANSWER.plot("n").get_ylabel() == "n"
        with pytest.raises(InvalidArgument, match="there are n"):
            self.ANSWER.plot("mode")
        with pytest.raises(InvalidArgument, match="no noisy numbers to draw"):
            sure({"mode": Mode(Field("region"))}).plot()

    def test_plot_without_an_interval(self):
        pytest.importorskip("matplotlib")
        shown = (("q", Call(Function.DIVIDE, (Constant(1), Field("n")))),)
        answer = sure({"n": Count()}, BY_REGION, columns=shown)
        bounded = [row["q"] for row in answer.interval() if row["q"] is not None]
        assert 0 < len(bounded) < len(answer)
        [drawn] = answer.plot().collections
        assert len(drawn.get_segments()) == len(bounded)  # an error bar each

    def test_an_empty_answer(self):
        plan = plan_question(
            question(relation("people"), {"n": Count()}, [("town", None)]), ApproxDP(1, "1e-6")
        )
        answer = run_plan(plan, Remembered([]))
        assert isinstance(answer, Answer)
        assert str(answer) == "town  n"
        assert answer.to_dict() == {"town": [], "n": []}

    def test_bars_stay_in_their_frame(self):
        assert error_bar((0.0, 0.0), 0.0, (0.0, 0.0), width=5) == "●    "


OF_TWO = [Function[n] for n in ("ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "LEAST", "GREATEST")]
BOX = st.tuples(st.integers(-30, 30), st.integers(0, 30)).map(
    lambda p: (Fraction(p[0]), Fraction(p[0] + p[1]))
)
POSITIVE = st.tuples(st.integers(2, 30), st.integers(0, 30)).map(
    lambda p: (Fraction(p[0]), Fraction(p[0] + p[1]))
)
INSIDE = st.fractions(0, 1, max_denominator=16)


def at(box, share):
    return box[0] + share * (box[1] - box[0])


class TestBoxes:
    """Whatever the exact totals in their boxes, the statistic lies between the bounds."""

    @settings(deadline=None, max_examples=examples(60))
    @given(BOX, BOX, BOX, POSITIVE, st.lists(INSIDE, min_size=4, max_size=4))
    def test_moments(self, q, s, t, n, shares):
        q0, s0, t0, n0 = (at(box, share) for box, share in zip((q, s, t, n), shares, strict=True))
        low, high = second_moment(q, s, n)
        exact = q0 / n0 - (s0 / n0) ** 2
        assert low <= exact <= high
        bottom, top = unbiased((low, high), n)
        assert bottom <= exact * n0 / (n0 - 1) <= top
        low, high = mixed_moment(q, s, t, n)
        assert low <= q0 / n0 - s0 * t0 / n0**2 <= high

    @settings(deadline=None, max_examples=examples(25))
    @given(BOX, BOX, POSITIVE)
    def test_second_moments_are_tight(self, q, s, n):
        low, high = second_moment(q, s, n)
        grid = [Fraction(i, 60) for i in range(61)]
        zero = [0] if s[0] <= 0 <= s[1] else []
        found = [a / at(n, i) - (b / at(n, i)) ** 2 for a in q for b in (*s, *zero) for i in grid]
        assert min(found) == low
        assert max(found) <= high <= max(found) + abs(high) / 100 + Fraction(1, 100)

    @settings(deadline=None, max_examples=examples(100))
    @given(BOX, BOX, st.lists(INSIDE, min_size=2, max_size=2), st.sampled_from(OF_TWO))
    def test_arithmetic_of_two(self, x, y, shares, function):
        a, b = at(x, shares[0]), at(y, shares[1])
        reach = box_of(Call(function, (Field("x"), Field("y"))), {"x": x, "y": y})
        if reach is None:
            assert function is Function.DIVIDE
            assert y[0] <= 0 <= y[1]
            return
        value = {
            Function.ADD: a + b, Function.SUBTRACT: a - b, Function.MULTIPLY: a * b, Function.DIVIDE: b and a / b,
            Function.LEAST: min(a, b), Function.GREATEST: max(a, b),
        }[function]  # fmt: skip
        assert reach[0] <= value <= reach[1]

    @settings(deadline=None, max_examples=examples(100))
    @given(BOX, INSIDE)
    def test_arithmetic_of_one(self, x, share):
        halves = (x[0] / 3, x[1] / 3)
        a = at(halves, share)
        rules = {
            Function.NEGATE: -a, Function.ABSOLUTE: abs(a), Function.FLOOR: math.floor(a),
            Function.CEILING: math.ceil(a), Function.ROUND: math.floor(a + Fraction(1, 2)),
        }  # fmt: skip
        for function, value in rules.items():
            low, high = box_of(Call(function, (Field("x"),)), {"x": halves})
            assert low <= value <= high

    def test_what_has_no_bound(self):
        assert box_of(Constant("a"), {}) is None
        assert box_of(Constant(True), {}) is None
        assert box_of(Call(Function.NEGATE, (Field("x"),)), {"x": None}) is None
        assert box_of(Constant(Fraction(1, 2)), {}) == (Fraction(1, 2), Fraction(1, 2))

    def test_rounding_outward(self):
        third = Fraction(1, 3)
        low, high = outward((third, third))
        assert low <= third <= high
        low, high = outward((-third, -third))
        assert low <= -third <= high
        assert clip((Fraction(-9), Fraction(9)), Fraction(0), Fraction(1)) == (0, 1)
        assert clip((Fraction(5), Fraction(9)), Fraction(0), Fraction(1)) == (1, 1)

    @given(st.floats(0, 100), st.floats(0, 10))
    def test_blur_widens(self, variance, blur):
        low, high = blurred(variance, variance, blur)
        assert low <= variance <= high or blur == 0
        assert mixed_blur((Fraction(2), Fraction(4)), (Fraction(1), Fraction(1))) == 4


def noisy(steps, scale="1/1000"):
    return NoisyTotal(steps, Fraction(1), Geometric(scale=scale, sensitivity=1))


class TestTooFew:
    """Where the noise may hide that there are no rows, only the public range is known."""

    def test_means(self):
        mean = MeanEstimate(noisy(5), noisy(0), Fraction(50), Fraction(0), Fraction(100))
        assert mean.value is None
        assert mean.interval(0.05) == (0.0, 100.0)
        assert (
            MeanEstimate(noisy(999), noisy(1), Fraction(50), Fraction(0), Fraction(100)).value
            == 100.0
        )

    @pytest.mark.parametrize("sample", [True, False])
    def test_variances(self, sample):
        few = VarianceEstimate(
            noisy(5), noisy(1), noisy(1 if sample else 0), Fraction(10), sample=sample, root=False
        )
        assert few.value is None
        assert few.interval(0.05) == (0.0, 50.0 if sample else 25.0)
        assert (
            VarianceEstimate(
                noisy(1), noisy(100), noisy(9), Fraction(10), sample=sample, root=True
            ).value
            == 0.0
        )

    @pytest.mark.parametrize("sample", [True, False])
    def test_covariances(self, sample):
        wide, none = (Fraction(10), Fraction(4)), (Fraction(0), Fraction(0))
        few = CovarianceEstimate(
            noisy(5), noisy(1), noisy(1), noisy(1 if sample else 0), wide, none, sample=sample
        )
        assert few.value is None
        assert few.interval(0.05) == ((-20.0, 20.0) if sample else (-10.0, 10.0))
        some = CovarianceEstimate(noisy(8), noisy(0), noisy(0), noisy(4), wide, none, sample=sample)
        assert some.interval(0.05)[0] <= some.value <= some.interval(0.05)[1]

    def test_correlations(self):
        facts = ((Fraction(10), Fraction(4)), (Fraction(0), Fraction(0)))
        assert CorrelationEstimate(*(noisy(0) for _ in range(6)), *facts).value is None
        flat = CorrelationEstimate(
            noisy(5), noisy(0), noisy(0), noisy(9), noisy(0), noisy(9), *facts
        )
        assert flat.value is None
        assert flat.interval(0.05) == (-1.0, 1.0)
        assert CorrelationEstimate(*(noisy(0) for _ in range(6)), *facts).interval(0.05) == (
            -1.0,
            1.0,
        )
        falling = CorrelationEstimate(
            noisy(-90), noisy(0), noisy(0), noisy(9), noisy(90), noisy(90), *facts
        )
        low, high = falling.interval(0.05)
        assert low == falling.value == -1.0
        assert high == pytest.approx(-1.0)

    def test_amounts(self):
        assert TotalEstimate(noisy(7), Fraction(0), Fraction(5)).value == 5.0
        assert TotalEstimate(noisy(-7)).interval(0.05) == (-7.0, -7.0)


class TestAsking:
    def test_one_question_to_the_store_for_all_terms(self):
        asked = []

        class Watched:
            def tally(self, tally):
                asked.append(tally)
                return STORE.tally(tally)

        plan = plan_question(
            question(relation(), {"n": Count(), "m": Mean(X), "v": Variance(X), "s": Sum(X)}), SURE
        )
        run_plan(plan, Watched())
        assert len(asked) == 1
        assert len(asked[0].terms) == 4  # u², 2u(S − u), (S − u)², and rows without x

    def test_scores_are_cut_off_without_moving_apart(self):
        need = plan_bounds("x", relation(), spend=PureDP(1)).releases[0].need
        (counts, *_) = gather([need], [()], STORE)
        huge = {key: count << 70 for key, count in counts.items()}
        assert min(need.scores(huge, ())) == -(1 << 62)
        assert max(need.scores(counts, ())) == 0
