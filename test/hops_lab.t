#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two sites of the network laboratory, each a cluster with its zipper; a network between the zippers; no route past a zipper. Each
# part of a job is started in its own cluster.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 1
cd "$TAP_TMP" || exit 99
"$lab" site || bail_out "no second site"
for program in p2p_huge p2p_mixed collectives; do
	compile "$(program "$program.c")" $program || bail_out "$program.c does not compile"
done
reaches() { "$lab" run "$1" timeout 2 bash -c "exec 3<>/dev/tcp/$2/7474" 2>/dev/null; }
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >keys)
# zipper NODE OPTION...: starts a zipper alone, as at a site of its own
zipper() {
	local node=$1
	shift
	background "$lab" run "$node" "$ZIPPERD" "$@" -o key_file="$TAP_TMP/keys" -o log_level=info \
		-o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" --ready-fd 3 3>"ready.$node" 2>"err.$node"
	wait_for 20 grep -q '^$' "ready.$node" || bail_out "zipperd does not start: $(cat "err.$node")"
}
zipper zipper -o listen=A=tcp:10.77.1.1 -o listen=wan=tcp:10.77.100.1 -o next=wan=tcp:10.77.100.2
zipper zipper2 -o listen=S=tcp:10.77.200.1 -o listen=wan=tcp:10.77.100.2 -o next=wan=tcp:10.77.100.1
ok "cluster A reaches its zipper" reaches clusterA 10.77.1.1
ok "cluster S reaches its zipper" reaches clusterS 10.77.200.1
ok "the zippers reach each other" reaches zipper 10.77.100.2
for there in 10.77.100.2 10.77.200.1; do ok "cluster A does not reach $there" eval "! reaches clusterA $there"; done
for there in 10.77.100.1 10.77.1.1; do ok "cluster S does not reach $there" eval "! reaches clusterS $there"; done

# part NODE NAME WAYS PROGRAM...
part() {
	local node=$1 name=$2 ways=$3
	shift 3
	limited 60 "$lab" run "$node" env LD_PRELOAD="$PRELOAD_LIST" ZIPPER_JOB="job.$number" ZIPPER_PARTS=A,S ZIPPER_PART="$name" \
		ZIPPER_ZIPPERD="$ways" ZIPPER_ENTRIES="A,wan+1 wan+1,S" ZIPPER_USER=me ZIPPER_KEY="$key" \
		ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" "$MPIEXEC" -n 2 "$@" >"out.$name" 2>"err.$name" </dev/null
}
packets() { "$lab" run "$1" cat "/sys/class/net/$2/statistics/tx_packets"; }
number=0
for program in p2p_huge p2p_mixed collectives; do
	number=$((number + 1))
	native 60 4 "./$program" >native.out 2>&1
	before=$(packets zipper wan)
	part clusterS S "tcp:10.77.200.1>S>wan>tcp:10.77.100.1,tcp:10.77.200.1" "./$program" &
	part clusterA A "tcp:10.77.1.1,tcp:10.77.1.1>A>wan>tcp:10.77.100.2" "./$program"
	is "$program over both zippers" $? 0 || { diag_file err.A; diag_file err.zipper; }
	wait $!
	is "$program: the other site" $? 0 || { diag_file err.S; diag_file err.zipper2; }
	is "$program: as natively" "$(cat out.A out.S | LC_ALL=C sort)" "$(LC_ALL=C sort native.out)"
	ok "$program: by the network between them" test "$(($(packets zipper wan) - before))" -gt 100
done

# --- that network goes away: no packet tells a waiting rank
compile "$ZIP_TOP_SRCDIR/test/lib/talk.c" talk || bail_out "talk.c does not compile"
number=$((number + 1))
ZIPPER_TIMEOUT=2s part clusterS S "tcp:10.77.200.1>S>wan>tcp:10.77.100.1,tcp:10.77.200.1" ./talk made "$TAP_TMP/going" &
second=$!
ZIPPER_TIMEOUT=2s part clusterA A "tcp:10.77.1.1,tcp:10.77.1.1>A>wan>tcp:10.77.100.2" ./talk made "$TAP_TMP/going" &
first=$!
ok "a job talks" wait_for 60 test -e going
"$lab" run zipper ip link set wan down
wait $first
ok "the network between the sites is lost: the job ends" test $? -ne 0
wait $second
ok "... at the other site, too" test $? -ne 0
matches "... and says why" err.A '^libzipper: rank [01] of .*(has not answered|connection|closed|lost)'
done_testing
