#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
smc_ueid: gives this host an enterprise ID of SMC, as smcd of smc-tools does.

usage: smc_ueid.py ID

Two hosts use SMC-Rv2 only if they share an ID. It is upper case, 32 bytes at most.
"""
import socket
import struct
import sys

CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY = 10, 1
NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2


def attr(kind, data):
    size = 4 + len(data)
    return struct.pack("=HH", size, kind) + data + bytes(-size % 4)


def ask(sock, family, command, attrs, flags):
    head = struct.pack("=BBH", command, 1, 0)
    sock.send(struct.pack("=IHHII", 16 + len(head + attrs), family,
                          NLM_F_REQUEST | flags, 1, 0) + head + attrs)
    reply = sock.recv(65536)
    if struct.unpack_from("=H", reply, 4)[0] == NLMSG_ERROR:
        error = struct.unpack_from("=i", reply, 16)[0]
        if error:
            sys.exit(f"smc_ueid: error {error}")
    return reply


def family_of(sock, name):
    reply = ask(sock, CTRL, CTRL_CMD_GETFAMILY,
                attr(CTRL_ATTR_FAMILY_NAME, name + b"\0"), 0)
    at = 20
    while at < len(reply):
        size, kind = struct.unpack_from("=HH", reply, at)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("=H", reply, at + 4)[0]
        at += size + -size % 4
    return sys.exit("smc_ueid: no such family")


def main():
    if sys.argv[1:] == ["--help"]:
        print(__doc__.strip())
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    ueid = sys.argv[1].encode().ljust(32) + b"\0"
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16) as sock:
        sock.bind((0, 0))
        ask(sock, family_of(sock, b"SMC_GEN_NETLINK"), SMC_NETLINK_ADD_UEID,
            attr(SMC_NLA_EID_TABLE_ENTRY, ueid), NLM_F_ACK)


if __name__ == "__main__":
    main()
