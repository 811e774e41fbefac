"""What may stand between the fields of a text file; which of them it is, the line of names says."""

from __future__ import annotations

DELIMITERS = ",;\t|"
