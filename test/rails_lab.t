#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two zippers between the clusters of the network laboratory, each with links of its own: zmpirun starts one, the other one runs
# already. Messages take both, and there is no other way.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 2
cd "$TAP_TMP" || exit 99
"$lab" second || bail_out "no second zipper"
for program in p2p_huge collectives; do
	compile "$(program "$program.c")" $program || bail_out "$program.c does not compile"
done
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >keys)
export ZIPPER_USER=me ZIPPER_KEY_FILE=$TAP_TMP/keys
background "$lab" run zipper2 "$ZIPPERD" -o listen=clusterA=tcp:10.77.101.1 -o listen=clusterB=tcp:10.77.102.1 \
	-o key_file="$TAP_TMP/keys" -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" --ready-fd 3 3>ready 2>zipper2
wait_for 20 grep -q '^$' ready || bail_out "zipperd does not start: $(cat zipper2)"
"$lab" hosts 2+2 >hosts
echo "#ZIP zipper zipper2 clusterA=tcp:10.77.101.1:7474 clusterB=tcp:10.77.102.1:7474" >>hosts
# packets NODE LINK: prints the packets that have left over the link
packets() { "$lab" run "$1" cat "/sys/class/net/$2/statistics/tx_packets"; }

ok "the clusters do not reach each other" "$lab" check
for program in p2p_huge collectives; do
	native 60 4 "./$program" >native.out 2>&1
	before=$(packets clusterA eth1)
	run 0 "$program over both" --stats "./$program"
	is "$program: as natively" "$(LC_ALL=C sort out)" "$(LC_ALL=C sort native.out)"
	ok "$program: through the second port" test "$(($(packets clusterA eth1) - before))" -gt 200
	for zipper in zipper zipper2; do
		carried=$(sed -n "/over zipper $zipper:/,/over zipper [^:]*:\$/s/.*clusterA -> clusterB: [0-9]* messages, \\([0-9]*\\) bytes.*/\\1/p" err | head -n 1)
		ok "$program: $zipper has carried something" test "${carried:-0}" -gt 100000 || diag_file err
	done
done
before=$(packets clusterA eth1)
run 0 "--rails 1" --rails 1 ./collectives
ok "--rails 1: the second zipper has nothing to do" test "$(($(packets clusterA eth1) - before))" -lt 20
done_testing
