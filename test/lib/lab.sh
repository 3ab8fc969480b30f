# SPDX-License-Identifier: BSD-3-Clause
# For tests that run inside the laboratory, with ranks on the zipper node. Sourced after tap.sh.
. "$ZIP_TOP_SRCDIR/test/lib/stats.sh"
lab=$ZIP_TOP_SRCDIR/test/lab
rsh=$ZIP_TOP_SRCDIR/test/lib/lab-rsh

# in_lab CLUSTERS: makes a laboratory and starts the test once more in it
in_lab() {
	[ -n "$ZIP_LAB" ] && return
	local reason
	reason=$("$lab" with 1 true 2>&1) || skip_all "namespaces: $reason"
	[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
	"$lab" with "$1" bash "$0"
	exit
}
# run STATUS NAME OPTION...: runs zmpirun on the zipper node with ./hosts; output in out and err
run() {
	local wanted=$1 name=$2 rc
	shift 2
	limited 60 "$lab" run zipper "$ZMPIRUN" -f hosts "$@" >out 2>err </dev/null
	rc=$?
	is "$name" $rc "$wanted" || { diag_file err; diag_file out; }
}
# stock_mpirun CLUSTER... -- PROGRAM...: runs one mpiexec over these hosts; the hostfile ./hosts merges its world
stock_mpirun() {
	"$lab" forward on
	limited 60 "$lab" run zipper "$MPIEXEC" -launcher rsh -launcher-exec "$rsh" -localhost 10.77.1.1 -f hosts \
		-genv LD_PRELOAD "$PRELOAD_LIST" -genv ZIPPER_MODULE_DIR "$ZIP_TOP_BUILDDIR/common/.libs" \
		-genv ZIPPER_HOSTFILE "$PWD/hosts" "$@" >out 2>err </dev/null
	local rc=$?
	"$lab" forward off
	return $rc
}
