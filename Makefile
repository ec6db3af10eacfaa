# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a person or CI types. `make help` explains. The module itself is
# described in Kbuild; running kernels, in Documentation/softrdma/internals/testing.rst.

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash

# A kernel: KERNEL= (a series that is fetched), or KDIR= (headers that are
# there), or the one that is running.
KDIR ?= /lib/modules/$(shell uname -r)/build
kernel-arg = $(if $(KERNEL),$(KERNEL),--kdir $(KDIR))
# Passed on to kbuild when given.
kbuild-args = $(foreach v,C W V CF CHECK,$(if $($(v)),$(v)='$($(v))'))

HOST := tools/testing/host
FUZZ := tools/testing/fuzz

.PHONY: all module help deps check host-test sim host-mutants host-coverage \
	tool sign install-dkms install-tools install-vm tarball deb rpm release package-test \
	ci-test demo-test \
	compile-matrix fuzz fuzz-users vm-test debug-test race-test starve vm-mutants foreign demo test bench \
	bench-crc bench-cpus bench-crowd bench-scale bench-smp docs install modules_install clean \
	distclean

all: module

define HELP
softrdma: an RDMA device in software (RoCEv2), a Linux kernel module

Building
  make                   softrdma.ko for the running kernel
  make KDIR=DIR          ... for the kernel headers in DIR
  make tool              the tool softrdma(8): faults by rule
  make KERNEL=SERIES     ... for a Debian kernel of that series, fetched when it
                         is not in the cache: 6.1, 6.12, 7.2, 7.3, 6.1-rt and
                         7.3-rt (real-time), 6.1-arm64 (scripts/kernel --list)
                         The result is build/<release>/softrdma.ko.
                         C=1 runs sparse, W=1 adds warnings, V=1 shows commands.
  make sign KEY= CERT=   ... and sign it, for Secure Boot; NEW=1 makes the key and
                         its certificate first (guide/secure-boot.rst)
  make install           install the module for the running kernel or KDIR=
  make install-dkms      its source into /usr/src, for DKMS; [DESTDIR=]
  make install-tools     softrdma(8), links at boot, manual pages; [PREFIX=/usr]
                         [DESTDIR=]
  make install-vm        softrdma-vm(1), which is scripts/vm; [DESTDIR=]
  make clean             remove build/ (fetched kernels stay in the cache)
  make distclean         ... and the cache

Seeing it work
  make demo              boot a kernel, join two namespaces with RDMA, show it
  scripts/vm -- COMMAND  boot a kernel with an RDMA link, run COMMAND in it
                         (scripts/vm --help)

Reading
  make docs              Documentation/ as HTML, with drawings, in build/docs/html

Testing, from cheap to dear
  make host-test         protocol core in user space: unit tests, simulator
  make sim               only the simulator (its options: $(HOST))
  make check             style, layering, words, sparse
  make fuzz [SECONDS=60] fuzz the parsers and the protocol core
  make fuzz-users        two hostile users against each other, on the debug kernel;
                         [SECONDS=60] [SEED=N], KERNEL=6.1 for a stock one and
                         two CPUs
  make host-mutants      do the host tests notice planted faults?
  make host-coverage     how much of the protocol core they execute
  make vm-test           selftests in a booted kernel
                         KERNEL=6.1 (default) or another; T=pattern for some;
                         T=foreign for the quick part of "make foreign"
  make starve            traffic whose every byte is checked, in several guests at
                         once, so that CPUs are scarce; [KERNEL=6.1] [ROUNDS=10]
                         [T=programs]
  make debug-test        selftests on a kernel with KASAN, lockdep, kmemleak ...
  make race-test         selftests that keep several CPUs busy, on a kernel with KCSAN,
                         which finds data races; T=pattern for others
  make vm-mutants        do the selftests notice faults planted in the driver?
                         T='name pattern' for some
  make foreign           programs that nobody here wrote (rdma-core's tests,
                         perftest, libfabric ...), KERNEL=SERIES for one kernel
  make test              all that must pass: what CI runs
                         STEPS='check vm-test' for some (scripts/test-all)

  make compile-matrix    the module for every kernel that Debian has, W=1;
                         SERIES='6.12 7.3-rt' for some; BOOT=1: and boots them;
                         COMPILERS=1: with every compiler of Debian
  make ci-test           the action, in machines with Debian 12 and 13; its fallback;
                         containers, and manifests for Kubernetes
  make package-test      install, upgrade, remove the packages in clean Debian 12
                         and 13; links after a reboot; linters; a release made
                         twice; Secure Boot
  make demo-test         "make demo" in clean Debian 12, 13 and sid: without sudo,
                         with it, as root

Packages (guide/packages.rst)
  make deb, make rpm     into build/package/
  make release           tarball, packages, checksums; the same bytes each time

Measuring
  make bench             softrdma and rdma_rxe side by side, in instructions;
                         the stages of a message; goodput under loss.
                         QUICK=1 for a few tests. CSV in build/bench/
  make bench-crowd       1, 4 and 16 senders that share a slow line; QUICK=1
  make bench-scale       what many QPs and regions cost
  make bench-crc         how fast this CPU sums up and copies, in GB/s
  make bench-smp         softrdma and rdma_rxe on two and four CPUs, and between two
                         machines, in time
  make bench-cpus        do two QPs on two CPUs slow each other down? In user space,
                         on two CPUs of this machine

Setting up
  make deps              install the Debian packages that all this needs;
                         each target does it for itself

Downloads and built kernels are kept in $${SOFTRDMA_CACHE:-~/.cache/softrdma}.
endef
export HELP

help:
	@echo "$$HELP"

deps:
	@scripts/deps all

module:
	@scripts/deps $(if $(KERNEL)$(C),build,module)
	@scripts/module $(kernel-arg) $(kbuild-args)

# Of that kernel's headers, which may be in a root of their own.
sign-headers = $(if $(KERNEL),"$$(scripts/kernel $(KERNEL) headers | \
	awk -F= '{ v[$$1] = $$2 } END { print v["root"] v["kdir"] }')",$(KDIR))

sign:
	$(if $(and $(KEY),$(CERT)),,$(error make sign needs KEY= and CERT=))
	@scripts/deps $(if $(KERNEL)$(C),build,module) sign
	@ko=$$(scripts/module $(kernel-arg) $(kbuild-args)) && \
		scripts/sign $(if $(NEW),--new) '$(KEY)' '$(CERT)' "$$ko" \
			$(sign-headers)

# What is fetched is not the kernel of this machine, nor that of KDIR.
ifneq ($(and $(KERNEL),$(filter install modules_install,$(MAKECMDGOALS))),)
$(error make $(MAKECMDGOALS) is for the running kernel or KDIR=, not for KERNEL=)
endif

kdir-release = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h)

# What root makes in build/ becomes that of who owns the tree, as far as that can be: "make"
# as a user, and "sudo make install".
owned = [ "$$(id -u)" != 0 ] || { chown --reference=. build; \
	chown -R --reference=. $(1); } 2>/dev/null || :

# The tool softrdma(8) needs libmnl and its headers.
tool:
	@scripts/deps tool
	@$(MAKE) -s -C tools/softrdma OUTPUT=$(CURDIR)/build/tool
	@$(call owned,build/tool)

install: modules_install install-tools install-vm

install-tools: tool
	$(MAKE) -C tools/softrdma OUTPUT=$(CURDIR)/build/tool install
	$(MAKE) -C packaging install-boot

# Not build/, which DKMS would copy with it.
install-dkms install-vm:
	$(MAKE) -C packaging $@

tarball deb rpm release:
	@scripts/package $@

ci-test:
	@scripts/deps build vm ci
	@tools/testing/ci/run $(T)

demo-test:
	@tools/testing/package/demo $(T)

package-test:
	@tools/testing/package/package $(T)

compile-matrix:
	@scripts/compile-matrix $(if $(COMPILERS),--compilers) $(if $(BOOT),--boot) $(SERIES)

modules_install: module
	$(MAKE) -C $(KDIR) M=$(CURDIR)/build/$(kdir-release) modules_install
	/sbin/depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) \
		$(kdir-release)
	@$(call owned,build/$(kdir-release))

check:
	@scripts/deps build host check
	@scripts/check

# What of tools/testing/cpus goes with them.
CPUS-host-test := revoke resize
CPUS-host-mutants := mutants

host-test sim host-mutants host-coverage:
	@scripts/deps host
	@$(if $(CPUS-$@),$(MAKE) -C tools/testing/cpus $(CPUS-$@))
	@$(MAKE) -C $(HOST) $(patsubst host-%,%,$@)

fuzz:
	@scripts/deps host
	@$(MAKE) -C $(FUZZ) run $(if $(SECONDS),SECONDS=$(SECONDS))

fuzz-users:
	@scripts/fuzz-users $(if $(KERNEL),--kernel $(KERNEL)) \
		$(if $(SECONDS),--seconds $(SECONDS)) \
		$(if $(SEED),--seed $(SEED))

vm-test:
	@scripts/vm-test $(if $(KERNEL),--kernel $(KERNEL)) $(if $(T),-- '$(T)')

foreign:
	@tools/testing/foreign/all $(KERNEL)

debug-test:
	@scripts/vm-test --kernel debug $(if $(T),-- '$(T)')

# Where several CPUs are in the driver at once.
RACES := cq_traffic direct_races lifecycle_races posting_ibv_threads ring_hostile storm \
	traffic

race-test:
	@scripts/vm-test --kernel race -- '$(or $(T),$(RACES))'

starve:
	@scripts/starve $(if $(KERNEL),--kernel $(KERNEL)) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(T),-- $(T))

vm-mutants:
	@scripts/deps build vm
	@set -f; tools/testing/mutants/run $(T)

demo:
	@scripts/demo

test:
	@scripts/test-all $(STEPS)

bench:
	@scripts/bench $(if $(QUICK),--quick)

bench-crowd:
	@scripts/bench-crowd $(if $(QUICK),--quick)

bench-scale:
	@scripts/bench-scale

bench-smp:
	@scripts/bench-smp

bench-crc:
	@scripts/deps host
	@$(MAKE) -s -C tools/testing/bench OUTPUT=$(CURDIR)/build/bench crc
	@build/bench/crc

bench-cpus:
	@scripts/deps host
	@$(MAKE) -C tools/testing/cpus run

docs:
	@scripts/docs

clean:
	rm -rf build

# By name: SOFTRDMA_CACHE may be a folder that has other things in it, too.
distclean: clean
	cache="$${SOFTRDMA_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/softrdma}"; \
	[ ! -d "$$cache" ] || { cd "$$cache" && \
		rm -rf apt kernel linux-files root uml kvm.json && \
		rmdir --ignore-fail-on-non-empty "$$PWD"; }
