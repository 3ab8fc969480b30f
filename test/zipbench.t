#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipbench: what it measures without a Verbs device comes out as it should, whatever the numbers are.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
ZIPBENCH=$ZIP_TOP_BUILDDIR/bench/zipbench/zipbench
quick="--sizes 1,12,4K --seconds 0 --least 3 --warm-up 1"

# --- coll: lines are "world,op,bytes,ranks,repeats,q1,median,q3,mean"
# coll_is NAME WORLD LINES: of the file out, without and with faults
coll_is() {
	is "$1" "$(awk -F, -v world="$2" 'NR == 1 { head = $0 == "world,op,bytes,ranks,repeats,q1_us,median_us,q3_us,mean_us"; next }
		NF == 9 && $1 == world && $4 == 4 && $5 == 3 && $6 > 0 && $6 <= $7 && $7 <= $8 && $9 <= $8 { good++; next }
		{ bad++ } END { print head + 0, good + 0, bad + 0 }' out)" "1 $3 0" || diag_file out 60
}
# shellcheck disable=SC2086 # words
{
	merged 120 2+2 "$ZIPBENCH" coll $quick >out 2>err
	is "coll merged: status" $? 0 || diag_file err
	coll_is "coll merged: 16 operations in three sizes, and the barrier" mpi 49
	native 120 4 "$ZIPBENCH" coll $quick --wait yield --world one --csv file >out 2>err
	is "coll natively: status" $? 0 || diag_file err
	is "coll natively: standard output is empty" "$(wc -c <out)" 0
	mv file out
	coll_is "coll natively, waiting by tests, to a file" one 49
	native 120 5 "$ZIPBENCH" coll $quick --mmpi 2 >out 2>err
	is "coll over MMPI: status" $? 0 || diag_file err
	coll_is "coll over MMPI: its five operations, and the barrier" mmpi 16
	native 120 4 "$ZIPBENCH" coll $quick --ops alltoall,bcast --memory 4K >out 2>err
	is "coll: what needs too much memory is left out" "$(grep -c '4096 bytes is left out' err) $(wc -l <out)" "2 5"
}
for bad in "--ops nothing" "--sizes x" "--min 5 --max 4" "--wait spin" "--factor 1" "--nothing" "more"; do
	# shellcheck disable=SC2086 # words
	native 60 1 "$ZIPBENCH" coll $bad >out 2>err
	is "coll $bad: status and one line" "$? $(wc -l <err)" "2 1" || diag_file err
done
native 60 3 "$ZIPBENCH" coll --mmpi 1 --ops scan >out 2>err
is "coll: what MMPI does not have" "$? $(cat err)" "2 zipbench coll: scan: is not in MMPI; try --help"
for bad in "" "nothing"; do
	# shellcheck disable=SC2086
	limited 60 "$ZIPBENCH" $bad >out 2>err
	is "zipbench '$bad': status" $? 2
done
done_testing
