#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Direct delivery in the network laboratory: ranks on the zipper node reach both clusters, and zipperd sees none of it.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 3
cd "$TAP_TMP" || exit 99
# Every part stays on one host: MPICH over UCX may hang in MPI_Finalize when its hosts are connected by TCP alone.
"$lab" zhosts 4+4+4 >hosts
# counted WHAT FROM TO: prints the number of messages
counted() { stats "$@" | cut -d' ' -f1; }
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/traffic.c" traffic || bail_out "traffic.c does not compile"

# --- a cut that sits on the zipper node: nothing crosses
printf '0 zipper clusterA\n1 zipper clusterA\n2-3 clusterB\n' >./cut
run 0 "ranks on the zipper node and in a cluster" --map cut --stats ./traffic
matches "their messages were right" out 'all messages were right'
is "zipperd has seen none of them" "$(counted 'over the bridge' clusterA clusterB) $(counted 'over the bridge' clusterB clusterA)" \
	"0 0" || diag_file err
ok "they went directly" [ "$(counted directly clusterA clusterB)" -gt 0 ] || diag_file err
printf '0 zipper clusterA\n1,3 zipper clusterB\n2 zipper\n' >all
run 0 "all ranks on the zipper node, in both clusters" --map all --stats ./traffic
is "zipperd has seen none of them either" \
	"$(counted 'over the bridge' clusterA clusterB) $(counted 'over the bridge' clusterB clusterA)" "0 0" || diag_file err

# --- all three ways at once; ranks in any order
printf '4,0 zipper clusterA\n1,3 clusterB\n2,5 clusterC\n' >mixed
run 0 "native, direct and bridged" --map mixed --stats ./traffic
is "between the clusters nothing directly" "$(counted directly clusterB clusterC)" 0 || diag_file err
ok "but over the bridge" [ "$(counted 'over the bridge' clusterB clusterC)" -gt 0 ] || diag_file err
is "from and to the zipper node nothing over the bridge" "$(for pair in 'A B' 'B A' 'A C' 'C A'; do
	counted 'over the bridge' "cluster${pair% *}" "cluster${pair#* }"; done | tr '\n' ' ')" "0 0 0 0 " || diag_file err
# the same where the networks are protected: so are the links between ranks
cp hosts clear
sed '/^#ZIP zipper/s,=tcp:[^ /]*,&/encrypt=yes,g' clear >hosts
ok "protected: the hosts say so" grep -q 'clusterA=tcp:.*/encrypt=yes' hosts || diag_file hosts
run 0 "protected: the zipper node and a cluster" --map cut --stats ./traffic
matches "protected: their messages were right" out 'all messages were right'
ok "protected: they went directly" [ "$(counted directly clusterA clusterB)" -gt 0 ] || diag_file err
is "protected: none over the bridge" "$(counted 'over the bridge' clusterA clusterB) $(counted 'over the bridge' clusterB clusterA)" "0 0"
run 0 "protected: native, direct and bridged" --map mixed --stats ./traffic
mv clear hosts
export ZIPPER_DIRECT=no
run 0 "ZIPPER_DIRECT=no" --map mixed --stats ./traffic
ok "all over the bridge" [ "$(counted directly)" = 0 -a "$(counted 'over the bridge' clusterA clusterB)" -gt 0 ]
unset ZIPPER_DIRECT
# threads, each at an endpoint with links of its own
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/endpoint_threads.c" endpoint_threads || bail_out "endpoint_threads.c does not compile"
export ZIPPER_ENDPOINTS=4
for map in cut all; do
	run 0 "endpoints, $map" --map $map --stats ./endpoint_threads 12
	is "endpoints, $map: nothing is wrong" "$(grep -c -e ' ok$' -e '^No errors$' out)" 5 || diag_file out
	is "endpoints, $map: zipperd has seen nothing" \
		"$(counted 'over the bridge' clusterA clusterB) $(counted 'over the bridge' clusterB clusterA)" "0 0" || diag_file err
	ok "endpoints, $map: direct messages are counted" [ "$(counted directly clusterA clusterB)" -gt 1000 ] || diag_file err
	export ZIPPER_ONE_SIDED=yes # on the zipper node alone it counts
done
unset ZIPPER_ENDPOINTS ZIPPER_ONE_SIDED
# the same zipper node with two zipperds, two zippers of the job
cp hosts one
tail -n 1 one >>hosts
run 0 "two zippers" --map mixed --stats ./traffic
is "two zippers: each has its own lines" "$(grep -c 'of that over zipper zipper (line [0-9]*):' err)" 2 || diag_file err
ok "two zippers: direct messages are counted" [ "$(counted directly)" -gt 0 ] || diag_file err
is "two zippers: from and to the zipper node nothing over the bridge" "$(for pair in 'A B' 'B A' 'A C' 'C A'; do
	counted 'over the bridge' "cluster${pair% *}" "cluster${pair#* }"; done | tr '\n' ' ')" "0 0 0 0 " || diag_file err
mv one hosts
printf '3,0 zipper clusterC\n1 zipper clusterA\n2 clusterB\n' >map
same_as_one_job() { # MAP NAME WHERE
	compile "$(program "$2.c")" "$2" >cc 2>&1 || { fail "$2 compiles"; diag_file cc; return; }
	native 60 4 "./$2" 2>native.err | LC_ALL=C sort >native.out
	limited 60 "$lab" run zipper "$ZMPIRUN" -f hosts --map "$1" "./$2" 2>err </dev/null | LC_ALL=C sort >out
	ok "$2 prints the same as in one job$3" cmp native.out out || diag_file err
}
for name in p2p_order random modes collectives communicators large wildcards cancel; do
	same_as_one_job map $name
done
# all on the zipper node, by shared memory: the rank that accepted a connection reads the memory of the other rank
for name in random modes large truncate probes persistent; do
	ZIPPER_ONE_SIDED=yes same_as_one_job all $name ", one-sided"
done

# --- without a map: the hostfile puts ranks on the zipper node
run 0 "a hostfile with slots on the zipper node" -n 6 --stats ./traffic
ok "ranks of the zipper node go directly" [ "$(counted directly clusterB clusterA)" -gt 0 ] || diag_file err
is "and only so" "$(counted 'over the bridge' clusterB clusterA)" 0 || diag_file err

# --- strangers at the door while the job runs
rm -f stop
export ZIPPER_LOG=info
limited 60 "$lab" run zipper "$ZMPIRUN" -f hosts --map cut ./traffic stop >out 2>err </dev/null &
job=$!
TAP_PIDS+=($job)
all_there() { [ "$(grep -c '^rank . process' out)" = 4 ]; }
ok "the job runs" wait_for 20 all_there || diag_file err
two_listen() {
	ports=$(sed -n 's/.*listens for direct links:.* clusterB=tcp:10.77.2.1:\([0-9]*\).*/\1/p' err)
	[ "$(wc -w <<<"$ports")" = 2 ]
}
ok "two ranks listen" wait_for 10 two_listen || diag_file err
"$lab" run clusterB python3 - $ports >scan 2>&1 <<'END'
import os, socket, struct, sys
# an envelope of a control message, version 2, with a payload: ATTACH (6) with a wrong credential, of rank 2 in part 1
attach = struct.pack("<H32sIII", 6, b"x" * 32, 2, 1, 0)
envelope = struct.pack("<BBHIIIQiIQQQQ", 2, 1, 0, 0, 0xffffffff, 0xffffffff, 0, 0, len(attach), 0, 0, 0, 0)
held = []
for port in sys.argv[1:]:
    for i in range(40):
        s = socket.create_connection(("10.77.2.1", int(port)))
        if i % 4 == 0: s.sendall(os.urandom(2000))
        elif i % 4 == 1: s.sendall(envelope + attach)
        elif i % 4 == 2: s.close()
        held.append(s) # or sends nothing
print("scanned", len(held))
END
is "strangers knock" "$(cat scan)" "scanned 80"
touch stop
wait $job
is "the job has not noticed" "$? $(grep -x 'all messages were right' out)" "0 all messages were right" || { diag_file err; diag_file out; }
unset ZIPPER_LOG

# --- a rank with direct links dies
rm -f stop out # output of the last job must not count for this one
# without cma: UCX aborts a rank that is reading from the dying rank, and zmpirun may hear of that rank first
limited 60 "$lab" run zipper "$ZMPIRUN" -f hosts --map cut -genv UCX_TLS ^cma ./traffic stop >out 2>err </dev/null &
job=$!
TAP_PIDS+=($job)
ok "a job runs" wait_for 20 all_there || diag_file err
pid=$(sed -n 's/^rank 1 process //p' out)
"$lab" run zipper kill -9 "$pid"
wait $job
rc=$?
ok "the job ends when a rank with direct links is killed" [ $rc -ne 0 ]
# in some runs mpiexec does not tell how the rank has ended, and zmpirun says so
matches "and it is told who it was" err '^zmpirun: rank 1 \(clusterA rank 1 on [^)]*\) (died|.*mpiexec has not told$)'

# --- one stock mpiexec over all hosts, one of them the zipper node: over the zipper that serves all clusters
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
echo "$(id -un) $key" >keys
chmod 600 keys
background "$lab" run zipper "$ZIPPERD" --die-with-parent -o listen=clusterA=tcp:10.77.1.1:7474 \
	-o listen=clusterB=tcp:10.77.2.1:7474 -o listen=clusterC=tcp:10.77.3.1:7474 -o key_file="$TAP_TMP/keys" \
	-o log_level=info 2>zipperd.log
up() { "$lab" run clusterB bash -c 'exec 3<>/dev/tcp/10.77.2.1/7474' 2>/dev/null; }
ok "zipperd listens" wait_for 10 up
cp hosts started # a hostfile for zmpirun to start zipperd
{
	"$lab" zhosts 2+1+1 7474 | grep -v '^#ZIP zipper'
	echo "#ZIP zipper elsewhere clusterA=tcp:10.77.1.99:7474 clusterB=tcp:10.77.2.99:7474"
	"$lab" zhosts 2+1+1 7474 | grep '^#ZIP zipper'
} >hosts
ZIPPER_JOB=stock ZIPPER_KEY_FILE=$TAP_TMP/keys stock_mpirun -n 4 ./traffic
is "one stock mpiexec with ranks on the zipper node" "$? $(grep -x 'all messages were right' out)" "0 all messages were right" ||
	{ diag_file err; diag_file out; diag_file zipperd.log; }
over() { grep -q 'job [^ ]*/stock: over' zipperd.log; }
ok "zipperd has seen the job" wait_for 10 over || diag_file zipperd.log
is "nothing that the zipper node takes part in goes through zipperd, the rest does" \
	"$(grep 'job [^ ]*/stock: over' zipperd.log | grep -o '[A-Za-z]*>[A-Za-z]* [1-9][0-9]* m' | cut -d' ' -f1 | sort | tr '\n' ' ')" \
	"clusterB>clusterC clusterC>clusterB " || diag_file zipperd.log
mv started hosts

# --- a rank that cannot be reached directly: over the bridge, and one line
export ZIPPER_KEY_FILE=$TAP_TMP/keys ZIPPER_MODULE_DIR=$ZIP_TOP_BUILDDIR/common/.libs
by_hand() { # CLUSTER NUMBER HOST PORTS
	limited 60 "$lab" run zipper env ZIPPER_JOB=by-hand ZIPPER_PARTS=clusterA,clusterB ZIPPER_PART="$1" ZIPPER_PORTS="$4" \
		ZIPPER_ZIPPERD="tcp:10.77.$2.1:7474" "$MPIEXEC" -launcher rsh -launcher-exec "$rsh" -localhost "10.77.$2.1" \
		-hosts "$3" -n 2 -genv LD_PRELOAD "$PRELOAD_LIST" ./traffic >"out.$1" 2>"err.$1" </dev/null
}
# they listen where the others cannot reach them
"$lab" run zipper ip addr add 10.99.9.9/32 dev lo
"$lab" run clusterB ip route add unreachable 10.99.9.9
by_hand clusterB 2 clusterB "" &
other=$!
by_hand clusterA 1 zipper "clusterA=tcp:10.77.1.1 clusterB=tcp:10.99.9.9"
is "ranks that cannot be reached" "$? $(grep -x 'all messages were right' out.clusterA)" "0 all messages were right" || diag_file err.clusterA
wait $other
is "the others" $? 0 || diag_file err.clusterB
is "each says so once" "$(grep -c 'no direct link to rank . of part clusterA, messages go over the bridge: cannot connect' err.clusterB)" \
	2 || diag_file err.clusterB
done_testing
