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

# --- cast: lines of 17 fields; quartiles are in order, and what the figures compare is there
limited 120 "$ZIPBENCH" cast --scale 4096 --nodes 3 --count 1 --writes 3 --transport shm --csv cast.csv >out 2>err
is "cast: status" "$? $(wc -c <out)" "0 0" || diag_file err
is "cast: the lines are well-formed" "$(awk -F, 'NR == 1 { head = NF; next } $1 == 9 { ok9 += $9 > 0 && $13 >= 1; next }
	NF == 17 && $8 > 0 && $8 <= $9 && $9 <= $10 && $11 > 0 && $7 == $6 { good++; next } { bad++ }
	END { print head, good, bad + 0, ok9 }' cast.csv)" "17 80 0 300" || diag_file cast.csv
wanted="4 chain,4 pipeline,4 sequential,4 tree,6 1 MiB,6 128 KiB,6 16 KiB,8 pipeline,8 sequential,9 pipeline,9 sequential,9 tree"
wanted="$wanted,10 all send,10 half send,10 one sends,11 hybrid,11 interrupts,11 polling"
wanted="$wanted,hybrids sequential,hybrids tree,hybrids chain,hybrids pipeline,hybrids hybrid-chain,hybrids hybrid-pipeline"
is "cast: the lines of the figures" "$(awk -F, 'NR > 1 && !seen[$1 " " $2]++ { print $1 " " $2 }' cast.csv | sort -n -k1,1 -s |
	awk '{ print $1 "\t" $0 }' | sort -k1,1n -k2 | cut -f2 | paste -sd,)" \
	"$(echo "$wanted" | tr ',' '\n' | awk '{ print $1 "\t" $0 }' | sort -k1,1n -k2 | cut -f2 | paste -sd,)"
# Sixteen blocks to two members here and two there: how many were sent across, by where the members are and the algorithm.
limited 120 "$ZIPBENCH" cast --figure hybrids --scale 4096 --nodes 4 --sites 2 --count 2 --at 127.0.0.1,127.0.0.2 >sites.csv 2>err
is "cast: hybrids: status" $? 0 || diag_file err
is "cast: what crosses between sites" "$(awk -F, '$3 == 4 && $14 == 2 && $17 == 65536 * $16 && $2 != "pipeline" { print $15 " " $2 " " $16 }' \
	sites.csv | paste -sd,)" "$(printf '%s,' in\ order\ {sequential\ 32,tree\ 32,chain\ 16,hybrid-chain\ 16,hybrid-pipeline\ 16} \
	in\ turns\ {sequential\ 32,tree\ 16,chain\ 48,hybrid-chain\ 16,hybrid-pipeline\ 16} | sed 's/,$//')" || diag_file sites.csv
is "cast: of a pipeline more than of hybrids" "$(awk -F, '$3 == 4 && $2 == "pipeline" && $16 > 16 && $16 <= 48' sites.csv | wc -l)" 2
for bad in "--figure 5" "--figure 4,5" "--transport udp" "--at 127.0.0.1" "--at ,@x" "--at 127.0.0.1@$TAP_TMP/none,127.0.0.2" \
	"--at 127.0.0.1,127.0.0.2@/dev/null" "--at 127.0.0.1,127.0.0.2 --transport shm"; do
	# shellcheck disable=SC2086 # words
	limited 60 "$ZIPBENCH" cast $bad >out 2>err
	is "cast $bad: status and one line" "$? $(wc -l <err)" "1 1" || diag_file err
done

# --- tune: a table that libzipper takes, and that changes what it does. Whatever the times are, a candidate wins by this margin.
tune() { limited 120 "$ZIPBENCH" tune --seconds 0 --rounds 1 --sizes 64 --margin -1e9 "$@" </dev/null >out 2>err; }
tune --layouts 3+3 --try "alltoall aggregate=1K; alltoall leaders=2; reduce segment=32K; bcast segment=32K" --output table
is "tune: status" "$? $(cat err)" "0 " || diag_file err
is "tune: its rules" "$(sed -n 's/ *\t*#.*//; s/=[0-9]*/=N/g; /./p' table | sort | paste -sd,)" \
	"alltoall clusters>=N clusters<3 bytes>=N aggregate=NK,alltoall clusters>=N clusters<3 bytes>=N leaders=N,bcast clusters>=N clusters<3 bytes>=N segment=NK,bridge latency_ns=N bandwidth=N,reduce clusters>=N clusters<3 bytes>=N segment=NK"
tune --layouts 1+1,2+2,1+1+1 --try "alltoall aggregate=1K; reduce_scatter leaders=1"
is "tune: layouts" "$(sed -n 's/ *\t*#.*//; /^alltoall/p' out | paste -sd,)" \
	"alltoall clusters>=2 clusters<3 members_max<2 bytes>=64 aggregate=1K,alltoall clusters>=2 clusters<3 members_max>=2 bytes>=64 aggregate=1K,alltoall clusters>=3 clusters<4 bytes>=64 aggregate=1K"
is "tune: the whole vector of reduce_scatter" "$(sed -n 's/ *\t*#.*//; s/^reduce_scatter.*\(bytes.*\)/\1/p' out | paste -sd,)" \
	"bytes>=128 leaders=1,bytes>=256 leaders=1,bytes>=192 leaders=1"
tune --layouts 2+2,1+1 --try "alltoall aggregate=1K"
matches "tune: layouts in disorder" err '^zipbench tune: --layouts: 1\+1: .*more clusters'
crossed() { # messages from one cluster to the other in 120 alltoalls between 3+3 ranks
	limited 60 env "$@" "$ZMPIRUN" --stats --clusters 3+3 "$ZIPBENCH" coll --ops alltoall --sizes 64 --least 119 \
		--repeats 119 --warm-up 1 2>&1 </dev/null | sed -n 's/.*c1 -> c2: \([0-9]*\) messages.*/\1/p'
}
with=$(crossed ZIPPER_TUNING="$TAP_TMP/table") without=$(crossed ZIPPER_TUNE="alltoall aggregate=0")
# nine pairs of ranks, or two leaders
ok "tune: libzipper follows the table ($with instead of $without messages)" [ "${with:-9999}" -lt 800 -a "${without:-0}" -ge 1080 ]
tune --try "bcast sgement=1K"
is "tune: a candidate that is none" "$? $(cat err)" \
	"1 zipbench tune: --try: 'bcast sgement=1K': no collective that can be tuned has this setting"
tune --try "all leaders=2" -- false
is "tune: a command that fails" "$? $(wc -l <err)" "1 1" || diag_file err

# --- figures: from the lines above
if command -v gnuplot >/dev/null; then
	awk -F, '$1 == 4 { print $5 "\t" $2 "\t" $3 "\t" $9 }' cast.csv |
		"$ZIP_TOP_SRCDIR/bench/draw" "$TAP_TMP/it's" "algorithms, 100 %" nodes us >out 2>err
	is "draw: status, and nothing to complain of" "$? $(wc -c <err)" "0 0" || diag_file err
	is "draw: all lines are in the figure" "$(for a in sequential tree chain pipeline; do grep -c ">$a<" "it's.svg"; done | paste -sd,)" 1,1,1,1
	is "draw: a picture" "$(head -c 8 "it's.png" | od -An -c | tr -d ' ')" '211PNG\r\n032\n'
	"$ZIP_TOP_SRCDIR/bench/draw" none title x y </dev/null >out 2>err
	is "draw: nothing is an error" "$? $(cat err)" "1 draw: nothing to draw for none"
else
	skip "draw" "no gnuplot"
fi

for bad in "" "nothing"; do
	# shellcheck disable=SC2086
	limited 60 "$ZIPBENCH" $bad >out 2>err
	is "zipbench '$bad': status" $? 2
done
done_testing
