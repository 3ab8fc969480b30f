#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over clusters that no single zipper joins, started by hand: a-1-b-2-c, a star around b, two sites with a network between
# their zippers, several ways; the output is the native one. Faults on the way.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
for program in ordering collectives multicast large p2p_mixed p2p_late p2p_huge partitioned win_random endpoint_threads file_shared; do
	compile "$(program "$program.c")" $program -pthread >cc.out 2>&1 || { diag_file cc.out; bail_out "$program.c"; }
done
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"

. "$ZIP_TOP_SRCDIR/test/lib/graph.sh"

# --- a row: b is in the middle; a and c by either zipper
row_ways() {
	echo "$(way 1.a),$(way 1.a a.b 2.b)" "$(way 1.b),$(way 2.b)" "$(way 2.c c.b 1.b),$(way 2.c)"
}
# with ZIP_LONG also where both zippers have one kind of network alone
for kinds in ${ZIP_LONG:+tcp shm} shm,tcp; do
	start_graph $kinds a,b b,c
	export ZIPPER_ENTRIES="a,b,b+1 b+1,b,c"
	for program in ordering collectives large p2p_mixed; do
		twin "a row, $kinds" a,b,c "2 1 2" "$(row_ways)" $program 5
	done
	twin "a row, $kinds" a,b,c "2 1 1" "$(row_ways)" p2p_huge 4
	ZIPPER_ONE_SIDED=yes twin "a row, $kinds, one-sided" a,b,c "1 2 1" "$(row_ways)" large 4
	ZIPPER_TUNE="all multicast=yes" twin "a row, $kinds, multicast" a,b,c "2 2 2" "$(row_ways)" multicast 6
	stop_zippers
done
options=(-o eager_bytes=4K -o dest_share=8K) # many refusals, links that are full
start_graph shm,tcp,tcp a,b b,c
twin "a row, little room" a,b,c "2 1 2" "$(row_ways)" p2p_mixed 5
twin "a row, little room" a,b,c "1 1 4" "$(row_ways)" p2p_late 6
twin "a row, little room" a,b,c "2 1 2" "$(row_ways)" collectives 5
ZIPPER_REPRESENTATION=external32 twin "a row, external32" a,b,c "2 2 1" "$(row_ways)" collectives 5
ZIPPER_ENDPOINTS=3 twin "a row, several endpoints" a,b,c "2 1 1" "$(row_ways)" endpoint_threads 4
twin "a row" a,b,c "1 1 2" "$(row_ways)" partitioned 4
twin "a row" a,b,c "2 1 1" "$(row_ways)" win_random 4
twin "a row" a,b,c "2 1 1" "$(row_ways)" file_shared 4
stop_zippers
options=()

# --- two sites, and between them a network without ranks
sites_ways() {
	echo "$(way 1.a),$(way 1.a a.wan 2.wan)" "$(way 2.c c.wan 1.wan),$(way 2.c)"
}
start_graph shm,tcp,tcp,shm a,wan wan,c
export ZIPPER_ENTRIES="a,wan+1 wan+1,c"
for program in ordering collectives large p2p_mixed p2p_huge; do
	twin "two sites" a,c "2 2" "$(sites_ways)" $program 4
done
for k in 1 2; do ok "two sites: zipper $k carried something" grep -q 'over after.*messages' "zipper.$k" || diag_file "zipper.$k"; done
stop_zippers

options=(-o workers=3) # circuits take turns
start_graph tcp a,wan wan,c
twin "two sites, three workers" a,c "2 2" "$(sites_ways)" p2p_mixed 4
twin "two sites, three workers" a,c "3 2" "$(sites_ways)" collectives 5
stop_zippers
options=()

# --- a star: clusters that are not at a zipper reach it through b
star() { # PART: prints its ways to all three
	local own=$1 k list=
	for k in 1:a 2:c 3:d; do
		if [ "$own" = b ]; then
			list=$list,$(way "${k%:*}.b")
		elif [ "$own" = "${k#*:}" ]; then
			list=$list,$(way "${k%:*}.$own")
		else
			list=$list,$(way "$2.$own" "$own.b" "${k%:*}.b")
		fi
	done
	echo "${list#,}"
}
start_graph tcp,shm b,a b,c b,d
export ZIPPER_ENTRIES="a,b,b+1,b+1 b+1,b,c,b+1 b+1,b,b+1,d"
star_ways() { echo "$(star a 1)" "$(star b)" "$(star c 2)" "$(star d 3)"; }
for program in ordering collectives p2p_mixed; do
	twin "a star" a,b,c,d "1 1 2 1" "$(star_ways)" $program 5
done
ZIPPER_TUNE="all multicast=yes" twin "a star, multicast" a,b,c,d "1 2 2 1" "$(star_ways)" multicast 6
stop_zippers

# --- faults
compile "$ZIP_TOP_SRCDIR/test/lib/talk.c" talk || bail_out "talk.c does not compile"
export ZIPPER_ENTRIES="a,b,b+1 b+1,b,c"
start_graph tcp,shm a,b b,c
by_hand a,b,c "1 1 2" "$(row_ways)" ./talk self
ok "a rank is killed: the job ends" test $? -ne 0
matches "... and those behind two zippers say who" err.c '^libzipper: rank [23] .* rank 0 \(a rank 0 on .*\) died'
is_gone "... and nothing is left"
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b,c "1 1 2" "$(row_ways)" ./talk "${zipper[1]}"
ok "a zipper on the way is killed: the job ends" test $? -ne 0
is_gone "... and nothing is left"
ok "... and the other one goes on" child_runs "${zipper[2]}"
stop_zippers

# Two between a and b: one of them may go.
several_ways() {
	echo "$(way 1.a),$(way 2.a),$(way 1.a a.b 3.b),$(way 2.a a.b 4.b)" "$(way 1.b),$(way 2.b),$(way 3.b),$(way 4.b)" \
		"$(way 3.c c.b 1.b),$(way 4.c c.b 2.b),$(way 3.c),$(way 4.c)"
}
cat >lose.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Everybody with everybody, all content is looked at; in the middle rank 0 kills a process. */
enum { ROUNDS = 60, MAX = 100000 };
static char out[16][MAX], in[16][MAX];
int main(int argc, char **argv)
{
	int rank, size, bad = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Request req[32];
		int n = i % 4 ? 500 : MAX;
		for (int r = 0; r < size; r++) {
			memset(out[r], i + 3 * rank + 7 * r, (size_t)n);
			MPI_Irecv(in[r], n, MPI_CHAR, r, i, MPI_COMM_WORLD, &req[2 * r]);
			MPI_Isend(out[r], n, MPI_CHAR, r, i, MPI_COMM_WORLD, &req[2 * r + 1]);
		}
		if (i == ROUNDS / 2 && rank == 0 && argc > 1)
			kill(atoi(argv[1]), SIGKILL);
		MPI_Waitall(2 * size, req, MPI_STATUSES_IGNORE);
		for (int r = 0; r < size; r++)
			for (int k = 0; k < n; k++)
				bad += in[r][k] != (char)(i + 3 * r + 7 * rank);
	}
	printf("rank %d: %d bad\n", rank, bad);
	MPI_Finalize();
	return bad != 0;
}
END
compile lose.c lose >cc.out 2>&1 || diag_file cc.out
export ZIPPER_ENTRIES="a,b,b+1 a,b,b+1 b+1,b,c b+1,b,c"
for victim in 1 4; do
	start_graph tcp,shm,shm,tcp a,b a,b b,c b,c
	JOB_NUMBER=$((JOB_NUMBER + 1))
	by_hand a,b,c "2 1 2" "$(several_ways)" ./lose "${zipper[victim]}"
	is "zipper $victim of four is killed: the job goes on" $? 0 || { for k in a b c; do diag_file "err.$k"; done; }
	is "... with nothing wrong" "$(cat out.* | LC_ALL=C sort | tr '\n' ,)" "rank 0: 0 bad,rank 1: 0 bad,rank 2: 0 bad,rank 3: 0 bad,rank 4: 0 bad,"
	stop_zippers
done

# A zipper that does not connect for others, and entries that do not fit the way.
next=no
start_graph tcp a,b b,c
export ZIPPER_ENTRIES="a,b,b+1 b+1,b,c"
join_timeout=10s
by_hand a,b,c "1 1 1" "$(row_ways)" ./ordering
ok "a zipper that connects nobody: the job does not start" test $? -ne 0
matches "... and says so" err.a '^libzipper: rank 0 of part a: MPI_Init: .*may not connect to tcp:127.0.0.1:[0-9]* on fabric b \(next in zipperd.conf\)'
JOB_NUMBER=$((JOB_NUMBER + 1))
stop_zippers
next=yes
start_graph tcp a,b b,c
ZIPPER_ENTRIES="a,b,b+1" by_hand a,b,c "1 1 1" "$(row_ways)" ./ordering
ok "entries for one zipper of two: the job does not start" test $? -ne 0
matches "... and says why" err.a '^libzipper: rank 0 of part a: MPI_Init: ZIPPER_ENTRIES'
stop_zippers
done_testing
