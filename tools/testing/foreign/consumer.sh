# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# consumer.sh: what the scripts share that use the kernel's own consumers of verbs
# (storage-*, sockets). Each is run on the machine, boots a kernel, and goes on in
# there:
#
#	storage-X [KERNEL [TOPOLOGY]]		(default: 6.1 veth)
#
# with, if $root is set, that root of packages (root) at $FOREIGN_ROOT. $kernel and
# $topology are other defaults.
#
# It prints TAP and "N passed, N failed"; its status says whether all passed.

# The script itself, in the guest or for one.
consumer_main()
{
	local top

	if [ -e /run/softrdma-env ]; then
		. /run/softrdma-env
		. "$SOFTRDMA_GUEST/lib.sh"
		trap consumer_end EXIT
		consumer_tests
		exit
	fi
	top=$(cd "$(dirname "$0")/../../.." && pwd)
	"$top/scripts/deps" build vm foreign || exit 1
	if [ -n "${root-}" ]; then
		root=$("$top/scripts/root" "$root") || exit 1
	fi
	exec "$top/scripts/vm" --kernel "${1:-${kernel:-6.1}}" \
		--topology "${2:-${topology:-veth}}" \
		--memory 3072 --timeout 900 --name "$(basename "$0")" \
		--env "FOREIGN_ROOT=${root-}" -- "$(readlink -f "$0")"
}

passed=0 failed=0

# it NAME COMMAND...: one test
it()
{
	local name=$1 begun=$SECONDS

	shift
	if "$@" >/tmp/consumer.log 2>&1; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name"
		[ $((SECONDS - begun)) -lt 10 ] || echo "# $((SECONDS - begun)) s"
		return 0
	fi
	failed=$((failed + 1))
	echo "not ok $((passed + failed)) $name"
	sed 's/^/# /' /tmp/consumer.log | tail -n 40
	dmesg | tail -n 15 | sed 's/^/# kernel: /'
	return 1
}

# What the others need: without it there is nothing to test.
must()
{
	it "$@" || exit 1
}

# However the script ends, it says what came of it.
consumer_end()
{
	local status=$?

	trap - EXIT
	consumer_undo >/tmp/consumer.undo 2>&1
	echo "1..$((passed + failed))"
	[ "$status" = 0 ] || [ "$failed" != 0 ] || failed=1
	[ $((passed + failed)) != 0 ] || failed=1
	echo "$passed passed, $failed failed"
	exit $((failed != 0))
}

# put VALUE FILE: as echo, but fails if the kernel does not take it. By a process
# that has no children: the end of one is a signal, and ib_srp, while it waits for
# a connection, takes a signal for the wish to give up.
put()
{
	(printf '%s' "$1" >"$2")
}

# bytes_match DEVICE DISK: what is written to the device with large requests is
# what it gives back, and is on the disk behind it.
bytes_match()
{
	dd if=/dev/urandom of=/tmp/data bs=1M count=16 2>/dev/null
	dd if=/tmp/data of="$1" bs=1M oflag=direct &&
	dd if="$1" of=/tmp/back bs=1M count=16 iflag=direct &&
	cmp /tmp/data /tmp/back && cmp -n $((16 << 20)) /tmp/data "$2"
}

# verify DEVICE [FIO ARGUMENT]...: writes blocks of all sizes at random, with a
# CRC in each, and reads them back. FIO_LIMIT: seconds it may take.
verify()
{
	local dev=$1

	shift
	# Where the device is missing there is to be no file of its name.
	[ "${dev#/dev/}" = "$dev" ] || set -- --allow_file_create=0 "$@"
	timeout -k 5 "${FIO_LIMIT:-200}" fio --name=verify --filename="$dev" --direct=1 \
		--ioengine=libaio --iodepth=16 --thread --rw=randwrite \
		--bsrange=512-256k --blockalign=512 --size=24M \
		--verify=crc32c --verify_fatal=1 --verify_backlog=64 \
		--randseed=1 --group_reporting "$@"
}

# start_load DEVICE: what reads and writes it for a minute, from now on, is process
# $load.
start_load()
{
	timeout -k 5 100 fio --name=load --filename="$1" --direct=1 \
		--ioengine=libaio --iodepth=32 --thread --rw=randrw --bs=32k \
		--size=32M --time_based --runtime=60 --allow_file_create=0 \
		>/tmp/load.log 2>&1 &
	load=$!
	wait_until 30 is_open "$1" || return 1
	wait_until 2 false
	kill -0 $load
}

is_open()
{
	find /proc/[0-9]*/fd -lname "$1" 2>/dev/null | grep -q .
}

# load_failed: as it must when its device goes. From 124 on it has not ended by itself:
# it hung until timeout ended it, or a signal did.
load_failed()
{
	local status=0

	wait $load || status=$?
	[ $status = 0 ] || [ $status -ge 124 ] || return 0
	echo "fio did not notice: status $status"
	cat /tmp/load.log
	return 1
}
