# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion of softrdma(8) in bash.

_softrdma_links()
{
	rdma link show 2>/dev/null | sed -n 's/^link \([^/]*\)\/.*/\1/p'
}

_softrdma()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local words i=1

	while [[ ${COMP_WORDS[i]} == -* ]] && ((i < COMP_CWORD)); do
		((i++))
	done
	case $((COMP_CWORD - i)).${COMP_WORDS[i]} in
	0.*) words="fault errors monitor help" ;;
	*.monitor)
		case $prev in
		only) words="packet drop nak retry timeout window state async
			completion rule port link" ;;
		monitor) words="$(_softrdma_links) qp only room help" ;;
		*) words="qp only room" ;;
		esac ;;
	1.errors) words="$(_softrdma_links) qp code help" ;;
	1.*) words="add list del flush help" ;;
	2.*) words=$(_softrdma_links) ;;
	*)
		case $prev in
		corrupt) words="icrc header payload" ;;
		answer) words="nak rnr nothing" ;;
		nak) words="sequence invalid-request access operation
			invalid-rd-request" ;;
		header) words="opcode se pad tver pkey qpn ackreq psn va rkey
			length syndrome msn qkey src-qpn imm inv-rkey" ;;
		verb) words="open_device alloc_pd create_ah create_cq resize_cq
			create_srq modify_srq create_qp modify_qp
			modify_qp_reset modify_qp_init modify_qp_rtr
			modify_qp_rts modify_qp_sqd modify_qp_sqe
			modify_qp_err query_qp reg_mr rereg_mr alloc_mw
			attach_mcast" ;;
		*) words="tx rx wr verb now qp peer pid op psn after nth every
			times prob seed drop duplicate delay reorder corrupt
			truncate ce answer cnp no-memory no-route status errno
			qp-error qp-fatal last-wqe cq-overrun cq-error
			srq-error port-down port-up gid-change device-fatal
			remove" ;;
		esac ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _softrdma softrdma
