# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# lib.sh: what the scripts for a CI job share: messages, root, and what the set-up left
# for those that come after it.

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# Of the job: one that is not this user's is not believed.
state=${SOFTRDMA_CI_STATE:-${RUNNER_TEMP:-/tmp}/softrdma-ci-$(id -u)}

note()
{
	echo "softrdma-ci: $*" >&2
}

die()
{
	note "$@"
	exit 1
}

# The state's folder, made when there is none.
state_make()
{
	mkdir -p -m 755 "$state" || die "cannot make $state"
	[ -O "$state" ] && [ ! -L "$state" ] || die "$state is somebody else's"
}

state_read()
{
	[ -O "$state/env" ] || die "nothing is set up: scripts/ci/setup comes first"
	. "$state/env"
}

is_root_at_hand()
{
	[ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n env "PATH=$PATH" "$@"
	fi
}
