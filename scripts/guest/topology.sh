# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# topology.sh: netdevs, addresses and links of a guest, and the environment file
# /run/softrdma-env that tells tests about them.
#
#   loopback	dum0 (dummy) 10.7.0.1 fd07:7::1		srd0
#   veth	vea 10.8.0.1 <-> veb 10.8.0.2		srd0, srd1
#		both in one namespace; policy routing keeps packets on the wire
#   netns	vea 10.8.0.1 fd07:8::1 <-> veb 10.8.0.2 fd07:8::2
#		srd0 here, srd1 in namespace srdb; rdma subsystem exclusive
#   pair	node A eth0 10.9.0.1 fd07:9::1 <-> node B eth0 10.9.0.2 fd07:9::2
#		srd0 in each of two kernels, or more: C is 10.9.0.3, and so on
#   none	nothing
#
# With driver "none" the netdevs are made and the links are not.

ENV_FILE=/run/softrdma-env

make_topology()
{
	SRD_NETNS_B='' SRD_ON_B=''
	case $TOPOLOGY in
	loopback|veth|netns|pair|none)
		"topology_$TOPOLOGY" || return 1
		;;
	*)
		echo "no topology $TOPOLOGY"
		return 1
		;;
	esac
	[ "$TOPOLOGY" = none ] || find_gids || return 1
	write_env
}

# ifup NETDEV ADDRESS... : no duplicate address detection, its wait is no test
ifup()
{
	local dev=$1 a

	shift
	ip link set "$dev" mtu "$MTU" up || return 1
	for a in "$@"; do
		case $a in
		*:*) ip addr add "$a" dev "$dev" nodad || return 1 ;;
		*)   ip addr add "$a" dev "$dev" || return 1 ;;
		esac
	done
}

add_link()
{
	[ "$DRIVER" = none ] || rdma link add "$1" type "$DRIVER" netdev "$2"
}

topology_none()
{
	:
}

topology_loopback()
{
	SRD_DEV_A=srd0 SRD_DEV_B=srd0 SRD_NETDEV_A=dum0 SRD_NETDEV_B=dum0
	SRD_IP_A=10.7.0.1 SRD_IP_B=10.7.0.1
	SRD_IP6_A=fd07:7::1 SRD_IP6_B=fd07:7::1
	ip link add dum0 type dummy && ifup dum0 10.7.0.1/24 fd07:7::1/64 &&
	add_link srd0 dum0
}

# One namespace owns both addresses, so by default nothing would leave it: the
# local table is consulted only for what came in from the wire, and what goes
# from one end to the other has routes of its own.
topology_veth()
{
	local conf=/proc/sys/net/ipv4/conf d

	SRD_DEV_A=srd0 SRD_DEV_B=srd1 SRD_NETDEV_A=vea SRD_NETDEV_B=veb
	SRD_IP_A=10.8.0.1 SRD_IP_B=10.8.0.2 SRD_IP6_A='' SRD_IP6_B=''
	ip link add vea type veth peer name veb || return 1
	ifup vea 10.8.0.1/32 && ifup veb 10.8.0.2/32 || return 1
	for d in all default vea veb lo; do
		echo 0 >$conf/$d/rp_filter
		echo 1 >$conf/$d/accept_local
	done
	for d in vea veb; do
		echo 1 >$conf/$d/arp_ignore
		echo 2 >$conf/$d/arp_announce
	done
	ip -batch - <<-BATCH || return 1
	rule add pref 10 iif vea lookup local
	rule add pref 11 iif veb lookup local
	rule add pref 20 from 10.8.0.1 to 10.8.0.2 lookup 100
	rule add pref 21 from 10.8.0.2 to 10.8.0.1 lookup 101
	rule add pref 22 oif vea to 10.8.0.2 lookup 100
	rule add pref 23 oif veb to 10.8.0.1 lookup 101
	rule add pref 100 lookup local
	rule del pref 0
	route add 10.8.0.2/32 dev vea src 10.8.0.1 table 100
	route add 10.8.0.1/32 dev veb src 10.8.0.2 table 101
	neigh replace 10.8.0.2 dev vea lladdr $(mac_of veb) nud permanent
	neigh replace 10.8.0.1 dev veb lladdr $(mac_of vea) nud permanent
	BATCH
	add_link srd0 vea && add_link srd1 veb
}

mac_of()
{
	cat "/sys/class/net/$1/address"
}

topology_netns()
{
	SRD_DEV_A=srd0 SRD_DEV_B=srd1 SRD_NETDEV_A=vea SRD_NETDEV_B=veb
	SRD_IP_A=10.8.0.1 SRD_IP_B=10.8.0.2
	SRD_IP6_A=fd07:8::1 SRD_IP6_B=fd07:8::2
	SRD_NETNS_B=srdb SRD_ON_B='ip netns exec srdb'
	rdma system set netns exclusive && ip netns add srdb &&
	ip link add vea type veth peer name veb netns srdb || return 1
	ifup vea 10.8.0.1/24 fd07:8::1/64 || return 1
	add_link srd0 vea || return 1
	# One shell in there: each `ip netns exec` is dear under emulation.
	ip netns exec srdb bash -c '
		. "$GUEST_DIR/topology.sh"
		ip link set lo up
		ifup veb 10.8.0.2/24 fd07:8::2/64 && add_link srd1 veb'
}

# Of a node: A is 1.
number_of()
{
	local letters=ABCDEFGH before

	before=${letters%%"$1"*}
	echo $((${#before} + 1))
}

topology_pair()
{
	local n

	SRD_DEV_A=srd0 SRD_DEV_B=srd0 SRD_NETDEV_A=eth0 SRD_NETDEV_B=eth0
	SRD_IP_A=10.9.0.1 SRD_IP_B=10.9.0.2
	SRD_IP6_A=fd07:9::1 SRD_IP6_B=fd07:9::2
	SRD_ON_B=on-peer
	wait_until 10 test -e /sys/class/net/eth0 || return 1
	n=$(number_of "$NODE")
	ifup eth0 "10.9.0.$n/24" "fd07:9::$n/64" && add_link srd0 eth0
}

# Indexes of the RoCEv2 GIDs; the core fills the table a moment after the link
# is there. Of the two nodes of a pair each finds its own.
find_gids()
{
	local n

	SRD_GID_A='' SRD_GID_B='' SRD_GID6_A='' SRD_GID6_B=''
	[ "$DRIVER" != none ] || return 0
	if [ "$TOPOLOGY$NODE" = pairA ] || [ "$TOPOLOGY" != pair ]; then
		find_gid_of A "$SRD_DEV_A" "$SRD_IP_A" "$SRD_IP6_A" || return 1
	fi
	case $TOPOLOGY$NODE in
	pairA)
		;;
	netns*)
		eval "$(ip netns exec srdb bash -c '
			. "$GUEST_DIR/lib.sh"
			. "$GUEST_DIR/topology.sh"
			find_gid_of B "$@" >&2
			echo "SRD_GID_B=$SRD_GID_B SRD_GID6_B=$SRD_GID6_B"
			' find "$SRD_DEV_B" "$SRD_IP_B" "$SRD_IP6_B")"
		[ -n "$SRD_GID_B" ]
		;;
	pair*)
		n=$(number_of "$NODE")
		find_gid_of "$NODE" srd0 "10.9.0.$n" "fd07:9::$n"
		;;
	*)
		find_gid_of B "$SRD_DEV_B" "$SRD_IP_B" "$SRD_IP6_B"
		;;
	esac
}

# find_gid_of A|B DEV IP IP6
find_gid_of()
{
	if ! wait_until 10 has_gid "$2" "$3"; then
		echo "$2 has no GID of $3"
		return 1
	fi
	printf -v "SRD_GID_$1" %s "$(gid_index "$2" "$3")"
	printf -v "SRD_GID6_$1" %s ''
	[ -n "$4" ] || return 0
	if ! wait_until 10 has_gid "$2" "$4"; then
		echo "$2 has no GID of $4"
		return 1
	fi
	printf -v "SRD_GID6_$1" %s "$(gid_index "$2" "$4")"
}

write_env()
{
	local v

	SRD_DRIVER=$DRIVER SRD_TOPOLOGY=$TOPOLOGY SRD_MTU=$MTU
	SRD_DRIVER_A=$DRIVER_A SRD_DRIVER_B=$DRIVER_B
	SRD_NODES=$NODES SRD_ARTIFACTS=${ARTIFACTS-}
	for v in DRIVER DRIVER_A DRIVER_B TOPOLOGY NODE NODES ARTIFACTS MTU DEV_A DEV_B \
		NETDEV_A NETDEV_B IP_A IP_B IP6_A IP6_B GID_A GID_B GID6_A GID6_B NETNS_B ON_B
	do
		v=SRD_$v
		echo "export $v=${!v@Q}"
	done >$ENV_FILE
	echo "export SOFTRDMA_KO=${SOFTRDMA_KO@Q}" >>$ENV_FILE
	echo "export SOFTRDMA_GUEST=${GUEST_DIR@Q}" >>$ENV_FILE
	# Each node of a pair tells the other what only it knows.
	[ "$TOPOLOGY" != pair ] || tell_peers
}

tell_peers()
{
	local v n

	n=$(number_of "$NODE")
	for v in IP=10.9.0.$n IP6=fd07:9::$n DEV=srd0; do
		echo "export SRD_${v%%=*}_$NODE=${v#*=}"
	done >"/out/env.$NODE.tmp"
	for v in GID GID6; do
		n=SRD_${v}_$NODE
		echo "export $n=${!n-}"
	done >>"/out/env.$NODE.tmp"
	mv "/out/env.$NODE.tmp" "/out/env.$NODE"
}

# Node A: wait for the others, then learn their addresses and GIDs.
peers_join()
{
	local n

	for n in $NODES; do
		[ "$n" != A ] || continue
		wait_until "$PEER_WAIT_S" test -e "/out/ready.$n" || return 1
		cat "/out/env.$n" >>$ENV_FILE
	done
	cat $ENV_FILE >/out/env.all.tmp
	mv /out/env.all.tmp /out/env.all
}

# Node B and so on: run what on-peer asks for, until A is done. A request is a file that
# appears whole, by rename; so are the answers.
serve_peer()
{
	local request id fd

	exec {fd}<> <(:)
	until [ -e /out/env.all ] || [ -e /out/peer/quit ]; do
		read -rt 0.2 -u "$fd" _
	done
	grep -E "^export SRD_(IP|IP6|DEV|GID|GID6)_" /out/env.all >>$ENV_FILE
	until [ -e /out/peer/quit ]; do
		for request in /out/peer/*."$NODE"; do
			[ -e "$request" ] || continue
			id=${request%."$NODE"}
			mv "$request" "$id.running"
			serve_request "$id" {fd}<&- &
		done
		read -rt 0.1 -u "$fd" _
	done
}

# serve_request ID: in a subshell of its own
serve_request()
{
	local id=$1 status pid fd

	exec {fd}<> <(:)
	cd "$WORKDIR" 2>/dev/null || cd /root
	setsid "${AS[@]}" bash "$id.running" >"$id.output" 2>&1 </dev/null &
	pid=$!
	while [ -e "/proc/$pid/stat" ] && kill -0 $pid 2>/dev/null; do
		[ -e "$id.kill" ] && kill -TERM -- -$pid
		read -rt 0.1 -u "$fd" _
	done
	wait $pid
	status=$?
	echo $status >"$id.tmp"
	mv "$id.tmp" "$id.status"
}
