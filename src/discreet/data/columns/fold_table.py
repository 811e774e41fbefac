"""Fold table: letters that count as one where a column is declared with `fold=True`.

Case and accents are taken away by this written table, not by a database's collation, a locale or a
version of Unicode: every store folds alike, now and later. Letters that are not in the table stay
as they are. The table covers Latin letters with accents, Greek and Cyrillic.

Law: tests/data/test_spelling.py::TestFold
"""

from __future__ import annotations

FOLDED = {
    "a": "AÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ",
    "ae": "ÆæǢǣǼǽ",
    "b": "BḂḃḄḅḆḇ",
    "c": "CÇçĆćĈĉĊċČčḈḉ",
    "d": "DÐðĎďĐđḊḋḌḍḎḏḐḑḒḓ",
    "e": "EÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ",
    "f": "FḞḟ",
    "g": "GĜĝĞğĠġĢģǦǧǴǵḠḡ",
    "h": "HĤĥĦħḢḣḤḥḦḧḨḩḪḫẖ",
    "i": "IÌÍÎÏìíîïĨĩĪīĬĭĮįİıǏǐȈȉȊȋḬḭḮḯỈỉỊị",
    "ij": "Ĳĳ",
    "j": "JĴĵǰ",
    "k": "KĶķǨǩḰḱḲḳḴḵ",
    "l": "LĹĺĻļĽľŁłḶḷḸḹḺḻḼḽ",
    "m": "MḾḿṀṁṂṃ",
    "n": "NÑñŃńŅņŇňǸǹṄṅṆṇṈṉṊṋ",
    "o": "OÒÓÔÕÖØòóôõöøŌōŎŏŐőǑǒǪǫǬǭǾǿȌȍȎȏṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợƠơ",
    "oe": "Œœ",
    "p": "PṔṕṖṗ",
    "q": "Q",
    "r": "RŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟ",
    "s": "SŚśŜŝŞşŠšſȘșṠṡṢṣṤṥṦṧṨṩẛ",
    "ss": "ßẞ",
    "t": "TŢţŤťŦŧȚțṪṫṬṭṮṯṰṱẗ",
    "th": "Þþ",
    "u": "UÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰựƯư",
    "v": "VṼṽṾṿ",
    "w": "WŴŵẀẁẂẃẄẅẆẇẈẉẘ",
    "x": "XẊẋẌẍ",
    "y": "YÝýÿŶŷŸẎẏẙỲỳỴỵỶỷỸỹ",
    "z": "ZŹźŻżŽžẐẑẒẓẔẕ",
    "ŋ": "Ŋ",
    "α": "ΆΑά",
    "β": "Β",
    "γ": "Γ",
    "δ": "Δ",
    "ε": "ΈΕέ",
    "ζ": "Ζ",
    "η": "ΉΗή",
    "θ": "Θ",
    "ι": "ΊΐΙΪίϊ",
    "κ": "Κ",
    "λ": "Λ",
    "μ": "Μ",
    "ν": "Ν",
    "ξ": "Ξ",
    "ο": "ΌΟό",
    "π": "Π",
    "ρ": "Ρ",
    "σ": "Σς",
    "τ": "Τ",
    "υ": "ΎΥΫΰϋύ",
    "φ": "Φ",
    "χ": "Χ",
    "ψ": "Ψ",
    "ω": "ΏΩώ",
    "а": "А",
    "б": "Б",
    "в": "В",
    "г": "ЃГѓ",
    "д": "Д",
    "е": "ЀЁЕѐё",
    "ж": "Ж",
    "з": "З",
    "и": "ЍИЙйѝ",
    "к": "ЌКќ",
    "л": "Л",
    "м": "М",
    "н": "Н",
    "о": "О",
    "п": "П",
    "р": "Р",
    "с": "С",
    "т": "Т",
    "у": "ЎУў",
    "ф": "Ф",
    "х": "Х",
    "ц": "Ц",
    "ч": "Ч",
    "ш": "Ш",
    "щ": "Щ",
    "ъ": "Ъ",
    "ы": "Ы",
    "ь": "Ь",
    "э": "Э",
    "ю": "Ю",
    "я": "Я",
    "ђ": "Ђ",
    "є": "Є",
    "ѕ": "Ѕ",
    "і": "ІЇї",
    "ј": "Ј",
    "љ": "Љ",
    "њ": "Њ",
    "ћ": "Ћ",
    "џ": "Џ",
    "ґ": "Ґ",
}
"""Folded letters, each with the letters that fold to it. The table must not change: answers and
prepared stores rest on it."""
MARKS = "".join(map(chr, range(0x300, 0x370)))
"""Combining accents, which are left out: é may be stored as one character or as two."""


def _letters() -> dict[str, str]:
    letters = {}
    for folded, written in FOLDED.items():
        for letter in written:
            letters[letter] = folded
    return letters


LETTERS = _letters()
"""Each letter of the table with its folded form, of one or two letters."""
_TRANSLATION = str.maketrans(LETTERS | dict.fromkeys(MARKS, ""))


def fold_text(text: str) -> str:
    """Return text without case and accents, by the table.

    >>> from discreet.data.columns.fold_table import fold_text
    >>> fold_text("Zürich Straße"), fold_text("ÉCOLE"), fold_text("e\u0301cole")
    ('zurich strasse', 'ecole', 'ecole')
    """
    return text.translate(_TRANSLATION)
