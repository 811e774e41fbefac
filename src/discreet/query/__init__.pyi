from .algebra.tree import Question as Question
from .python.aggregate import *
from .python.column import Col as Col
from .python.column import case as case
from .python.column import col as col
from .python.table import Table as Table
from .sql.parse import parse as parse
from .text.question import describe as describe
from .text.question import fingerprint as fingerprint
