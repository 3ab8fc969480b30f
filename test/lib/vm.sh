# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that run in the Verbs laboratory (vm/vmlab), with its shape as the argument: ". vm.sh one" or
# ". vm.sh 2". The rest of the test runs on the host while the machines are up. Tests share one boot as far as possible: it
# takes 3 s on an idle machine, and a minute on a busy one.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
vmlab=$ZIP_TOP_SRCDIR/test/vm/vmlab

[ -z "$SANITIZED" ] || skip_all "built with $SANITIZED: its reports would stay in the virtual machines"
if [ -z "$ZIP_VM" ]; then
	reason=$("$vmlab" check 2>&1) || skip_all "${reason#vmlab: }"
	ZIP_VM_STARTED=$TAP_TMP/started "$vmlab" with "$1" bash "$0" 2>"$TAP_TMP/vmlab"
	rc=$?
	cat "$TAP_TMP/vmlab" >&2
	[ -e "$TAP_TMP/started" ] || skip_all "no virtual machine comes up here: $(head -n1 "$TAP_TMP/vmlab")"
	exit $rc
fi
: >"$ZIP_VM_STARTED"
mkdir -p "$ZIP_VM/files" # seen by all machines at this path
# MPICH would use the Soft-RoCE devices for its own messages: that is slower, and tests want to see our messages only
export UCX_TLS=self,sm

vm() { # SECONDS NODE COMMAND...
	"$vmlab" run -t "$@"
}
vm_background() { # SECONDS NODE COMMAND...: output in $ZIP_VM/files/background; wait $! gives the status
	background "$vmlab" run -t "$@" >"$ZIP_VM/files/background" 2>&1
}
# vm_listens NODE PORT PID: waits until a process listens there, as long as that background job runs
vm_listens() {
	local end=$((SECONDS + 600))
	until vm 300 "$1" ss -Hltn "sport = :$2" | grep -q .; do
		[ $SECONDS -lt $end ] && kill -0 "$3" 2>/dev/null || return 1
	done
}
# vm_pair SERVER-NODE CLIENT-NODE ADDRESS COMMAND...: runs a program twice on its port, as a server, and with the address as its
# last argument as a client, like ibv_rc_pingpong and perftest.
vm_pair() {
	local server=$1 client=$2 address=$3 pid rc
	shift 3
	vm_background 900 "$server" "$@"
	pid=$!
	vm_listens "$server" 18515 $pid && vm 900 "$client" "$@" "$address"
	rc=$?
	[ $rc = 0 ] || kill $pid 2>/dev/null
	wait $pid || { rc=$?; echo "the server:"; cat "$ZIP_VM/files/background"; }
	return $rc
}
# vm_tap NODE SECONDS PREFIX COMMAND...: the results of a test that runs on the node, with this test's numbers
vm_tap() {
	local node=$1 seconds=$2 prefix=$3
	shift 3
	vm "$seconds" "$node" "$@" >"$TAP_TMP/tap" 2>"$TAP_TMP/tap.err"
	tap_of "$prefix" "$TAP_TMP/tap" $? "$TAP_TMP/tap.err"
}
