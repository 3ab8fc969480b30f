#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that end without MPI_Finalize: the job ends well if all ranks come to their end, with a warning. If another rank waits in
# vain, the job fails, and the line says for whom.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
compile "$ZIP_TOP_SRCDIR/test/lib/forgotten.c" forgotten >cc.out 2>&1 || { diag_file cc.out; bail_out "forgotten.c"; }

line0='rank 0 (c1 rank 0 on localhost)'
warned='^zmpirun: warning: rank [0-3] (c[123] rank [012] on localhost) ended without MPI_Finalize$'
# mpiexec since MPICH 4.2 kills ranks that end a little later than others of their node, in a native job, too
mpiexec_kills() { "$MPIEXEC" --version | grep -qE 'Version: *(4\.[2-9]|5)\.'; }
# all_output NAME LINES MODE FILE...: of mode "mixed", ranks after MPI_Finalize print some
all_output() {
	if [ "$3" = mixed ] && mpiexec_kills; then
		skip "$1" "mpiexec may kill a rank before that, since MPICH 4.2"
	else
		is "$1" "$(cat "${@:4}" | wc -l)" "$2" || diag_file "$4"
	fi
}
# well NAME LINES LAYOUT MODE...: the job ends with 0, and there is one line about it, a warning
well() {
	local name="$1, $3"
	run "$name: status" 0 --clusters "$3" ./forgotten "${@:4}"
	is "$name: one line, a warning" "$(grep -c "$warned" err) $(wc -l <err)" "1 1" || diag_file err
	all_output "$name: all output" "$2" "$4" out
	is "$name: nothing is wrong" "$(grep wrong out)" ""
}
# fails NAME STATUS LINE MODE...: a pattern for the one line. When a rank ends by itself, mpiexec kills the others of its part, and
# may tell of that alone.
fails() {
	local try rc
	for try in 1 2 3; do
		limited 60 "${marked[@]}" "$ZMPIRUN" --clusters 2+2 ./forgotten "${@:4}" >out 2>err </dev/null
		rc=$?
		[ $try -lt 3 ] && grep -q 'mpiexec tells of signal 9' err || break
		diag "mpiexec has lost the status of a rank; again"
	done
	is "$1: status" $rc "$2" || diag_file err
	is "$1: one line says why" "$(grep -c "^zmpirun: $3\$" err) $(wc -l <err)" "1 1" || diag_file err
	is_gone "$1: nothing is left"
}

# --- all ranks come to their end
for layout in 2+2 1+1+2; do
	well "all return 0" 4 "$layout" all
	well "late, with buffered output" 2000 "$layout" late
	well "messages are under way" 1 "$layout" sent
	well "some call MPI_Finalize" 4 "$layout" mixed
done
is "a large message has come as a whole" "$(ZIPPER_ONE_SIDED=yes "$ZMPIRUN" --clusters 2+2 ./forgotten sent 2>/dev/null </dev/null)" \
	"4194304 bytes have come"
well "exit in a thread" 0 2+2 thread
well "exit in an error handler" 0 2+2 handler
well "no attribute is deleted any more" 4 2+2 attribute
well "one rank computes while another waits for it" 4 2+2 computes
ZIPPER_PROGRESS=thread well "progress by a thread" 1 2+2 sent
ZIPPER_ENDPOINTS=2 well "two endpoints" 1 2+2 sent

# --- it was not forgotten
run "MPI_Finalize at exit" 0 --clusters 2+2 ./forgotten atexit
is "at exit: no warning" "$(cat err)" ""
if mpiexec_kills; then
	skip "at exit: handlers and destructors run" "mpiexec may kill a rank before that, since MPICH 4.2"
else
	is "at exit: handlers and destructors run" "$(grep -c -e 'atexit, finalized 1' -e destructor out)" 8 || diag_file out
fi
run "a child that exits" 0 --clusters 2+2 ./forgotten forks
is "a child: no warning" "$(cat err)" ""
is "a child: all output" "$(wc -l <out)" 4

# --- another rank waits
for mode in barrier near far polls large; do
	fails "one ends, others wait: $mode" 1 \
		"$line0 ended without MPI_Finalize while rank [1-3] (c[12] rank [01] on localhost) waits" $mode
done

# --- with another status there is nothing to wait for
fails "status 3" 3 "$line0 ended with status 3 without MPI_Finalize" barrier 3
fails "status 4 in an error handler" 4 "$line0 ended with status 4 without MPI_Finalize" handler 4
fails "status 5 by _exit" 5 "$line0 ended with status 5 without MPI_Finalize" _exit 5

# --- ends without a word
fails "_exit" 1 "$line0 ended without MPI_Finalize, by _exit or in another thread, or by a signal of which mpiexec has not told" _exit
fails "in a thread that may not use MPI" 1 "$line0 ended without MPI_Finalize, by _exit or in another thread, or by a signal of which mpiexec has not told" thread_waits 0 single
fails "interrupted in MPI" 1 "$line0 ended without MPI_Finalize, by _exit or in another thread, or by a signal of which mpiexec has not told" interrupted 0 single

# --- a rank that is ended because another one has died runs no handler and no destructor, as natively
for layout in 2+2 1+1+2; do
	run "a rank dies, $layout" 9 --clusters $layout ./forgotten dies
	is "a rank dies, $layout: no handler and no destructor runs" "$(grep -c rank out)" 0 || diag_file out
done

# --- several zippers, by hand
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
says="it ended without MPI_Finalize"
# by_hand_well NAME ZIPPERS MODE LINES
by_hand_well() {
	JOB_NUMBER=$((JOB_NUMBER + 1))
	by_hand a,b "2 2" "$2" ./forgotten "$3"
	is "by hand, $1: status" $? 0 || { diag_file err.a; diag_file err.b; }
	all_output "by hand, $1: output" "$4" "$3" out.*
	is "by hand, $1: it is said once" "$(cat err.* | grep -c "$says\$") $(cat err.* | wc -l)" "1 1" || diag_file err.a
}
start_zippers 2 a,b
by_hand_well "one zipper" "$(addresses 1)" all 4
by_hand_well "two zippers" "$(addresses 1 2)" sent 1
by_hand_well "two zippers, some call MPI_Finalize" "$(addresses 1 2)" mixed 4
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b "2 2" "$(addresses 1 2)" ./forgotten far
ok "by hand, one rank waits: the job fails" test $? -ne 0
cat err.* >err
matches "by hand, one rank waits: why" err ': rank 0 \(a rank 0 on .*\) ended without MPI_Finalize while rank 3 \(b rank 1 on .*\) waits$'
is "by hand, one rank waits: no zipper is called lost" "$(grep -c lost err)" 0 || diag_file err
stop_zippers
done_testing
