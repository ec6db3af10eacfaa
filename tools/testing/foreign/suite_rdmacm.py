# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rdmacm-utils: connections, datagrams, multicast and rsockets."""

import hashlib
import os

from case import Case


def rping(name, size, *options, v6=False, quick=False, persistent=False):
    ip = "{ip6_b}" if v6 else "{ip_b}"
    argv = ["-a", ip, "-C", "20", "-S", str(size), "-V", *options]
    return Case(
        name=f"rping_{name}", quick=quick, ready="cm 7174",
        server=["rping", "-s", *argv, *(["-P"] if persistent else [])],
        client=["rping", "-c", *argv], server_ends=not persistent)


def rcopy(name, size, quick=False):
    """Copy a file; the copy is compared after both ended."""
    source, copy = f"/tmp/rcopy.{name}", f"/tmp/rcopy.{name}.copy"
    with open(source, "wb") as f:
        f.write(os.urandom(size))

    def same(ends):
        made = ends.peer.ask(60, run=["sha256sum", copy])["text"]
        with open(source, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        return None if made.split()[:1] == [digest] else "the copy differs"

    return Case(
        name=f"rcopy_{name}", quick=quick, ready="cm 7427",
        server=["rcopy"], client=["rcopy", source, "{ip_b}:" + copy],
        server_ends=False, after=same)


def stream(name, prog, *options, quick=False, **more):
    # The buffer size (-b on one side only hangs them) is left alone.
    argv = [prog, "-S", "65536", "-I", "20", "-C", "1", *options]
    return Case(
        name=f"{prog}_{name}", quick=quick, ready="cm 7471",
        server=[*argv, "-b", "{ip_b}"], client=[*argv, "-s", "{ip_b}"],
        # Seconds, Gb/sec, usec/xfer
        expect=r"\d+\.\d+s +\d+\.\d+ +\d+\.\d+\n", **more)


def ordinary(name, prog, *options, port=7471, quick=False, v6=False,
             limit=120):
    ip = "{ip6_b}" if v6 else "{ip_b}"
    family = ["-f", "ipv6"] if v6 else []
    return Case(
        name=name, quick=quick, ready=f"cm {port}", limit=limit,
        server=[prog, *family, "-b", ip, *options],
        client=[prog, *family, "-s", ip, *options],
        expect="return status 0", server_expect="return status 0")


def mckey(name, group, *options, v6=False):
    a, b = ("{ip6_a}", "{ip6_b}") if v6 else ("{ip_a}", "{ip_b}")
    return Case(
        name=f"mckey_{name}", ready="says joined dgid",
        server=["mckey", "-m", group, "-b", b, *options],
        client=["mckey", "-m", group, "-b", a, "-s", *options],
        expect="return status 0", server_expect="return status 0",
        # ENOTSUPP: what the kernel's RDMA CM says of IPv6 groups on RoCEv2.
        unsupported="failure joining: Unknown error 524")


def cases(topology):
    for size in (23, 64, 1023, 1024, 1025, 4096, 65535):
        yield rping(f"{size}", size, quick=size == 65535)
    yield rping("ipv6", 4096, v6=True, quick=True)
    yield rping("own_qp", 100, "-q")
    yield rping("persistent", 4096, persistent=True)
    yield ordinary("ucmatose", "ucmatose", quick=True)
    yield ordinary("ucmatose_20x100", "ucmatose", "-c", "20", "-C", "100",
                   "-S", "4000")
    yield ordinary("ucmatose_ipv6", "ucmatose", v6=True)
    yield ordinary("ucmatose_migrate", "ucmatose", "-m")
    yield ordinary("ucmatose_tos", "ucmatose", "-t", "32")
    yield ordinary("udaddy", "udaddy", quick=True, port=7174)
    yield ordinary("udaddy_20x50", "udaddy", "-c", "20", "-C", "50",
                   port=7174)
    yield ordinary("udaddy_ipv6", "udaddy", v6=True, port=7174)
    yield mckey("ipv4", "239.7.7.7")
    yield mckey("ipv4_many", "239.7.7.8", "-C", "100", "-S", "1000")
    yield mckey("ipv6", "ff0e::7:7", v6=True)
    yield Case(name="rdma_client", quick=True, ready="cm 7471",
               server=["rdma_server", "-s", "{ip_b}"],
               client=["rdma_client", "-s", "{ip_b}"],
               expect="end 0", server_expect="end 0")
    yield Case(name="rdma_xclient", ready="cm 7471",
               server=["rdma_xserver", "-c", "r"],
               client=["rdma_xclient", "-s", "{ip_b}", "-c", "r"],
               expect="end 0", server_expect="end 0")
    yield Case(name="rdma_xclient_xrc", ready="cm 7471",
               server=["rdma_xserver", "-c", "x"],
               client=["rdma_xclient", "-s", "{ip_b}", "-c", "x"],
               expect="end 0", unsupported="[^\n]*not supported[^\n]*")
    yield rcopy("one_byte", 1)
    yield rcopy("100000", 100000, quick=True)
    yield rcopy("8MB", 8 << 20)
    for prog in ("rstream", "riostream"):
        yield stream("verify", prog, "-T", "v", quick=True)
        yield stream("blocking", prog, "-T", "b", "-T", "v")
        yield stream("nonblocking", prog, "-T", "n", "-T", "v")
        yield stream("async", prog, "-T", "a", "-T", "v")
        # Not "-S all", which is nothing beside -I and -C: the size is 64k then.
        for size in (1, 1 << 20):
            yield stream(f"size_{size}", prog, "-S", str(size), "-T", "v")
    yield stream("resolve", "rstream", "-T", "r")
    # TCP calls, made into RDMA ones by the library that is there for it.
    yield stream("preload", "rstream", "-T", "s", "-T", "v", env={
        "LD_PRELOAD":
        "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so.1"})
    yield Case(name="cmtime_300", ready="cm 7471", limit=120,
               server=["cmtime", "-b", "{ip_b}"], server_ends=False,
               client=["cmtime", "-s", "{ip_b}", "-c", "300"],
               expect="disconnect")
