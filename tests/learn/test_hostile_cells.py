"""One hostile cell among others: every other row is read as without it, and nothing raises, in any container."""

from __future__ import annotations

import math
import sys
import warnings
from collections import deque
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet import learn
from discreet.errors import InvalidArgument
from discreet.learn.coding.column_cells import Steps, read_cells, steps_of
from discreet.learn.coding.design import design_of
from discreet.learn.coding.feature import Numeric
from discreet.learn.coding.label import Classes
from discreet.learn.frame import read_columns
from discreet.learn.task import Task
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from discreet.query.domains.domain import domain_of_column
from discreet.synthetic.synthesizer import _store

WIDE = 2**53 + 1
COLUMNS = {
    "whole": dp.Integer(0, 99),
    "widest": dp.Integer(-(2**62), 2**62),
    "real": dp.Real(0, 9, step=0.5),
    "tiny": dp.Real(0, 1e-200),
    "name": dp.Category(["a", "b", "7"]),
    "code": dp.Category([1, 2, WIDE]),
    "truth": dp.Boolean(),
    "day": dp.Date("1990-01-01", "2020-12-31"),
    "moment": dp.Timestamp("1990-01-01T00:00:00", "2020-12-31T23:59:59"),
    "y": dp.Category([1, 2, WIDE]),
}
NAMES = [name for name in COLUMNS if name != "y"]
DOMAINS = {name: domain_of_column(column) for name, column in COLUMNS.items()}
TASK = Task(design_of({name: DOMAINS[name] for name in NAMES}), Classes("y", (1, 2, WIDE)))
ROWS = [
    {
        "whole": i % 100,
        "widest": (2**62, WIDE, -(2**62), 5)[i % 4],
        "real": i / 4,
        "tiny": 1e-201 * i,
        "name": "ab7"[i % 3],
        "code": (1, WIDE, 2)[i % 3],
        "truth": i % 2 == 0,
        "day": date(2000, 1, 1 + i),
        "moment": datetime(2000, 1, 1 + i, 12),
        "y": (WIDE, 2, 1)[i % 3],
    }
    for i in range(12)
]


class Bad:
    """An object all of whose methods fail, its class among them."""

    def _fail(self, *_):
        raise RuntimeError("secret")

    __eq__ = __ne__ = __lt__ = __hash__ = __len__ = __iter__ = __bool__ = _fail
    __float__ = __int__ = __index__ = __str__ = __repr__ = __getitem__ = _fail
    __class__ = property(_fail)  # type: ignore[assignment]


class BadText(str):
    __slots__ = ()

    def strip(self, *_):
        raise RuntimeError("secret")

    lower = __hash__ = __eq__ = strip


class BadWhole(int):
    def __int__(self):
        raise RuntimeError("secret")


class Colour(StrEnum):
    A = "a"


CELLS = [
    None, float("nan"), math.inf, -math.inf, pd.NA, pd.NaT, np.datetime64("NaT"), np.nan,
    b"x", b"\xff", bytearray(b"1"), 1j, 1 + 0j, complex(math.nan, 0), np.complex64(2j), 10**400, -(10**400), 10**5000,
    2**63, 2**64, -(2**64), WIDE + 0.5, 0.5, -0.0, 5e-324, 1e308, np.float16(7), np.longdouble("1e400"), True, np.bool_(False),
    [1], [], (1, 2), {"a": 1}, {1}, np.array([1, 2]), np.array(5), np.array([]), range(3), object(), int, len,
    "", "x", "7", "1e400", "9" * 60, "\0", "\ud800", "nan", "2000-01-01", "9999-99-99",
    Decimal("NaN"), Decimal("sNaN"), Decimal("1e400"), Decimal("-Infinity"), Decimal("1e-9999"), Fraction(1, 3),
    date(1, 1, 1), datetime(9999, 12, 31, 23, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC), timedelta.max, time(1),
    np.datetime64(2**62, "D"), np.datetime64(-(2**62), "Y"), np.timedelta64(5, "ns"), pd.Timestamp.max, pd.Period("2000-01"),
    UUID(int=1), memoryview(b"1"), pa.scalar(1), pl.Series([1]), pd.Series([1, 2]), Bad(), BadText("a"), BadWhole(1), Colour.A,
]  # fmt: skip
assert len(CELLS) >= 60


def with_cell(cell, at=5):
    return [*ROWS[:at], dict.fromkeys(COLUMNS, cell), *ROWS[at:]]


def objects(cells):
    """An object array filled cell by cell: NumPy would take lists and arrays apart."""
    made = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        made[place] = cell
    return made


def matrix(rows, names):
    made = np.empty((len(rows), len(names)), dtype=object)
    for place, row in enumerate(rows):
        for column, name in enumerate(names):
            made[place, column] = row[name]
    return made


def lists(rows, names=COLUMNS):
    return {name: [row[name] for row in rows] for name in names}


def frame(rows):
    return pd.DataFrame(
        {name: pd.Series(objects(cells), dtype=object) for name, cells in lists(rows).items()}
    )


def polars_frame(rows):
    return pl.DataFrame(
        {name: pl.Series(cells, dtype=pl.Object) for name, cells in lists(rows).items()}
    )


FORMS = {
    "rows": lambda rows: (
        [[row[name] for name in NAMES] for row in rows],
        [row["y"] for row in rows],
    ),
    "tuples": lambda rows: (
        tuple(tuple(row[name] for name in NAMES) for row in rows),
        tuple(row["y"] for row in rows),
    ),
    "mappings": lambda rows: (rows, [row["y"] for row in rows]),
    "queue": lambda rows: (
        deque([row[name] for name in NAMES] for row in rows),
        deque(row["y"] for row in rows),
    ),
    "lists": lambda rows: (lists(rows), None),
    "objects": lambda rows: ({name: objects(cells) for name, cells in lists(rows).items()}, None),
    "matrix": lambda rows: (matrix(rows, NAMES), objects([row["y"] for row in rows])),
    "column of y": lambda rows: (matrix(rows, NAMES), matrix(rows, ["y"])),
    "pandas": lambda rows: (frame(rows), None),
    "pandas by place": lambda rows: (
        frame(rows)[NAMES].set_axis(range(len(NAMES)), axis=1),
        frame(rows)["y"],
    ),
    "polars": lambda rows: (polars_frame(rows), None),
}


def read(table, y, *, but=None):
    """Return what every cell is read as, but those of one row."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning that a cell causes tells about it
        found = read_columns(TASK, DOMAINS, table, y)
        coded = TASK.design.code(found).dense().tolist()
        labels = TASK.label.code(found["y"]).tolist()
    cells = [
        list(zip(one.steps.tolist(), one.missing.tolist(), strict=True))
        if isinstance(one, Steps)
        else list(one.values)
        for one in found.values()
    ]
    kept = [place for place in range(len(labels)) if place != but]
    return [[column[place] for place in kept] for column in (*cells, coded, labels)]


@pytest.mark.parametrize("form", FORMS)
class TestReading:
    """What fit and tune read, and what predict reads, is the same function: `read_columns`."""

    def test_every_other_row_is_read_as_without_it(self, form):
        plain = read(*FORMS["lists"](ROWS))
        assert read(*FORMS[form](ROWS)) == plain
        for cell in CELLS:
            assert read(*FORMS[form](with_cell(cell)), but=5) == plain, type(cell)

    def test_a_cell_is_read_alike_in_every_container(self, form):
        for cell in CELLS:
            if (
                type(cell) is not list
            ):  # a list of one is a row of a target that is written as a column
                assert read(*FORMS[form](with_cell(cell))) == read(
                    *FORMS["lists"](with_cell(cell))
                ), type(cell)


class TestWhatACellCountsAs:
    def test_numbers(self):
        cells = [10**400, -(10**400), 1j, 3 + 0j, b"3", [3], "3", WIDE, True]
        found = read_columns(
            Task(design_of({"x": DOMAINS["whole"]}), None),
            {"x": DOMAINS["whole"]},
            {"x": cells},
            None,
        )["x"]
        assert found.missing.tolist() == [
            False,
            False,
            True,
            False,
            True,
            True,
            False,
            False,
            False,
        ]
        assert found.steps.tolist() == [99, 0, 0, 3, 0, 0, 3, 99, 1]

    def test_codes_stay_within_their_bounds_however_wide(self):
        """2^63 steps from end to end: a difference with a sign would wrap around, and so would a row's norm."""
        found = Numeric("x", -(2**62), 2**62).code(
            steps_of([-(2**62), -(2**61), 0, 2**61, 2**62, None])
        )
        assert found.tolist() == [-1024, -512, 0, 512, 1024, 0]

    def test_whole_numbers_beside_a_float_keep_every_digit(self):
        found = read_columns(TASK, DOMAINS, lists([*ROWS, dict.fromkeys(COLUMNS, 0.5)]), None)
        assert found["code"].values[1] == WIDE

    def test_rows_of_another_length_are_null(self):
        task, domains = Task(design_of({"x": DOMAINS["whole"], "z": DOMAINS["whole"]}), None), {}
        domains = {"x": DOMAINS["whole"], "z": DOMAINS["whole"]}
        rows = [[1, 2], [1], [1, 2, 3], 7, "ab", None, Bad(), {"z": 5}, np.array([3, 4]), [1, 2]]
        found = read_columns(task, domains, rows, None)
        assert found["x"].missing.tolist() == [False, *[True] * 7, False, False]
        assert found["z"].missing.tolist() == [False, *[True] * 6, False, False, False]
        assert found["z"].steps.tolist() == [2, 0, 0, 0, 0, 0, 0, 5, 4, 2]


def numbers(values, kind):
    """Whole numbers as the bits of another type: whatever they are, they are in files somewhere."""
    width = kind.bit_width // 8
    data = b"".join(value.to_bytes(width, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def text(last):
    raw = pa.array([b"a", b"b", b"7", last], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())


TYPED = {
    "whole": pa.array([1, 2, 3, None]),
    "unsigned": pa.array([1, 2, 3, 2**64 - 1], pa.uint64()),
    "wide": pa.array([WIDE, 2, 1, None]),
    "double": pa.array([1.0, 2.0, 3.0, math.inf]),
    "half": pa.array(np.array([1, 2, 3, np.nan], np.float16)),
    "decimal": numbers([1, 2, 3, -(2**127)], pa.decimal128(38, 0)),
    "wide decimal": numbers([1, 2, 3, -(2**255)], pa.decimal256(76, 0)),
    "days": pa.array([0, 7000, 8000, 2**31 - 1], pa.int32()).view(pa.date32()),
    "micro": numbers([0, 10**15, 2 * 10**15, -(2**63)], pa.timestamp("us")),
    "nano": numbers([0, 10**18, 10**18 + 10**14, 2**63 - 1], pa.timestamp("ns", "UTC")),
    "seconds": numbers([0, 10**9, 10**9 + 1, 2**62], pa.timestamp("s")),
    "truth": pa.array([True, False, True, None]),
    "text": text(b"\xff"),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 7], pa.int32()), pa.array(["a", "b"]), safe=False),
    "lists": pa.array([[1], [2], [3], None]),
}  # fmt: skip


class TestTypedContainers:
    """A container that declares a type keeps it: NULL and odd bits of one cell change no other."""

    @pytest.mark.parametrize("kind", TYPED)
    def test_arrow_polars_and_pandas(self, kind):
        whole = TYPED[kind]
        tables = {"arrow": pa.table({"x": whole}), "batch": pa.record_batch({"x": whole})}
        tables["chunks"] = pa.table({"x": pa.chunked_array([whole.slice(0, 1), whole.slice(1)])})
        if kind not in (
            "text",
            "dictionary",
            "wide decimal",
            "seconds",
        ):  # which Polars does not take, or converts
            tables["polars"] = pl.from_arrow(tables["arrow"])
        if kind not in ("dictionary", "lists"):
            tables["pandas"] = pd.DataFrame(
                {"x": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([whole])))}
            )
        for name, domain in DOMAINS.items():
            task = Task(design_of({name: domain}), None)
            found = {}
            for form, table in tables.items():
                column = table["x"]
                for rows in (3, 4):
                    part = column[:rows] if form in ("polars", "pandas") else column.slice(0, rows)
                    one = read_columns(task, {name: domain}, {name: part}, None)[name]
                    cells = list(zip(one.steps.tolist(), one.missing.tolist(), strict=True)) if isinstance(one, Steps) else list(one.values)  # fmt: skip
                    found[form, rows] = cells[:3]
            assert len({str(cells) for cells in found.values()}) == 1, (name, found)

    def test_tables_are_told_by_their_names(self):
        domains = {"x": DOMAINS["whole"], "z": DOMAINS["name"]}
        task = Task(design_of(domains), None)
        for table in (
            pa.table({"z": ["a", "b"], "x": [1, 2]}),
            pl.DataFrame({"z": ["a", "b"], "x": [1, 2]}),
        ):
            found = read_columns(task, domains, table, None)
            assert found["x"].steps.tolist() == [1, 2] and list(found["z"].values) == ["a", "b"]
        with pytest.raises(InvalidArgument, match="no column z"):
            read_columns(task, domains, pa.table({"x": [1]}), None)
        with pytest.raises(InvalidArgument, match="several columns x"):
            read_columns(task, domains, pd.DataFrame([[1, 2, "a"]], columns=["x", "x", "z"]), None)

    def test_masked_cells_are_null(self):
        task, domains = Task(design_of({"x": DOMAINS["whole"]}), None), {"x": DOMAINS["whole"]}
        found = read_columns(
            task, domains, np.ma.MaskedArray([[1], [2]], mask=[[False], [True]]), None
        )["x"]
        assert (found.steps.tolist(), found.missing.tolist()) == ([1, 0], [False, True])

    @pytest.mark.parametrize("kind", [np.complex128, np.complex64])
    def test_a_complex_column_keeps_its_real_cells(self, kind):
        """One 1j makes pandas and NumPy hold the others as complex numbers without an imaginary part."""
        task, domains = Task(design_of({"x": DOMAINS["whole"]}), None), {"x": DOMAINS["whole"]}
        cells = np.array([1, 2, 3, 1j], dtype=kind)
        for table in (
            cells[:, None],
            {"x": cells},
            pd.DataFrame({"x": cells}),
            pd.DataFrame({"x": [1, 2, 3, 1j]}),
        ):
            found = read_columns(task, domains, table, None)["x"]
            assert (found.steps.tolist(), found.missing.tolist()) == (
                [1, 2, 3, 0],
                [False, False, False, True],
            )

    def test_targets_of_several_columns_are_refused(self):
        for y in (np.zeros((12, 2)), pd.DataFrame(np.zeros((12, 2))), 5, "a", np.float64(1)):
            with pytest.raises(InvalidArgument, match="y "):
                read_columns(TASK, DOMAINS, lists(ROWS, NAMES), y)
        for y in (
            pd.DataFrame({"y": [1] * 12}),
            pl.DataFrame({"y": [1] * 12}),
            pa.table({"y": [1] * 12}),
            [[1]] * 12,
        ):
            assert list(read_columns(TASK, DOMAINS, lists(ROWS, NAMES), y)["y"].values) == [1] * 12


ONE = Term(Constant(True), 1, 0, 1)
TABLE = dp.Schema("t", dp.Rows(), COLUMNS)


def counted(store, schema=TABLE):
    """How many rows are read alike in all columns."""
    totals = store.tally(Tally(Scan(schema), tuple(map(Field, COLUMNS)), (ONE,), Free()))
    return {key: count for key, (count,) in totals.items()}


def one_more(found, plain):
    """Whether there is one row more, and every other is where it was."""
    more = {key: found.get(key, 0) - plain.get(key, 0) for key in found.keys() | plain.keys()}
    return list(filter(None, more.values())) == [1]


class TestSynthesizer:
    def test_rows_and_columns_in_memory(self):
        plain = counted(_store("t", ROWS).enter_result)
        for cell in CELLS:
            for table in (with_cell(cell), lists(with_cell(cell))):
                assert one_more(counted(_store("t", table).enter_result), plain), type(cell)
        assert one_more(counted(_store("t", [*ROWS, 7]).enter_result), plain)

    @pytest.mark.parametrize("make", [frame, polars_frame])
    def test_frames_of_objects(self, make):
        plain = counted(_store("t", ROWS).enter_result)
        with dp.DuckDB(
            {f"t{place}": make(with_cell(cell)) for place, cell in enumerate(CELLS)}
        ) as store:
            for place, cell in enumerate(CELLS):
                found = counted(store, dp.Schema(f"t{place}", dp.Rows(), COLUMNS))
                assert one_more(found, plain), type(cell)

    def test_a_complex_column_of_pandas(self):
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        tally = Tally(Scan(schema), (Field("x"),), (ONE,), Free())
        with _store("t", pd.DataFrame({"x": [*range(9), 1j]})) as store:
            assert store.tally(tally) == {**{(x,): (1,) for x in range(9)}, (None,): (1,)}

    def test_whole(self):
        people = dp.Schema(
            "t", dp.Rows(), {"name": COLUMNS["name"], "truth": COLUMNS["truth"]}, size=80
        )
        for table in (ROWS * 7, lists(ROWS * 7), frame(ROWS * 7)):
            dp.synthetic.Synthesizer(people, dp.ApproxDP(1, "1e-6")).fit(
                table, ledger=book()
            ).sample(5)
        hostile = [row for cell in CELLS for row in with_cell(cell)]
        assert (
            len(
                dp.synthetic.Synthesizer(people, dp.ApproxDP(1, "1e-6"))
                .fit(hostile, ledger=book())
                .sample(5)
            )
            == 5
        )
        with pytest.raises(InvalidArgument, match="different lengths"):
            dp.synthetic.Synthesizer(people, dp.ApproxDP(1, "1e-6")).fit(
                {"name": ["a"], "truth": []}, ledger=book()
            )


def book():
    return dp.open_ledger(":memory:", dp.ApproxDP(50, "1e-4"))


SCHEMA = dp.Schema(
    "t", dp.Rows(), {name: COLUMNS[name] for name in ("whole", "real", "name", "day", "y")}
)
SPEND = dp.ApproxDP(1, "1e-6")


class TestWhole:
    """Whole fits, choices, predictions and scores with every hostile cell at once."""

    @pytest.mark.parametrize("form", ["rows", "lists", "objects", "matrix", "pandas", "polars"])
    def test_fit_tune_predict_and_score(self, form, monkeypatch):
        monkeypatch.setattr(sys.modules[__name__], "NAMES", ["whole", "real", "name", "day"])
        rows = [row for cell in CELLS for row in with_cell(cell)]
        X, y = FORMS[form](rows)
        if form == "matrix":
            X = matrix(rows, NAMES)
        model = learn.LogisticRegression(SCHEMA, "y", SPEND, steps=3).fit(X, y, ledger=book())
        known = X["y"] if y is None else y
        plain = FORMS[form](ROWS)[0]
        assert (
            model.predict(FORMS[form](with_cell(b"x"))[0])[[0, 12]] == model.predict(plain)[[0, 11]]
        ).all()
        assert len(model.predict(X)) == len(rows)
        assert 0 <= model.score(X, known) <= 1
        chosen = learn.tune(learn.LogisticRegression(SCHEMA, "y", SPEND), {"steps": [2, 3]}, X, y, ledger=book())  # fmt: skip
        assert len(chosen.predict(X)) == len(rows)
        amounts = learn.LinearRegression(SCHEMA, "whole", SPEND, features=["real", "name"])
        amounts.fit(lists(rows), ledger=book())
        assert isinstance(amounts.score(lists(rows), lists(rows)["whole"]), float)

    def test_sums_of_vectors(self):
        cells = np.ones((50, 2)).astype(object)
        for place, cell in enumerate(CELLS[:49]):
            cells[place, 0] = cell
        assert learn.noisy_sum(cells, norm=1, multiplier=1).value.shape == (2,)
        with pytest.raises(InvalidArgument, match="noisy_sum takes a matrix"):
            learn.noisy_sum([[1, 2], [3]], norm=1, multiplier=1)


def test_cells_that_equal_each_other_are_read_each_in_its_own_type():
    """Each distinct cell of a list is read once: True equals 1, but is another text."""

    def read(domain, cells):
        found = read_cells(domain, cells)
        if isinstance(found, Steps):
            return list(zip(found.steps.tolist(), found.missing.tolist(), strict=True))
        return list(found.values)

    cells = [True, 1, "1", 1.0, 0, False, "a", 1, True, None, "a"]
    for domain in DOMAINS.values():
        alone = [read(domain, [cell])[0] for cell in cells]
        assert repr(read(domain, cells)) == repr(alone)
