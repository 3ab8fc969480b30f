#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What zipmap predicts is what happens: programs are recorded, mapped and run in the network laboratory, laid out in pairs,
# in blocks and by the map, and zipperd's bytes are compared with the prediction.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
lab=$ZIP_TOP_SRCDIR/test/lab
ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
if [ -z "$ZIP_LAB" ]; then
	reason=$("$lab" with 1 true 2>&1) || skip_all "namespaces: $reason"
	[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
	"$lab" with 3 bash "$0"
	exit
fi
cd "$TAP_TMP" || exit 99
rsh=$ZIP_TOP_SRCDIR/test/lib/lab-rsh
# Every part stays on one host (see direct.t): the zipper node is a cluster of its own, which reaches both others.
{
	echo "#ZIP cluster clusterA launcher=rsh launcher-exec=$rsh localhost=10.77.1.1"
	echo "zipper:2"
	echo "#ZIP cluster clusterB launcher=rsh launcher-exec=$rsh localhost=10.77.2.1"
	echo "clusterB:4"
	echo "#ZIP cluster clusterC launcher=rsh launcher-exec=$rsh localhost=10.77.3.1"
	echo "clusterC:4"
	echo "#ZIP zipper zipper clusterA=tcp:10.77.1.1 clusterB=tcp:10.77.2.1 clusterC=tcp:10.77.3.1"
} >hosts
compile "$ZIP_TOP_SRCDIR/test/programs/pattern.c" pattern || bail_out "pattern.c does not compile"

# measured: bytes that zipperd has forwarded
measured() {
	sed -n '/^zmpirun: over the bridge:/,/^zmpirun: [a-z]/s/.* messages, \([0-9]*\) bytes.*/\1/p' err |
		awk '{ sum += $1 } END { print sum + 0 }'
}
for pattern in ring chain tree stencil all; do
	ranks=8
	rm -f graph
	[ $pattern = tree ] && ranks=7
	ZIPPER_PROFILE=$TAP_TMP/graph native 120 $ranks env LD_PRELOAD="$PRELOAD_LIST" ./pattern $pattern 10000 20 >out 2>err
	ok "$pattern is recorded" test -s graph || diag_file err
	for layout in pairs block auto; do
		ok "$pattern, $layout: a map" "$ZIPMAP" -f hosts -g graph -S $layout -o map -q || continue
		sed -E 's/^([0-9,-]+ zipper) .*/\1/' map >run.map # the job of the zipper node's own cluster
		predicted=$(sed -n 's/^#ZIP predicted bridged \([0-9]*\) bytes.*/\1/p' map)
		limited 120 "$lab" run zipper "$ZMPIRUN" -f hosts --map run.map --stats ./pattern $pattern 10000 20 >out 2>err </dev/null
		is "$pattern, $layout: it runs" $? 0 || diag_file err
		is "$pattern, $layout: zipperd forwards what was predicted" "$(measured)" "$predicted" || diag_file err
		[ $layout = auto ] && [ $pattern != all ] && is "$pattern: nothing, as its cut fits" "$(measured)" 0
	done
done
done_testing
