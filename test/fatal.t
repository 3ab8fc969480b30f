#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Errors that end the job, and name the rank.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
PROGRAM=$TAP_TMP/fatal RANK=6 # the class; the status follows from it
compile "$ZIP_TOP_SRCDIR/test/lib/fatal.c" "$PROGRAM" || bail_out "cannot compile fatal.c"
cd "$TAP_TMP" || exit 99

# run HOW: prints the exit status and the number of ranks that go on
run() {
	limited 30 "$ZMPIRUN" --clusters 2+2 "$PROGRAM" "$@" >out 2>err </dev/null
	echo "$? $(grep -c 'goes on' out)"
}

# --- a new communicator has the handler of the one that it was made from, in every way of making it
for how in dup idup split create create_group cart inter inter_dup merge; do
	is "MPI_ERRORS_ARE_FATAL is inherited: $how" "$(run $how)" "$RANK 0"
done
is "... from MPI_COMM_WORLD, which has another one since" "$(run world)" "$RANK 0"

TRUNCATE=14
is "... and has it for persistent collectives, which have a twin of it" "$(run persistent)" "$TRUNCATE 0"

# --- called by the program
TAG=4
for what in comm win file; do
	is "a handler that ends the job is called: $what" "$(run call_$what)" "$TAG 0"
	matches "... and it is said whose it was" err "^zmpirun: rank 3 .* aborted with code $TAG: "
done
is "what native MPI has found wrong" "$(run call_native)" "$TAG 0"
is "... is told without its stack" "$(grep '^zmpirun' err)" "zmpirun: rank 3 (c2 rank 1 on localhost) aborted with code $TAG: Invalid tag"

done_testing
