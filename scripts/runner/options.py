# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The options of the runner, checked as far as no kernel is needed for it."""

import argparse
import os
import pwd
import re
import shlex

from runner import common

# What says where this machine's caller is, and is wrong or of no use in a guest.
NOT_PASSED = re.compile(
    r"(PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|MAIL|TERM|DISPLAY|TMPDIR|_"
    r"|LS_COLORS|LESS\w*|MAKE\w*|MFLAGS|SUDO_\w+|SSH_\w+|XDG_\w+|DBUS_\w+"
    r"|WAYLAND_\w+|GPG_\w+|SOFTRDMA_\w+|BASH_\w+|LD_PRELOAD)$|BASH_FUNC_")
NAME = re.compile(r"[A-Za-z_]\w*$")

# Whether there is such a series, scripts/kernel knows.
SERIES = re.compile(r"\d+\.\d+(-\w+)*$")
MOST_NODES = 8


def default_kernel():
    """A fetched one comes from the archives of Debian, which others lack."""
    asked = os.environ.get("SOFTRDMA_VM_KERNEL")
    if asked:
        return asked
    release = common.read_file("/etc/os-release")
    return "6.1" if re.search(r"^ID=debian$", release, re.M) else "host"


def add_what_boots(p, smp):
    p.add_argument("--kernel", metavar="KERNEL",
                   default=default_kernel(),
                   help="a series that is fetched (6.1, 6.12, 7.2, 7.3, "
                        "6.1-rt ...), host: that of this machine, or the file "
                        "of one (default: %(default)s)")
    p.add_argument("--module", metavar="KO",
                   help="use this softrdma.ko instead of building it")
    p.add_argument("--root", metavar="DIR",
                   help="the guest's root file system, instead of this "
                        "machine's")
    p.add_argument("--smp", type=int, default=smp, metavar="N", help="CPUs")
    p.add_argument("--memory", type=int, default=2048, metavar="MB")
    p.add_argument("--cmdline", default="", metavar="TEXT",
                   help="more kernel parameters")
    p.add_argument("--icount", action="store_true",
                   help="guest time counts instructions: repeatable figures, "
                        "one CPU, slow")
    p.add_argument("--no-idle", action="store_true",
                   help="with --icount: time in which nothing runs passes at "
                        "once, not as fast as this machine's")
    p.add_argument("--plugin", metavar="FILE[,NAME=VALUE]...",
                   help="have QEMU load it")


def add_what_is_made(p):
    p.add_argument("--topology", default="loopback",
                   choices=["loopback", "veth", "netns", "pair", "none"])
    p.add_argument("--nodes", type=int, metavar="N",
                   help="as many kernels on one wire, up to %d; the command "
                        "runs on the first, on-peer and on-node reach the "
                        "others (2 is --topology pair)" % MOST_NODES)
    p.add_argument("--driver", default="softrdma",
                   choices=["softrdma", "rxe", "none"])
    p.add_argument("--peer-driver", choices=["softrdma", "rxe", "none"],
                   help="of the other nodes (default: that of A)")
    p.add_argument("--mtu", type=int, default=1500, metavar="N",
                   help="MTU of the netdevs")
    p.add_argument("--fault", action="append", default=[], metavar="[B:]RULE",
                   help="a rule for the link of A, or of B, in the words of "
                        "softrdma(8): 'drop nth 3'")
    p.add_argument("--capture", metavar="PCAP",
                   help="write what passes the wire of the nodes to this file")


def add_how_it_runs(p):
    p.add_argument("--rw", action="append", default=[], metavar="DIR",
                   help="what is written below DIR is written on this machine")
    p.add_argument("--user", action="store_true",
                   help="run the command as the caller, not as root")
    p.add_argument("--as", dest="user_name", metavar="NAME",
                   help="run the command as this user")
    p.add_argument("--env", action="append", default=[],
                   metavar="NAME[=VALUE]", help="environment of the command")
    p.add_argument("--no-env", action="store_true",
                   help="pass on nothing else of the caller's environment")
    p.add_argument("--all-env", dest="no_env", action="store_false",
                   help="pass it on as a whole; the default when installed")
    p.add_argument("--timeout", type=int, default=600, metavar="S",
                   help="limit of the command")
    p.add_argument("--artifacts", metavar="DIR",
                   help="copy logs and what the command leaves in "
                        "$SRD_ARTIFACTS there; if it fails, what explains it")
    p.add_argument("--name", help="of the log folder (default: the command's)")


def who(args):
    """(uid, gid, groups, name, home) of whom the command runs as, or None."""
    if args.user_name:
        user = pwd.getpwnam(args.user_name)
    elif not args.user:
        return None
    elif os.getuid():
        try:
            user = pwd.getpwuid(os.getuid())
        except KeyError:
            return (os.getuid(), os.getgid(), os.getgroups() or [os.getgid()],
                    str(os.getuid()), os.environ.get("HOME", "/"))
    elif os.environ.get("SUDO_UID"):
        user = pwd.getpwuid(int(os.environ["SUDO_UID"]))
    else:
        raise KeyError("the caller is root: give --as NAME")
    return (user.pw_uid, user.pw_gid,
            os.getgrouplist(user.pw_name, user.pw_gid), user.pw_name,
            user.pw_dir)


def environment(args):
    """What the command gets, by name."""
    env = {}
    if not args.no_env:
        env = {k: v for k, v in os.environ.items()
               if NAME.match(k) and not NOT_PASSED.match(k)}
    for word in args.env:
        key, equals, value = word.partition("=")
        if equals:
            env[key] = value
        elif key in os.environ:
            env[key] = os.environ[key]
    return env


def plugin(text):
    """The file of --plugin and what is behind it, as QEMU reads them from elsewhere."""
    m = re.match(r"(?:file=)?((?:[^,]|,,)*)(,.*)?$", text, re.S)
    path = os.path.abspath(m[1].replace(",,", ","))
    return path, path.replace(",", ",,") + (m[2] or "")


def check(p, args):
    if args.command[:1] == ["--"]:
        del args.command[0]
    if not args.command:
        p.error("no command")
    if not (SERIES.match(args.kernel) or "/" in args.kernel or
            args.kernel in ("host", "debug", "race")):
        p.error(f"--kernel {args.kernel}: not a series, host, or a file")
    if args.kernel in ("debug", "race") and common.INSTALLED:
        p.error(f"the {args.kernel} kernel is of the source tree alone")
    if args.module and not os.path.isfile(args.module):
        p.error(f"--module {args.module}: there is no such file")
    if args.plugin:
        path, args.plugin = plugin(args.plugin)
        if not os.path.isfile(path):
            p.error(f"--plugin: there is no file {path}")
    for word in args.env:
        if not NAME.match(word.partition("=")[0]):
            p.error(f"--env {word}: not NAME[=VALUE]")
    if args.nodes is not None and not 1 <= args.nodes <= MOST_NODES:
        p.error(f"--nodes {args.nodes}: not 1 to {MOST_NODES}")
    if args.nodes and args.nodes > 1:
        if args.topology not in ("loopback", "pair"):
            p.error("several nodes have a wire, and no other topology")
        args.topology = "pair"
    elif args.topology == "pair":
        args.nodes = 2
    args.nodes = args.nodes or 1
    if args.driver == "rxe" and args.topology == "netns":
        p.error("rdma_rxe makes links in the first namespace only")
    if args.topology != "pair" and (args.peer_driver or args.capture):
        p.error("--peer-driver and --capture are for several nodes")
    for d in [*args.rw, *([args.root] if args.root else [])]:
        if not os.path.isdir(d) or os.path.realpath(d) == "/":
            p.error(f"{d}: not a folder, or all of this machine")
    # With one machine B is its other link.
    last = chr(ord("A") + max(args.nodes, 2) - 1)
    for rule in args.fault:
        try:
            shlex.split(rule)
        except ValueError as e:
            p.error(f"--fault {rule}: {e}")
        node = re.match(r"([A-H]):", rule)
        if node and node.group(1) > last:
            p.error(f"--fault {rule}: the last one is {last}")
    try:
        args.who = who(args)
    except KeyError as e:
        p.error(f"whom to run as? {e.args[0]}")


def parse(description, smp=2):
    prog = "softrdma-vm" if common.INSTALLED else "scripts/vm"
    p = argparse.ArgumentParser(
        prog=prog, description=description,
        usage=f"{prog} [OPTION]... [--] COMMAND [ARGUMENT]...",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add_what_boots(p.add_argument_group("what boots"), smp)
    add_what_is_made(p.add_argument_group("what it finds"))
    add_how_it_runs(p.add_argument_group("how the command runs"))
    # All that comes behind its name is the command's, also what begins with -.
    p.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    args = p.parse_args()
    check(p, args)
    args.peer_driver = args.peer_driver or args.driver
    args.environment = environment(args)
    if args.icount:
        args.smp = 1
    return args
