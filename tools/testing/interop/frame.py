# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""frame: one RoCEv2 frame, taken apart, and what can be wrong with it alone.

Written from the specification; shares nothing with the driver, whose frames it
judges.
"""

import struct
import sys
import zlib

ETHERNET = 14
MTUS = (256, 512, 1024, 2048, 4096)

RC, UC, UD, CNP = "RC", "UC", "UD", "CNP"
TRANSPORTS = {0: RC, 1: UC, 3: UD}

# The lower five bits of an opcode: what it is, its place in the message, and
# the headers between BTH and payload.
OPERATIONS = {
    0x00: ("SEND", "FIRST", ()),
    0x01: ("SEND", "MIDDLE", ()),
    0x02: ("SEND", "LAST", ()),
    0x03: ("SEND", "LAST", ("imm",)),
    0x04: ("SEND", "ONLY", ()),
    0x05: ("SEND", "ONLY", ("imm",)),
    0x06: ("WRITE", "FIRST", ("reth",)),
    0x07: ("WRITE", "MIDDLE", ()),
    0x08: ("WRITE", "LAST", ()),
    0x09: ("WRITE", "LAST", ("imm",)),
    0x0a: ("WRITE", "ONLY", ("reth",)),
    0x0b: ("WRITE", "ONLY", ("reth", "imm")),
    0x0c: ("READ", "ONLY", ("reth",)),
    0x0d: ("RESPONSE", "FIRST", ("aeth",)),
    0x0e: ("RESPONSE", "MIDDLE", ()),
    0x0f: ("RESPONSE", "LAST", ("aeth",)),
    0x10: ("RESPONSE", "ONLY", ("aeth",)),
    0x11: ("ACK", "ONLY", ("aeth",)),
    0x12: ("ATOMIC_ACK", "ONLY", ("aeth", "original")),
    0x13: ("ATOMIC", "ONLY", ("atomic",)),
    0x14: ("ATOMIC", "ONLY", ("atomic",)),
    0x16: ("SEND", "LAST", ("ieth",)),
    0x17: ("SEND", "ONLY", ("ieth",)),
    0x1d: ("ATOMIC_WRITE", "ONLY", ("reth",)),
}
# Ours, under an opcode for manufacturers: an acknowledge that names what is missing.
SACK = 0xd1
UNRELIABLE = [op for op in range(0x0c)]
DATAGRAM = [0x04, 0x05]
RESPONSES = ("RESPONSE", "ACK", "SACK", "ATOMIC_ACK")
NO_PAYLOAD = ("READ", "ACK", "SACK", "ATOMIC_ACK", "ATOMIC")
HEADER_BYTES = {"imm": 4, "reth": 16, "aeth": 4, "original": 8, "atomic": 28,
                "ieth": 4, "deth": 8, "sack": 20}
# Kinds of AETH: the upper bits of a syndrome.
ACKED, RNR, RESERVED, NAK = range(4)
LAST_NAK_CODE = 4
# Which is right only where packets are lost.
NUMBERED = "reserved bits of the BTH, which number reports of losses"


class Malformed(Exception):
    """It cannot be taken apart any further."""


def ones_sum(data):
    """One's complement sum of 16-bit words."""
    if len(data) % 2:
        data += b"\0"
    # A number's remainder is that of the sum of its digits.
    return int.from_bytes(data, "big") % 0xffff


class Frame:
    """What a RoCEv2 frame says. `problems` has what is wrong with it."""

    def __init__(self, data, number=0):
        self.number, self.problems = number, []
        self.dst, self.src = data[0:6], data[6:12]
        kind = data[12:14]
        packet = data[ETHERNET:]
        if kind == b"\x08\x00":
            self.take_ipv4(packet)
        else:
            self.take_ipv6(packet)
        self.take_udp()
        self.take_bth()
        self.take_extended()
        self.judge()

    def wrong(self, text):
        self.problems.append(text)

    def take_ipv4(self, packet):
        if packet[0] != 0x45:
            raise Malformed("IPv4 with options, or no IPv4")
        total, _, fragment, ttl = struct.unpack_from("!HHHB", packet, 2)
        if not 20 <= total <= len(packet):
            raise Malformed(f"IPv4 length {total} in {len(packet)} bytes")
        self.take_trailer(packet, total)
        if fragment & 0xbfff:
            self.wrong("a fragment, or the reserved bit of IPv4")
        if not ttl:
            self.wrong("TTL 0")
        if ones_sum(packet[:20]):
            self.wrong("IPv4 checksum")
        self.addresses = packet[12:20]
        self.pseudo = self.addresses + struct.pack("!HH", 17, total - 20)
        self.header = (packet[:1] + b"\xff" + packet[2:8] + b"\xff" +
                       packet[9:10] + b"\xff\xff" + packet[12:20])
        self.udp = packet[20:total]

    def take_ipv6(self, packet):
        length, after, hops = struct.unpack_from("!HBB", packet, 4)
        if packet[0] >> 4 != 6 or after != 17 or 40 + length > len(packet):
            raise Malformed("IPv6 header")
        self.take_trailer(packet, 40 + length)
        if not hops:
            self.wrong("hop limit 0")
        self.addresses = packet[8:40]
        self.pseudo = self.addresses + struct.pack("!II", length, 17)
        self.header = (b"\x6f\xff\xff\xff" + packet[4:7] + b"\xff" +
                       packet[8:40])
        self.udp = packet[40:40 + length]

    def take_trailer(self, packet, total):
        """Only what is too short for Ethernet is filled up."""
        if len(packet) > max(total, 60 - ETHERNET):
            self.wrong(f"{len(packet) - total} bytes behind the packet")

    def take_udp(self):
        if len(self.udp) < 8 + 12 + 4:
            raise Malformed("too short for BTH and ICRC")
        self.port, _, length, checksum = struct.unpack_from("!4H", self.udp)
        if length != len(self.udp):
            raise Malformed(f"UDP length {length} of {len(self.udp)}")
        if checksum and ones_sum(self.pseudo + self.udp):
            self.wrong("UDP checksum")
        masked = (b"\xff" * 8 + self.header + self.udp[:6] + b"\xff\xff" +
                  self.udp[8:12] + b"\xff" + self.udp[13:-4])
        self.icrc = zlib.crc32(masked).to_bytes(4, "little")
        if self.icrc != self.udp[-4:]:
            self.wrong(f"ICRC {self.udp[-4:].hex()}, not {self.icrc.hex()}")

    def take_bth(self):
        self.opcode, flags, self.pkey, to, sequence = struct.unpack_from(
            "!BBHII", self.udp, 8)
        self.solicited, self.migrated = flags >> 7, flags >> 6 & 1
        self.pad, self.version = flags >> 4 & 3, flags & 15
        self.congestion, self.qpn = to >> 24, to & 0xffffff
        self.flags, self.psn = sequence >> 24, sequence & 0xffffff

    def take_extended(self):
        self.transport = TRANSPORTS.get(self.opcode >> 5)
        low = self.opcode & 0x1f
        known = {RC: OPERATIONS, UC: UNRELIABLE, UD: DATAGRAM}
        if self.opcode == SACK:
            self.transport, self.kind, self.place = RC, "SACK", "ONLY"
            names = ("aeth", "sack")
        elif self.opcode == 0x81:
            self.transport, self.kind, self.place = CNP, CNP, "ONLY"
            names = ()
        elif low in known.get(self.transport, ()):
            self.kind, self.place, names = OPERATIONS[low]
        else:
            raise Malformed(f"opcode {self.opcode:#x}")
        if self.transport == UD:
            names = ("deth", *names)
        at = 20
        for name in names:
            setattr(self, name, self.udp[at:at + HEADER_BYTES[name]])
            at += HEADER_BYTES[name]
        self.names = names
        end = len(self.udp) - 4 - self.pad
        if end < at:
            raise Malformed(f"{len(self.udp)} bytes of UDP are too few for "
                            f"opcode {self.opcode:#x}, pad {self.pad}")
        self.payload = self.udp[at:end]
        self.padding = self.udp[end:-4]

    def judge(self):
        """All that needs no other frame to be seen as wrong."""
        if self.version:
            self.wrong(f"transport version {self.version}")
        if self.pkey != 0xffff:
            self.wrong(f"P_Key {self.pkey:#x}")
        if self.congestion & 0x3f or (
                self.flags & 0x7f and self.transport != RC):
            self.wrong("reserved bits of the BTH")
        elif self.flags & 0x7f:
            self.wrong(NUMBERED)
        if self.transport == CNP:
            if self.payload != bytes(16) or not self.congestion & 0x40:
                self.wrong("CNP without BECN, or whose 16 bytes are not zero")
            return
        if (len(self.payload) + self.pad) % 4 or any(self.padding):
            self.wrong(f"{len(self.payload)} bytes padded by "
                       f"{self.padding.hex()}")
        self.judge_payload()
        if "aeth" in self.names:
            self.judge_aeth()
        if "deth" in self.names and self.deth[4]:
            self.wrong("reserved byte of the DETH")
        # It asks for an event, which only the end of a message can make.
        event = (self.kind == "SEND" and self.place in ("LAST", "ONLY") or
                 self.kind == "WRITE" and "imm" in self.names)
        if self.solicited and not event:
            self.wrong(f"solicited event asked for by {self.what()}")
        if self.flags & 0x80 and self.kind in RESPONSES:
            self.wrong("a response that asks for an ACK")

    def judge_payload(self):
        length = len(self.payload)
        if self.kind in NO_PAYLOAD:
            fits = not length
        elif self.kind == "ATOMIC_WRITE":
            fits = length == self.dma_length() == 8
        elif self.place in ("FIRST", "MIDDLE"):
            fits = length in MTUS
        else:
            fits = (self.place == "LAST") <= length <= MTUS[-1]
        if self.kind == "WRITE" and self.place in ("FIRST", "ONLY"):
            more = self.dma_length() - length
            fits = fits and (more > 0 if self.place == "FIRST" else not more)
        if not fits:
            self.wrong(f"{length} bytes in {self.what()}")

    def judge_aeth(self):
        kind, value = self.syndrome()
        if self.aeth[0] & 0x80 or kind == RESERVED or (
                kind == NAK and value > LAST_NAK_CODE):
            self.wrong(f"syndrome {self.aeth[0]:#x}")
        if self.kind != "ACK" and kind != ACKED:
            self.wrong(f"syndrome {self.aeth[0]:#x} in {self.what()}")

    def syndrome(self):
        return self.aeth[0] >> 5 & 3, self.aeth[0] & 31

    def msn(self):
        return int.from_bytes(self.aeth[1:4], "big")

    def dma_length(self):
        return int.from_bytes(self.reth[12:16], "big")

    def address(self):
        return int.from_bytes(self.reth[0:8], "big")

    def what(self):
        return f"{self.transport} {self.kind} {self.place}"


def is_roce(data):
    """Whether an Ethernet frame is RoCEv2, however broken behind UDP."""
    if data[12:14] == b"\x08\x00":
        at = ETHERNET + 4 * (data[ETHERNET] & 15)
        protocol = data[ETHERNET + 9]
    elif data[12:14] == b"\x86\xdd":
        at, protocol = ETHERNET + 40, data[ETHERNET + 6]
    else:
        return False
    return protocol == 17 and data[at + 2:at + 4] == b"\x12\xb7"


def frames_of(path):
    """The Ethernet frames in a pcap file."""
    with open(path, "rb") as f:
        head = f.read(24)
        order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">"}.get(
            head[:4])
        if not order or struct.unpack(order + "I", head[20:24])[0] != 1:
            sys.exit(f"{path}: not a pcap file of Ethernet frames")
        while True:
            head = f.read(16)
            if len(head) < 16:
                return
            _, _, kept, length = struct.unpack(order + "4I", head)
            if kept != length:
                sys.exit(f"{path}: frames are cut short")
            yield f.read(kept)
