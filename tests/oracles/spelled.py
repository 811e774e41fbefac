"""Plain reading of one text cell by a declaration, given as plain values; imports nothing of discreet."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from fractions import Fraction

LATIN = {"ß": "ss", "ẞ": "ss", "Æ": "ae", "æ": "ae", "Ǽ": "ae", "ǽ": "ae", "Ǣ": "ae", "ǣ": "ae", "Œ": "oe", "œ": "oe",
         "Þ": "th", "þ": "th", "Ĳ": "ij", "ĳ": "ij", "Ø": "o", "ø": "o", "Ǿ": "o", "ǿ": "o", "Ł": "l", "ł": "l", "Đ": "d",
         "đ": "d", "Ð": "d", "ð": "d", "ı": "i", "İ": "i", "Ħ": "h", "ħ": "h", "Ŧ": "t", "ŧ": "t", "ς": "σ", "ſ": "s",
         "ẛ": "s"}  # fmt: skip
RANGES = ((0x41, 0x5A), (0xC0, 0x17F), (0x1A0, 0x1A1), (0x1AF, 0x1B0), (0x1C4, 0x21B), (0x386, 0x3CE), (0x400, 0x45F),
          (0x490, 0x491), (0x1E00, 0x1EFF))  # fmt: skip
LEFT = set("ŉẚĿŀǶƿǷǄǅǆǇǈǉǊǋǌǤǥǱǲǳǮǯʒỺỻỼỽỾỿ")
BLANKS = " \t\n\v\f\r\x85\u00a0\u1680\u2007\u2009\u200b\u202f\u3000\ufeff"


def fold_letter(letter: str) -> str:
    """Without case and accents by Unicode's own decomposition, within the covered scripts."""
    if 0x300 <= ord(letter) < 0x370:
        return ""
    if letter in LATIN:
        return LATIN[letter]
    covered = any(first <= ord(letter) <= last for first, last in RANGES)
    if not covered or letter in LEFT or not unicodedata.category(letter).startswith("L"):
        return letter
    parts = unicodedata.normalize("NFD", letter)
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def fold(text: str) -> str:
    return "".join(map(fold_letter, text))


def read_cell(facts: dict, cell: str):
    """The value of a text cell: text, truth, an exact number, days or seconds since 1970; None is NULL."""
    kind = facts["type"]
    of_text = kind == "text" or (kind == "category" and isinstance(facts["values"][0], str))
    value = _read_text(facts, cell) if of_text else _read_other(facts, cell)
    return facts.get("default") if value is None else value


def _normal(facts: dict, text: str) -> str:
    if facts.get("strip"):
        text = text.strip(BLANKS)
    return fold(text) if facts.get("fold") else text


def _read_text(facts: dict, cell: str):
    text = _normal(facts, cell)
    if text in [_normal(facts, mark) for mark in facts.get("null", [])]:
        return None
    aliases = {_normal(facts, a): meant for a, meant in facts.get("aliases", {}).items()}
    if facts["type"] == "text":
        return aliases.get(text, text)[: facts["max_length"]]
    for key in facts["values"]:
        if _normal(facts, key) == text:
            return key
    return aliases.get(text, facts.get("other"))


def _read_other(facts: dict, cell: str):
    text = cell.strip(" ")
    if text in [mark.strip(" ") for mark in facts.get("null", [])]:
        return None
    match facts["type"]:
        case "boolean":
            return {"true": True, "t": True, "yes": True, "y": True, "1": True,
                    "false": False, "f": False, "no": False, "n": False, "0": False}.get(text.lower())  # fmt: skip
        case "category":
            number = _number(facts, text)[0]
            if number is not None and number == int(number) and int(number) in facts["values"]:
                return int(number)
            return facts.get("other")
        case "integer" | "real":
            return _amount(facts, text)
        case kind:
            return _moment(facts, text, kind)


def _number(facts: dict, text: str):
    """The number and the factor of its unit, (None, 1) where the text is neither."""
    units = {u: Fraction(str(f)) for u, f in facts.get("units", {}).items()}
    if "unit" in facts:
        units[facts["unit"]] = Fraction(1)
    sign, body, factor = "", text, Fraction(1)
    # A sign may come before a unit: -$5.
    if body[:1] in ("+", "-"):
        sign, body = body[0], body[1:]
    after = next(
        (u for u in units if body.endswith(u) and len(u) == len(_letters_at_end(body))), None
    )
    before = next(
        (u for u in units if body.startswith(u) and len(u) == len(_letters_at_start(body))), None
    )
    if before is not None:
        factor, body = units[before], body[len(before) :].removeprefix(" ")
        if not sign and body[:1] in ("+", "-"):
            sign, body = body[0], body[1:]
    elif after is not None:
        factor, body = units[after], body[: -len(after)].removesuffix(" ")
    thousands, decimal = facts.get("thousands"), facts.get("decimal", ".")
    whole, point, fraction = body.partition(decimal)
    fraction, e, exponent = _exponent(fraction) if point else ("", "", "")
    if not point:
        whole, e, exponent = _exponent(whole)
    if thousands and thousands in whole:
        groups = whole.split(thousands)
        sizes = [len(group) for group in groups]
        if sizes[0] not in (1, 2, 3) or sizes[-1] != 3 or not set(sizes[1:-1]) <= {2, 3}:
            return None, factor
        if len(groups) > 22:
            return None, factor
        whole = "".join(groups)
    digits = whole + fraction
    if not digits or not re.fullmatch("[0-9]*", digits) or not (whole or (point and fraction)):
        return None, factor
    if e and not re.fullmatch("[+-]?[0-9]{1,2}", exponent):
        return None, factor
    plain = sign + whole + ("." if point else "") + fraction + e + exponent
    if re.fullmatch("[+-]?[0-9]{1,18}", plain):
        return int(plain), factor
    return (float(plain) if len(plain) <= 40 else None), factor


def _letters_at_end(text: str) -> str:
    end = text
    while end and end[0] in "0123456789.,'+- \u00a0_":
        end = end[1:]
    # The exponent of a number is no unit.
    exponent = re.match("[eE][+-]?[0-9]+", end)
    if exponent:
        return _letters_at_end(end[exponent.end() :])
    return end


def _letters_at_start(text: str) -> str:
    start = ""
    for letter in text:
        if letter in "0123456789.,'+- \u00a0_":
            break
        start += letter
    return start


def _exponent(text: str):
    for place, letter in enumerate(text):
        if letter in "eE":
            return text[:place], letter, text[place + 1 :]
    return text, "", ""


def _amount(facts: dict, text: str):
    number, factor = _number(facts, text)
    if number is None:
        return None
    step = Fraction(str(facts["step"])) if facts["type"] == "real" else Fraction(1)
    low, high = (round(Fraction(str(facts[end])) / step) for end in ("low", "high"))
    if factor == 1 and facts["type"] == "integer":
        scaled = number
    elif factor == 1 and step > 1:
        scaled = float(number) / float(step)
    else:
        scaled = float(number) * float(factor / step)
    steps = round(min(max(scaled, low - 1), high + 1))
    exact = Fraction(number) * factor / step
    if low <= exact <= high:
        assert abs(steps - exact) <= Fraction(1, 2) + abs(exact) / 2**50
    if not low <= steps <= high:
        if facts.get("outside") == "null":
            return None
        steps = min(max(steps, low), high)
    return steps * step


CODES = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}


def _moment(facts: dict, text: str, kind: str):
    formats = facts.get("format", [])
    formats = [formats] if isinstance(formats, str) else formats
    if not formats:
        found = re.fullmatch(
            r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?Z?)?",
            text,
        )
        fields = dict(zip("YmdHMS", found.groups(), strict=True)) if found else None
    else:
        fields = next(filter(None, (_fields(given, text) for given in formats)), None)
    if fields is None:
        return None
    try:
        when = datetime(*(int(fields.get(code) or 0) for code in "YmdHMS"))
    except ValueError:
        return None
    low, high = (datetime.fromisoformat(facts[end]) for end in ("low", "high"))
    day = kind == "date"
    if day:
        when = datetime(when.year, when.month, when.day)
    if not low <= when <= high:
        if facts.get("outside") == "null":
            return None
        when = min(max(when, low), high)
    since = when - datetime(1970, 1, 1)
    return since.days if day else since.days * 86400 + since.seconds


def _fields(given: str, text: str) -> dict | None:
    fields, place = {}, 0
    while given:
        if given[0] == "%":
            width = CODES[given[1]]
            digits = text[place : place + width]
            if not re.fullmatch(f"[0-9]{{{width}}}", digits):
                return None
            fields[given[1]], given, place = digits, given[2:], place + width
        elif text[place : place + 1] == given[0]:
            given, place = given[1:], place + 1
        else:
            return None
    return fields if place == len(text) else None


def default_of(facts: dict):
    """The default as a store gives it: days since 1970 for a date."""
    default = facts.get("default")
    if facts["type"] == "date" and default is not None:
        return (date.fromisoformat(default) - date(1970, 1, 1)).days
    return default
