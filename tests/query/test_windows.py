"""Windows over released rows: their parts, their values beside a store's, and what is refused."""

from __future__ import annotations

import random

import duckdb
import pytest

import discreet as dp
from discreet.query import describe
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tree import Finish, Key, Question, Scan
from discreet.query.algebra.window import WindowParts, window_call, window_parts
from discreet.query.bounds.check import require_sound
from discreet.query.meaning.post_processing import show_row, types_of, with_windows

COLUMNS = {"shop": dp.Category(["a", "b"]), "day": dp.Integer(1, 9)}
VISITS = dp.Schema("visits", dp.Rows(), COLUMNS)
TABLES = {"visits": VISITS}
BY_SHOP = "SELECT shop, day, COUNT(*) AS n"
WINDOWS = [
    "SUM(COUNT(*)) OVER (PARTITION BY shop)",
    "AVG(COUNT(*)) OVER (PARTITION BY shop ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "SUM(COUNT(*)) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "SUM(COUNT(*)) OVER (PARTITION BY shop ORDER BY day DESC ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING)",
    "COUNT(*) OVER (ORDER BY day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "SUM(COUNT(*)) OVER (ORDER BY day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "SUM(COUNT(*)) OVER (ORDER BY day, shop ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "MIN(COUNT(*)) OVER (PARTITION BY shop)",
    "MAX(COUNT(*)) OVER ()",
    "ROW_NUMBER() OVER (PARTITION BY shop ORDER BY COUNT(*) DESC, day)",
    "RANK() OVER (ORDER BY COUNT(*) DESC)",
    "DENSE_RANK() OVER (PARTITION BY day ORDER BY COUNT(*))",
    "LAG(COUNT(*), 2) OVER (PARTITION BY shop ORDER BY day)",
    "LEAD(COUNT(*)) OVER (PARTITION BY shop ORDER BY day)",
]


def counted(seed):
    """Return counts by shop and day; few values, so that there are ties, and not every cell."""
    draw = random.Random(seed)
    rows = []
    for shop in ("a", "b"):
        for day in range(1, 10):
            if draw.random() < 0.8:
                rows.append({"shop": shop, "day": day, "n": float(draw.randrange(4))})
    return rows


class TestWindows:
    @pytest.mark.parametrize("window", WINDOWS)
    def test_have_the_values_of_a_store(self, window):
        sql = f"{BY_SHOP}, {window} AS x FROM visits GROUP BY shop, day"
        question = dp.parse_sql(sql, TABLES)
        finish = question.finish
        types = types_of(question)
        # The store reads the counts as a table: COUNT(*) of the question is its column n.
        plain = window.replace("COUNT(*)", "n").replace("n OVER", "COUNT(*) OVER", 1)
        if not window.startswith("COUNT"):
            plain = window.replace("COUNT(*)", "n")
        for seed in range(5):
            rows = counted(seed)
            # One release serves all windows: named here as the question names it.
            made = [show_row(finish, row, types) for row in with_windows(finish, rows, types)]
            with duckdb.connect() as store:
                values = ", ".join(f"('{r['shop']}', {r['day']}, {r['n']}::DOUBLE)" for r in rows)
                found = store.execute(
                    f"SELECT shop, day, {plain} FROM (VALUES {values}) AS t(shop, day, n)"
                ).fetchall()
            expected = {(shop, day): x for shop, day, x in found}
            for row in made:
                wanted = expected[row["shop"], row["day"]]
                assert row["x"] == (None if wanted is None else pytest.approx(float(wanted)))

    @pytest.mark.parametrize("window", WINDOWS)
    def test_are_written_and_read_back(self, window):
        sql = f"{BY_SHOP}, {window} AS x FROM visits GROUP BY shop, day QUALIFY x > 1 ORDER BY x"
        question = dp.parse_sql(sql, TABLES)
        assert dp.parse_sql(describe(question), TABLES) == question

    def test_have_parts(self):
        parts = WindowParts(Field("n"), ((Field("a"), True), (Field("b"), False)), (), (None, 3))
        assert window_parts(window_call(Function.FRAME, parts)) == parts
        ranks = WindowParts(None, parts.order, (Field("k"),))
        assert window_parts(window_call(Function.RANK, ranks)) == ranks

    @pytest.mark.parametrize(
        "call",
        [
            Call(Function.RANK, (Constant(2), Field("shop"), Constant(True))),
            Call(Function.RANK, (Constant(-1),)),
            Call(Function.RANK, (Constant(True), Field("shop"), Constant(True))),
            Call(Function.ROW_NUMBER, (Constant(1), Field("shop"), Constant(1))),
            Call(Function.ROW_NUMBER, (Field("n"),)),
            Call(Function.FRAME, (Field("n"), Constant(1), Constant("no"), Constant(0))),
            Call(Function.FRAME, (Field("n"), Constant(1), Field("n"), Constant(0))),
            Call(Function.LAG, (Field("n"), Field("n"), Field("shop"), Constant(False))),
            Call(Function.LAG, (Field("n"), Constant(1))),
        ],
    )
    def test_made_by_hand_are_refused_before_any_charge(self, call):
        """They are computed after the charge, where nothing may fail."""
        sound = dp.parse_sql(f"{BY_SHOP} FROM visits GROUP BY shop, day", TABLES)
        keys = (Key("shop", Field("shop"), ("a", "b")),)
        shown = Finish((("shop", Field("shop")), ("x", call)))
        with pytest.raises(dp.DiscreetError):
            require_sound(Question(Scan(VISITS), keys, sound.statistics, shown), None)
