#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Verbs in three virtual machines: cluster A, the zipper with two network cards, cluster B, and no other path.
. "${ZIP_TOP_SRCDIR:?}/test/lib/vm.sh" 2

# --- the laboratory itself: a failure here is not ours
ok "cluster A reaches the zipper over rxea" vm_pair zipper clusterA 10.78.1.1 ibv_rc_pingpong -d rxea -g 1 -e -c -n 50
ok "the zipper reaches cluster B over rxeb" vm_pair clusterB zipper 10.78.2.2 ib_write_bw -d rxeb -x 1 -F -n 20 -s 65536

reaches() { # NODE reaches the listener in cluster B
	vm 300 "$1" timeout "$2" bash -c '</dev/tcp/10.78.2.2/7878'
}
vm_background 3000 clusterB python3 -c 'import socket, time; s = socket.create_server(("", 7878)); time.sleep(3000)'
vm_listens clusterB 7878 $!
ok "somebody listens in cluster B" reaches zipper 200
reaches clusterA 3 2>"$TAP_TMP/err"
rc=$?
[ $rc = 125 ] && diag_file "$TAP_TMP/err"
is "cluster A cannot reach cluster B" $((rc == 124 || rc == 1)) 1

if [ ! -e "$ZIP_TOP_BUILDDIR/common/.libs/zipverbs.so" ]; then
	skip "a job" "built without libibverbs"
	done_testing
	exit
fi

# --- jobs over all of it, started by hand: zipperd, and an mpiexec in each cluster
FILES=$ZIP_VM/files
for program in stream drip; do
	compile "$ZIP_TOP_SRCDIR/test/lib/$program.c" "$FILES/$program" || bail_out "cannot compile $program.c"
done
key=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >"$FILES/keys")
# zipper CATEGORY PORT: starts a zipperd there; its messages are in $FILES/zipperd
zipper() {
	port=$2
	"$vmlab" run -t 3000 zipper "$ZIPPERD" -o "listen=A=rxea:1@10.78.1.1:$port" -o "listen=B=rxeb:1@10.78.2.1:$port" \
		-o "listen=Z=tcp:127.0.0.1:$port" -o endpoints="$1" -o join_timeout=15m \
		-o key_file="$FILES/keys" -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" 2>"$FILES/zipperd" &
	zipper=$!
	TAP_PIDS+=($zipper)
	ok "zipperd with $1 endpoints listens" vm_listens zipper "$port" $zipper || diag_file "$FILES/zipperd"
}
end_zipper() {
	kill $zipper
	wait $zipper
}
# part NODE ADDRESS RANKS COMMAND...: starts one part of the job, named by $letter; $parts are all
part() {
	local node=$1 address=$2 ranks=$3
	shift 3
	vm 1500 "$node" env ZIPPER_JOB="$job" ZIPPER_PARTS="$parts" ZIPPER_PART="${letter:?}" ZIPPER_USER=me ZIPPER_KEY="$key" \
		ZIPPER_ZIPPERD="$address:$port" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" \
		"$MPIEXEC" -n "$ranks" -genv LD_PRELOAD "$PRELOAD_LIST" "$@" >"$FILES/out${letter:?}" 2>&1
}
# start JOB COMMAND...: starts two ranks in each cluster; finish NAME: they end well (first and second: the processes)
start() {
	job=$1 parts=A,B
	shift
	rm -f "$FILES"/out?
	letter=B part clusterB rxeb:1@10.78.2.1 2 "$@" &
	second=$!
	letter=A part clusterA rxea:1@10.78.1.1 2 "$@" &
	first=$!
}
finish() {
	local rc
	wait $first
	rc=$?
	wait $second
	is "$1: status" "$rc $?" "0 0" || { diag_file "$FILES/outA"; diag_file "$FILES/outB"; diag_file "$FILES/zipperd"; }
}
# packets at the zipper's devices: in at rxea, in at rxeb, out at rxea, out at rxeb
counts() {
	vm 200 zipper bash -c 'cd /sys/class/infiniband; cat rxe[ab]/ports/1/hw_counters/{rcvd,sent}_pkts'
}
went() { # NAME INDEX PACKETS: at least PACKETS packets since `before`
	local now
	mapfile -t now < <(counts)
	ok "$1" test $((now[$2] - before[$2])) -ge "$3" || diag "$((now[$2] - before[$2])) packets"
}
# negative acknowledgements of a receiver that was not ready: messages within the credit never cause one
not_ready() {
	vm 200 zipper bash -c 'cd /sys/class/infiniband; cat rxe[ab]/ports/1/hw_counters/{rcvd,send}_rnr_err' | awk '{ n += $1 } END { print NR == 4 ? n : "no counters" }'
}
# segments by TCP at the zipper, in and out
by_tcp() {
	vm 200 zipper awk '/^Tcp:/ && $11 + 0 { print $11 + $12 }' /proc/net/snmp
}
all_rounds() { # or it has ended
	[ "$(cat "$FILES/outA" "$FILES/outB" 2>/dev/null | grep -c ': 4 rounds')" = 4 ] || ! kill -0 $first $second 2>/dev/null
}

# Soft-RoCE has no thread domains: this category has to fall back.
zipper 2xdynamic 7474
mapfile -t before < <(counts)
unready=$(not_ready) tcp=$(by_tcp)
ok "there are counters of receivers that were not ready" test "$unready" -ge 0
start stream "$FILES/stream" 300000 4 "$FILES/go"
wait_for 900 all_rounds
tcp=$(($(by_tcp) - tcp))
traffic() { # prints messages, bytes and copied bytes of each direction, of running jobs
	vm 300 zipper env ZIPPER_USER=me ZIPPER_KEY="$key" "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv tcp:127.0.0.1:7474 |
		grep -E '^(A,B|B,A),' | cut -d, -f1-4,6 >"$TAP_TMP/traffic"
}
traffic
is "no byte of large messages is copied" "$(tr '\n' ' ' <"$TAP_TMP/traffic")" \
	"A,B,10,2400000,0 B,A,10,2400000,0 " || diag_file "$TAP_TMP/traffic"
touch "$FILES/go"
finish "two mpiexec in two clusters"
is "two mpiexec in two clusters: one world" "$(sort "$FILES/outA" "$FILES/outB" | grep -c ': 4 rounds')" 4
# 2 ranks, 4 times 300,000 bytes, in packets of at most 4096
went "all of it came in over rxea" 0 586
went "and left over rxeb" 3 586
# Joining sends TCP segments, and so do signs of life. The messages would be four times as many segments as these packets.
ok "almost nothing went by TCP ($tcp segments)" test "$tcp" -gt 0 -a "$tcp" -lt 293
is "no receiver was not ready" "$(not_ready)" "$unready"
# one message to each rank may wait for its link, which is changing over from TCP
rm -f "$FILES/go"
start small "$FILES/stream" 4000 4 "$FILES/go"
wait_for 900 all_rounds
traffic
is "nor is one of small messages, but of those that wait for a link" "$(awk -F, '$4 == 32000 && $5 <= 8000' "$TAP_TMP/traffic" | wc -l)" 2 ||
	diag_file "$TAP_TMP/traffic"
touch "$FILES/go"
finish "small messages"
fallen_back() { grep -c "no thread domains after 0 of them: endpoints are static, not $1" "$FILES/zipperd"; }
is "what the device lacks for 2xdynamic is said, once for each" "$(fallen_back 2xdynamic)" 2 || diag_file "$FILES/zipperd"

# --- twin programs: their output is the native output
for name in wildcards random ${ZIP_LONG:+hello large modes threads}; do
	compile "$(program "$name.c")" "$FILES/$name" || bail_out "cannot compile $name.c"
	native 300 4 "$FILES/$name" 2>&1 | LC_ALL=C sort >"$TAP_TMP/native"
	start "$name" "$FILES/$name"
	finish "$name in two clusters"
	LC_ALL=C sort "$FILES/outA" "$FILES/outB" >"$TAP_TMP/merged"
	ok "$name in two clusters prints what it does natively" cmp "$TAP_TMP/native" "$TAP_TMP/merged" ||
		{ diff -U0 "$TAP_TMP/native" "$TAP_TMP/merged" >"$TAP_TMP/diff"; diag_file "$TAP_TMP/diff"; }
done

# --- ranks on the zipper node reach both clusters over its two ports, without zipperd in between (where A and B leave
# the job together, they tell each other)
job=direct parts=Z,A,B
mapfile -t before < <(counts)
rm -f "$FILES"/out?
letter=A part clusterA rxea:1@10.78.1.1 1 "$FILES/stream" 300000 4 &
first=$!
letter=B part clusterB rxeb:1@10.78.2.1 1 "$FILES/stream" 300000 4 &
second=$!
letter=Z part zipper tcp:127.0.0.1 2 env ZIPPER_PORTS='A=rxea:1@10.78.1.1 B=rxeb:1@10.78.2.1' "$FILES/stream" 300000 4
third=$?
finish "ranks on the zipper node"
is "ranks on the zipper node: their status" $third 0 || diag_file "$FILES/outZ"
is "ranks on the zipper node: one world" "$(cat "$FILES"/out[ABZ] | grep -c ': 4 rounds')" 4
went "ranks on the zipper node: over rxea" 0 293
went "ranks on the zipper node: over rxeb" 1 293
wait_for 60 grep -q 'me/direct: over after' "$FILES/zipperd"
matches "ranks on the zipper node: nothing through zipperd" "$FILES/zipperd" \
	'me/direct: over after [0-9.]* s(; [AB]>[AB] [0-9]* messages, 0 bytes)*(; nothing crossed)?$' || diag_file "$FILES/zipperd"

# --- a cluster falls silent in the middle of a job: its data connection fails, as packets are not acknowledged. The cluster loses
# its address; with its port down packets would not be lost, but wait on the wire (vm/README). The job must keep sending to the
# cluster: if an answer is lost, zipperd may have nothing to send, and hears of the silence from the control connection.
under_way() { # or it has ended
	[ "$(cat "$FILES/outA" "$FILES/outB" 2>/dev/null | grep -c 'under way')" = 4 ] || ! kill -0 $first $second 2>/dev/null
}
parts=A,B
start silent "$FILES/drip"
wait_for 900 under_way
ok "nothing reaches cluster B any more" vm 300 clusterB ip addr del 10.78.2.2/24 dev fb
wait $first
is "a cluster falls silent: status of the other" $? 1 || diag_file "$FILES/outA"
matches "a cluster falls silent: which data connection" "$FILES/zipperd" \
	'job me/silent: rank [23] \(B rank [01] on clusterB\) died \(its data connection over rxeb:1 broke: '
matches "a cluster falls silent: the other one hears the reason" "$FILES/outA" \
	'rank [23] \(B rank [01] on clusterB\) died \(its data connection over rxeb:1 broke: '
ok "which its device has given up" \
	test "$(vm 300 zipper cat /sys/class/infiniband/rxeb/ports/1/hw_counters/retry_exceeded_err)" -gt 0
wait $second
vm 300 clusterB bash -c 'ip addr add 10.78.2.2/24 dev fb && ip route add default via 10.78.2.1'
start again "$FILES/stream" 300000 4
finish "the cluster is back"
end_zipper

# --- the benchmarks of endpoint categories run to their end, in all categories
benchmark() { # LINES ARGUMENT...: prints that many lines
	local lines=$1
	shift
	vm 1500 zipper "$ZIP_TOP_BUILDDIR/zipbench/zipbench" "$@" --device rxea >"$TAP_TMP/bench" 2>"$TAP_TMP/bench.err"
	is "zipbench $1: status" $? 0 || diag_file "$TAP_TMP/bench.err"
	is "zipbench $1: lines" "$(wc -l <"$TAP_TMP/bench")" "$lines" || diag_file "$TAP_TMP/bench"
}
benchmark 115 msgrate --threads 2 --count 20 --rounds 1
benchmark 13 garray --threads 2 --size 8 --rounds 1
benchmark 19 stencil --threads 4 --size 16 --count 1 --rounds 1

# --- every endpoint category in zipperd
[ -n "$ZIP_LONG" ] || { done_testing; exit; }
next=7475
for category in mpi-everywhere dynamic shared-dynamic static mpi+threads; do
	zipper $category $next
	start "$category" "$FILES/stream" 300000 4
	finish "$category"
	case $category in
	*dynamic) is "$category: what the device lacks is said" "$(fallen_back $category)" 2 || diag_file "$FILES/zipperd" ;;
	mpi+threads) is "$category: asks for nothing that is lacking" "$(grep -cE 'no (thread domains|single-threaded)' "$FILES/zipperd")" 0 ||
		diag_file "$FILES/zipperd" ;;
	esac
	wanted=0
	[ $category != mpi-everywhere ] || wanted=1
	ok "$category: its endpoints have as many contexts as they are to" \
		grep -q " $category endpoint: CTXs $wanted, PDs $wanted, TDs 0," "$FILES/zipperd" || diag_file "$FILES/zipperd"
	end_zipper
	next=$((next + 1))
done
done_testing
