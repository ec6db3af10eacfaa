# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""vm: boot a kernel, load the driver, make links, run a command in it.

The command sees this machine's root file system (read-only below a throw-away
overlay), the modules of the booted kernel, and what the topology made; its
environment file is /run/softrdma-env. It starts in the current directory as
root, with the caller's environment as far as that is of use. Its output is
streamed, and its status is the exit status, except:

    94  the driver could not be unloaded afterwards
    95  the kernel or the module could not be provided
    96  the guest could not load the driver or make the topology
    97  the kernel was lost: panic, hang, or end without a verdict
    98  the command succeeded, but the kernel logged a warning or worse
   124  the command was ended by --timeout

No root and no KVM are needed. The logs of a run are kept, its last line says where
if it failed.
"""

import copy
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

from runner import initramfs, kernel as kernels, lost, machine, options
from runner.common import (BOOT_ALLOWANCE, GUEST, LOST, REPORTED, SCRIPTS, TOP,
                           die, end_on_signals, make_log_dir, note, read_file)

# Emulated self-modifying code is racy in QEMU 7.2: about one boot in fifty dies
# early like this. Once in some hundred boots one was seen to hang before init: that
# is before anything of this project runs in it. Nothing else is ever retried.
EMULATOR_RACE = re.compile(r"Oops: int3|int3: 0000 \[#1\]")
EMULATOR_RETRIES = 2
# Seconds until init runs, on a busy machine; it takes 2 to 10.
INIT_BY_S = {"tcg": 90, "icount": 300}
KVM_PROBE_S = 15
# A wire is there as soon as QEMU runs.
WIRE_BY_S = 20

# What node B of a pair has to end in once A ended without telling it.
PEER_END_S = 20


def parse_args(smp=2):
    return options.parse(__doc__.split("\n\n", 1)[1], smp)


def delegate_to_uml(args):
    """--kernel debug: the same options, another runner."""
    if args.root or args.rw or args.nodes > 1:
        die(2, "the debug kernel has no --root, --rw nor --nodes")
    argv = sys.argv[1:]
    # The first one is an option; what comes behind the command is the command's.
    for i, word in enumerate(argv):
        if re.match(r"--kernel(=|$)", word):
            del argv[i:i + (1 if "=" in word else 2)]
            break
    run = os.path.join(SCRIPTS, "uml", "run")
    os.execv(run, [run, *argv])


class Run:
    """One boot of one kernel, or of several with a wire."""

    def __init__(self, args, kernel, ko, accel, name):
        self.args, self.kernel, self.accel = args, kernel, accel
        self.nodes = list("ABCDEFGH"[:args.nodes])
        self.timeout = args.timeout
        self.hung = False
        self.given_up = {}
        self.dir = make_log_dir(name)
        self.modules = kernels.modules_tree(kernel, ko)
        self.qemu = {}
        self.shown = 0
        self.write_config(ko)
        self.write_command()

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        return read_file(self.path(name))

    def write_config(self, ko):
        a = self.args
        os.makedirs(self.path("peer"))
        # Who runs the command asks the other nodes, too.
        os.chmod(self.path("peer"), 0o777)
        values = {
            "DRIVER": a.driver, "PEER_DRIVER": a.peer_driver,
            "TOPOLOGY": a.topology, "NODES": " ".join(self.nodes),
            "MTU": a.mtu,
            "MODULES": self.modules,
            "SOFTRDMA_KO": kernels.seen_module(self.modules, ko),
            "GUEST_DIR": GUEST, "WORKDIR": os.getcwd(),
            "COMMAND_TIMEOUT": self.timeout, "HUNG_TASK_S": 60,
            "PEER_WAIT_S": BOOT_ALLOWANCE[self.accel]}
        if a.who:
            uid, gid, groups, name, home = a.who
            values["RUN_AS"] = f"{uid} {gid} {','.join(map(str, groups))}"
            values["RUN_NAME"], values["RUN_HOME"] = name, home
        if a.artifacts:
            os.mkdir(self.path("artifacts"))
            os.chmod(self.path("artifacts"), 0o777)
            values["ARTIFACTS"] = "/out/artifacts"
        with open(self.path("config"), "w") as f:
            for key, value in values.items():
                f.write(f"{key}={shlex.quote(str(value))}\n")
        with open(self.path("shares"), "w") as f:
            for tag, path, writable in self.shares():
                f.write(f"{tag} {'rw' if writable else 'ro'} {path}\n")
        self.write_faults()

    def write_faults(self):
        """Each as the words for the tool, behind the node that it is for."""
        if not self.args.fault:
            return
        os.mkdir(self.path("bin"))
        shutil.copy(kernels.build_tool(), self.path("bin"))
        with open(self.path("faults"), "w") as f:
            for rule in self.args.fault:
                m = re.match(r"([A-H]):\s*(.*)", rule)
                node, words = m.groups() if m else ("A", rule)
                f.write(f"{node} {shlex.join(shlex.split(words))}\n")

    def write_command(self):
        with open(self.path("command"), "w") as f:
            for key, value in self.args.environment.items():
                f.write(f"export {key}={shlex.quote(value)}\n")
            f.write(". /run/softrdma-env\n")
            for word in self.args.env:
                key = word.partition("=")[0]
                if key in self.args.environment:
                    value = shlex.quote(self.args.environment[key])
                    f.write(f"export {key}={value}\n")
            f.write(f"exec {shlex.join(self.args.command)}\n")

    def shares(self):
        """(tag, folder, writable) of what the guest mounts over its root."""
        found = []
        if self.args.root:
            modules = self.kernel["modules"]
            if not kernels.are_this_machines(modules):
                modules = modules.rsplit("/lib/", 1)[0]
            for path in (TOP, modules, self.modules, os.getcwd()):
                found.append((os.path.realpath(path), False))
        found += [(os.path.realpath(d), True) for d in self.args.rw]
        # What holds another comes first, and "/" is there.
        found = sorted(set(f for f in found if f[0] != "/"))
        return [(f"share{i}", *f) for i, f in enumerate(found)]

    def qemu_command(self, node):
        a = self.args
        command, append = machine.machine(self.kernel, self.accel)
        append += ["quiet", "loglevel=5", "nokaslr", "mitigations=off",
                   "panic=-1", "random.trust_cpu=on", "net.ifnames=0",
                   "log_buf_len=8M", f"SOFTRDMA_NODE={node}"]
        if "userland" in self.kernel:
            append.append("SOFTRDMA_USERLAND=1")
        cmd = ["setpriv", "--pdeathsig", "KILL", *command,
               "-nodefaults", "-no-user-config", "-display", "none",
               "-no-reboot", *machine.accelerator(self.accel, self.args.no_idle),
               "-smp", str(a.smp), "-m", str(a.memory),
               "-kernel", self.kernel["vmlinuz"],
               "-initrd", self.kernel["initramfs"],
               "-serial", f"file:console.{node}",
               "-append", " ".join([*append, a.cmdline]).strip(),
               *machine.share("root", os.path.realpath(a.root or "/"), False),
               *machine.share("out", ".", True),
               "-device", "virtio-rng-pci"]
        if "userland" in self.kernel:
            cmd += machine.share("userland", self.kernel["userland"], False)
        for tag, path, writable in self.shares():
            cmd += machine.share(tag, path, writable)
        if a.plugin:
            cmd += ["-plugin", a.plugin]
        if len(self.nodes) > 1:
            cmd += machine.wire(node, self.nodes, a.capture)
        return cmd

    def start(self, node):
        with open(self.path(f"qemu.{node}"), "w") as log:
            self.qemu[node] = subprocess.Popen(
                self.qemu_command(node), cwd=self.dir, stdout=log,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def show_output(self):
        """Pass on what the command wrote since the last call."""
        try:
            with open(self.path("output"), "rb") as f:
                f.seek(self.shown)
                data = f.read()
        except FileNotFoundError:
            return
        self.shown += len(data)
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def has_begun(self):
        """Whether init runs in each kernel."""
        return all(os.path.exists(self.path(f"began.{n}"))
                   for n in self.nodes)

    def wait(self, limit, show=True):
        """Until every kernel ended by itself, or was given up."""
        end = time.monotonic() + limit
        begin = time.monotonic() + init_by(self.accel)
        told = False
        while any(q.poll() is None for q in self.qemu.values()):
            if show:
                self.show_output()
            if time.monotonic() > end:
                self.give_up(f"it had not ended after {limit} s" + (
                    ", nor after its peer" if told else ""))
                break
            if time.monotonic() > begin and not self.has_begun():
                self.hung = True
                self.give_up("its init had not begun after "
                             f"{init_by(self.accel):.0f} s")
                break
            # Peers serve until told; A ended before it could tell.
            if (len(self.qemu) > 1 and not told and
                    self.qemu["A"].poll() is not None and
                    not os.path.exists(self.path("peer/quit"))):
                open(self.path("peer/quit"), "w").close()
                told = True
                end = min(end, time.monotonic() + PEER_END_S)
            # A peer that ends first is lost: the other would wait for it.
            if (any(q.poll() is not None for n, q in self.qemu.items()
                    if n != "A") and
                    not os.path.exists(self.path("peer/quit"))):
                self.give_up("another node was lost")
                break
            time.sleep(0.05)
        self.stop()
        if show:
            self.show_output()

    def give_up(self, why):
        """Those that still run are to be ended; keeps the reason."""
        for node, q in self.qemu.items():
            if q.poll() is None:
                self.given_up[node] = why

    def stop(self):
        for q in self.qemu.values():
            if q.poll() is None:
                q.kill()
            q.wait()

    def boot(self, show=True, limit=None):
        limit = limit or self.timeout + BOOT_ALLOWANCE[self.accel]
        try:
            for node in self.nodes:
                self.start(node)
                # The others connect to sockets of the first.
                deadline = time.monotonic() + WIRE_BY_S
                while (node == "A" and time.monotonic() < deadline and
                       self.qemu["A"].poll() is None and
                       not all(os.path.exists(self.path(f"wire.{n}"))
                               for n in self.nodes[1:])):
                    time.sleep(0.05)
            self.wait(limit, show)
        finally:
            self.stop()

    def emulator_failed(self):
        """How the emulator ended the boot, if in a way it is known for."""
        if self.hung:
            return "the kernel hung before init"
        if self.accel != "kvm" and any(
                not os.path.exists(self.path(f"ready.{n}")) and
                not self.read(f"status.{n}") and
                EMULATOR_RACE.search(self.read(f"console.{n}"))
                for n in self.nodes):
            return "the emulator's known int3 race ended the boot"
        return None

    def keep_artifacts(self, where):
        """Copies the logs, and what the guest left, out of the log folder."""
        try:
            shutil.copytree(self.path("artifacts"), where, symlinks=True,
                            dirs_exist_ok=True)
        except (shutil.Error, OSError) as e:
            note(f"not all artifacts could be copied: {e}")
        for name in os.listdir(self.dir):
            if re.match(r"(console|dmesg|messages|qemu|status)\.[A-H]$|output$",
                        name):
                shutil.copy(self.path(name), where)

    def reports(self):
        """Lines of the kernels' logs that no good run has, with context."""
        with open(os.path.join(GUEST, "kernel-reports")) as f:
            pattern = re.compile("|".join(
                line for line in f.read().splitlines()
                if line and not line.startswith("#")))
        found = []
        for node in self.nodes:
            for log in (f"dmesg.{node}", f"console.{node}"):
                lines = self.read(log).splitlines()
                hits = [i for i, l in enumerate(lines) if pattern.search(l)]
                if hits:
                    first = max(hits[0] - 2, 0)
                    found.append(f"{log}:")
                    found += lines[first:first + 60]
                    break
        return found

    def verdict(self):
        """Exit status of the whole, having said what is wrong."""
        status = {n: self.read(f"status.{n}").strip() for n in self.nodes}
        reports = self.reports()
        for node in self.nodes:
            for line in self.read(f"messages.{node}").splitlines():
                note(line)
        if reports:
            note("the kernel reported:")
            print("\n".join(reports), file=sys.stderr)
        for node in self.nodes:
            if not status[node]:
                q = self.qemu.get(node)
                first, *rest = lost.explain(node, self.dir, q and q.returncode,
                                            self.given_up.get(node))
                note(first)
                print("\n".join(rest), file=sys.stderr)
        # Why A failed, not that B did not get to its end after that.
        if int(status["A"] or 0):
            return int(status["A"])
        if not all(status.values()):
            return LOST
        for node in self.nodes:
            if int(status[node]):
                return int(status[node])
        return REPORTED if reports else 0


def init_by(accel):
    return float(os.environ.get("SOFTRDMA_INIT_BY_S") or
                 INIT_BY_S.get(accel, "inf"))


def boots_with_kvm(args, kernel):
    probe = copy.copy(args)
    probe.topology = probe.driver = probe.peer_driver = "none"
    probe.nodes = probe.smp = 1
    probe.environment, probe.env, probe.rw, probe.fault = {}, [], [], []
    probe.root = probe.who = probe.artifacts = probe.capture = None
    probe.command, probe.timeout, probe.cmdline = ["true"], KVM_PROBE_S, ""
    run = Run(probe, kernel, None, "kvm", "kvm-probe")
    run.boot(show=False, limit=KVM_PROBE_S)
    return run.read("status.A").strip() == "0"


def main():
    args = parse_args()
    if args.kernel == "debug":
        delegate_to_uml(args)
    end_on_signals()

    kernel = kernels.find(args.kernel)
    ko = args.module and os.path.realpath(args.module)
    has_module = os.path.exists(os.path.join(TOP, "Kbuild"))
    if not ko and ("softrdma" in (args.driver, args.peer_driver) or
                   args.driver == "none" and has_module and
                   not args.root):
        ko = kernels.build_module(args.kernel, kernel)
    kernel["initramfs"] = initramfs.make(kernel)
    accel = machine.choose_accel(args.icount, kernel,
                                 lambda: boots_with_kvm(args, kernel))
    name = args.name or os.path.basename(args.command[0])
    name = re.sub(r"[^\w.+-]", "_", f"{os.path.basename(args.kernel)}-{name}")

    for attempt in range(EMULATOR_RETRIES + 1):
        start = time.monotonic()
        run = Run(args, kernel, ko, accel, name)
        run.boot()
        failure = run.emulator_failed()
        if not failure or attempt == EMULATOR_RETRIES:
            break
        note(f"{failure} ({os.path.relpath(run.dir)}); booting again")
    status = run.verdict()
    if args.artifacts:
        run.keep_artifacts(args.artifacts)
    drivers = "-".join(dict.fromkeys([args.driver, args.peer_driver]))
    what = f"{kernel['release']} {accel} {drivers} {args.topology}"
    took = time.monotonic() - start
    summary = f"{what}: status {status} in {took:.0f} s"
    with open(run.path("summary"), "w") as f:
        f.write(summary + "\n")
    if status:
        note(f"{summary}; logs in {os.path.relpath(run.dir)}")
    else:
        note(summary)
    sys.exit(status)


if __name__ == "__main__":
    main()
