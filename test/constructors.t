#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Constructors that fail in one cluster: all ranks agree on the outcome.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
PROGRAM=$TAP_TMP/constructors TOOL=$TAP_TMP/failing.so
compile "$ZIP_TOP_SRCDIR/test/lib/constructors.c" "$PROGRAM" -ldl || bail_out "cannot compile constructors.c"
"$MPICC" -shared -fPIC -o "$TOOL" "$ZIP_TOP_SRCDIR/test/lib/failing.c" -ldl || bail_out "cannot compile failing.c"
cd "$TAP_TMP" || exit 99

# run LAYOUT ARGUMENTS...: prints the exit status and the last word of rank 0
run() {
	limited 60 "$ZMPIRUN" --clusters "$1" env LD_PRELOAD="$PRELOAD_LIST:$TOOL" "$PROGRAM" "${@:2}" >out 2>err </dev/null
	echo "$? $(grep -c 'No errors' out)"
	grep wrong out >&2
	cat err >&2
}

is "each native step fails at a rank that is not alone in its part" "$(run 2+2 1)" "0 1"
is "... at one that is" "$(run 3+1 3)" "0 1"
is "one part runs out of communicators at each step" "$(run 2+2 1 exhaust)" "0 1"
is "... with one rank" "$(run 1+3 0 exhaust)" "0 1"

done_testing
