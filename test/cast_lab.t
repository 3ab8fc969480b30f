#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipcast between clusters that reach each other only through zipperd, and the bytes that cross there.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/cast.sh"
lab=$ZIP_TOP_SRCDIR/test/lab

if [ -z "$ZIP_LAB" ]; then
	reason=$("$lab" with 1 true 2>&1) || skip_all "namespaces: $reason"
	"$lab" with 3 bash "$0"
	exit
fi
ok "a program is linked with zipcast" cast_compile || { done_testing; exit; }
cd "$TAP_TMP" || exit 99
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >keys)
background "$lab" run zipper "$ZIPPERD" --die-with-parent -o listen=A=tcp:10.77.1.1:7474 -o listen=B=tcp:10.77.2.1:7474 \
	-o listen=C=tcp:10.77.3.1:7474 -o key_file="$TAP_TMP/keys" -o log_level=debug 2>>zipperd.log
zipper=$!
up() { "$lab" run clusterA bash -c 'exec 3<>/dev/tcp/10.77.1.1/7474' 2>/dev/null; }
wait_for 60 up || bail_out "zipperd does not listen: $(cat zipperd.log)"

# Node I is in the cluster of letter I of $SITES, and listens on that network alone.
cast_at() {
	local letter=${SITES:$1:1} n
	n=$(($(printf %d "'$letter") - 64))
	echo "$lab run cluster$letter env CAST_LISTEN=tcp:10.77.$n.2:0 CAST_FABRIC=$letter CAST_USER=me CAST_KEY=$key" \
		"CAST_ZIPPER=tcp:10.77.$n.1:7474"
}
# Bytes that went from one cluster to another, as zipperd reports when a circuit ends; waits until at least CIRCUITS have ended.
# The nodes end together, so all circuits are connected before the first one ends.
over() { # CIRCUITS
	local n
	n=$(grep -c '^zipperd: .*circuit .*: over; ' zipperd.log)
	[ "$n" -ge "$1" ] && [ "$n" = "$(grep -c '^zipperd: .*circuit .* are connected$' zipperd.log)" ]
}
crossed() { grep -o "$1>$2 [0-9]* bytes" zipperd.log | awk '{ sum += $2 } END { print sum + 0 }'; }

bytes=1000000 messages=5
for algorithm in hybrid-chain hybrid-pipeline pipeline sequential; do
	: >zipperd.log
	SITES=AABBAB cast_run "$algorithm, two clusters" 6 - $algorithm $bytes $messages
	ok "$algorithm, two clusters: all circuits end" wait_for 30 over 1
	case $algorithm in
	hybrid-*) # the greetings and READY words of the nodes are few bytes
		ok "$algorithm, two clusters: every byte crosses once" test $(($(crossed A B) - bytes * messages)) -lt 10000 -a \
			"$(crossed A B)" -ge $((bytes * messages)) -a "$(crossed B A)" -lt 10000 ||
			diag "$(crossed A B) and $(crossed B A) bytes" "$(cat zipperd.log)"
		;;
	sequential) ok "$algorithm, two clusters: once for each node there" test "$(crossed A B)" -ge $((3 * bytes * messages)) ;;
	esac
done
: >zipperd.log
SITES=CABBAC cast_run "hybrid-chain, three clusters" 6 - hybrid-chain $bytes $messages
ok "hybrid-chain, three clusters: the circuits end" wait_for 30 over 2
ok "hybrid-chain, three clusters: every byte comes into a cluster once" \
	test $(($(crossed C A) + $(crossed A B) + $(crossed C B) + $(crossed B A) - 2 * bytes * messages)) -lt 20000 ||
	diag "$(cat zipperd.log)"

# --- the counters of zipstat while the nodes send; then zipperd ends
is_under_way() { [ "$(cat "$TAP_TMP"/cast[0-9]* 2>/dev/null | grep -c 'under way')" = "$1" ]; }
SITES=AAB cast_start 3 - hybrid-chain 2000000 0
ok "without end: under way" wait_for 60 is_under_way 3 || cast_show
counted() {
	ZIPPER_USER=me ZIPPER_KEY=$key "$lab" run zipper "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv -j "${1:-castnode}" tcp:10.77.1.1:7474 \
		>stat 2>stat.err && [ "$(awk -F, '$1 == "A" && $2 == "B" { print ($4 > 1000000) }' stat)" = 1 ]
}
ok "without end: zipstat counts the bytes" wait_for 30 counted || diag_file stat.err
ok "without end: and knows the session" test "$(counted other; grep -c A,B stat)" = 0 || diag_file stat
kill -TERM "$(pgrep -P "$zipper" -x zipperd)"
cast_wait
is "zipperd ends: status" "$CAST_STATUS" "3 3 3" || cast_show
is "zipperd ends: no damage" "$(cat "$TAP_TMP"/cast[0-9]* | grep -c ' 0 bytes damaged')" 3 || cast_show
SITES=AB cast_start 2 - chain 1000 1
cast_wait
is "without zipperd: status" "$CAST_STATUS" "2 2" || cast_show
is "without zipperd: one line" "$(cat "$TAP_TMP"/cast[0-9]* | grep -c 'cannot make the group: .*10.77.[12].1')" 2 || cast_show
done_testing
