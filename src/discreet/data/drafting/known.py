"""Public tables of marks of missing values and of units, from which proposals for a schema are made.

A mark or a unit of a cell is proposed only if it stands here, so that a proposal shows no text that
a single cell made up. Factors are exact.

Law: tests/data/test_proposals.py::TestKnownTables
"""

from __future__ import annotations

_MARKS = """
n/a na n.a. n.a #n/a none null nil nan - -- --- – — ? ?? . .. * unknown unk missing
not_available not_known not_recorded no_data not_stated refused (blank) blank
k.a. k._a. ka keine_angabe unbekannt fehlt fehlend ohne_angabe leer (leer)
inconnu inconnue non_connu non_renseigné n.d. n/d s.o. s/o
desconocido desconocida sin_dato sin_datos no_consta sconosciuto non_noto desconhecido
onbekend ukjent ukendt okänd uppgift_saknas tuntematon nieznany brak brak_danych neznámý
"""
MISSING_MARKS = frozenset({"", *(mark.replace("_", " ") for mark in _MARKS.split())})
"""Texts that usually mean a missing value, in small letters; the empty one is a cell of blanks."""

_NUMBERS = """
-1 -7 -8 -9 -77 -88 -99 -777 -888 -999 -9999 -99999
99 999 9999 99999 999999 9999999 99999999 999999999
"""
MISSING_NUMBERS = frozenset(_NUMBERS.split())
"""Numbers that usually mean a missing value."""
_MISSING_DAYS = ("0000-00-00", "1900-01-01", "1899-12-30", "9999-12-31")


def _days_in_all_formats() -> frozenset[str]:
    """Return the days that mean a missing value, in all orders and with all usual marks."""
    texts = set()
    for day in _MISSING_DAYS:
        year, month, date = day.split("-")
        for mark in ("-", "/", ".", ""):
            texts.add(mark.join((year, month, date)))
            texts.add(mark.join((date, month, year)))
            texts.add(mark.join((month, date, year)))
    return frozenset(texts)


MISSING_DAYS = _days_in_all_formats()
"""Days that programs write where there is none."""

_UNITS = {
    "mass": "kg=1 kgs=1 kilo=1 kilos=1 g=1/1000 gr=1/1000 mg=1/1000000 t=1000 lb=0.45359237 "
    "lbs=0.45359237 pound=0.45359237 pounds=0.45359237 oz=0.028349523125 st=6.35029318",
    "length": "m=1 cm=1/100 mm=1/1000 km=1000 in=0.0254 inch=0.0254 inches=0.0254 ft=0.3048 "
    "feet=0.3048 foot=0.3048 yd=0.9144 mi=1609.344 mile=1609.344 miles=1609.344",
    "time": "s=1 sec=1 secs=1 min=60 mins=60 minuten=60 h=3600 hr=3600 hrs=3600 std=3600 d=86400 "
    "day=86400 days=86400",
    "volume": "l=1 ml=1/1000 cl=1/100 dl=1/10 hl=100",
    "speed": "km/h=1 kmh=1 mph=1.609344 m/s=3.6",
    "energy": "kj=1 kcal=4.184 j=1/1000 cal=0.004184 kwh=3600",
    "power": "w=1 kw=1000 mw=1000000",
    "share": "%=1 ‰=1/10",
    "euro": "€=1 eur=1 euro=1 euros=1",
    "dollar": "$=1 usd=1",
    "pound sterling": "£=1 gbp=1",
}


def _read_units() -> dict[str, tuple[str, str]]:
    units = {}
    for dimension, listed in _UNITS.items():
        for pair in listed.split():
            unit, _, factor = pair.partition("=")
            units[unit] = (dimension, factor)
    return units


UNITS = _read_units()
"""Dimension and factor of each unit, in small letters."""


def is_missing_mark(cell: str) -> bool:
    """Return whether a text usually means a missing value.

    >>> from discreet.data.drafting.known import is_missing_mark
    >>> [is_missing_mark(cell) for cell in (" N/A ", "-999", "01.01.1900", "Oslo", "37")]
    [True, True, True, False, False]
    """
    text = cell.strip(" ").casefold()
    return text in MISSING_MARKS or text in MISSING_NUMBERS or text in MISSING_DAYS
