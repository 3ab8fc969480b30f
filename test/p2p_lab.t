#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipbench lat and its kin with a hostfile, in the network laboratory: native, bridged and direct in one table.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 3
cd "$TAP_TMP" || exit 99
ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
# zipbench BENCHMARK OPTION...: on the zipper node
zipbench() { limited 120 "$lab" run zipper env LD_PRELOAD="$YIELD" "$ZIPBENCH" "$@" -f hosts --sizes 8,4K --iterations 3 --validate >out 2>err </dev/null; }
"$lab" zhosts 4+4+4 >hosts
zipbench lat --hosts zipper,clusterB
is "a rank on the zipper node: status" "$? $(cat err)" "0 " || diag_file err
is "a rank on the zipper node: all ways" "$(sed 1d out | awk '{ print $1, NF }' | paste -sd,) $(sed -n '2s/  */ /gp' out)" \
	"# 5,8 4,4096 4 # Size native bridged direct" || diag_file out
zipbench mbw_mr
is "several pairs: status" "$? $(cat err)" "0 " || diag_file err
is "several pairs: all ways" "$(grep -o 'way: [a-z]*, pairs: 2' out | paste -sd' ') $(grep -vc '^#' out)" \
	"way: native, pairs: 2 way: bridged, pairs: 2 way: direct, pairs: 2 6" || diag_file out
zipbench bw --hosts clusterB,clusterC
is "clusters that share no fabric" "$? $(cat err) $(sed -n '2s/  */ /gp' out)" \
	"0 zipbench bw: direct is left out: neither host is a zipper node (--hosts) # Size native bridged" || diag_file out
done_testing
