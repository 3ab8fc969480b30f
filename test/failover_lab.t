#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job over two zippers in the network laboratory. One zipper loses its link to one cluster in the middle. No packet tells of
# that, so it is noticed when control connections have been silent for some 25 seconds. Then the job goes on.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 2
cd "$TAP_TMP" || exit 99
"$lab" second || bail_out "no second zipper"
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/failover.c" failover || bail_out "failover.c does not compile"
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >keys)
export ZIPPER_USER=me ZIPPER_KEY_FILE=$TAP_TMP/keys ZIPPER_JOB=lab ZIPPER_PARTS=clusterA,clusterB
zipper() { # NODE NETWORK: 10.77.NETWORK1 and so on
	background "$lab" run "$1" "$ZIPPERD" -o listen=clusterA=tcp:10.77."$2"1.1 -o listen=clusterB=tcp:10.77."$2"2.1 \
		-o key_file="$TAP_TMP/keys" -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" --ready-fd 3 3>"ready.$1" 2>"log.$1"
	wait_for 20 grep -q '^$' "ready.$1" || bail_out "zipperd does not start: $(cat "log.$1")"
}
zipper zipper ""
zipper zipper2 10
# part CLUSTER K ARGUMENT...: starts its two ranks
part() {
	limited 120 "$lab" run "$1" env LD_PRELOAD="$PRELOAD_LIST" ZIPPER_PART="$1" \
		ZIPPER_ZIPPERD="tcp:10.77.$2.1:7474,tcp:10.77.10$2.1:7474" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" \
		"$MPIEXEC" -n 2 ./failover "${@:3}" >"out.$1" 2>"err.$1" </dev/null
}
native 60 4 ./failover 3 2>native.err | LC_ALL=C sort >native.out
part clusterA 1 3 "1.1=$TAP_TMP/now" &
first=$!
part clusterB 2 3 "1.1=$TAP_TMP/now" &
second=$!
ok "the job is under way" wait_for 60 test -e now || { diag_file err.clusterA; diag_file err.clusterB; }
"$lab" run zipper2 ip link set fabric1 down
rm -f now
wait $first
is "status of one part" $? 0 || diag_file err.clusterA
wait $second
is "status of the other one" $? 0 || diag_file err.clusterB
is "as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native.out)"
is "what is said, once" "$(cat err.* | sed -E 's/( is lost: ).*(; the job)/\1...\2/')" \
	"libzipper: rank 0 of lab (clusterA): the zipper at tcp:10.77.101.1:7474 is lost: ...; the job goes on with 1 of 2"
done_testing
