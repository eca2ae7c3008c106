"""Sprig's text functions. Positions count bytes, as Go's do.

Source: Sprig's strings.go and functions.go, github.com/Masterminds/goutils 1.1.1 and
github.com/huandu/xstrings 1.3.1.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.values import GoList, GoMap, from_bytes, to_bytes
from krm_fn.lang.gotemplate.sprig.convert import string_list, strings_of, strval
from krm_fn.lang.gotemplate.values import Family, FunctionError, nil_list

FUNCTIONS: Final = Family()

_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's unicode.IsSpace accepts."""


# Case. Python maps a text, Go each character to one character.


def upper_char(char: str) -> str:
    """Go's unicode.ToUpper: never more than one character."""
    upper = char.upper()
    return upper if len(upper) == 1 else title_char(char)


def lower_char(char: str) -> str:
    """Go's unicode.ToLower."""
    return char.lower()[0]


def title_char(char: str) -> str:
    """Go's unicode.ToTitle."""
    title = char.title()
    return title if len(title) == 1 else char


def _mapped(text: str, change: Callable[[str], str]) -> str:
    """Each character changed; a byte that is none becomes U+FFFD."""
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else change(c) for c in text)


def _one_by_one(budget: Budget, text: str) -> None:
    """Pay for work on each character of a string."""
    budget.spend(len(text) // 2)


@FUNCTIONS.function("upper", "string", budget=True)
def upper(budget: Budget, text: str) -> str:
    if text.isascii():
        return text.upper()
    _one_by_one(budget, text)
    return _mapped(text, upper_char)


@FUNCTIONS.function("lower", "string", budget=True)
def lower(budget: Budget, text: str) -> str:
    if text.isascii():
        return text.lower()
    _one_by_one(budget, text)
    return _mapped(text, lower_char)


@FUNCTIONS.function("title", "string", budget=True)
def title(budget: Budget, text: str) -> str:
    """The first letter of each word; a word ends at what is no letter, digit or underscore."""
    _one_by_one(budget, text)
    before = " "

    def change(char: str) -> str:
        nonlocal before
        starts = _separates(before)
        before = char
        return title_char(char) if starts else char

    return _mapped(text, change)


def _separates(char: str) -> bool:
    if char == "_" or char.isalpha() or char.isdecimal():
        return False
    return char in _SPACES if ord(char) > 0x7F else True


@FUNCTIONS.function("untitle", "string", budget=True)
def untitle(budget: Budget, text: str) -> str:
    _one_by_one(budget, text)
    return _first_of_words(text, lower_char)


def _first_of_words(text: str, change: Callable[[str], str]) -> str:
    starts = True
    out = []
    for char in text:
        if char in _SPACES:
            starts = True
        elif starts:
            char, starts = change(char), False
        out.append(char)
    return "".join(out)


@FUNCTIONS.function("swapcase", "string", budget=True)
def swapcase(budget: Budget, text: str) -> str:
    _one_by_one(budget, text)
    starts = True
    out = []
    for char in text:
        category = unicodedata.category(char)
        if category in ("Lu", "Lt"):
            char, starts = lower_char(char), False
        elif category == "Ll":
            char, starts = title_char(char) if starts else upper_char(char), False
        else:
            starts = char in _SPACES
        out.append(char)
    return "".join(out)


# Words, as xstrings cuts them.


def _connects(char: str) -> bool:
    return char in "-_" or char in _SPACES


@FUNCTIONS.function("camelcase", "string", budget=True)
def camelcase(budget: Budget, text: str) -> str:
    """Leading and doubled connectors stay; the letter behind one is upper, the others lower."""
    _one_by_one(budget, text)
    lead = 0
    while lead < len(text) and _connects(text[lead]):
        lead += 1
    if lead == len(text):
        # Of connectors alone the library writes the last one twice.
        return text + text[-1:]
    out = [text[:lead]]
    before = ""
    for n, char in enumerate(text[lead:]):
        if n == 0:
            before = upper_char(char)
            continue
        if _connects(char) and _connects(before):
            out.append(before)
        elif _connects(before):
            char = upper_char(char)
        else:
            char = lower_char(char)
            out.append(before)
        before = char
    return "".join([*out, before])


@FUNCTIONS.function("snakecase", "string", budget=True)
def snakecase(budget: Budget, text: str) -> str:
    return _joined_words(budget, text, "_")


@FUNCTIONS.function("kebabcase", "string", budget=True)
def kebabcase(budget: Budget, text: str) -> str:
    return _joined_words(budget, text, "-")


_NONE, _NUMBER, _UPPER, _ALPHABET, _CONNECTOR, _PUNCTUATION, _OTHER = range(7)


def _is_number(char: str) -> bool:
    return unicodedata.category(char)[0] == "N"


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] == "P"


def _is_upper(char: str) -> bool:
    return unicodedata.category(char) == "Lu"


def _is_alphabet(char: str) -> bool:
    """A letter that has a case or could: not of the Chinese, Japanese and Korean scripts."""
    if not char.isalpha():
        return False
    code = ord(char)
    return not (0x4E00 <= code <= 0x9FCC or 0x3400 <= code <= 0x4D85 or 0x20000 <= code <= 0x2B81D)


class _Words:
    """The words of a string, one after another."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def more(self) -> bool:
        return self.at < len(self.text)

    def next(self) -> tuple[int, str]:
        """The next word and its kind."""
        if not self.more():
            return _NONE, ""
        start = self.at
        kind = self._pass(self.text[start])
        return kind, self.text[start : self.at]

    def _while(self, holds: Callable[[str], bool]) -> None:
        while self.more() and holds(self.text[self.at]):
            self.at += 1

    def _pass(self, first: str) -> int:
        self.at += 1
        if _connects(first):
            self._while(_connects)
            return _CONNECTOR
        if _is_punctuation(first):
            self._while(_is_punctuation)
            return _PUNCTUATION
        if _is_upper(first):
            if self.more() and _is_upper(self.text[self.at]):
                self._while(_is_upper)
                # HTTPServer is HTTP and Server.
                if self.more() and _is_alphabet(self.text[self.at]):
                    self.at -= 1
            else:
                self._while(lambda c: _is_alphabet(c) and not _is_upper(c))
            return _UPPER
        if _is_alphabet(first):
            self._while(lambda c: _is_alphabet(c) and not _is_upper(c))
            return _ALPHABET
        if _is_number(first):
            self._while(_is_number)
            return _NUMBER
        self._while(
            lambda c: not (_connects(c) or _is_alphabet(c) or _is_number(c) or _is_punctuation(c))
        )
        return _OTHER


def _joined_words(budget: Budget, text: str, connector: str) -> str:
    # Every character is asked for its category, often twice.
    budget.spend(2 * len(text))
    words = _Words("".join(c for c in text if not "\udc80" <= c <= "\udcff"))
    out: list[str] = []

    def put(kind: int, word: str) -> None:
        if kind in (_UPPER, _CONNECTOR):
            for char in word:
                if _connects(char):
                    out.append(connector)
                else:
                    out.append(lower_char(char) if _is_upper(char) else char)
        else:
            out.append(word)

    def put_mixed(kind: int, word: str) -> tuple[int, str]:
        while kind in (_ALPHABET, _NUMBER):
            put(kind, word)
            kind, word = words.next()
        return kind, word

    kind, word = words.next()
    while words.more():
        if kind != _CONNECTOR:
            put(kind, word)
        before, last = kind, word
        kind, word = words.next()
        if before == _NUMBER:
            kind, word = put_mixed(kind, word)
            if kind not in (_NONE, _PUNCTUATION):
                out.append(connector)
        elif before == _CONNECTOR:
            put(before, last)
        elif before == _PUNCTUATION:
            pass
        elif kind != _NUMBER:
            if kind not in (_CONNECTOR, _PUNCTUATION):
                out.append(connector)
        elif words.more():
            # A number belongs to the word before it, unless small letters follow.
            last = word
            kind, word = words.next()
            if kind != _ALPHABET:
                put(_NUMBER, last)
                if kind not in (_CONNECTOR, _PUNCTUATION):
                    out.append(connector)
                continue
            out.append(connector)
            put(_NUMBER, last)
            kind, word = put_mixed(kind, word)
            if kind not in (_NONE, _CONNECTOR, _PUNCTUATION):
                out.append(connector)
    put(kind, word)
    return "".join(out)


# Cutting and padding


@FUNCTIONS.function("trim", "string")
def trim(text: str) -> str:
    return text.strip(_SPACES)


@FUNCTIONS.function("trimAll trimall", "string string")
def trim_all(cutset: str, text: str) -> str:
    return text.strip(cutset) if cutset else text


@FUNCTIONS.function("trimSuffix", "string string")
def trim_suffix(suffix: str, text: str) -> str:
    return text.removesuffix(suffix)


@FUNCTIONS.function("trimPrefix", "string string")
def trim_prefix(prefix: str, text: str) -> str:
    return text.removeprefix(prefix)


@FUNCTIONS.function("nospace", "string")
def nospace(text: str) -> str:
    """Without spaces; a string that had any is taken apart into bytes, as goutils does."""
    data = to_bytes(text).decode("latin-1")
    kept = "".join(c for c in data if c not in _SPACES)
    return text if len(kept) == len(data) else kept


@FUNCTIONS.function("initials", "string")
def initials(text: str) -> str:
    starts = True
    out = []
    for char in to_bytes(text).decode("latin-1"):
        if char in _SPACES:
            starts = True
        elif starts:
            out.append(char)
            starts = False
    return "".join(out)


@FUNCTIONS.function("repeat", "int string", budget=True)
def repeat(budget: Budget, count: int, text: str) -> str:
    if count < 0:
        raise FunctionError("strings: negative Repeat count")
    budget.text(len(text) * count)
    return text * count


@FUNCTIONS.function("substr", "int int string")
def substr(start: int, end: int, text: str) -> str:
    data = to_bytes(text)
    size = len(data)
    if start < 0:
        if not 0 <= end <= size:
            raise _out_of_bounds(0, end, size)
        return from_bytes(data[:end])
    if end < 0 or end > size:
        end = size
    if start > end:
        raise _out_of_bounds(start, end, size)
    return from_bytes(data[start:end])


def _out_of_bounds(start: int, end: int, size: int) -> FunctionError:
    where = f"[{start}:{end}]" if end <= size else f"[:{end}] with length {size}"
    return FunctionError(f"runtime error: slice bounds out of range {where}")


@FUNCTIONS.function("trunc", "int string")
def trunc(count: int, text: str) -> str:
    """The first bytes, or the last ones of a negative count."""
    data = to_bytes(text)
    if count < 0:
        return from_bytes(data[len(data) + count :]) if len(data) + count > 0 else text
    return from_bytes(data[:count]) if len(data) > count else text


@FUNCTIONS.function("abbrev", "int string")
def abbrev(width: int, text: str) -> str:
    return text if width < 4 else from_bytes(_abbreviated(to_bytes(text), 0, width))


@FUNCTIONS.function("abbrevboth", "int int string")
def abbrevboth(left: int, right: int, text: str) -> str:
    if right < 4 or (left > 0 and right < 7):
        return text
    return from_bytes(_abbreviated(to_bytes(text), left, right))


def _abbreviated(data: bytes, offset: int, width: int) -> bytes:
    """At most `width` bytes with dots at the end and, past an offset, at the start."""
    size = len(data)
    if not data or width < 4:
        return b""
    if size <= width:
        return data
    offset = min(offset, size)
    if size - offset < width - 3:
        offset = size - (width - 3)
    if offset <= 4:
        return data[: width - 3] + b"..."
    if width < 7:
        return b""
    if offset + width - 3 < size:
        return b"..." + _abbreviated(data[offset:], 0, width - 3)
    return b"..." + data[size - (width - 3) :]


@FUNCTIONS.function("wrap", "int string", budget=True)
def wrap(budget: Budget, width: int, text: str) -> str:
    return _wrapped(budget, text, width, "\n", long_words=False)


@FUNCTIONS.function("wrapWith", "int string string", budget=True)
def wrap_with(budget: Budget, width: int, newline: str, text: str) -> str:
    return _wrapped(budget, text, width, newline or "\n", long_words=True)


def _wrapped(budget: Budget, text: str, width: int, newline: str, long_words: bool) -> str:
    """Lines of at most `width` bytes, broken at spaces; long words broken if asked for."""
    budget.spend(len(text) // 4)
    data = to_bytes(text)
    size, at = len(data), 0
    width = max(width, 1)
    lines: list[str] = []
    length = 0

    def put(line: bytes, ending: str) -> None:
        nonlocal length
        length += len(line) + len(ending)
        if length > budget.output:
            budget.text(length)
        lines.append(from_bytes(line) + ending)

    while size - at > width:
        if data[at] == 0x20:
            at += 1
            continue
        space = data.rfind(b" ", at, at + width + 1)
        if space < 0 and long_words:
            put(data[at : at + width], newline)
            at += width
            continue
        if space < 0:
            space = data.find(b" ", at + width)
        if space < 0:
            put(data[at:], "")
            at = size
        else:
            put(data[at:space], newline)
            at = space + 1
    put(data[at:], "")
    return "".join(lines)


@FUNCTIONS.function("indent", "int string", budget=True)
def indent(budget: Budget, spaces: int, text: str) -> str:
    if spaces < 0:
        raise FunctionError("strings: negative Repeat count")
    budget.text(len(text) + spaces * (text.count("\n") + 1))
    pad = " " * spaces
    return pad + text.replace("\n", "\n" + pad)


@FUNCTIONS.function("nindent", "int string", budget=True)
def nindent(budget: Budget, spaces: int, text: str) -> str:
    return "\n" + indent(budget, spaces, text)


# Searching


@FUNCTIONS.function("contains", "string string")
def contains(part: str, text: str) -> bool:
    return part in text


@FUNCTIONS.function("hasPrefix", "string string")
def has_prefix(prefix: str, text: str) -> bool:
    return text.startswith(prefix)


@FUNCTIONS.function("hasSuffix", "string string")
def has_suffix(suffix: str, text: str) -> bool:
    return text.endswith(suffix)


@FUNCTIONS.function("replace", "string string string", budget=True)
def replace(budget: Budget, old: str, new: str, text: str) -> str:
    budget.text(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


@FUNCTIONS.function("plural", "string string int")
def plural(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


# Lists of texts


@FUNCTIONS.function("split", "string string", budget=True)
def split(budget: Budget, separator: str, text: str) -> GoMap:
    return _numbered(budget, _split(text, separator))


@FUNCTIONS.function("splitn", "string int string", budget=True)
def splitn(budget: Budget, separator: str, count: int, text: str) -> GoMap:
    if count == 0:
        return _numbered(budget, [])
    if separator or count < 0:
        parts = text.split(separator, count - 1) if count > 0 else _split(text, separator)
        return _numbered(budget, parts)
    parts = list(text[: count - 1])
    return _numbered(budget, [*parts, text[count - 1 :]] if len(text) >= count else list(text))


def _numbered(budget: Budget, parts: list[str]) -> GoMap:
    # Each part gets a key of its own.
    budget.spend(len(parts) // 2)
    return GoMap({f"_{n}": part for n, part in enumerate(parts)}, go_type="map[string]string")


def _split(text: str, separator: str) -> list[str]:
    return text.split(separator) if separator else list(text)


@FUNCTIONS.function("splitList", "string string")
def split_list(separator: str, text: str) -> GoList:
    return string_list(_split(text, separator))


@FUNCTIONS.function("join", "string any", budget=True)
def join(budget: Budget, separator: str, value: Any) -> str:
    texts = strings_of(budget, value)
    budget.text(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


@FUNCTIONS.function("sortAlpha", "any", budget=True)
def sort_alpha(budget: Budget, value: Any) -> GoList:
    if isinstance(value, list):
        return string_list(sorted(strings_of(budget, value), key=to_bytes))
    return string_list([strval(budget, value)])


@FUNCTIONS.function("toStrings", "any", budget=True)
def to_strings(budget: Budget, value: Any) -> GoList:
    if isinstance(value, GoList) and value.is_nil and value.go_type == "[]string":
        return nil_list("[]string")
    return string_list(strings_of(budget, value))


@FUNCTIONS.function("toString", "any", budget=True)
def to_string(budget: Budget, value: Any) -> str:
    return strval(budget, value)


@FUNCTIONS.function("quote", "...any", budget=True)
def quote_(budget: Budget, *values: Any) -> str:
    texts = [strval(budget, value) for value in values if value is not None]
    # An escape is at most ten characters long.
    budget.text(sum(map(len, texts)))
    return " ".join(map(quote, texts))


@FUNCTIONS.function("squote", "...any", budget=True)
def squote(budget: Budget, *values: Any) -> str:
    texts = [strval(budget, value) for value in values if value is not None]
    budget.text(sum(map(len, texts)))
    return " ".join(f"'{text}'" for text in texts)


@FUNCTIONS.function("cat", "...any", budget=True)
def cat(budget: Budget, *values: Any) -> str:
    """The values but null, with a space between each two."""
    texts = [strval(budget, value) for value in values if value is not None]
    budget.text(sum(map(len, texts)))
    return " ".join(texts)


@FUNCTIONS.function("hello")
def hello() -> str:
    return "Hello!"
