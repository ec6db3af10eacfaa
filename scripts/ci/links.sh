# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# links.sh: the interfaces and links of a CI job, and what is to be known of them.
#
#   INTERFACE      srd0 on it
#   pair           srdv0 10.77.0.1 fd77::1 <-> srdv1 10.77.0.2 fd77::2, srd0 and srd1
#   namespaces N   srdI: eth0 10.77.0.I fd77::I, srdI; the other ends are on srdbr0

# The interface that the default route goes out of.
links_default()
{
	ip -o route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -n 1
}

# Sets links, if they were not said, devices, and the interface that these are on; fails
# where such links cannot be.
links_plan()
{
	local i

	[ -n "$links" ] || links=$(links_default)
	case $links in
	'')
		note "there is no default route: --links INTERFACE"
		return 1
		;;
	pair)
		interface=srdv0 devices='srd0 srd1'
		;;
	namespaces*)
		i=${links#namespaces }
		[[ $i =~ ^[0-9]+$ ]] && [ "$i" -ge 1 ] && [ "$i" -le 200 ] ||
			{ note "$links: not 1 to 200"; return 1; }
		interface=eth0 devices=$(seq -s ' ' -f srd%g "$i")
		;;
	*)
		interface=$links devices=srd0
		[ -e "/sys/class/net/$links" ] ||
			{ note "there is no interface $links"; return 1; }
		;;
	esac
	links_free
}

# What is there already is somebody else's, and not ours to delete (links_undo).
links_free()
{
	local name there=''

	for name in $devices; do
		if [[ $links = namespaces* ]]; then
			[ ! -e "/run/netns/$name" ] || there="a namespace $name"
		else
			[ ! -e "/sys/class/infiniband/$name" ] ||
				there="a device $name"
		fi
	done
	case $links in
	pair) name=srdv0 ;;
	namespaces*) name=srdbr0 ;;
	*) name='' ;;
	esac
	[ -z "$name" ] || [ ! -e "/sys/class/net/$name" ] ||
		there="an interface $name"
	[ -n "$there" ] || return 0
	note "there is $there already (scripts/ci/setup --undo, if it is an older job's)"
	return 1
}

links_make()
{
	case $links in
	pair) links_pair ;;
	namespaces*) links_namespaces ;;
	*) interface_up "$links" && link_add srd0 "$links" ;;
	esac
}

# interface_up INTERFACE [NUMBER] : with the addresses of that number
interface_up()
{
	# As one batch: in a guest without KVM each process is dear.
	{
		echo "link set dev $1 ${mtu:+mtu $mtu} up"
		[ $# = 1 ] || [ "$ip" = 6 ] || echo "addr add 10.77.0.$2/24 dev $1"
		[ $# = 1 ] || [ "$ip" = 4 ] || echo "addr add fd77::$2/64 dev $1 nodad"
	} | as_root ${ns:+ip netns exec "$ns"} ip -batch -
}

link_add()
{
	as_root ${ns:+ip netns exec "$ns"} \
		rdma link add "$1" type softrdma netdev "$2"
}

# One kernel has both addresses, and does not answer itself when it asks for the other
# end's MAC address; so each end is told.
links_pair()
{
	as_root ip link add srdv0 type veth peer name srdv1 &&
		interface_up srdv0 1 && interface_up srdv1 2 &&
		neighbour_add srdv0 2 srdv1 && neighbour_add srdv1 1 srdv0 &&
		link_add srd0 srdv0 && link_add srd1 srdv1
}

# neighbour_add INTERFACE NUMBER OTHER : OTHER has the addresses of that number
neighbour_add()
{
	local mac

	mac=$(ip -o link show dev "$3" | sed -n 's/.*link\/ether \([^ ]*\).*/\1/p')
	{
		[ "$ip" = 6 ] ||
			echo "neigh replace 10.77.0.$2 dev $1 lladdr $mac nud permanent"
		[ "$ip" = 4 ] ||
			echo "neigh replace fd77::$2 dev $1 lladdr $mac nud permanent"
	} | as_root ip -batch -
}

# Whoever has other namespaces already cannot have links that only these see.
links_namespaces()
{
	local name i ns

	netns_was=$(as_root rdma system show netns | sed -n 's/^netns \([a-z]*\).*/\1/p')
	state_write
	as_root rdma system set netns exclusive 2>/dev/null ||
		note "each namespace will see the devices of all"
	as_root ip link add srdbr0 type bridge && interface_up srdbr0 || return 1
	for name in $devices; do
		i=${name#srd} ns=''
		as_root ip netns add "$name" &&
			as_root ip link add "srdv$i" ${mtu:+mtu "$mtu"} \
				master srdbr0 type veth peer name eth0 netns "$name" &&
			as_root ip link set "srdv$i" up || return 1
		ns=$name
		interface_up lo && interface_up eth0 "$i" && link_add "$name" eth0 ||
			return 1
	done
}

# What is to be captured on: where all packets pass.
links_wire()
{
	case $links in
	namespaces*) echo srdbr0 ;;
	*) echo "$interface" ;;
	esac
}

# Sets addresses and gid_indexes, those of devices in their order.
outputs_find()
{
	local name inside on index

	addresses='' gid_indexes=''
	for name in $devices; do
		inside='' on=$interface
		[[ $links != namespaces* ]] || inside="ip netns exec $name"
		[ "$name" != srd1 ] || [ "$links" != pair ] || on=srdv1
		address=$(address_of "$on") && [ -n "$address" ] || {
			note "$on has no address of IPv$ip"
			return 1
		}
		# shellcheck disable=SC2016 # of the shell in there
		index=$(as_root $inside bash -c '. "$1"
			wait_until 10 has_gid "$2" "$3" && gid_index "$2" "$3"' \
			gid "$scripts/guest/lib.sh" "$name" "$address") || {
			note "$name has no GID of $address"
			return 1
		}
		addresses+="${addresses:+ }$address"
		gid_indexes+="${gid_indexes:+ }$index"
	done
	address=${addresses%% *} gid_index=${gid_indexes%% *}
	device=${devices%% *}
}

# The first address of an interface: of IPv4, unless --ip 6.
address_of()
{
	local family

	for family in 4 6; do
		[ "$ip" = both ] || [ "$ip" = $family ] || continue
		as_root $inside ip -o -$family addr show dev "$1"
	done | sed -n 's/.* inet6\? \([^/ ]*\).*/\1/p' | head -n 1
}

# Also of what was made in part; and nothing else.
links_undo()
{
	local name ns

	if [ -e /run/softrdma-ci/tcpdump.pid ]; then
		as_root kill "$(cat /run/softrdma-ci/tcpdump.pid)" 2>/dev/null
	fi
	as_root rm -rf /run/softrdma-ci /etc/security/limits.d/softrdma.conf
	for name in $devices; do
		ns=''
		[[ $links != namespaces* ]] || ns=$name
		as_root ${ns:+ip netns exec "$ns"} rdma link del "$name" 2>/dev/null
	done
	case $links in
	pair)
		as_root ip link del srdv0 2>/dev/null
		;;
	namespaces*)
		as_root ip link del srdbr0 2>/dev/null
		for name in $devices; do
			as_root ip netns del "$name" 2>/dev/null
		done
		[ -z "${netns_was-}" ] ||
			wait_until 10 as_root rdma system set netns "$netns_was"
		;;
	esac
	[ -z "${loaded-}" ] || [ ! -d /sys/module/softrdma ] ||
		wait_until 10 as_root rmmod softrdma 2>/dev/null || {
		note "softrdma is in use, and stays"
		return 1
	}
}
