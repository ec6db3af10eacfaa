# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# lib.sh: drivers, GIDs and waiting, for stage2, topologies and tests in a guest.

# Wait until a command succeeds: wait_until SECONDS COMMAND...
# `read` on a pipe of our own instead of sleep: a fork and exec costs more under
# emulation than what is waited for.
wait_until()
{
	local end=$((SECONDS + $1 + 1)) fd

	shift
	exec {fd}<> <(:)
	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			exec {fd}<&-
			return 1
		fi
		read -rt 0.1 -u "$fd" _
	done
	exec {fd}<&-
}

# What is not there in a kernel (built in, or not configured) is no error; what
# a test needs and misses fails in the test.
load_core()
{
	modprobe -a ib_uverbs rdma_ucm ib_umad || return 1
	modprobe -qa dummy veth sch_netem virtio_net
	return 0
}

# The module file is inserted as it is: what it depends on, first.
load_driver()
{
	local d

	case $1 in
	rxe)
		modprobe rdma_rxe
		;;
	softrdma)
		[ -d /sys/module/softrdma ] && return 0
		for d in $(modinfo -F depends "$SOFTRDMA_KO" | tr , ' ')
		do
			modprobe "$d" || return 1
		done
		insmod "$SOFTRDMA_KO"
		;;
	*)
		return 1
		;;
	esac
}

# Delete all links of the driver, in all namespaces, then the module.
unload_driver()
{
	local ns dev module=$1

	[ "$1" = rxe ] && module=rdma_rxe
	[ -d "/sys/module/$module" ] || return 0
	for dev in $(rdma link show | awk '{ sub("/.*", "", $2); print $2 }')
	do
		rdma link del "$dev"
	done
	for ns in $(ip netns list | cut -d' ' -f1); do
		for dev in $(ip netns exec "$ns" rdma link show |
			     awk '{ sub("/.*", "", $2); print $2 }')
		do
			ip netns exec "$ns" rdma link del "$dev"
		done
	done
	rmmod "$module"
}

# Index of the RoCEv2 GID of an address on a device: gid_index DEV ADDRESS
gid_index()
{
	local dir=/sys/class/infiniband/$1/ports/1 want i type gid

	want=$(gid_text "$2")
	for ((i = 0; i < 64; i++)); do
		[ -e "$dir/gids/$i" ] || return 1
		# Both reads fail for an empty entry.
		{ read -r gid <"$dir/gids/$i"; } 2>/dev/null || continue
		[ "$gid" = "$want" ] || continue
		{ read -r type <"$dir/gid_attrs/types/$i"; } 2>/dev/null
		if [ "$type" = "RoCE v2" ]; then
			echo $i
			return 0
		fi
	done
	return 1
}

# An address as sysfs writes a GID: 0000:0000:0000:0000:0000:ffff:0a07:0001
gid_text()
{
	local IFS=: a part out='' fill

	case $1 in
	*:*)
		# Fill the one "::" up to eight groups.
		a=${1//[!:]/}
		fill=$((8 - ${#a}))
		part=$1
		[[ $1 == *:: ]] && part=${1}0
		[[ $1 == ::* ]] && part=0$part
		if [[ $part == *::* ]]; then
			a=${part//[!:]/}
			a=:
			while ((fill-- > 0)); do
				a+=0:
			done
			part=${part/::/$a}
		fi
		for a in $part; do
			printf -v a %04x "0x$a"
			out+=:$a
		done
		echo "${out#:}"
		;;
	*)
		IFS=.
		set -- $1
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' "$@"
		;;
	esac
}

has_gid()
{
	gid_index "$@" >/dev/null
}
