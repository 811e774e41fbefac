"""Title of a question that has no name: its table, statistics, keys and condition."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from ....show.table import truncate

LONGEST = 80


def title_of(sql: str) -> str:
    """Write a title from the words of a question; its first words if they cannot be read.

    >>> from discreet.service.pages.downloads.title import title_of
    >>> title_of("SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM people WHERE age > 3 GROUP BY sex")
    'people: n, income by sex (where age > 3)'
    >>> title_of("SELECT age // 10 AS tens, COUNT(*) AS n FROM people GROUP BY tens")
    'people: n by tens'
    >>> title_of("SELECT COUNT(*) FROM people"), title_of("SELECT (")
    ('people: COUNT(*)', 'SELECT (')
    """
    line = " ".join(sql.split())
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return truncate(line, LONGEST)
    table = tree.find(exp.Table)
    if not isinstance(tree, exp.Select) or table is None:
        return truncate(line, LONGEST)
    keys = (
        [one.sql(comments=False) for one in tree.args["group"].expressions]
        if tree.args.get("group")
        else []
    )
    told = []
    for one in tree.expressions:
        name = one.alias or one.sql(comments=False)
        # A key is grouped by its name, its alias or its expression.
        if name not in keys and one.unalias().sql(comments=False) not in keys:
            told.append(name)
    by = f" by {', '.join(keys)}" if keys else ""
    where = (
        f" (where {tree.args['where'].this.sql(comments=False)})" if tree.args.get("where") else ""
    )
    return truncate(f"{table.name}: {', '.join(told)}{by}{where}", LONGEST)
