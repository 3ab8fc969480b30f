#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The ranks of a node share connections (ZIPPER_NODE): the output is the native one, a zipper has few connections, and faults of
# ranks, of zippers and of the node's zipperd have the ends that they should have.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
command -v python3 >/dev/null || skip_all "no python3"
cd "$TAP_TMP" || exit 99
for program in ordering collectives multicast large p2p_mixed p2p_late p2p_huge win_random endpoint_threads failover; do
	compile "$(program "$program.c")" $program -pthread >cc.out 2>&1 || { diag_file cc.out; bail_out "$program.c"; }
done
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
ZIPSTAT=$ZIP_TOP_BUILDDIR/zipstat/zipstat
kind=tcp
export ZIPPER_NODE=yes ZIPPER_NODE_PROGRAM=$ZIPPERD

# twin NAME ZIPPERS PARTS SIZES PROGRAM RANKS: by zippers with the present options. Each part is a node
twin() {
	local k
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers "$2" "$3"
	native 60 "$6" "./$5" >native 2>&1
	by_hand "$3" "$4" "$(addresses $(seq "$2"))" "./$5"
	is "$1: $5" $? 0 || { for k in ${3//,/ }; do diag_file "err.$k"; done; for k in $(seq "$2"); do diag_file "zipper.$k"; done; }
	is "$1: $5, as natively" "$(cat out.* | LC_ALL=C sort)" "$(LC_ALL=C sort native)"
	is_gone "$1: $5: nothing is left"
	stop_zippers
	rm -f out.* err.*
}
for program in ordering collectives large p2p_mixed p2p_late win_random; do twin "one zipper" 1 a,b "3 2" $program 5; done
twin "one zipper" 1 a,b "1 1" p2p_huge 2
twin "three clusters" 1 a,b,c "2 1 2" collectives 5
twin "two zippers" 2 a,b "2 2" p2p_mixed 4
ZIPPER_PROGRESS=thread twin "two zippers, a progress thread" 2 a,b "2 2" p2p_huge 4
ZIPPER_TUNE="all multicast=yes" twin "multicast" 1 a,b,c "2 2 2" multicast 6
ZIPPER_ENDPOINTS=2 twin "endpoints" 1 a,b "2 2" endpoint_threads 4
ZIPPER_ONE_SIDED=yes twin "one-sided" 1 a,b "2 2" large 4
options=(-o workers=2)
twin "two workers" 1 a,b "3 2" ordering 5
options=(-o eager_bytes=4K -o dest_share=8K) # many refusals
twin "little room" 1 a,b "3 2" p2p_mixed 5
options=()
words=/encrypt=yes
twin "encrypted" 1 a,b "2 2" p2p_mixed 4
words=

# --- connections
cat >waits.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* Every rank has talked to every other one; then rank 0 waits for a file. */
int main(int argc, char **argv)
{
	int rank, size, in[64], out[64] = {0};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < size; i++)
		MPI_Sendrecv(&out[i], 1, MPI_INT, (rank + i) % size, 1, &in[i], 1, MPI_INT, (rank + size - i) % size, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		fclose(fopen("began", "w"));
	for (int i = 0; rank == 0 && i < 1000 && access("go", F_OK) != 0; i++)
		usleep(20000);
	MPI_Finalize();
	return 0;
}
END
compile waits.c waits >cc.out 2>&1 || { diag_file cc.out; bail_out "waits.c"; }
# connections: prints how many zipper 1 has, without that of the question
connections() {
	ZIPPER_KEY=$KEY limited 20 "$ZIPSTAT" --json -u "$(id -un)" "${at[1]}" 2>err.zipstat | python3 -c '
import json, sys
print(json.load(sys.stdin)["zippers"][0]["connections"] - 1)' || diag_file err.zipstat
}
start_zippers 1 a,b
for node in yes no; do
	JOB_NUMBER=$((JOB_NUMBER + 1))
	rm -f began go
	ZIPPER_NODE=$node by_hand a,b "6 6" "$(addresses 1)" ./waits &
	job=$!
	wait_for 60 test -e began
	[ $node = yes ] && wanted=4 || wanted=24 # control and data: of two nodes, or of twelve ranks
	is "ZIPPER_NODE=$node: connections of a zipper" "$(connections)" $wanted
	touch go
	wait $job
	is "... and the job ends well" $? 0 || diag_file err.a
done
# auto wants more ranks than that
JOB_NUMBER=$((JOB_NUMBER + 1))
ZIPPER_NODE=auto ZIPPER_NODE_PROGRAM=/nowhere by_hand a,b "2 2" "$(addresses 1)" ./p2p_mixed
is "ZIPPER_NODE=auto: few ranks have their own connections" $? 0 || diag_file err.a
rm -f began go
JOB_NUMBER=$((JOB_NUMBER + 1))
ZIPPER_NODE=auto by_hand a,b "32 1" "$(addresses 1)" ./waits &
job=$!
wait_for 60 test -e began
is "ZIPPER_NODE=auto: the 32 ranks of one node share theirs, the rank of the other has its own" "$(connections)" 4
touch go
wait $job
is "... and the job ends well" $? 0 || diag_file err.a
JOB_NUMBER=$((JOB_NUMBER + 1))
ZIPPER_NODE_PROGRAM=/nowhere/zipperd by_hand a,b "2 2" "$(addresses 1)" ./p2p_mixed
ok "no program: the job ends" test $? -ne 0
matches "... and says which" err.a "^libzipper: rank 0 .*ZIPPER_NODE: /nowhere/zipperd: No such file"
is_gone "... and nothing is left"
stop_zippers
options=(-o max_connections=10)
start_zippers 1 a,b
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b "8 8" "$(addresses 1)" ./waits &
job=$!
touch go
wait $job
is "ranks of nodes do not count for max_connections" $? 0 || diag_file err.a
# zmpirun tells the zipper so, and its ranks have a credential for the job in place of the key
hosts "${at[1]}" | sed 's/:2$/:8/' >file
export ZIPPER_KEY=$KEY
run "nor do those of zmpirun" 0 -f file ./waits
is_gone "... and nothing is left"
ZIPPER_NODE=no run "ranks with their own connections do" 1 -f file ./waits
matches "... and zmpirun says so" err "max_connections"
unset ZIPPER_KEY
stop_zippers
options=()

# --- faults
cat >exchange.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
/* Messages to and fro for ever; once they have crossed, rank 1 kills itself, or makes the file that is named. */
int main(int argc, char **argv)
{
	int rank, size;
	static char buf[200000];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0;; i++) {
		int n = i % 3 ? 100 : (int)sizeof(buf);
		MPI_Sendrecv_replace(buf, n, MPI_CHAR, size - 1 - rank, 1, size - 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i != 50 || rank != 1)
			continue;
		if (argc == 1)
			kill(getpid(), SIGKILL);
		else
			fclose(fopen(argv[1], "w"));
	}
}
END
compile exchange.c exchange >cc.out 2>&1 || { diag_file cc.out; bail_out "exchange.c"; }
start_zippers 1 a,b
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b "2 2" "$(addresses 1)" ./exchange
ok "a rank is killed: the job ends" test $? -ne 0
matches "... and the other part says who" err.b '^libzipper: rank [23] .* rank 1 \(a rank 1 on .*\) died'
is_gone "... and nothing is left"
JOB_NUMBER=$((JOB_NUMBER + 1))
rm -f crossed
by_hand a,b "2 2" "$(addresses 1)" ./exchange crossed &
job=$!
wait_for 60 test -e crossed
agents=()
for pid in $(left_named zipperd); do
	[ "$pid" = "${zipper[1]}" ] || agents+=("$pid")
done
is "two nodes have a zipperd each" "${#agents[@]}" 2
kill -9 "${agents[0]}"
wait $job
ok "a node's zipperd is killed: the job ends" test $? -ne 0
cat err.a err.b >err.both
matches "... and says so" err.both '^libzipper: rank [0-3] of .*'
diag_file err.both
is_gone "... and nothing is left"
stop_zippers

# strikes NAME ZIPPERS ROUNDS STRIKE...: zippers end under load, and failover prints what it prints natively
strikes() {
	local name=$1 rails=$2 rounds=$3 k
	local strikes=("${@:4}")
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers "$rails" a,b
	for ((k = 1; k <= rails; k++)); do
		strikes=("${strikes[@]//@$k/${zipper[k]}}")
		[ -z "$keeps" ] || keep "$k"
	done
	native 60 4 ./failover "$rounds" 2>&1 | LC_ALL=C sort >native
	by_hand a,b "2 2" "$(addresses $(seq "$rails"))" ./failover "$rounds" "${strikes[@]}"
	is "$name: status" $? 0 || { diag_file err.a; diag_file err.b; diag_file zipper.1; }
	is "$name: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
	is_gone "$name: nothing is left"
	stop_keepers
	stop_zippers
	rm -f out.* err.* next.*
}
keeps=
strikes "one of two zippers is killed" 2 2 1.1=@1:9
unset ZIPPER_RECONNECT
keeps=yes
strikes "the only zipper is killed, and comes back" 1 2 1.1=@1:9
done_testing
