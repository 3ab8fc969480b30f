#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Broadcasts to several clusters: the bytes that leave the root's cluster and reach the others, as zipperd counts them; a receiver
# that dies in the middle.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
PROGRAM=$TAP_TMP/broadcasts
compile "$ZIP_TOP_SRCDIR/test/lib/broadcasts.c" "$PROGRAM" || bail_out "cannot compile broadcasts.c"
cd "$TAP_TMP" || exit 99

COUNT=12
# legs LAYOUT BYTES TUNE: prints the bytes that left c1, and those that reached each other cluster
legs() {
	ZIPPER_TUNE=$3 limited 60 "${marked[@]}" "$ZMPIRUN" --clusters "$1" --stats "$PROGRAM" "$2" $COUNT \
		>out 2>err </dev/null || { cat err; return; }
	awk '/^zmpirun:   c1 -> c[2-9]: / {
		for (i = 1; i < NF; i++) {
			if ($(i + 1) ~ /^bytes/) { sent += $i; into = into " " $i }
			if ($i == "them") sent -= $(i + 1)
		}
	} END { print sent into }' err
}
# A slow receiver gets a copy of its own after a while: here there is time.
once="all multicast=yes patience=3600000" each="all multicast=no"
for bytes in 8 16384 1000000; do
	n=$((COUNT * bytes))
	is "1+1+1, $bytes bytes: once into the zipper, once into each cluster" "$(legs 1+1+1 $bytes "$once")" "$n $n $n"
	is "2+2+2, $bytes bytes: the same" "$(legs 2+2+2 $bytes "$once")" "$n $n $n"
done
n=$((COUNT * 100000))
is "six clusters: once into the zipper" "$(legs 1+1+1+1+1+1 100000 "$once")" "$n $n $n $n $n $n"
is "without multicast once for each" "$(legs 1+1+1+1+1+1 100000 "$each")" "$((5 * n)) $n $n $n $n $n"
is "two clusters: nothing is shared" "$(legs 2+2 100000 "$once")" "$n $n"

# --- a receiver dies
for bytes in 100 4000000; do
	limited 60 "${marked[@]}" "$ZMPIRUN" --clusters 1+1+2 "$PROGRAM" $bytes 1000000 2 7 >out 2>err </dev/null
	ok "$bytes bytes: the death of a receiver ends the job" test $? -ne 0
	matches "$bytes bytes: who" err '^zmpirun: rank 2 \(c3 rank 0 '
	is "$bytes bytes: in one line" "$(wc -l <err)" 1 || diag_file err
	is_gone "$bytes bytes: nothing is left"
done
done_testing
