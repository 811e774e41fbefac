from ..intake.csv_file import Csv as Csv
from .base import Engine as Engine
from .duckdb.engine import DuckDB as DuckDB
from .duckdb.prepare import prepare as prepare
from .duckdb.proposals import find_proposals as find_proposals
from .memory.engine import Memory as Memory
from .postgres.engine import Postgres as Postgres
from .spark.engine import Spark as Spark
