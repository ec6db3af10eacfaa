# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""vm: boot a kernel, load the driver, make links, run a command in it.

usage: scripts/vm [OPTION]... -- COMMAND [ARGUMENT]...

The command sees this machine's root file system (read-only below a throw-away
overlay), the modules of the booted kernel, and what the topology made; its
environment file is /run/softrdma-env. It starts in the current directory as
root. Its output is streamed, and its status is the exit status, except:

    94  the driver could not be unloaded afterwards
    95  the kernel or the module could not be provided
    96  the guest could not load the driver or make the topology
    97  the kernel was lost: panic, hang, or end without a verdict
    98  the command succeeded, but the kernel logged a warning or worse
   124  the command was ended by --timeout

Logs of a run are kept under build/log/.
"""

import argparse
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import qemu

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SCRIPTS = os.path.join(TOP, "scripts")
GUEST = os.path.join(SCRIPTS, "guest")

UNLOAD_FAILED, NOT_BUILT, SETUP_FAILED, LOST, REPORTED = 94, 95, 96, 97, 98

# What the initramfs must insert before the root is there. Which of these are
# built in differs by kernel, so the closure is taken from modules.dep.
BOOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_rng")
BUSYBOX_LINKS = ("sh", "mount", "insmod", "mkdir", "switch_root", "poweroff",
                 "sed")

# Emulated self-modifying code is racy in QEMU 7.2: about one boot in fifty dies
# early like this. Once in some hundred boots one was seen to hang before init: that
# is before anything of this project runs in it. Nothing else is ever retried.
EMULATOR_RACE = re.compile(r"Oops: int3|int3: 0000 \[#1\]")
EMULATOR_RETRIES = 2
# Seconds until init runs, on a busy machine; it takes 2 to 10.
INIT_BY_S = {"tcg": 90, "icount": 300}

# What node B of a pair has to end in once A ended without telling it.
PEER_END_S = 20

# A command's time limit does not count the boot; seconds the whole may take on
# top of it before the kernel is given up.
BOOT_ALLOWANCE = {"kvm": 60, "tcg": 240, "icount": 900}
KVM_PROBE_S = 15


def note(message):
    print(f"vm: {message}", file=sys.stderr, flush=True)


def die(status, message):
    note(message)
    sys.exit(status)


def parse_args(smp=2):
    p = argparse.ArgumentParser(
        prog="scripts/vm", description=__doc__.split("\n\n", 2)[2],
        usage="scripts/vm [OPTION]... -- COMMAND [ARGUMENT]...",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", default="6.1",
                   choices=["6.1", "6.12", "7.2", "7.3", "6.1-rt", "7.3-rt",
                            "6.1-arm64", "debug"])
    p.add_argument("--topology", default="loopback",
                   choices=["loopback", "veth", "netns", "pair", "none"])
    p.add_argument("--driver", default="softrdma",
                   choices=["softrdma", "rxe", "none"])
    p.add_argument("--peer-driver", choices=["softrdma", "rxe", "none"],
                   help="of node B of a pair (default: that of A)")
    p.add_argument("--capture", metavar="PCAP",
                   help="write what passes the wire of a pair to this file")
    p.add_argument("--module", metavar="KO",
                   help="use this softrdma.ko instead of building it")
    p.add_argument("--smp", type=int, default=smp, metavar="N")
    p.add_argument("--memory", type=int, default=2048, metavar="MB")
    p.add_argument("--mtu", type=int, default=1500, metavar="N",
                   help="MTU of the netdevs")
    p.add_argument("--timeout", type=int, default=600, metavar="S",
                   help="limit of the command")
    p.add_argument("--icount", action="store_true",
                   help="guest time counts instructions: repeatable figures, "
                        "one CPU, slow")
    p.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                   help="environment of the command")
    p.add_argument("--cmdline", default="", metavar="TEXT",
                   help="more kernel parameters")
    p.add_argument("--plugin", metavar="FILE[,NAME=VALUE]...",
                   help="have QEMU load it (not with --kernel debug)")
    p.add_argument("--name", help="of the log folder (default: the command's)")
    p.add_argument("command", nargs="*", metavar="COMMAND")
    args = p.parse_args()
    if not args.command:
        p.error("no command (give it after --)")
    for pair in args.env:
        if not re.match(r"[A-Za-z_]\w*=", pair):
            p.error(f"--env {pair}: not NAME=VALUE")
    if args.driver == "rxe" and args.topology == "netns":
        p.error("rdma_rxe makes links in the first namespace only")
    if args.topology != "pair" and (args.peer_driver or args.capture):
        p.error("--peer-driver and --capture are for --topology pair")
    args.peer_driver = args.peer_driver or args.driver
    if args.icount:
        args.smp = 1
    return args


def delegate_to_uml():
    """--kernel debug: the same options, another runner."""
    argv = sys.argv[1:]
    end = argv.index("--") if "--" in argv else len(argv)
    rest = []
    i = 0
    while i < end:
        if argv[i] == "--kernel":
            i += 2
        elif argv[i].startswith("--kernel="):
            i += 1
        else:
            rest.append(argv[i])
            i += 1
    run = os.path.join(SCRIPTS, "uml", "run")
    os.execv(run, [run, *rest, *argv[end:]])


def fetch_kernel(series):
    r = subprocess.run([os.path.join(SCRIPTS, "kernel"), series, "image"],
                       stdout=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit(NOT_BUILT)
    kernel = dict(line.split("=", 1) for line in r.stdout.splitlines())
    if "userland" in kernel and subprocess.run(
            [os.path.join(SCRIPTS, "deps"), kernel["arch"]]).returncode:
        sys.exit(NOT_BUILT)
    return kernel


def build_module(series):
    """The path of softrdma.ko for this series, compiled if stale."""
    r = subprocess.run([os.path.join(SCRIPTS, "module"), series,
                        "SOFTRDMA_TESTS=y"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    if r.returncode:
        sys.stderr.write(r.stderr)
        die(NOT_BUILT, "the module does not build")
    return r.stdout.splitlines()[-1]


def modules_tree(kernel, ko):
    """lib/modules/RELEASE of the kernel with softrdma in its index.

    So that the guest finds the module by its name and its aliases. Kept under
    the hash of the module file; depmod takes a second or two.
    """
    if not ko:
        return kernel["modules"]
    release = kernel["release"]
    with open(ko, "rb") as f:
        data = f.read()
    key = hashlib.sha256(kernel["modules"].encode() + data).hexdigest()[:16]
    base = os.path.join(TOP, "build", "vm", "modules")
    sub = os.path.join("lib", "modules", release)
    path = os.path.join(base, key, sub)
    if os.path.isdir(path):
        return path

    os.makedirs(base, exist_ok=True)
    tmp = tempfile.mkdtemp(dir=base)
    os.chmod(tmp, 0o755)
    os.makedirs(os.path.join(tmp, sub, "updates"))
    # Names only: depmod makes the rest anew.
    for name in os.listdir(kernel["modules"]):
        if name == "kernel" or re.match(r"modules\.(order|builtin)", name):
            os.symlink(os.path.join(kernel["modules"], name),
                       os.path.join(tmp, sub, name))
    for name in ("modules.builtin.bin", "modules.builtin.alias.bin"):
        # depmod writes these: not through a link into the cache.
        if os.path.islink(os.path.join(tmp, sub, name)):
            os.unlink(os.path.join(tmp, sub, name))
    with open(os.path.join(tmp, sub, "updates", "softrdma.ko"), "wb") as f:
        f.write(data)
    r = subprocess.run(["/sbin/depmod", "-b", tmp, release],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True)
    if r.returncode:
        shutil.rmtree(tmp)
        die(NOT_BUILT, f"depmod does not take {ko}:\n{r.stdout}")
    try:
        os.rename(tmp, os.path.join(base, key))
    except OSError:
        # Another run was faster.
        shutil.rmtree(tmp)
    return path


# --- the initramfs -----------------------------------------------------------

def cpio_entry(out, name, mode, data=b""):
    """Append one file in the newc format."""
    name = name.encode() + b"\0"
    fields = [cpio_entry.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
              len(name), 0]
    cpio_entry.ino += 1
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
    out.write(head + b"\0" * (-len(head) % 4))
    out.write(data + b"\0" * (-len(data) % 4))


cpio_entry.ino = 1


def boot_modules(kernel):
    """Files of BOOT_MODULES and all they need, in the order to insert them."""
    base = kernel["modules"].rsplit("/lib/modules/", 1)[0]
    files = []
    for module in BOOT_MODULES:
        r = subprocess.run(
            ["/sbin/modprobe", "-d", base, "-S", kernel["release"],
             "--show-depends", module], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        for line in r.stdout.splitlines():
            if line.startswith("insmod "):
                path = line.split()[1]
                if path not in files:
                    files.append(path)
    return files


def module_bytes(path):
    with open(path, "rb") as f:
        data = f.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def search_path(kernel):
    """Where programs for the guest are; None is $PATH."""
    return kernel.get("userland") and kernel["userland"] + "/usr/bin"


def initramfs(kernel):
    """Path of the initramfs of this kernel, made when missing or stale."""
    busybox = (shutil.which("busybox", path=search_path(kernel)) or
               die(NOT_BUILT, "no busybox"))
    with open(os.path.join(SCRIPTS, "vm-init"), "rb") as f:
        init = f.read()
    with open(os.path.realpath(__file__), "rb") as f:
        key = hashlib.sha256(init + f.read()).hexdigest()[:12]
    where = os.path.join(TOP, "build", "vm")
    path = os.path.join(where, f"initramfs-{kernel['release']}-{key}.gz")
    if os.path.exists(path):
        return path

    out = io.BytesIO()
    for d in ("bin", "modules", "proc", "sys", "dev", "lower", "userland",
              "overlay", "newroot"):
        cpio_entry(out, d, 0o040755)
    with open(busybox, "rb") as f:
        cpio_entry(out, "bin/busybox", 0o100755, f.read())
    for link in BUSYBOX_LINKS:
        cpio_entry(out, f"bin/{link}", 0o120777, b"busybox")
    order = []
    for module in boot_modules(kernel):
        name = os.path.basename(module).split(".ko")[0] + ".ko"
        cpio_entry(out, f"modules/{name}", 0o100644, module_bytes(module))
        order.append(name)
    cpio_entry(out, "modules/order", 0o100644,
               "".join(f"{n}\n" for n in order).encode())
    cpio_entry(out, "init", 0o100755, init)
    cpio_entry(out, "TRAILER!!!", 0)

    os.makedirs(where, exist_ok=True)
    fd, tmp = tempfile.mkstemp(dir=where)
    with os.fdopen(fd, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb",
                                                 compresslevel=1) as z:
        z.write(out.getvalue())
    os.rename(tmp, path)
    return path


# --- one run -----------------------------------------------------------------

class Run:
    """One boot of one kernel, or of two for a pair."""

    def __init__(self, args, kernel, ko, accel, name):
        self.args, self.kernel, self.accel = args, kernel, accel
        self.nodes = ["A", "B"] if args.topology == "pair" else ["A"]
        self.timeout = args.timeout
        self.hung = False
        self.given_up = {}
        self.dir = make_log_dir(name)
        self.qemu = {}
        self.shown = 0
        self.write_config(ko)

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        try:
            with open(self.path(name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def write_config(self, ko):
        a = self.args
        os.makedirs(self.path("peer"))
        values = {
            "DRIVER": a.driver, "PEER_DRIVER": a.peer_driver,
            "TOPOLOGY": a.topology, "MTU": a.mtu,
            "MODULES": modules_tree(self.kernel, ko), "SOFTRDMA_KO": ko or "",
            "GUEST_DIR": GUEST, "WORKDIR": os.getcwd(),
            "COMMAND_TIMEOUT": self.timeout, "HUNG_TASK_S": 60,
            "PEER_WAIT_S": BOOT_ALLOWANCE[self.accel]}
        with open(self.path("config"), "w") as f:
            for key, value in values.items():
                f.write(f"{key}={shlex.quote(str(value))}\n")
        with open(self.path("command"), "w") as f:
            f.write(". /run/softrdma-env\n")
            for pair in a.env:
                key, value = pair.split("=", 1)
                f.write(f"export {key}={shlex.quote(value)}\n")
            f.write(f"exec {shlex.join(a.command)}\n")

    def machine(self):
        """What to emulate, and what its kernel is to be told."""
        if self.kernel["arch"] == "arm64":
            return (["qemu-system-aarch64", "-M", "virt", "-cpu",
                     "cortex-a72"],
                    ["console=ttyAMA0", "SOFTRDMA_USERLAND=1"])
        machine = ["qemu-system-x86_64", "-M", "q35,usb=off,smbus=off,sata=off"]
        append = ["console=ttyS0"]
        if self.accel == "kvm":
            return [*machine, "-cpu", "host"], append
        # Without these a busy host makes the guest mis-calibrate its clock, or
        # panic in the timer check.
        append += ["tsc=reliable", "no_timer_check"]
        if self.accel == "tcg":
            append.append(f"tsc_early_khz={qemu.host_khz()}")
        return [*machine, "-cpu", qemu.emulated_cpu()], append

    def qemu_command(self, node):
        a = self.args
        machine, append = self.machine()
        append += ["quiet", "loglevel=5", "nokaslr", "mitigations=off",
                   "panic=-1", "random.trust_cpu=on", "net.ifnames=0",
                   "log_buf_len=8M", f"SOFTRDMA_NODE={node}"]
        accel = {"kvm": ["-accel", "kvm"],
                 "tcg": ["-accel", "tcg,thread=multi"],
                 "icount": ["-accel", "tcg,thread=single",
                            "-icount", "shift=0,sleep=on"]}[self.accel]
        # The emulator does not outlive this program, however that ends.
        cmd = ["setpriv", "--pdeathsig", "KILL", *machine,
               "-nodefaults", "-no-user-config", "-display", "none",
               "-no-reboot", *accel, "-smp", str(a.smp), "-m", str(a.memory),
               "-kernel", self.kernel["vmlinuz"],
               "-initrd", self.kernel["initramfs"],
               "-serial", f"file:console.{node}",
               "-append", " ".join([*append, a.cmdline]).strip(),
               "-fsdev", "local,id=root,path=/,security_model=none,"
                         "readonly=on,multidevs=remap",
               "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
               "-fsdev", "local,id=out,path=.,security_model=none",
               "-device", "virtio-9p-pci,fsdev=out,mount_tag=out",
               "-device", "virtio-rng-pci"]
        if "userland" in self.kernel:
            cmd += ["-fsdev", f"local,id=userland,security_model=none,"
                              f"path={self.kernel['userland']},readonly=on,"
                              "multidevs=remap",
                    "-device", "virtio-9p-pci,fsdev=userland,"
                               "mount_tag=userland"]
        if a.plugin:
            cmd += ["-plugin", a.plugin]
        if a.topology == "pair":
            # A relative path: those of unix sockets may be too long.
            server = "on" if node == "B" else "off"
            mac = "52:54:00:00:00:0" + ("1" if node == "A" else "2")
            cmd += ["-netdev", f"stream,id=wire,server={server},"
                               "addr.type=unix,addr.path=wire",
                    "-device", f"virtio-net-pci,netdev=wire,mac={mac},"
                               "romfile="]
        if a.capture and node == "A":
            # No guest sees the frames as the wire does: not cut up yet, or
            # merged again.
            cmd += ["-object", "filter-dump,id=capture,netdev=wire,"
                               f"file={os.path.abspath(a.capture)}"]
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
            # B serves until it is told; A ended before it could tell.
            if (len(self.qemu) == 2 and not told and
                    self.qemu["A"].poll() is not None and
                    not os.path.exists(self.path("peer/quit"))):
                open(self.path("peer/quit"), "w").close()
                told = True
                end = min(end, time.monotonic() + PEER_END_S)
            # A peer that ends first is lost: the other would wait for it.
            if (len(self.qemu) == 2 and self.qemu["B"].poll() is not None and
                    not os.path.exists(self.path("peer/quit"))):
                self.give_up("its peer was lost")
                break
            time.sleep(0.05)
        self.stop()
        if show:
            self.show_output()

    def give_up(self, why):
        """Keep the reason why those that still run are about to be ended."""
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
            for node in reversed(self.nodes):
                self.start(node)
                deadline = time.monotonic() + 20
                while (node == "B" and not os.path.exists(self.path("wire"))
                       and time.monotonic() < deadline):
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

    def explain_loss(self, node):
        """What its console, its emulator and the exit status of that said."""
        q = self.qemu.get(node)
        note(f"node {node} was lost; the emulator "
             f"{qemu.how_it_ended(q and q.returncode, self.given_up.get(node))}")
        for what, name, lines in (("the end of its console", "console", 25),
                                  ("the emulator said", "qemu", 10)):
            tail = self.read(f"{name}.{node}").rstrip().splitlines()[-lines:]
            note(f"{what}:" if tail else f"{what}: nothing")
            for line in tail:
                print(f"    {line}", file=sys.stderr)

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
                self.explain_loss(node)
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


def make_log_dir(name):
    base = os.path.join(TOP, "build", "log",
                        time.strftime("%Y%m%d-%H%M%S-") + name)
    path, n = base, 1
    while True:
        try:
            os.makedirs(path)
            return path
        except FileExistsError:
            n += 1
            path = f"{base}-{n}"


def cache_dir():
    """The folder of what outlives build/, the same as in scripts/kernel."""
    base = (os.environ.get("SOFTRDMA_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "softrdma"))
    os.makedirs(base, exist_ok=True)
    return base


def kvm_works(args, kernel):
    """Whether a stock kernel really boots here with KVM.

    The device node proves nothing: under some hypervisors a kernel hangs. The
    answer is kept in the cache until this machine boots again.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    path = os.path.join(cache_dir(), "kvm.json")
    try:
        with open(path) as f:
            known = json.load(f)
    except (OSError, ValueError):
        known = {}
    if known.get("boot") != boot:
        known = {"boot": boot, "works": {}}
    works = known["works"]
    # Where one kernel hangs, the others are not tried.
    if not all(works.values()) or kernel["release"] in works:
        return all(works.values())
    note(f"probing KVM with {kernel['release']}")
    probe = argparse.Namespace(**{
        **vars(args), "topology": "none", "driver": "none", "smp": 1,
        "command": ["true"], "env": [], "timeout": KVM_PROBE_S,
        "cmdline": ""})
    run = Run(probe, kernel, None, "kvm", "kvm-probe")
    run.boot(show=False, limit=KVM_PROBE_S)
    ok = works[kernel["release"]] = run.read("status.A").strip() == "0"
    note("KVM " + ("works" if ok else "does not boot it; emulating"))
    with tempfile.NamedTemporaryFile("w", dir=cache_dir(),
                                     delete=False) as f:
        json.dump(known, f)
    os.rename(f.name, path)
    return ok


def choose_accel(args, kernel):
    if args.icount:
        return "icount"
    if "userland" in kernel:
        return "tcg"
    forced = os.environ.get("SOFTRDMA_ACCEL")
    if forced in ("kvm", "tcg"):
        return forced
    return "kvm" if kvm_works(args, kernel) else "tcg"


def end_on_signals():
    """Make them an exit like others, which ends the kernel and tidies up."""
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        # Under nohup, and in the background, one is to be ignored.
        if signal.getsignal(s) != signal.SIG_IGN:
            signal.signal(s, lambda n, _: sys.exit(128 + n))


def main():
    args = parse_args()
    if args.kernel == "debug":
        delegate_to_uml()
    end_on_signals()

    kernel = fetch_kernel(args.kernel)
    ko = args.module and os.path.realpath(args.module)
    has_module = os.path.exists(os.path.join(TOP, "Kbuild"))
    if not ko and ("softrdma" in (args.driver, args.peer_driver) or
                   args.driver == "none" and has_module):
        ko = build_module(args.kernel)
    kernel["initramfs"] = initramfs(kernel)
    accel = choose_accel(args, kernel)
    name = args.name or os.path.basename(args.command[0])
    name = re.sub(r"[^\w.+-]", "_", f"{args.kernel}-{name}")

    for attempt in range(EMULATOR_RETRIES + 1):
        start = time.monotonic()
        run = Run(args, kernel, ko, accel, name)
        run.boot()
        failure = run.emulator_failed()
        if not failure or attempt == EMULATOR_RETRIES:
            break
        note(f"{failure} ({os.path.relpath(run.dir)}); booting again")
    status = run.verdict()
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
