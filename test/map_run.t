#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Predictions of zipmap come true: programs are recorded, mapped and run in the network laboratory, in pairs, in blocks and by the
# map, and zipperd's bytes are compared with the prediction.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
in_lab 3
cd "$TAP_TMP" || exit 99
# Here every part stays on one host (see lib/leave.c): the zipper node is a cluster of its own, which reaches both others. The
# first zipper in the file does not exist: it would do for two of the clusters, but not for all three.
"$lab" zhosts 2+4+4 >hosts
sed -i 's/^#ZIP zipper zipper/#ZIP zipper none clusterA=tcp:10.77.1.99:1 clusterB=tcp:10.77.2.99:1\n&/' hosts
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/pattern.c" pattern || bail_out "pattern.c does not compile"

# predicted KIND...: prints "MESSAGES BYTES" of these kinds in the map `kept`
predicted() {
	for kind; do sed -n "s/^#ZIP predicted $kind \\([0-9]*\\) bytes \\([0-9]*\\) messages/\\2 \\1/p" kept; done |
		awk '{ m += $1; b += $2 } END { print m + 0, b + 0 }'
}
# as_predicted NAME "MEASURED" "PREDICTED": the same bytes, and the same messages except those of the library's own barrier at the
# end, which are empty and at most two for each of six pairs of clusters
as_predicted() {
	local m b pm pb
	read -r m b pm pb <<<"$2 $3"
	ok "$1: $2" [ "$b" = "$pb" -a "$m" -ge "$pm" -a "$m" -le $((pm + 12)) ] || { diag "predicted: $3"; diag_file err; }
}
# all_as_predicted: by --stats of the last run and the map `kept`
all_as_predicted() {
	as_predicted "... over the bridge" "$(stats 'over the bridge')" "$(predicted bridged)"
	as_predicted "... directly" "$(stats directly)" "$(predicted direct)"
	is "... natively" "$(stats natively)" "$(predicted native 'within nodes')" || diag_file err
}
# record RANKS PROGRAM...
record() {
	rm -f graph
	ZIPPER_PROFILE=$TAP_TMP/graph native 120 "$1" env LD_PRELOAD="$PRELOAD_LIST" "${@:2}" >out 2>err
	ok "${*:2} is recorded" test -s graph || diag_file err
}
# map_and_run STRATEGY PROGRAM...: runs the program by the map of that strategy, and compares
map_and_run() {
	local name="$1: ${*:2}"
	ok "$name: a map" "$ZIPMAP" -f hosts -g graph -S "$1" -o map -q || return
	sed -E 's/^([0-9,-]+ zipper) .*/\1/' map >run.map # the job of the zipper node's own cluster
	"$ZIPMAP" -f hosts -g graph --improve run.map -S keep -o kept -q
	run 0 "$name: it runs" --map run.map --stats "${@:2}"
}

for pattern in "ring 8" "chain 8 hidden" "tree 7" "stencil 8" "cg 8 hidden" "vertex-cut 8 hidden" "edge-cut 8 hidden" "all 8"; do
	read -r kind ranks hidden <<<"$pattern"
	program=(./pattern "$kind" 10000 10 $hidden)
	record "$ranks" "${program[@]}"
	for layout in pairs block auto; do
		map_and_run $layout "${program[@]}"
		all_as_predicted
	done
	[ "$kind" != all ] && is "$kind: nothing is bridged, as its cut fits" "$(predicted bridged)" "0 0"
done

# --- the cut's ranks on the zipper node are in the native job of one cluster, with its hosts', and reach the other one directly
{
	"$lab" hosts 3+3 | sed '/^#ZIP zipper/d; s/^clusterA:3/&\nzipper:2/'
	echo '#ZIP zipper zipper clusterA=tcp:10.77.1.1 clusterB=tcp:10.77.2.1'
} >hosts
spanning() { [ "$(sed -n 's/^[0-9,-]* zipper \(cluster[AB]\)\>.*/\1/p' kept | sort -u)" = "$1" ]; }
for pattern in "chain 8 hidden" "tree 7"; do
	read -r kind ranks hidden <<<"$pattern"
	program=(./pattern "$kind" 10000 10 $hidden)
	record "$ranks" "${program[@]}"
	for job in A B; do
		name="$kind, the zipper node's ranks in the job of cluster$job"
		"$ZIPMAP" -f hosts -g graph -S vertex-cut -o map -q
		sed -E "s/^([0-9,-]+ zipper) .*/\1 cluster$job/" map >run.map
		ok "$name" "$ZIPMAP" -f hosts -g graph --improve run.map -S keep -o kept -q
		ok "... which is on two nodes" spanning "cluster$job" || diag_file kept
		run 0 "... it runs" --map run.map --stats env LD_PRELOAD="$PRELOAD_LIST:$LEAVE" "${program[@]}"
		is "... nothing is bridged" "$(predicted bridged)" "0 0"
		all_as_predicted
	done
done

# --- a program of a Debian package: a banded solver of ScaLAPACK's tests, whose eight ranks exchange large blocks along a
# chain. Its few collectives are in the graph by a model, so bytes are compared within one per cent; if nothing shall be bridged,
# within one per cent of the bytes of the block layout.
one_per_cent=0
solver=$(ls /usr/lib/*/scalapack/mpich-tests/xdpbllt 2>/dev/null | head -n1)
if [ -z "$solver" ]; then
	skip "xdpbllt" "scalapack-mpi-test is not installed"
	done_testing
	exit
fi
cp "$ZIP_TOP_SRCDIR/test/packages/BLLT.dat" .
"$lab" zhosts 2+4+4 >hosts
record 8 "$solver"
sent=$("$ZIPMAP" show graph | sed -n 's/^graph: .* pairs, \([0-9]*\) bytes.*/\1/p')
for layout in pairs block auto; do
	map_and_run $layout "$solver"
	matches "... and its results are right" out '^ *[1-9][0-9]* tests completed and passed'
	read -r _ measured _ expected <<<"$(stats 'over the bridge') $(predicted bridged)"
	[ "$expected" -gt 0 ] && one_per_cent=$((expected / 100))
	ok "... $measured of $sent bytes over the bridge, predicted $expected" \
		[ $((measured - expected)) -le $one_per_cent -a $((expected - measured)) -le $one_per_cent ] || diag_file err
done
done_testing
