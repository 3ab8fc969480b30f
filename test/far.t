#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clusters that are far from each other: links of 5 ms in the network laboratory. The bridge's measured times, the collectives'
# choices by them, and unchanged results.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 2
ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
cd "$TAP_TMP" || exit 99
reason=$("$lab" delay 5000 2>&1) || skip_all "$reason"
ok "the clusters do not reach each other" "$lab" check
"$lab" hosts 2+2 >hosts

# A message crosses two links: it cannot take less, whatever the machine does.
tune() { limited 120 "$lab" run zipper "$ZIPBENCH" tune --bridge "$@" -- "$ZMPIRUN" -f hosts -n 4 </dev/null >out 2>err; }
tune --output far.tuning
is "zipbench tune --bridge" "$? $(cat err)" "0 " || diag_file out
matches "its only line" far.tuning '^bridge latency_ns=[0-9]+ bandwidth=[0-9]+$'
is "how many rules" "$(grep -c '^[^#b]' far.tuning)" 0
latency=$(sed -n 's/^bridge latency_ns=\([0-9]*\) .*/\1/p' far.tuning)
ok "the latency of two links of 5 ms: $latency ns" test "${latency:-0}" -ge 10000000
bandwidth=$(sed -n 's/^bridge.* bandwidth=\([0-9]*\)$/\1/p' far.tuning)
ok "the bandwidth: $bandwidth bytes/s" test "${bandwidth:-0}" -gt 0

for program in collectives coll_reductions coll_scans; do
	compile "$(program "$program.c")" $program || bail_out "$program.c does not compile"
	native 60 4 "./$program" >native.out 2>&1
	for table in "" "$TAP_TMP/far.tuning"; do
		ZIPPER_TUNING=$table ZIPPER_TUNE="all segment=1K" run 0 "$program${table:+, with the table}" "./$program"
		is "$program${table:+, with the table}: as natively" "$(LC_ALL=C sort out)" "$(LC_ALL=C sort native.out)"
	done
done
"$lab" delay off
run 0 "links without a delay again" ./collectives
done_testing
