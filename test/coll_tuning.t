#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every choice of the tuning table gives the right result: the programs of the twin tests under tables that force the
# algorithms which the defaults keep for larger sizes, more ranks or more clusters. A choice that is to save messages saves
# them.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/tuned.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
cd "$TAP_TMP" || exit 99

twin() { # PROGRAM LAYOUT RULES
	agrees "$@"
	case $? in
	0) pass "$1 as $2: $3" ;;
	77) skip "$1 as $2: $3" "native MPI does not come to its end" ;;
	*)
		fail "$1 as $2: $3"
		disagreement
		;;
	esac
}

# of kinds that have other cases here: only in make check-long
more() { # PROGRAM LAYOUT RULES
	[ -z "$ZIP_LONG" ] || twin "$@"
}

# alltoall: some blocks together and some alone; all together; by several leaders
twin coll_moves 1+3 "alltoall aggregate=8 window=1; gather alone=1; scatter alone=1" # the latter: all blocks alone
more coll_moves 2+2+2 "alltoall aggregate=1M leaders=2 window=2"
twin coll_nonblocking 2+2 "alltoall aggregate=1K leaders=2"
more coll_errors 1+1+2 "alltoall aggregate=1K"
# the same between groups
more inter_coll 2+2 "alltoall aggregate=1M"
more inter_coll 1+3 "alltoall aggregate=8 window=1"
more inter_coll 2+2+2 "alltoall aggregate=64 leaders=2 window=2"
more inter_errors 2+2 "alltoall aggregate=1K leaders=2"

# gather and scatter: some blocks of vectors alone and the rest by leaders; no block alone
twin coll_moves 2+2+2 "gather alone=40; scatter alone=40 together=16; allgather segment=1K segments=3 leaders=2 multicast=yes"
more coll_moves 2+2 "gather alone=0; scatter alone=0"
more collectives 2+3 "gather alone=16; scatter alone=16"
more coll_nonblocking 2+2 "gather alone=1; scatter alone=1"
more coll_errors 1+1+2 "gather alone=8; scatter alone=8"
more inter_coll 3+3 "gather alone=24; scatter alone=24 together=0"
more inter_coll 2+2+2 "gather alone=1; scatter alone=1"

# allgather: spread in segments while the rest arrives
more coll_moves 2+2 "allgather segment=256"
more coll_moves 1+3 "allgather segment=512 multicast=no"
twin collectives 3+2 "allgather segment=256 segments=1024"
more coll_nonblocking 2+2 "allgather segment=256"
more coll_errors 1+1+2 "allgather segment=256"

# the same with data that was packed for the wire
export ZIPPER_REPRESENTATION=external32
more coll_moves 2+2 "gather alone=40; scatter alone=40; allgather segment=256"
more coll_moves 1+1+2 "gather alone=1; scatter alone=1; allgather segment=1K leaders=2"
more inter_coll 2+2 "all segment=256 leaders=2"
more inter_coll 1+3 "all segment=1K"
twin inter_coll 1+2+1 "all segment=2K leaders=2; allgather segment=1G"
twin coll_scans 1+3 "scan segment=1K leaders=2"
unset ZIPPER_REPRESENTATION

# several leaders, also with more than two clusters
more coll_moves 2+2 "all leaders=2 segment=4K; alltoall aggregate=8"
more coll_reductions 2+2+2 "all leaders=2; allreduce exchange=slices" # with segments: below
more coll_errors 2+2 "all leaders=2"
more coll_errors 2+2+2 "all leaders=2 segment=256"
twin coll_reductions 1+1+1+1 "allreduce exchange=doubling segment=8K"
twin reproducible 2+2 "all leaders=2 segment=20K"
more reproducible 1+1+1 "allreduce exchange=doubling"
more reproducible 2+2 "reduce_scatter leaders=1 segment=1K"
more reproducible 1+2+1 "reduce_scatter leaders=2 segment=2K segments=5"
twin coll_reductions 1+3 "reduce_scatter segment=256 segments=1024"
more coll_reductions 2+2+2 "reduce_scatter leaders=2 segment=256"
more reproducible 1+1+1+1 "allreduce exchange=slices"

# between groups: in segments and by several leaders
more inter_coll 2+2 "all segment=256 segments=1024"
more inter_coll 2+2 "all segment=4K leaders=2"
more inter_coll 1+3 "all segment=1000 leaders=2"
twin inter_coll 3+3 "all segment=2K leaders=3; reduce inside=gather; alltoall aggregate=1K leaders=2"
twin coll_reductions 4+2 "all inside=native"
more coll_errors 2+2 "all inside=native leaders=2"
more reproducible 2+2 "all inside=native leaders=2 segment=20K"
more inter_coll 2+2+2 "all segment=2K segments=5 leaders=2 inside=native"
twin inter_coll 2+2+2 "all segment=512 multicast=no; bcast between=chain; allgather segment=256"
more inter_coll 1+3 "allgather segment=1K segments=3"
more inter_coll 3+3 "allgather segment=512 leaders=2"
more inter_coll 4+4 "allgather bytes>=1K leaders=2 segment=1K"
twin inter_coll 1+2+2 "reduce_scatter segment=1K leaders=2"
more inter_coll 3+3 "reduce_scatter segment=256 leaders=3"
more inter_coll 1+2+1+2 "bcast segment=1K; reduce segment=256; allreduce leaders=2"
twin inter_errors 2+2 "all segment=256 leaders=2"

# scans in segments, and by several members of each cluster
twin coll_scans 2+2 "scan segment=256 segments=1024"
more coll_scans 1+3 "scan segment=1000 segments=7 multicast=yes"
more coll_scans 2+2 "scan segment=4K leaders=2"
more coll_scans 3+2 "scan segment=2K leaders=2"
more coll_scans 2+2+2 "scan segment=8K leaders=2 multicast=no"
twin coll_scans 3+4+3 "scan segment=5000 leaders=3 depth=2"
more coll_errors 2+2 "scan segment=256 leaders=2"

# --- segments that cross at the same time: one alone, and buffers that are used again
twin coll_reductions 2+2+2 "all segment=256 depth=1 leaders=2; allreduce exchange=slices"
more coll_reductions 1+1+2+1+1 "all segment=256 depth=3; allreduce exchange=doubling"
more coll_scans 3+2 "scan segment=256 depth=2 leaders=2"
more coll_scans 2+1+2 "scan segment=256 depth=1"
more inter_coll 1+2+1 "all segment=256 depth=3 leaders=2"

right() { # PROGRAM LAYOUT RULES; it has no twin
	build_program "$1"
	ZIPPER_TUNE=$3 merged 60 "$2" "./$1" >out 2>err
	ok "$1 as $2: $3" grep -q "No errors" out || diag_file out
}
right same_bits 2+2 "all leaders=2 segment=20K"
right same_bits 1+1+1+1 "allreduce exchange=doubling"
right same_bits 1+1+2+1 "allreduce exchange=doubling segment=4K"
right same_bits 2+1+1 "allreduce exchange=slices"

# everything in all forms
twin coll_all_forms 2+2 "all segment=256 leaders=2; alltoall aggregate=1K"
more coll_all_forms 1+3 "all segment=1K depth=1; gather alone=64; scatter alone=64; alltoall aggregate=0 window=1"
right inter_all_forms 3+3 "all segment=512 leaders=2; alltoall aggregate=1K"
right inter_all_forms 2+2+2 "all segment=1K depth=2 multicast=no; gather alone=64; scatter alone=64"

# clusters that pass blocks on to each other: three to five clusters, one leader and several, one block and many
twin coll_moves 1+2+1+2 "all between=pipeline segment=1K"
more coll_moves 2+1+1+1+2 "all between=chain segment=512 depth=1"
twin coll_moves 2+2+2 "all between=tree segment=256 segments=5 leaders=2 depth=3"
more coll_moves 1+1+1+1+1 "all between=sequential segment=2K"
more coll_nonblocking 1+1+2 "all between=chain segment=2K; allreduce exchange=slices"
twin coll_nonblocking 2+2+2 "all between=pipeline segment=256 leaders=2 depth=2; allreduce exchange=slices"
more coll_errors 2+1+1 "all between=tree; allreduce exchange=slices"
twin coll_all_forms 1+2+1 "all between=chain segment=256 depth=4; allreduce exchange=slices"
more coll_all_forms 2+2+2 "all between=tree segment=1K leaders=2; allreduce exchange=slices"
more coll_reductions 2+2+2 "all between=pipeline segment=256 leaders=2 depth=3; allreduce exchange=slices"
more coll_reductions 1+1+2+1+1 "all between=chain segment=8K; allreduce exchange=slices"
more coll_reductions 1+2+1+2 "all between=tree segment=2K depth=1; allreduce exchange=slices"
more reproducible 1+1+2+1 "all between=sequential segment=4K; allreduce exchange=slices"
right coll_order 1+2+1 "all between=pipeline segment=256; allreduce exchange=slices"
right same_bits 2+1+1 "all between=chain segment=4K; allreduce exchange=slices"
export ZIPPER_REPRESENTATION=external32
twin coll_moves 1+2+1 "all between=chain segment=300; gather alone=40; scatter alone=40"
more coll_all_forms 1+1+1+1 "all between=pipeline segment=256; allreduce exchange=slices"
more coll_reductions 2+2+2 "all between=tree leaders=2 segment=1K; allreduce exchange=slices"
unset ZIPPER_REPRESENTATION

# without the memory that ranks of one host share
export ZIPPER_SHARED=no
twin coll_moves 2+2 "all leaders=1"
twin coll_reductions 1+3 "all leaders=1"
unset ZIPPER_SHARED

# the same bits in two runs
for i in 1 2; do
	ZIPPER_TUNE="all leaders=2; allreduce exchange=doubling" merged 60 2+1+1 ./reproducible sums >sums.$i 2>err
	grep -a : sums.$i | grep -v rank | LC_ALL=C sort >sorted.$i
done
ok "sums are printed" test -s sorted.1
ok "two runs give the same bits" cmp sorted.1 sorted.2
# the bits depend on the order inside a cluster: MPICH adds up in a tree, or one rank adds up all that it has collected
added_up() { # FILE WAY [no]: sums of ranks that are four in one cluster, and share no memory
	ZIPPER_TUNE="all inside=$2 leaders=1" ZIPPER_SHARED=${3:-yes} merged 60 4+1 ./reproducible sums 2>err |
		grep -a '^[0-9]*:' | LC_ALL=C sort >"added.$1"
}
added_up native native
added_up gather gather
added_up auto auto
added_up auto-alone auto no
added_up native-alone native no
small() { grep '^100:' "added.$1" | paste -sd' '; }
ok "sums are printed" test -n "$(small native)"
ok "inside=native and inside=gather: sums of 100 in another order" test "$(small native)" != "$(small gather)"
is "inside=auto: as gathered, where ranks share memory" "$(small auto)" "$(small gather)"
is "inside=auto: as native, where they do not" "$(small auto-alone)" "$(small native)"
ok "inside=native: whether they do or not" cmp added.native added.native-alone
# one rank combines contributions where they lie, or after a message: roots and leaders are not the first ranks
for parts in 4+1 1+4; do
	for memory in yes no; do
		ZIPPER_TUNE="all inside=gather leaders=2 segment=20K" ZIPPER_SHARED=$memory merged 60 $parts ./reproducible sums 2>err |
			grep -a '^[0-9]*:\|^pieces' | LC_ALL=C sort >"given.$memory"
	done
	ok "sums are printed" test -s given.yes
	ok "inside=gather, $parts: the same bits with and without shared memory" cmp given.yes given.no
done
# pieces of a sum, whatever the segments
for i in 1G 1K 5000; do
	for leaders in 1 2; do
		ZIPPER_TUNE="reduce_scatter leaders=$leaders inside=gather segment=$i" merged 60 3+2 ./reproducible sums 2>err |
			grep -a "^pieces" | LC_ALL=C sort >pieces.$leaders.$i
	done
done
ok "sums are printed" test -s pieces.1.1G
for leaders in 1 2; do
	ok "reduce_scatter in segments of 1000, $leaders leaders: the same bits" cmp pieces.$leaders.1G pieces.$leaders.1K
	ok "reduce_scatter in segments of 5000, $leaders leaders: the same bits" cmp pieces.$leaders.1G pieces.$leaders.5000
done

# sums of the ranks before, whichever rank carries them
build_program coll_scans
for rules in segment=1G segment=1K "segment=5000 leaders=2" "segment=1G leaders=2"; do
	ZIPPER_TUNE="scan $rules" merged 60 3+2 ./coll_scans sums 2>err | grep -a " of 5: " | LC_ALL=C sort >"scans.$rules"
done
ok "prefixes are printed" test -s scans.segment=1G
for rules in segment=1K "segment=5000 leaders=2" "segment=1G leaders=2"; do
	ok "scan $rules: the same bits" cmp scans.segment=1G "scans.$rules"
done

if [ -z "$ZIP_LAB$ZIP_VM" ]; then
	cat >alltoall.c <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	char out[64 * 8] = "", in[64 * 8];
	int rank, size;
	MPI_Comm c = MPI_COMM_WORLD, half;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	if (argc > 2) { /* between the groups of an intercommunicator */
		MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, 0, &half);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 1, &c);
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		MPI_Alltoall(out, 64, MPI_BYTE, in, 64, MPI_BYTE, c);
	return MPI_Finalize();
}
END
	compile alltoall.c alltoall || bail_out "alltoall.c does not compile"
	counted() { # RULES [between]: prints the messages and bytes of the calls
		ZIPPER_TUNE=$1 limited 60 "$ZMPIRUN" --stats --clusters 3+3 ./alltoall "${@:2}" 2>&1 </dev/null |
			sed -n 's/.*c1 -> c2: \([0-9]*\) messages, \([0-9]*\) bytes.*/\1 \2/p'
	}
	# count RULES MESSAGES BYTES [between]: 100 calls need 100 times MESSAGES, some more for joining and leaving, and 100 times BYTES
	count() {
		local n b n0 b0
		read -r n0 b0 < <(counted "$1" 0 $4)
		read -r n b < <(counted "$1" 100 $4)
		ok "3+3 ranks, $1${4:+, $4}: $2 messages and $3 bytes each way ($((n - n0)) and $((b - b0)) in 100)" \
			test -n "$n" -a -n "$n0" -a $((n - n0)) -ge $(($2 * 100)) -a $((n - n0)) -le $(($2 * 100 + 10)) -a $((b - b0)) = $(($3 * 100))
	}
	cat >bcast.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	static char data[100000], want[100000];
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; i < sizeof(want); i++)
		want[i] = (char)(i % 251);
	memcpy(data, want, rank == 1 ? sizeof(data) : 0);
	MPI_Bcast(data, sizeof(data), MPI_BYTE, 1, MPI_COMM_WORLD);
	printf("%d of %d: %s\n", rank, size, memcmp(data, want, sizeof(data)) ? "wrong" : "right");
	return MPI_Finalize();
}
END
	compile bcast.c bcast || bail_out "bcast.c does not compile"
	# planned PLAN WANT: bytes from cluster to cluster; the root is in c2, then come c3, c4, c1
	planned() {
		ZIPPER_TUNE="bcast segment=1000 between=$1" limited 60 "$ZMPIRUN" --stats --clusters 1+2+2+1 ./bcast >out 2>err </dev/null
		is "$1: all have it" "$(grep -c right out)" 6 || diag_file err
		is "$1: who sends to whom" "$(sed -n 's/.*\(c[1-4]\) -> \(c[1-4]\): [0-9]* messages, \([1-9][0-9]*\) bytes.*/\1>\2:\3/p' err | LC_ALL=C sort | tr '\n' ' ')" "$2 "
	}
	planned all "c2>c1:100000 c2>c3:100000 c2>c4:100000"
	planned chain "c2>c3:100000 c3>c4:100000 c4>c1:100000"
	planned tree "c2>c3:100000 c2>c4:100000 c3>c1:100000"
	cat >late.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* The root's neighbour has it before the other clusters are there, or these before the neighbour is. */
int main(int argc, char **argv)
{
	int rank, bytes = atoi(argv[1]), away_late = argv[2][0] == 'a';
	char *data = calloc(1, (size_t)bytes), word = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int r = 2; rank && (rank == 1) != away_late && r < 4; r++)
		if (rank == r || rank == 1)
			MPI_Recv(&word, 1, MPI_BYTE, rank == 1 ? r : 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	data[bytes - 1] = rank == 0;
	MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int r = 2; rank && (rank == 1) == away_late && r < 4; r++)
		if (rank == r || rank == 1)
			MPI_Send(&word, 1, MPI_BYTE, rank == 1 ? r : 1, 0, MPI_COMM_WORLD);
	printf("rank %d: %s\n", rank, data[bytes - 1] == 1 ? "right" : "wrong"); /* puts would be two writes */
	return MPI_Finalize();
}
END
	compile late.c late || bail_out "late.c does not compile"
	for plan in all chain tree pipeline; do
		for call in "1000000 away" "1000000 neighbour" "30000 neighbour"; do
			# shellcheck disable=SC2086 # words
			ZIPPER_TUNE="bcast segment=200K between=$plan" merged 30 2+1+1 ./late $call >out 2>err
			is "$plan, $call late: nobody waits for them" "$? $(grep -c right out)" "0 4" || diag_file err
		done
	done
	count "alltoall aggregate=0" 9 576
	count "alltoall aggregate=1K leaders=3" 3 576
	count "alltoall aggregate=1K leaders=1" 1 576
	count "alltoall aggregate=0" 9 576 between
	count "alltoall aggregate=1K leaders=3" 6 612 between # with their sizes
	count "alltoall aggregate=1K leaders=1" 2 612 between
fi
done_testing
