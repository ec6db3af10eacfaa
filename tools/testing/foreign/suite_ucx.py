# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ucx: every test of ucx_perftest, and UCX's own examples.

Nothing is set but the transport and the device, and for IPv6 the index of the GID.
"""

import os

from case import Case
from suite_mpi import Traffic

TOP = os.path.normpath(os.path.join(os.path.dirname(__file__), "../../.."))
EXAMPLE = os.path.join(TOP, "build/foreign/")

# Of the transports themselves (UCT): which ways of handing data over each has.
# ud_verbs moves active messages and nothing else.
SHORT, BCOPY, ZCOPY = (8,), (1, 1000, 4096), (1000, 4096, 65536, 1 << 20)
# The header of 8 bytes counts.
MESSAGES = {"short": SHORT, "bcopy": (8, 9, 1000), "zcopy": (1000,)}
UCT = {
    "am_lat": MESSAGES, "am_bw": MESSAGES,
    "put_lat": {"short": SHORT, "bcopy": BCOPY, "zcopy": ZCOPY},
    "put_bw": {"short": SHORT, "bcopy": BCOPY, "zcopy": ZCOPY},
    "get": {"bcopy": BCOPY, "zcopy": ZCOPY},
    "add_lat": {"short": SHORT}, "add_mr": {"short": SHORT},
    "fadd": {"short": SHORT}, "swap": {"short": SHORT},
    "cswap": {"short": SHORT},
}
SIZES = (1, 8, 1000, 1025, 65536, 1 << 20, 16 << 20)
UCP = {**{name: SIZES for name in (
    "tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "ucp_put_lat",
    "ucp_put_bw", "ucp_get", "stream_bw", "stream_lat", "ucp_am_lat",
    "ucp_am_bw")},
    **{name: (4, 8) for name in ("ucp_add", "ucp_fadd", "ucp_swap",
                                 "ucp_cswap")}}


TRANSPORTS = ("rc_verbs", "ud_verbs")
# Of these one message takes an emulated processor long enough.
LONG = 65536


def line(test, size, *options):
    """One of a batch: a name of its own, and the options."""
    n = 3 if size >= LONG else 20
    return " ".join([f"{test}_{size}", "-t", test, "-s", str(size), "-n",
                     str(n), "-w", "1", *options])


def on_device(transport, six=False):
    """A function of the end: what is set there."""
    def variables(end):
        # rc_v is rc_verbs, and ud_verbs to connect it; ud_v is ud_verbs.
        v = {"UCX_TLS": transport.replace("verbs", "v"),
             "UCX_NET_DEVICES": f"{{dev_{end}}}:1"}
        if six:
            v["UCX_IB_GID_INDEX"] = f"{{gid6_{end}}}"
        return [f"{name}={value}" for name, value in v.items()]
    return variables


def at_ends(name, program, variables, *, port=13337, peer=("{ip_b}",),
            packets=1, **options):
    """program is a function of the end, which gives its arguments."""
    traffic = Traffic(packets)
    return Case(
        name=name, ready=f"tcp {port}", before=traffic.before,
        after=traffic.after,
        server=["env", *variables("b"), *program("b")],
        client=["env", *variables("a"), *program("a"), *peer],
        **{"limit": 180, **options})


def perftest(name, lines, variables, **options):
    """A batch of tests; both ends have to be given it."""
    def program(end):
        # The peer's address, when there is one, is "$1" there.
        return ["bash", "-c", "ucx_perftest -b <(printf '%s\\n' \"$0\") $1",
                "\n".join(lines).replace("{dev", "{dev_" + end)]
    return at_ends(name, program, variables, packets=len(lines),
                   expect=r".*Final: +\d+" * len(lines), **options)


def of_transports(topology):
    """UCT. Its client tells the server which device to use: one name for both."""
    if topology == "netns":
        return
    for transport in TRANSPORTS:
        for test, ways in UCT.items():
            if transport == "ud_verbs" and not test.startswith("am"):
                continue
            yield perftest(
                f"uct_{transport}_{test}",
                [line(test, size, "-D", way, "-d", "{dev}:1", "-x", transport)
                 for way, sizes in ways.items() for size in sizes],
                lambda end: [],
                unsupported=r"does not support required 64-bit atomic: \w+")


def of_protocols():
    """UCP."""
    for transport in TRANSPORTS:
        for test, sizes in UCP.items():
            yield perftest(f"ucp_{transport}_{test}",
                           [line(test, size) for size in sizes],
                           on_device(transport), limit=240)
        for test in ("tag_bw", "ucp_put_bw", "ucp_get", "stream_lat"):
            yield perftest(f"ucp_{transport}_{test}_ipv6",
                           [line(test, size) for size in (1, 1000, LONG)],
                           on_device(transport, six=True))
        yield perftest(f"{transport}_quick",
                       [line("tag_bw", size) for size in (1, 1025, LONG)],
                       on_device(transport), quick=True)


def examples(topology):
    for transport in TRANSPORTS:
        for wait in ("w", "f", "b"):
            yield at_ends(
                f"ucp_hello_world_{transport}_{wait}",
                lambda end, w=wait: [EXAMPLE + "ucp_hello_world", f"-{w}",
                                     "-s", "70000"],
                on_device(transport), peer=("-n", "{ip_b}"))
        if topology != "netns":
            for way in "ibz":
                if (transport, way) == ("ud_verbs", "z"):
                    continue
                yield at_ends(
                    f"uct_hello_world_{transport}_{way}",
                    lambda end, w=way, t=transport: [
                        EXAMPLE + "uct_hello_world", f"-{w}", "-d",
                        f"{{dev_{end}}}:1", "-t", t],
                    lambda end: [], peer=("-n", "{ip_b}"),
                    # Nothing needs to come back before the client ends.
                    packets=0, server_expect=r"\[callback\] .* sent ABC")


def cases(topology):
    yield from of_transports(topology)
    yield from of_protocols()
    yield from examples(topology)
