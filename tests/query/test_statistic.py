"""Every statistic is declared once: its SQL functions, Python builders, fields and file follow from there."""

from dataclasses import fields
from fractions import Fraction
from importlib import import_module
from inspect import getmembers, isfunction, signature

import pytest

import discreet.query
from discreet.data import Boolean, Category, Integer, Rows, Schema
from discreet.errors import UnsupportedQuery
from discreet.query import parse
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import (
    BUILDERS,
    FUNCTIONS,
    STATISTICS,
    Argument,
    Quantile,
    Variance,
    expressions_of,
    function_name,
    statistic_name,
)
from discreet.query.python import aggregate

X, Y = Field("x"), Field("y")
COLUMNS = {"x": Integer(1, 9), "y": Integer(1, 9), "kind": Category(["a", "b"]), "yes": Boolean()}
TABLES = {"rows": Schema("rows", Rows(), COLUMNS)}
REQUIRED = {"x": "x", "y": "y", "of": "x", "at": 0.25}
ALL = discreet.query.Table(TABLES["rows"])


def built(name):
    """The statistic that a builder makes of columns."""
    builder = getattr(aggregate, name)
    if name == "overall":
        return builder(ALL, aggregate.count())
    given = {word: REQUIRED[word] for word in signature(builder).parameters if word in REQUIRED}
    return builder(**given)


class TestDeclarations:
    """What other packages say about a statistic follows from its declaration, and nothing else is asked of it."""

    @pytest.mark.parametrize("made", STATISTICS)
    def test_the_fields_are_expressions_and_the_file_is_there(self, made):
        declared = made.declared
        held = tuple(field.name for field in fields(made) if field.type == "Expression")
        assert declared.fields == held
        nothing = declared.argument in (Argument.NOTHING, Argument.PEOPLE)
        assert nothing == (not declared.fields)
        assert callable(import_module(f"discreet.statistics.{declared.file}").METHOD.recipe)

    @pytest.mark.parametrize("made", STATISTICS)
    def test_builders_make_it(self, made):
        for name in made.declared.builders:
            makes = {type(built(name))}
            if name == "count":
                makes.add(type(aggregate.count()))
            if name == "count_people":
                makes.add(type(aggregate.count_people("x")))
            assert made in makes

    def test_the_package_exports_every_builder(self):
        public = [
            name
            for name, made in getmembers(aggregate, isfunction)
            if made.__module__ == aggregate.__name__
        ]
        assert set(BUILDERS) == set(public) - {"named_column"}
        for name in BUILDERS:
            assert getattr(discreet.query, name) is getattr(aggregate, name)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_a_function_is_read_as_declared(self, name):
        function = FUNCTIONS[name]
        listed = function.make.declared.argument is Argument.LISTED
        words = ["kind"] if listed else ["x", "y"][: function.arity]
        [(_, read)] = parse(f"SELECT {name}({', '.join(words)}) FROM rows", TABLES).statistics
        assert read == function.make(*map(Field, words), **function.values)
        assert expressions_of(read) == tuple(map(Field, words))
        # Written by the first function that sets the same fields.
        assert FUNCTIONS[function_name(read)].values == function.values

    def test_names(self):
        assert function_name(Quantile(X, Fraction(1, 3))) == "QUANTILE"
        assert statistic_name(Variance(X, sample=False, root=True)) == "stddev_pop_x"

    @pytest.mark.parametrize("column", ["yes", "kind"])
    def test_other_arguments_are_refused_by_the_declared_name(self, column):
        for made in STATISTICS:
            for name in made.declared.functions:
                if made.declared.argument is Argument.NUMBER:
                    words = ", ".join([column] * len(made.declared.fields))
                    with pytest.raises(
                        UnsupportedQuery, match=f"^{made.declared.name}: it takes a number"
                    ):
                        parse(f"SELECT {name}({words}) FROM rows", TABLES)
