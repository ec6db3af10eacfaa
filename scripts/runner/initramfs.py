# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The initramfs: busybox, what the root needs before it is there, vm-init."""

import gzip
import hashlib
import io
import lzma
import os
import shutil
import subprocess
import tempfile

from runner.common import BUILD, NOT_BUILT, SCRIPTS, die

# What the initramfs must insert before the root is there. Which of these are
# built in differs by kernel, so the closure is taken from modules.dep.
BOOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_rng")
BUSYBOX_LINKS = ("sh", "mount", "insmod", "mkdir", "switch_root", "poweroff",
                 "sed")


class Archive:
    """Files in cpio's newc format."""

    def __init__(self):
        self.out = io.BytesIO()
        self.ino = 1

    def add(self, name, mode, data=b""):
        name = name.encode() + b"\0"
        fields = [self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                  len(name), 0]
        self.ino += 1
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
        self.out.write(head + b"\0" * (-len(head) % 4))
        self.out.write(data + b"\0" * (-len(data) % 4))

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return self.out.getvalue()


def boot_modules(kernel):
    """Files of BOOT_MODULES and all they need, in the order to insert them."""
    base = kernel["modules"].rsplit("/lib/modules/", 1)[0]
    files = []
    for module in BOOT_MODULES:
        r = subprocess.run(
            ["/sbin/modprobe", "-d", base or "/", "-S", kernel["release"],
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
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".zst"):
        # Python learned it in 3.14.
        if not shutil.which("zstd"):
            die(NOT_BUILT, f"no zstd, with which {path} is compressed")
        return subprocess.run(["zstd", "-dc"], input=data, check=True,
                              stdout=subprocess.PIPE).stdout
    return data


def search_path(kernel):
    """Where programs for the guest are; sbin is not in everybody's $PATH."""
    if kernel.get("userland"):
        return kernel["userland"] + "/usr/bin"
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def contents(kernel, busybox, init):
    archive = Archive()
    for d in ("bin", "modules", "proc", "sys", "dev", "lower", "userland",
              "overlay", "newroot"):
        archive.add(d, 0o040755)
    with open(busybox, "rb") as f:
        archive.add("bin/busybox", 0o100755, f.read())
    for link in BUSYBOX_LINKS:
        archive.add(f"bin/{link}", 0o120777, b"busybox")
    order = []
    for module in boot_modules(kernel):
        name = os.path.basename(module).split(".ko")[0] + ".ko"
        archive.add(f"modules/{name}", 0o100644, module_bytes(module))
        order.append(name)
    archive.add("modules/order", 0o100644,
                "".join(f"{n}\n" for n in order).encode())
    archive.add("init", 0o100755, init)
    return archive.bytes()


def make(kernel):
    """Path of the initramfs of this kernel, compressed when it is a new one.

    Kept under the hash of all that is in it: the modules of one release may change,
    as those of a kernel that somebody works on.
    """
    busybox = (shutil.which("busybox", path=search_path(kernel)) or
               die(NOT_BUILT, "no busybox"))
    with open(os.path.join(SCRIPTS, "vm-init"), "rb") as f:
        init = f.read()
    data = contents(kernel, busybox, init)
    key = hashlib.sha256(data).hexdigest()[:12]
    where = os.path.join(BUILD, "vm")
    path = os.path.join(where, f"initramfs-{kernel['release']}-{key}.gz")
    if os.path.exists(path):
        return path

    os.makedirs(where, exist_ok=True)
    fd, tmp = tempfile.mkstemp(dir=where)
    with os.fdopen(fd, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb",
                                                 compresslevel=1) as z:
        z.write(data)
    os.rename(tmp, path)
    return path
