# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ibverbs-utils: the ping-pongs, with the received bytes checked (-c)."""

from case import Case

NO_XRC = r"Couldn't Open the XRC Domain[^\n]*"


def pingpong(kind, name, *options, quick=False, v6=False, **more):
    six = "6" if v6 else ""
    argv = [f"ibv_{kind}_pingpong", "-n", "100", *options]
    return Case(
        name=f"{kind}_{name}",
        server=[*argv, "-d", "{dev_b}", "-g", "{gid%s_b}" % six],
        client=[*argv, "-d", "{dev_a}", "-g", "{gid%s_a}" % six, "{ip_b}"],
        expect="iters in", quick=quick, **more)


def cases(topology):
    for kind in ("rc", "uc", "ud", "srq"):
        yield pingpong(kind, "plain", "-c", quick=True)
        yield pingpong(kind, "events", "-c", "-e", quick=kind == "rc")
        yield pingpong(kind, "ipv6", "-c", "-e", v6=True, quick=kind == "ud")
        yield pingpong(kind, "one_byte", "-c", "-s", "1")
        yield pingpong(kind, "few_receives", "-c", "-r", "4"
                       if kind != "srq" else "20")
    for kind in ("rc", "uc", "srq"):
        # A UC ping-pong waits for ever for what was lost: on a wire with a
        # queue in front of it, that is any of a thousand packets at once.
        size = "65536" if (kind, topology) == ("uc", "pair") else "1048576"
        yield pingpong(kind, size, "-c", "-s", size, "-n", "10", "-r", "20")
        yield pingpong(kind, "mtu256", "-c", "-m", "256", "-s", "65537")
    yield pingpong("ud", "1024", "-c", "-s", "1024")
    yield pingpong("rc", "new_send", "-c", "-N", quick=True)
    yield pingpong("rc", "new_send_events", "-c", "-N", "-e")
    # What a device may lack, and then says so.
    yield pingpong("rc", "odp", "-c", "-o",
                   unsupported="The device isn't ODP capable[^\n]*|"
                               "RC[^\n]*ODP[^\n]*")
    yield pingpong("rc", "implicit_odp", "-c", "-o", "-O",
                   unsupported="The device (isn't ODP capable|doesn't support "
                               "implicit ODP)[^\n]*|RC[^\n]*ODP[^\n]*")
    yield pingpong("rc", "timestamps", "-t",
                   unsupported="Couldn't create CQ|[^\n]*timestamp[^\n]*")
    yield pingpong("rc", "device_memory", "-j",
                   unsupported="[^\n]*(dm|DM)[^\n]*")
    yield Case(
        name="xsrq_plain", expect="iters in",
        server=["ibv_xsrq_pingpong", "-d", "{dev_b}", "-g", "{gid_b}"],
        client=["ibv_xsrq_pingpong", "-d", "{dev_a}", "-g", "{gid_a}",
                "{ip_b}"], unsupported=NO_XRC)
