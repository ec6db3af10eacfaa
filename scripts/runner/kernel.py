# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What is booted: a kernel, its modules with softrdma among them, its module."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from runner.common import BUILD, INSTALLED, NOT_BUILT, SCRIPTS, TOP, die

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}


def fetch(series):
    r = subprocess.run([os.path.join(SCRIPTS, "kernel"), series, "image"],
                       stdout=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit(NOT_BUILT)
    kernel = dict(line.split("=", 1) for line in r.stdout.splitlines())
    if "userland" in kernel and subprocess.run(
            [os.path.join(SCRIPTS, "deps"), kernel["arch"]]).returncode:
        sys.exit(NOT_BUILT)
    return kernel


def of_host():
    """The file of the kernel that runs here."""
    release = platform.release()
    tried = [f"/boot/vmlinuz-{release}", f"/lib/modules/{release}/vmlinuz"]
    for path in tried:
        if os.access(path, os.R_OK):
            return path
    unreadable = [p for p in tried if os.path.exists(p)]
    if unreadable:
        die(NOT_BUILT, f"{unreadable[0]} cannot be read; as root: chmod +r "
                       f"{unreadable[0]}")
    die(NOT_BUILT, f"there is no kernel {release} in /boot nor in "
                   "/lib/modules; take a series, --kernel 6.1")


def from_file(path):
    """A kernel as it is installed: its modules are found from where it is."""
    path = os.path.realpath(path)
    m = (re.match(r"(.*)/boot/(?:vmlinuz|Image)-([^/]+)$", path) or
         re.match(r"(.*?)(?:/usr)?/lib/modules/([^/]+)/vmlinuz$", path))
    if not m or not os.path.isfile(path):
        die(NOT_BUILT, f"{path} is not a file .../boot/vmlinuz-RELEASE or "
                       ".../lib/modules/RELEASE/vmlinuz")
    for lib in ("lib", "usr/lib"):
        modules = os.path.join(m[1] or "/", lib, "modules", m[2])
        if os.path.isdir(os.path.join(modules, "kernel")):
            return {"release": m[2], "vmlinuz": path, "modules": modules,
                    "arch": ARCH.get(platform.machine(), "?")}
    die(NOT_BUILT, f"there are no modules of {m[2]} beside {path}")


def of_races():
    """That with KCSAN, compiled if it is not in the cache."""
    r = subprocess.run([os.path.join(SCRIPTS, "uml", "build"), "race"],
                       stdout=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit(NOT_BUILT)
    root = os.path.join(r.stdout.splitlines()[-1], "root")
    return os.path.join(root, "boot", os.listdir(os.path.join(root, "boot"))[0])


def find(name):
    if name == "host":
        return from_file(of_host())
    if name == "race":
        return from_file(of_races())
    return from_file(name) if "/" in name else fetch(name)


def installed_module(kernel):
    """softrdma.ko among the modules of a kernel that is installed here."""
    r = subprocess.run(["/sbin/modinfo", "-k", kernel["release"], "-n",
                        "softrdma"], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    path = r.stdout.strip()
    return path if r.returncode == 0 and os.path.isfile(path) else None


def are_this_machines(modules):
    """Whether they are where this machine has its modules.

    There the guest has the tree that is made of them.
    """
    return os.path.realpath(modules).startswith(("/lib/modules/",
                                                 "/usr/lib/modules/"))


def build_module(name, kernel):
    """The path of softrdma.ko for this kernel, compiled if stale."""
    script = os.path.join(SCRIPTS, "module")
    if name == "race":
        script, what = os.path.join(SCRIPTS, "uml", "module"), ["race"]
    elif name == "host" or "/" in name:
        if are_this_machines(kernel["modules"]):
            path = installed_module(kernel)
            if path:
                return path
        what = ["--kdir", os.path.join(kernel["modules"], "build")]
    else:
        what = [name]
    if not INSTALLED:
        what.append("SOFTRDMA_TESTS=y")
    r = subprocess.run([script, *what],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if r.returncode:
        sys.stderr.write(r.stderr)
        die(NOT_BUILT, "the module does not build")
    return r.stdout.splitlines()[-1]


def build_tool():
    """The tool softrdma(8): that of the tree, or the installed one."""
    if os.path.isdir(os.path.join(TOP, "tools", "softrdma")):
        out = os.path.join(BUILD, "tool")
        r = subprocess.run([os.path.join(SCRIPTS, "deps"), "tool"])
        if r.returncode == 0:
            r = subprocess.run(
                ["make", "-s", "-C", os.path.join(TOP, "tools", "softrdma"),
                 f"OUTPUT={out}"], stdout=sys.stderr)
        if r.returncode == 0:
            return os.path.join(out, "softrdma")
    path = shutil.which("softrdma", path="/usr/local/sbin:/usr/sbin:/sbin:" +
                        os.environ.get("PATH", ""))
    return path or die(NOT_BUILT, "--fault needs the tool softrdma(8)")


def name_of(ko):
    """That of the module's file, which may be compressed, in modules_tree()."""
    return "softrdma.ko" + os.path.basename(ko).partition(".ko")[2]


def seen_module(modules, ko):
    """Where the guest sees the module: this machine's are hidden from it."""
    if ko and are_this_machines(ko):
        return os.path.join(modules, "updates", name_of(ko))
    return ko or ""


def state_of(modules):
    """What changes when a module does, or comes or goes: each file's size and time."""
    found = []
    for folder, _, names in os.walk(os.path.join(modules, "kernel")):
        for name in names:
            at = os.lstat(os.path.join(folder, name))
            found.append(f"{folder}/{name} {at.st_size} {at.st_mtime_ns}")
    return "\n".join([modules, *sorted(found)]).encode()


def modules_tree(kernel, ko):
    """lib/modules/RELEASE of the kernel with softrdma in its index.

    So that the guest finds the module by its name and its aliases. Kept under
    the hash of the module file and of what the others are; depmod takes a second or
    two. The folder kernel/ is a link; or empty, and the guest mounts it, where a link
    would be one to itself, because the guest has this tree in /lib/modules.
    """
    if not ko:
        return kernel["modules"]
    release = kernel["release"]
    with open(ko, "rb") as f:
        data = f.read()
    key = hashlib.sha256(state_of(kernel["modules"]) + data).hexdigest()[:16]
    base = os.path.join(BUILD, "vm", "modules")
    sub = os.path.join("lib", "modules", release)
    path = os.path.join(base, key, sub)
    if os.path.isdir(path):
        return path

    os.makedirs(base, exist_ok=True)
    tmp = tempfile.mkdtemp(dir=base)
    os.chmod(tmp, 0o755)
    os.makedirs(os.path.join(tmp, sub, "updates"))
    # depmod makes the rest anew.
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        if os.path.exists(os.path.join(kernel["modules"], name)):
            shutil.copyfile(os.path.join(kernel["modules"], name),
                            os.path.join(tmp, sub, name))
    inside = os.path.join(tmp, sub, "kernel")
    os.symlink(os.path.join(kernel["modules"], "kernel"), inside)
    with open(os.path.join(tmp, sub, "updates", name_of(ko)), "wb") as f:
        f.write(data)
    r = subprocess.run(["/sbin/depmod", "-b", tmp, release],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True)
    if r.returncode:
        shutil.rmtree(tmp)
        die(NOT_BUILT, f"depmod does not take {ko}:\n{r.stdout}")
    if are_this_machines(kernel["modules"]):
        os.unlink(inside)
        os.mkdir(inside)
    try:
        os.rename(tmp, os.path.join(base, key))
    except OSError:
        # Another run was faster.
        shutil.rmtree(tmp)
    return path
