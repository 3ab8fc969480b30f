#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that come by another zipper share connections to the last one (trunks in zipperd.conf): the output is the native one.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
for program in ordering collectives multicast large p2p_mixed p2p_late p2p_huge partitioned win_random endpoint_threads; do
	compile "$(program "$program.c")" $program -pthread >cc.out 2>&1 || { diag_file cc.out; bail_out "$program.c"; }
done
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
. "$ZIP_TOP_SRCDIR/test/lib/graph.sh"

# --- a's ranks come by zipper 1, which joins nothing but a and a network between both zippers
ways() {
	echo "$(way 1.a a.m 2.m)" "$(way 2.b)"
}
export ZIPPER_ENTRIES="m+1,b"
options=(-o trunks=yes)
# with ZIP_LONG also where all networks are of one kind
for kinds in ${ZIP_LONG:+tcp shm} shm,tcp,tcp; do
	start_graph $kinds a,m m,b
	for program in ordering collectives large p2p_mixed p2p_late partitioned win_random; do
		twin "trunks over $kinds" a,b "3 2" "$(ways)" $program 5
	done
	twin "trunks over $kinds" a,b "2 2" "$(ways)" p2p_huge 4
	ZIPPER_ONE_SIDED=yes twin "trunks over $kinds, one-sided" a,b "2 2" "$(ways)" large 4
	ZIPPER_TUNE="all multicast=yes" twin "trunks over $kinds, multicast" a,b "2 4" "$(ways)" multicast 6
	ZIPPER_ENDPOINTS=2 twin "trunks over $kinds, endpoints" a,b "2 2" "$(ways)" endpoint_threads 4
	stop_zippers
done
done_testing
