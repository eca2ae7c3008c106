"""IP addresses and networks.

Source: apiserver v0.37, pkg/cel/library/ip.go and cidr.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import NO_OVERLOAD, Value
from krm_fn.lang.go.netip import AddressError, parse_address, parse_prefix
from krm_fn.lang.go.strconv import quote

IP: Final = t.opaque("net.IP")
CIDR: Final = t.opaque("net.CIDR")

_READ: Final = steps(35, 2)
"""What reading a string takes."""

_MAPPED: Final = 0xFFFF << 32


class Address(Value):
    """An IP address: its number, and 32 or 128 bits."""

    __slots__ = ("bits", "number")
    type = IP
    go_type = "cel.IP"

    def __init__(self, number: int, bits: int) -> None:
        self.number = number
        self.bits = bits

    def equal(self, other: Any) -> bool:
        if not isinstance(other, Address):
            raise EvaluationError(NO_OVERLOAD)
        return self.number == other.number and self.bits == other.bits

    def __str__(self) -> str:
        import ipaddress

        if self.bits == 32:
            return str(ipaddress.IPv4Address(self.number))
        return str(ipaddress.IPv6Address(self.number))


class Network(Value):
    """An address and the length of its prefix; the address may have bits beyond it."""

    __slots__ = ("address", "length")
    type = CIDR
    go_type = "cel.CIDR"

    def __init__(self, address: Address, length: int) -> None:
        self.address = address
        self.length = length

    def equal(self, other: Any) -> bool:
        if not isinstance(other, Network):
            raise EvaluationError(NO_OVERLOAD)
        return self.address.equal(other.address) and self.length == other.length

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"

    def holds(self, address: Address, length: int) -> bool:
        """Whether a network of at least this length around an address lies within."""
        if address.bits != self.address.bits or length < self.length:
            return False
        shift = self.address.bits - self.length
        return self.address.number >> shift == address.number >> shift

    @property
    def masked(self) -> Network:
        """The same network without bits beyond the prefix."""
        shift = self.address.bits - self.length
        return Network(
            Address(self.address.number >> shift << shift, self.address.bits), self.length
        )


def _ip(text: str) -> Address:
    try:
        number, bits, zone = parse_address(text)
    except AddressError as error:
        raise EvaluationError(
            f"IP Address {quote(text)} parse error during conversion from string: {error}"
        ) from None
    if zone:
        raise EvaluationError(f"IP address {quote(text)} with zone value is not allowed")
    address = Address(number, bits)
    if _mapped(address):
        raise EvaluationError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return address


def _mapped(address: Address) -> bool:
    return address.bits == 128 and address.number >> 32 << 32 == _MAPPED


_PARSE: Final = "network address parse error during conversion from string: "


def _cidr(text: str) -> Network:
    try:
        return _network(text)
    except EvaluationError as error:
        raise EvaluationError(_PARSE + error.message) from None


def _network(text: str) -> Network:
    try:
        number, bits, length = parse_prefix(text)
    except AddressError as error:
        raise EvaluationError(_PARSE + error.message) from None
    address = Address(number, bits)
    if _mapped(address):
        raise EvaluationError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Network(address, length)


def _reads(parse: Any) -> Any:
    def run(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return run


def _contains_ip_text(network: Network, text: str) -> bool:
    try:
        address = _ip(text)
    except EvaluationError:
        # Upstream looks at the network for the error, and finds none there.
        raise EvaluationError(NO_OVERLOAD) from None
    return _contains_ip(network, address)


def _contains_ip(network: Network, address: Address) -> bool:
    return network.holds(address, address.bits)


def _contains_network(network: Network, other: Network) -> bool:
    return network.holds(other.address, other.length)


def _unspecified(address: Address) -> bool:
    return address.number == 0


def _loopback(address: Address) -> bool:
    return address.number >> 24 == 127 if address.bits == 32 else address.number == 1


def _multicast(address: Address) -> bool:
    return address.number >> 28 == 0xE if address.bits == 32 else address.number >> 120 == 0xFF


def _link_local_multicast(address: Address) -> bool:
    if address.bits == 32:
        return address.number >> 8 == 0xE00000
    return address.number >> 112 & 0xFF0F == 0xFF02


def _link_local(address: Address) -> bool:
    if address.bits == 32:
        return address.number >> 16 == 0xA9FE
    return address.number >> 118 == 0xFE80 >> 6


def _global_unicast(address: Address) -> bool:
    if address.bits == 32 and address.number in (0, 0xFFFFFFFF):
        return False
    return not (
        _unspecified(address) or _loopback(address) or _multicast(address) or _link_local(address)
    )


def _member(name: str, identity: str, args: tuple[Type, ...], result: Type, impl: Any) -> Function:
    return Function(name, [Overload(identity, args, result, impl, member=True)])


def ip_library() -> Library:
    """The functions on addresses."""
    tests = (
        ("isUnspecified", "ip_is_unspecified", _unspecified),
        ("isLoopback", "ip_is_loopback", _loopback),
        ("isLinkLocalMulticast", "ip_is_link_local_multicast", _link_local_multicast),
        ("isLinkLocalUnicast", "ip_is_link_local_unicast", _link_local),
        ("isGlobalUnicast", "ip_is_global_unicast", _global_unicast),
    )
    text = (t.STRING,)
    return Library(
        [
            Function("ip", [Overload("string_to_ip", text, IP, _ip, work=_READ)]),
            Function(
                "ip.isCanonical",
                [Overload("ip_is_canonical", text, t.BOOL, lambda s: str(_ip(s)) == s, work=_READ)],
            ),
            Function("isIP", [Overload("is_ip", text, t.BOOL, _reads(_ip), work=_READ)]),
            Function("string", [Overload("ip_to_string", (IP,), t.STRING, str)]),
            _member("family", "ip_family", (IP,), t.INT, lambda a: 4 if a.bits == 32 else 6),
            *[_member(name, identity, (IP,), t.BOOL, impl) for name, identity, impl in tests],
        ],
        idents=[IP],
    )


def cidr_library() -> Library:
    """The functions on networks."""
    text = (t.STRING,)
    return Library(
        [
            Function("cidr", [Overload("string_to_cidr", text, CIDR, _cidr, work=_READ)]),
            Function("isCIDR", [Overload("is_cidr", text, t.BOOL, _reads(_network), work=_READ)]),
            Function("string", [Overload("cidr_to_string", (CIDR,), t.STRING, str)]),
            Function(
                "containsIP",
                [
                    Overload(
                        "cidr_contains_ip_string", (CIDR, t.STRING), t.BOOL, _contains_ip_text,
                        member=True,
                    ),
                    Overload(
                        "cidr_contains_ip_ip", (CIDR, IP), t.BOOL, _contains_ip, member=True
                    ),
                ],
            ),
            Function(
                "containsCIDR",
                [
                    Overload(
                        "cidr_contains_cidr_string", (CIDR, t.STRING), t.BOOL,
                        lambda network, other: _contains_network(network, _cidr(other)),
                        member=True,
                    ),
                    Overload(
                        "cidr_contains_cidr", (CIDR, CIDR), t.BOOL, _contains_network, member=True
                    ),
                ],
            ),
            _member("ip", "cidr_ip", (CIDR,), IP, lambda network: network.address),
            _member("prefixLength", "cidr_prefix_length", (CIDR,), t.INT, lambda n: n.length),
            _member("masked", "cidr_masked", (CIDR,), CIDR, lambda network: network.masked),
        ],
        idents=[CIDR],
    )  # fmt: skip
