"""Go's Sprint, Sprintln and Sprintf, down to what it prints for a wrong verb.

A slip such as `printf "%d"` of a JSON number lands in a manifest as `%!d(float64=8080)`, so the
texts of mistakes matter as much as the others. This module knows values and formats; it knows
neither templates nor documents.
Source: Go's fmt package (print.go, format.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.errors import LimitError
from krm_fn.lang.go.strconv import format_float, quote, quote_rune
from krm_fn.lang.go.values import GoInt, is_nil, kind_name, to_bytes, to_float, type_name

_TOO_LARGE = 1_000_000


class UnprintableError(Exception):
    """The text would hold a memory address, which is another one in every run."""

    def __init__(self) -> None:
        super().__init__("the text would hold a memory address, which is another one in every run")


def sprint(values: Sequence[Any], limit: int) -> str:
    """The values one after another, with a space between two that are no strings.

    Raises LimitError past `limit` characters and UnprintableError; so do the others.
    """
    printer = _Printer(limit)
    before = True
    for n, value in enumerate(values):
        is_text = kind_name(value) == "string"
        if n and not is_text and not before:
            printer.write(" ")
        printer.argument(value, "v")
        before = is_text
    return printer.text()


def sprintln(values: Sequence[Any], limit: int) -> str:
    """The values with a space between each two, and a newline."""
    printer = _Printer(limit)
    for n, value in enumerate(values):
        if n:
            printer.write(" ")
        printer.argument(value, "v")
    printer.write("\n")
    return printer.text()


def sprintf(template: str, values: Sequence[Any], limit: int) -> str:
    """The values in the places of the template's verbs."""
    printer = _Printer(limit)
    _Format(printer, template, values).run()
    return printer.text()


class _Format:
    """One reading of a format text."""

    def __init__(self, printer: _Printer, template: str, values: Sequence[Any]) -> None:
        self.printer = printer
        self.template = template
        self.values = values
        self.at = 0
        self.next = 0
        self.reordered = False
        self.good_index = True

    def run(self) -> None:
        template, printer = self.template, self.printer
        while self.at < len(template):
            percent = template.find("%", self.at)
            if percent < 0:
                printer.write(template[self.at :])
                break
            printer.write(template[self.at : percent])
            self.at = percent + 1
            if not self.verb():
                break
        if not self.reordered and self.next < len(self.values):
            self.extra()

    def verb(self) -> bool:
        """Read one verb and print its value; False where the text ends before the verb."""
        template, printer = self.template, self.printer
        self.good_index = True
        printer.clear()
        self.flags()
        after_index = self.width(self.index())
        if self.peek() == ".":
            after_index = self.precision(after_index)
        if not after_index:
            self.index()
        if self.at >= len(template):
            printer.write("%!(NOVERB)")
            return False
        verb = template[self.at]
        self.at += 1
        if verb == "%":
            printer.write("%")
        elif not self.good_index:
            printer.write(f"%!{verb}(BADINDEX)")
        elif self.next >= len(self.values):
            printer.write(f"%!{verb}(MISSING)")
        else:
            if verb == "v":
                printer.sharp_v, printer.sharp = printer.sharp, False
                printer.plus_v, printer.plus = printer.plus, False
            printer.argument(self.values[self.next], verb)
            self.next += 1
        return True

    def peek(self) -> str:
        return self.template[self.at : self.at + 1]

    def flags(self) -> None:
        printer = self.printer
        while True:
            match self.peek():
                case "#":
                    printer.sharp = True
                case "0":
                    printer.zero = not printer.minus
                case "+":
                    printer.plus = True
                case "-":
                    printer.minus, printer.zero = True, False
                case " ":
                    printer.space = True
                case _:
                    return
            self.at += 1

    def width(self, after_index: bool) -> bool:
        printer = self.printer
        if self.peek() == "*":
            self.at += 1
            printer.width = self.star()
            if printer.width is None:
                printer.write("%!(BADWIDTH)")
            elif printer.width < 0:
                printer.width = -printer.width
                printer.minus, printer.zero = True, False
            return False
        printer.width = self.number(len(self.template))
        if after_index and printer.width is not None:
            self.good_index = False
        return after_index

    def precision(self, after_index: bool) -> bool:
        printer = self.printer
        self.at += 1
        if after_index:
            self.good_index = False
        after_index = self.index()
        if self.peek() == "*":
            self.at += 1
            printer.precision = self.star()
            if printer.precision is None or printer.precision < 0:
                printer.precision = None
                printer.write("%!(BADPREC)")
            return False
        printer.precision = self.number(len(self.template)) or 0
        return after_index

    def star(self) -> int | None:
        """The next value as a width or precision."""
        if self.next >= len(self.values):
            return None
        value = self.values[self.next]
        self.next += 1
        if not isinstance(value, GoInt) or abs(value) > _TOO_LARGE:
            return None
        return int(value)

    def number(self, end: int) -> int | None:
        number = 0
        start = self.at
        while self.at < end and self.template[self.at] in "0123456789":
            if number > _TOO_LARGE:
                self.at = end
                return None
            number = number * 10 + int(self.template[self.at])
            self.at += 1
        return number if self.at > start else None

    def index(self) -> bool:
        """Read an explicit index `[n]`; whether there was one."""
        if self.peek() != "[":
            return False
        self.reordered = True
        start = self.at
        close = self.template.find("]", start)
        # Three characters are the least that an index needs.
        if close < 0 or len(self.template) - start < 3:
            self.good_index = False
            self.at = start + 1
            return False
        self.at = start + 1
        number = self.number(close)
        whole = number is not None and self.at == close
        self.at = close + 1
        if whole and number is not None and 1 <= number <= len(self.values):
            self.next = number - 1
            return True
        self.good_index = False
        return whole

    def extra(self) -> None:
        printer = self.printer
        printer.clear()
        printer.write("%!(EXTRA ")
        for n, value in enumerate(self.values[self.next :]):
            if n:
                printer.write(", ")
            if value is None:
                printer.write("<nil>")
            else:
                printer.write(type_name(value) + "=")
                printer.argument(value, "v")
        printer.write(")")


class _Printer:
    """Prints values under one verb's flags into a bounded buffer."""

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        self.width: int | None = None
        self.precision: int | None = None
        self.minus = self.plus = self.sharp = self.space = self.zero = False
        self.sharp_v = self.plus_v = False

    def text(self) -> str:
        return "".join(self.parts)

    def write(self, text: str) -> None:
        self.room(len(text))
        self.parts.append(text)
        self.size += len(text)

    def room(self, count: int) -> None:
        """Refuse before a string of `count` characters is made."""
        if self.size + count > self.limit:
            raise LimitError(f"it prints more than {self.limit:,} characters")

    def pad(self, text: str, zero: bool | None = None) -> None:
        missing = (self.width or 0) - len(text)
        if missing <= 0:
            self.write(text)
            return
        self.room(missing)
        filler = ("0" if (self.zero if zero is None else zero) else " ") * missing
        self.write(text + filler if self.minus else filler + text)

    # Values

    def argument(self, value: Any, verb: str) -> None:
        if value is None:
            if verb in "Tv":
                self.pad("<nil>")
            else:
                self.write(f"%!{verb}(<nil>)")
        elif verb == "T":
            self.string(type_name(value), "s", value)
        elif verb == "p":
            if kind_name(value) in ("slice", "map", "ptr"):
                raise UnprintableError
            self.bad(value, verb)
        else:
            self.value(value, verb, 0)

    def bad(self, value: Any, verb: str) -> None:
        self.write(f"%!{verb}({type_name(value)}=")
        self.value(value, "v", 0)
        self.write(")")

    def value(self, value: Any, verb: str, depth: int) -> None:
        kind = type(value)
        if kind is str:
            self.string(value, verb, value)
        elif kind is bool:
            if verb in "tv":
                self.pad("true" if value else "false")
            else:
                self.bad(value, verb)
        elif kind is int or kind is float:
            self.float(to_float(value), verb, value)
        elif value is None:
            self.write("interface {}(nil)" if self.sharp_v else "<nil>")
        elif isinstance(value, GoInt):
            self.integer(value, verb)
        elif isinstance(value, list):
            self.list(value, verb, depth)
        elif isinstance(value, dict):
            self.map(value, verb, depth)
        elif kind is complex:
            self.complex(value, verb)
        else:
            self.object(value, verb, depth)

    def object(self, value: Any, verb: str, depth: int) -> None:
        """An object of another class: by its own text if it has one, else by its fields."""
        if self.sharp_v:
            source = value.go_source()
            if source is None:
                raise UnprintableError
            self.pad(self.cut(source))
            return
        text = value.go_string()
        if text is None:
            self.struct(value.go_fields(), verb, depth)
        elif verb in "vsxXq":
            self.string(text, verb, value)
        else:
            # Go prints its fields here, and among them are addresses.
            raise UnprintableError

    def struct(self, fields: dict[str, Any] | None, verb: str, depth: int) -> None:
        if fields is None:
            raise UnprintableError
        self.write("{")
        for n, (name, value) in enumerate(fields.items()):
            if n:
                self.write(" ")
            if self.plus_v:
                self.write(name + ":")
            self.value(value, verb, depth + 1)
        self.write("}")

    def list(self, value: list[Any], verb: str, depth: int) -> None:
        if self.sharp_v:
            self.write(type_name(value))
            if is_nil(value):
                self.write("(nil)")
                return
        opening, gap, closing = ("{", ", ", "}") if self.sharp_v else ("[", " ", "]")
        self.write(opening)
        for n, element in enumerate(value):
            if n:
                self.write(gap)
            self.value(element, verb, depth + 1)
        self.write(closing)

    def map(self, value: dict[str, Any], verb: str, depth: int) -> None:
        if self.sharp_v:
            self.write(type_name(value))
            if is_nil(value):
                self.write("(nil)")
                return
        opening, gap, closing = ("{", ", ", "}") if self.sharp_v else ("map[", " ", "]")
        self.write(opening)
        for n, key in enumerate(sorted(value)):
            if n:
                self.write(gap)
            self.value(key, verb, depth + 1)
            self.write(":")
            self.value(value[key], verb, depth + 1)
        self.write(closing)

    # Texts

    def string(self, text: str, verb: str, value: Any) -> None:
        match verb:
            case "v" if self.sharp_v:
                self.pad(self.quoted(text))
            case "v" | "s":
                self.pad(self.cut(text))
            case "q":
                self.pad(self.quoted(self.cut(text)))
            case "x" | "X":
                self.hex_bytes(to_bytes(text), verb)
            case _:
                self.bad(value, verb)

    def cut(self, text: str) -> str:
        return text if self.precision is None else text[: self.precision]

    def quoted(self, text: str) -> str:
        backquoted = self.sharp and all(c == "\t" or (c.isprintable() and c != "`") for c in text)
        return f"`{text}`" if backquoted else quote(text, self.plus)

    def hex_bytes(self, data: bytes, verb: str) -> None:
        if self.precision is not None:
            data = data[: self.precision]
        self.room(len(data) * 5)
        gap = " " if self.space else ""
        lead = "0x" if self.sharp and data else ""
        text = gap.join(f"{lead}{byte:02x}" for byte in data) if self.space else lead + data.hex()
        self.pad(text.upper() if verb == "X" else text)

    # Numbers

    def integer(self, value: GoInt, verb: str) -> None:
        text = None if self.sharp_v else value.go_string()
        if text is not None and verb in "vsxXq":
            self.string(text, verb, value)
            return
        number = int(value)
        match verb:
            case "v" if self.sharp_v and value.go_type.startswith("uint"):
                sharp, self.sharp = self.sharp, True
                self.digits(number, 16, "v")
                self.sharp = sharp
            case "v" | "d":
                self.digits(number, 10, verb)
            case "b":
                self.digits(number, 2, verb)
            case "o" | "O":
                self.digits(number, 8, verb)
            case "x" | "X":
                self.digits(number, 16, verb)
            case "c":
                valid = 0 <= number <= 0x10FFFF and not 0xD800 <= number < 0xE000
                self.pad(chr(number) if valid else "\ufffd")
            case "q":
                self.pad(quote_rune(number, self.plus))
            case "U":
                self.unicode(number)
            case _:
                self.bad(value, verb)

    def digits(self, number: int, base: int, verb: str) -> None:
        digits = format(abs(number), {2: "b", 8: "o", 10: "d", 16: "x"}[base])
        signed = number < 0 or self.plus or self.space
        least = 0
        if self.precision is not None:
            least = self.precision
            if least == 0 and number == 0:
                self.room(self.width or 0)
                self.write(" " * (self.width or 0))
                return
        elif self.zero and self.width:
            least = self.width - (1 if signed else 0)
        self.room(least)
        digits = digits.rjust(least, "0")
        if self.sharp:
            if base == 2:
                digits = "0b" + digits
            elif base == 8 and digits[0] != "0":
                digits = "0" + digits
            elif base == 16:
                digits = "0x" + digits
        if verb == "O":
            digits = "0o" + digits
        if verb == "X":
            digits = digits.upper()
        self.pad(self.sign(number < 0) + digits, zero=False)

    def sign(self, negative: bool) -> str:
        if negative:
            return "-"
        return "+" if self.plus else " " if self.space else ""

    def unicode(self, number: int) -> None:
        number &= 0xFFFF_FFFF_FFFF_FFFF
        least = max(self.precision or 0, 4)
        self.room(least)
        text = "U+" + format(number, "X").rjust(least, "0")
        if self.sharp and number <= 0x10FFFF and chr(number).isprintable():
            text += f" '{chr(number)}'"
        self.pad(text, zero=False)

    def float(self, value: float, verb: str, original: Any) -> None:
        if verb not in "vbgGxXfFeE":
            self.bad(original, verb)
            return
        style = {"v": "g", "F": "f"}.get(verb, verb)
        precision = self.precision
        if precision is None and style in "feE":
            precision = 6
        self.room((precision or 0) + 400)
        text = format_float(value, style, precision)
        if text[0] not in "+-":
            text = "+" + text
        if self.space and text[0] == "+" and not self.plus:
            text = " " + text[1:]
        if text[1] in "IN":
            if text[1] == "N" and not self.space and not self.plus:
                text = text[1:]
            self.pad(text, zero=False)
            return
        if self.sharp and style != "b":
            text = _with_point(text, style, precision)
        if not self.plus and text[0] == "+":
            self.pad(text[1:])
            return
        missing = (self.width or 0) - len(text)
        if self.zero and missing > 0:
            self.room(missing)
            self.write(text[0] + "0" * missing + text[1:])
            return
        self.pad(text)

    def complex(self, value: complex, verb: str) -> None:
        if verb not in "vbgGxXfFeE":
            self.bad(value, verb)
            return
        plus = self.plus
        self.write("(")
        self.float(value.real, verb, value)
        self.plus = True
        self.float(value.imag, verb, value)
        self.write("i)")
        self.plus = plus


def _with_point(text: str, style: str, precision: int | None) -> str:
    """The flag #: always a decimal point, and trailing zeros up to the precision."""
    digits = 0
    if style in "gGx":
        digits = 6 if precision is None else precision
    tail = ""
    stops = "pP" if style in "xX" else "eEpP"
    for n, char in enumerate(text):
        if char in stops:
            text, tail = text[:n], text[n:]
            break
    seen = False
    for char in text[1:]:
        if char == ".":
            continue
        seen = seen or char != "0"
        if seen:
            digits -= 1
    if "." not in text:
        if text[1:] == "0":
            digits -= 1
        text += "."
    return text + "0" * max(digits, 0) + tail
