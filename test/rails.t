#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over several zippers, started by hand: every rank joins at each zipper, all zippers carry something, and errors name the
# address of the zipper.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
for program in hello ordering collectives multicast large p2p_mixed p2p_late p2p_huge; do
	compile "$(program "$program.c")" $program >cc.out 2>&1 || { diag_file cc.out; bail_out "$program.c"; }
done
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"

# carried K: has this zipper forwarded something in each direction that it knows?
carried() { wait_for 5 grep -q 'over after' "zipper.$1" && ! grep -q 'over after.*nothing crossed' "zipper.$1"; }

# --- the same output as natively
# twin RAILS PARTS SIZES PROGRAM RANKS
twin() {
	local name="$1 zippers, ranks $3: $4" k
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers "$1" "$2"
	native 60 "$5" "./$4" >native 2>&1
	by_hand "$2" "$3" "$(addresses $(seq "$1"))" "./$4"
	is "$name" $? 0 || { for k in ${2//,/ }; do diag_file "err.$k"; done; }
	is "$name: as natively" "$(cat out.* | LC_ALL=C sort)" "$(LC_ALL=C sort native)"
	for ((k = 1; k <= $1; k++)); do ok "$name: zipper $k carried something" carried $k || diag_file "zipper.$k"; done
	stop_zippers
	rm -f out.* err.*
}
twin 2 a,b "2 2" ordering 4
twin 2 a,b,c "2 1 2" collectives 5
twin 3 a,b "1 4" collectives 5
ZIPPER_ONE_SIDED=yes twin 2 a,b "2 2" large 4
# Large messages of one pair of ranks take all rails, and are received in order.
twin 3 a,b "1 1" p2p_mixed 2
ZIPPER_ONE_SIDED=yes twin 2 a,b "1 1" p2p_mixed 2
# One very large message takes all rails.
twin 3 a,b "1 1" p2p_huge 2
ZIPPER_ONE_SIDED=yes ZIPPER_PROGRESS=thread twin 2 a,b "2 2" p2p_huge 4
ZIPPER_REPRESENTATION=external32 twin 2 a,b "2 2" p2p_huge 4
options=(-o eager_bytes=4K -o dest_share=8K) # many refusals
twin 2 a,b "2 2" p2p_mixed 4
twin 3 a,b,c "2 1 1" p2p_mixed 4
twin 2 a,b "1 5" p2p_late 6
options=()
ZIPPER_TUNE="all multicast=yes" twin 2 a,b,c "2 2 2" multicast 6
ZIPPER_REPRESENTATION=external32 ZIPPER_WAIT=sleep twin 2 a,b "2 2" collectives 4

# --- faults; a missing rank is waited for, but not a whole minute
join_timeout=10s
start_zippers 2 a,b
by_hand a,b "2 2" "$(addresses 1 3)" ./ordering
ok "a zipper that is not there: the job does not start" test $? -ne 0
matches "... and says where it is not" err.a "^libzipper: rank 0 of part a: MPI_Init: zipperd: cannot connect to shm:$TAP_TMP/zipper.sock.3: "
is "... with nobody joined at the other" "$(grep -c joined zipper.1)" 0

by_hand a,b "2 2" "$(addresses 1 2) $(addresses 2 1)" ./ordering
ok "zippers in another order: the job does not start" test $? -ne 0
matches "... because of" err.a '^libzipper: rank 0 of part a: MPI_Init: .*part b: nobody reported'

by_hand a,b "2 2" "$(addresses 1 2) $(addresses 1)" ./ordering
ok "a zipper more in one part: the job does not start" test $? -ne 0
matches "... because of" err.a '^libzipper: rank 0 of part a: MPI_Init: .* it names (2 zippers, others 1|1 zipper, others 2) \(ZIPPER_ZIPPERD\)$'

by_hand a,b "1 1" "$(addresses 1 1) $(addresses 1 1)" ./ordering
ok "a zipper twice: the job does not start" test $? -ne 0
matches "... because of" err.a '^libzipper: rank 0 of part a: MPI_Init: ZIPPER_ZIPPERD: shm:.* is named twice$'
stop_zippers
join_timeout=60s

# --- parts that come at different times
options=(-o hello_timeout=1s)
start_zippers 2 a,b
by_hand a,b "2 2" "$(addresses 1 2)" sh -c '[ $ZIPPER_PART = a ] || sleep 3; exec ./hello'
is "a part that comes later than hello_timeout" "$? $(cat out.* | grep -c hello)" "0 4" || diag_file err.a
stop_zippers
options=()

join_timeout=1h # a rank that dies at the second zipper, while another one comes from the first one
start_zippers 2 a,b
cat >late <<'END'
echo $$ >$ZIPPER_PART
[ $ZIPPER_PART = a ] || while [ ! -e go ]; do sleep 0.1; done
exec ./hello
END
rm -f a b go
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b "1 1" "$(addresses 1 2)" sh late &
late=$!
TAP_PIDS+=($late)
has_joined() { # ZIPPER RANKS
	ZIPPER_KEY=$KEY limited 20 "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --json -u "$(id -un)" "${at[$1]}" 2>&1 | grep -q "\"joined\":$2,\"done\""
}
wait_for 20 test -s a -a -s b
wait_for 60 has_joined 1 1
kill -STOP "$(cat a)"
touch go
wait_for 60 has_joined 2 1
kill -9 "$(cat b)"
sleep 1
kill -CONT "$(cat a)"
wait $late
rc=$?
ok "who comes to the next zipper when the job has failed there hears so" test $rc -ne 0 -a $rc -ne 124
matches "... and why" err.a '^libzipper: rank 0 of part a: MPI_Init: .*rank 0 of part b on .* died'
stop_zippers
join_timeout=60s

cat >exchange.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Messages to and fro for ever; once they have crossed, processes are killed: those given, or its own. "away": rank 2 then
 * does something else; "away 3": so does rank 3. They are away first. */
static const char *const file[] = {"away.2", "away.3"};

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
		int is_away = argc >= 2 && atoi(argv[1]) == 0;
		if (i == 50 && is_away && (rank == 2 || (argc > 2 && rank == 3))) {
			fclose(fopen(file[rank - 2], "w"));
			sleep(600);
		}
		for (int k = 0; i == 50 && rank == 1 && is_away && k < argc - 1; k++)
			while (access(file[k], F_OK) != 0)
				usleep(1000);
		for (int a = 1; i == 50 && rank == 1 && a < argc && !is_away; a++)
			kill(atoi(argv[a]), SIGKILL);
		if (i == 50 && rank == 1 && (argc == 1 || is_away))
			kill(getpid(), SIGKILL);
	}
}
END
compile exchange.c exchange >cc.out 2>&1 || diag_file cc.out

start_zippers 2 a,b
by_hand a,b "2 2" "$(addresses 1 2)" ./exchange "${zipper[@]}"
ok "both zippers are killed: the job ends" test $? -ne 0
cat err.a err.b >err.both
matches "... and says why" err.both "^libzipper: rank [0-3] of .*(zipper.sock.[12]|pid (${zipper[1]}|${zipper[2]}) )"
is_gone "... and nothing is left"
stop_zippers

start_zippers 2 a,b
by_hand a,b "2 2" "$(addresses 1 2)" ./exchange
ok "a rank is killed: the job ends" test $? -ne 0
matches "... and both zippers say who" err.b '^libzipper: rank [23] .* rank 1 \(a rank 1 on .*\) died'
for k in 1 2; do matches "... zipper $k" "zipper.$k" 'warn: .* rank 1 \(a rank 1 on .*\) died'; done
by_hand a,b "2 2" "$(addresses 1 2)" ./exchange away
ok "a rank is killed while one computes: the job ends" test $? -ne 0
matches "... and the next one says who" err.b '^libzipper: rank 3 .* rank 1 \(a rank 1 on .*\) died'
rm -f away.2
by_hand a,b "2 10" "$(addresses 1 2)" ./exchange away 3
ok "a rank is killed while two of a part compute: the job ends" test $? -ne 0
matches "... and another one says who" err.b '^libzipper: rank [0-9]+ .* rank 1 \(a rank 1 on .*\) died'
ok "... not all that are left" test "$(grep -c '^libzipper: .* died' err.b)" -lt 8 || diag_file err.b
stop_zippers
done_testing
