#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ZIPPER_PROFILE: the recording has the messages that programs report, natively and merged, from C and Fortran. The file when a job
# dies, or when it cannot be made.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"

ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
cd "$TAP_TMP" || exit 99
for p in patterns forms; do
	compile "$(program "$p.c")" "$p" >cc.out 2>&1 || { diag_file cc.out; bail_out "$p.c does not compile"; }
done

# natively RANKS PROGRAM...: runs with libzipper.so and without a job
natively() {
	local ranks=$1
	shift
	limited 60 "$MPIEXEC" -n "$ranks" env LD_PRELOAD="$PRELOAD_LIST:$YIELD" "$@" </dev/null
}

# While the rest runs: only one of two ranks records. The rank waits for the other one for half a minute.
{
	limited 90 "$MPIEXEC" -n 1 env LD_PRELOAD="$PRELOAD_LIST:$YIELD" ZIPPER_PROFILE=half.zg ./patterns ring : \
		-n 1 env LD_PRELOAD="$PRELOAD_LIST:$YIELD" ./patterns ring </dev/null >half.out 2>half.err
	echo $? >half.rc
} &
half=$!

# same A B: the two graphs have the same in them, but for the times
contents() {
	"$ZIPMAP" show --top 0 "$1" | sed '1s/^[^:]*//; /^time of a rank/,$d; /^in 2 clusters/,$d'
	for class in p2p collective put get; do "$ZIPMAP" show --edges --class $class "$1" | sed "s/^/$class /"; done
}
same() { diff -u <(contents "$1") <(contents "$2"); }

# --- every form, each in its phase
phases() { "$ZIPMAP" show "$1" | sed -n '/^phase *class/,/^$/p' | awk '/^[0-9]/ { print $1, $2, $3, $4, $5 }' | sort; }
edges() { # GRAPH FILE: prints the phases of FILE, which has lines "edge PHASE FROM TO BYTES MESSAGES", as recorded
	local phase
	for phase in $(awk '/^edge/ { print $2 }' "$2" | sort -u); do
		"$ZIPMAP" show --edges --phase "$phase" "$1" | sed "s/^/edge $phase /"
	done | sort
}
form_is() { # NAME, after a run into forms.out and forms.zg
	grep -v ^edge forms.out | sort >want
	phases forms.zg >have 2>err
	ok "$1: the totals of each phase" diff -u want have
	grep ^edge forms.out | sort >want
	edges forms.zg forms.out >have
	ok "$1: ranks of other communicators" diff -u want have
}
export ZIPPER_PROFILE=forms.zg
ok "all forms natively" natively 5 ./forms
natively 5 ./forms >forms.out 2>forms.err
form_is native
merged 60 2+3 ./forms >forms.out 2>forms.err
is "all forms merged" "$?" 0
form_is merged

# --- messages after MPI_Finalize, of sessions that go on
compile "$ZIP_TOP_SRCDIR/test/programs/start/sessions_world.c" sessions >cc.out 2>&1 || diag_file cc.out
ZIPPER_PROFILE=sessions.native.zg natively 4 ./sessions >sessions.out 2>&1
ZIPPER_PROFILE=sessions.merged.zg merged 60 2+2 ./sessions >sessions.out 2>&1
for how in native merged; do
	"$ZIPMAP" show --edges --class p2p sessions.$how.zg >$how.edges 2>&1
	is "sessions beside MPI_Init, $how" "$(awk '{ n += $4 } END { print n }' $how.edges)" $((5 * 4)) || diag_file $how.edges
done

# --- patterns: exactly the edges that the program names, and the same file however it runs
pattern_is() { # NAME ROUNDS BYTES [SHUFFLE]
	local class
	ZIPPER_PROFILE=native.zg natively 6 ./patterns "$@" >native.out 2>native.err || { fail "$1 natively"; diag_file native.err; }
	for class in p2p collective; do
		sed -n "s/^$class //p" native.out | sort >want
		"$ZIPMAP" show --edges --class $class native.zg | sort >have
		ok "$*: $class" diff -u want have
	done
	rm -f merged.zg
	ZIPPER_PROFILE=merged.zg merged 60 2+4 ./patterns "$@" >merged.out 2>merged.err
	ok "$*: the same merged" same native.zg merged.zg || diag_file merged.err
}
pattern_is ring 3 100
pattern_is chain 2 70000
pattern_is stencil 3 100 7
pattern_is tree 3 100
pattern_is cg 4 1000 5
pattern_is alltoall 2 300

# --- Fortran
for f in fortran77.f fortran90.f90 fortran08.f90; do
	if [ -z "$MPIFC" ]; then
		skip "$f" "no MPICH Fortran compiler"
		continue
	fi
	compile "$(program "$f")" fortran >cc.out 2>&1 || { fail "$f does not compile"; diag_file cc.out; continue; }
	for how in native merged; do
		export ZIPPER_PROFILE=$how-$f.zg
		if [ $how = native ]; then natively 4 ./fortran; else merged 60 2+2 ./fortran; fi >fortran.out 2>&1
		"$ZIPMAP" show --edges "$how-$f.zg" >$how.edges 2>&1
	done
	matches "$f is recorded" native.edges '^[0-3] [0-3] [1-9]'
	ok "$f: the same merged" diff -u native.edges merged.edges
done
cat >phases.f <<'END'
      program phases
      include 'mpif.h'
      integer e, r, n, x, y
      call MPI_INIT(e)
      call MPI_COMM_RANK(MPI_COMM_WORLD, r, e)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, e)
      call MPI_PCONTROL(42)
      call MPI_SENDRECV(x, 1, MPI_INTEGER, mod(r + 1, n), 0, y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0,
     &  MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
      call MPI_FINALIZE(e)
      end
END
if [ -n "$MPIFC" ]; then
	ok "compiles" "$MPIFC" -ffixed-line-length-none -o phases phases.f
	ZIPPER_PROFILE=phases.zg natively 2 ./phases >fortran.out 2>&1
	is "phases from Fortran" "$(phases phases.zg)" "42 p2p 2 8 2"
else
	skip "phases from Fortran" "no MPICH Fortran compiler"
fi

# --- with threads
compile "$ZIP_TOP_SRCDIR/test/programs/start/threads.c" threads >cc.out 2>&1 || { diag_file cc.out; bail_out "threads.c does not compile"; }
for how in native merged; do
	export ZIPPER_PROFILE=threads-$how.zg
	if [ $how = native ]; then natively 4 ./threads; else merged 60 2+2 ./threads; fi >threads.out 2>&1
	"$ZIPMAP" show --edges threads-$how.zg >threads-$how.edges 2>&1
done
matches "threads are recorded" threads-native.edges '^[0-3] [0-3] [1-9]'
ok "... the same merged" diff -u threads-native.edges threads-merged.edges

# --- callbacks that MPI_Finalize calls are not recorded, natively or merged
cat >last.c <<'END'
#include <mpi.h>
#include <stddef.h>
static void exchange(void)
{
	int rank, size, x = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int last(MPI_Comm comm, int keyval, void *value, void *extra)
{
	exchange();
	return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
	int keyval;
	MPI_Init(&argc, &argv);
	exchange();
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	MPI_Finalize();
	return 0;
}
END
compile last.c last >cc.out 2>&1 || diag_file cc.out
ZIPPER_PROFILE=last-native.zg natively 4 ./last
ZIPPER_PROFILE=last-merged.zg merged 60 2+2 ./last
is "a callback at the end" "$(phases last-native.zg)" "1 p2p 4 16 4"
ok "... the same merged" same last-native.zg last-merged.zg

# --- the file
unset ZIPPER_PROFILE
mkdir empty && cd empty || exit 99
natively 2 ../patterns ring >/dev/null 2>&1
is "nothing is written unasked" "$(ls)" ""
cd .. || exit 99
# puts the first line of standard error into err; returns the status
export ZIPPER_PROFILE=mine
echo "my own text" >mine
natively 2 ./patterns ring >out 2>err
is "a file that is no graph is an error" "$?" 1
matches "... with one line" err '^libzipper: rank 0: MPI_Init: ZIPPER_PROFILE: mine exists and is no recorded graph'
is "... and stays as it is" "$(cat mine)" "my own text"
ZIPPER_PROFILE=$TAP_TMP/nowhere/graph natively 2 ./patterns ring >out 2>err
is "a folder that is not there is an error" "$?" 1
matches "... with one line" err 'MPI_Init: ZIPPER_PROFILE: .*nowhere/graph.*: No such file'
export ZIPPER_PROFILE=dead.zg
cp native.zg dead.zg
natively 2 ./patterns no-such-pattern >out 2>err
ok "a job that dies leaves no graph, not even an old one" test ! -e dead.zg
is "... and nothing half done" "$(find . -name '*.part')" ""
# the same with a rank 0 that is slow to look at the file
cat >slow_open.c <<'END'
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int slowly(const char *path, int flags, int mode)
{
	if (strstr(path, ".part"))
		usleep(300000);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open(const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	int mode = va_arg(ap, int);
	va_end(ap);
	return slowly(path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
END
if "${CC:-gcc}" -shared -fPIC -o slow_open.so slow_open.c >cc 2>&1; then
	cp native.zg dead.zg
	limited 60 "$MPIEXEC" -n 2 env LD_PRELOAD="$PRELOAD_LIST:$YIELD:$PWD/slow_open.so" \
		./patterns no-such-pattern >out 2>err </dev/null
	ok "a rank that dies before rank 0 has seen to the file: no old graph" test ! -e dead.zg
	is "... and nothing half done" "$(find . -name '*.part')" ""
else
	diag_file cc
	fail "slow_open.c compiles"
fi
# a relative name means the folder of MPI_Init
cat >moves.c <<'END'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	int rc = chdir(argv[1]);
	MPI_Finalize();
	return rc != 0;
}
END
compile moves.c moves >cc.out 2>&1 || diag_file cc.out
ZIPPER_PROFILE=stays.zg natively 2 ./moves /proc >out 2>err
is "a program that goes to another folder" "$(cat err)" ""
ok "... has its graph where the name was given" "$ZIPMAP" show stays.zg
natively 2 ./patterns ring >out 2>err
ok "the next one has its graph" "$ZIPMAP" show dead.zg
is "... and nothing else" "$(find . -name '*.part')" ""

# --- times. The program makes ranks wait. How long they wait depends on the machine: any time will do.
cat >slow.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, size, x = 0, slow = argc > 1 ? atoi(argv[1]) : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++) {
		if (rank == slow)
			usleep(200000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Pcontrol(2);
	if (rank == slow) {
		for (int r = 0, y; r < size; r++)
			if (r != slow)
				MPI_Recv(&y, 1, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		usleep(200000);
		for (int r = 0; r < size; r++)
			if (r != slow)
				MPI_Send(&x, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
	} else {
		MPI_Request request;
		MPI_Irecv(&x, 1, MPI_INT, slow, 0, MPI_COMM_WORLD, &request);
		MPI_Send(&rank, 1, MPI_INT, slow, 1, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Pcontrol(0);
	usleep(200000);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
compile slow.c slow >cc.out 2>&1 || diag_file cc.out
compile "$(program waits.c)" waits >cc.out 2>&1 || diag_file cc.out
# ns FILE ROW COLUMN: the time there, in whole nanoseconds. Columns: 3 least, 4 mean, 5 most
ns() {
	awk -v row="$2" -v column="$3" '/^time of a rank/ { on = 1 } on { sub(/in MPI/, "in-MPI"); sub(/waiting for clusters/, "waiting")
		if ($1 == row) { at = 3 + 2 * (column - 3); unit = $(at + 1)
			printf "%d\n", $at * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1); exit } }' "$1"
}
calls() { awk -v row="$2" '/^time of a rank/ { on = 1 } on { sub(/waiting for clusters/, "waiting"); if ($1 == row) { print $2; exit } }' "$1"; }
more_than_0() { [ "$1" -gt 0 ]; }
for how in native merged; do
	export ZIPPER_PROFILE=slow-$how.zg
	if [ $how = native ]; then natively 4 ./slow; else merged 60 2+2 ./slow; fi >out 2>err
	"$ZIPMAP" show slow-$how.zg >show 2>&1
	is "$how: calls are counted by kind" "$(calls show barrier) $(calls show wait) $(calls show start) $(calls show send)" "12 3 3 6"
	ok "$how: waiting in barriers is time in MPI" more_than_0 "$(ns show barrier 5)" || diag_file show
	ok "$how: MPI_Wait, too" more_than_0 "$(ns show wait 5)" || diag_file show
	ok "$how: the run, too" more_than_0 "$(ns show run 5)" || diag_file show
	matches "$how: a sentence says how much is in MPI" show '^[0-9.]+ % of the run is in MPI: from [0-9.]+ % on rank 0 to [0-9.]+ % on rank [1-3]$'
	"$ZIPMAP" show --phase 2 slow-$how.zg >show 2>&1
	is "$how: times of a phase" "$(calls show barrier) $(calls show wait)" " 3"
	[ $how = merged ] || continue
	# rank 0 sends to the others only after they have said that they receive; rank 0 itself may come late
	ok "merged: the ranks of the other cluster wait for the bridge" [ "$(calls show waiting)" -ge 2 ] || diag_file show
done
ZIPPER_PROFILE=waits.zg merged 60 2+2 ./waits >out 2>err
is "waits inside the clusters" "$?" 0 || diag_file err
for phase in $(awk '{ print $1 }' out); do
	"$ZIPMAP" show --phase "$phase" waits.zg >show 2>&1
	is "$(awk -v p="$phase" '$1 == p { $1 = ""; print substr($0, 2) }' out): no wait for another cluster" "$(calls show waiting)" "" || diag_file show
done
"$ZIPMAP" show slow-native.zg >show 2>&1
ok "native: nothing waits for the bridge" bash -c '! grep -q "waiting for" show' || diag_file show
"$ZIPMAP" convert slow-native.zg converted.zg
is "a converted graph has no times" "$("$ZIPMAP" show converted.zg | grep -c '^time of a rank')" 0

# --- a graph that cannot be written at the end
cat >folder.c <<'END'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int rc = rank == 0 ? rmdir(argv[1]) : 0;
	MPI_Finalize();
	return rc != 0;
}
END
compile folder.c folder >cc.out 2>&1 || diag_file cc.out
mkdir gone
ZIPPER_PROFILE=gone/graph natively 2 ./folder gone >out 2>err
is "a folder that goes is no error of the program" "$?" 0
matches "... the rank names itself and the file" err \
	'^libzipper: rank 0: MPI_Finalize: ZIPPER_PROFILE: no graph of this run: on host [^ ]+: .*/gone/graph.*: No such file'

# --- zmpirun
unset ZIPPER_PROFILE
for clusters in "1 -n 6" 2,4; do
	limited 60 "$ZMPIRUN" --clusters $clusters --profile zmpirun.zg -wdir / "$PWD/patterns" cg 4 1000 5 >out 2>err </dev/null
	is "zmpirun --clusters $clusters --profile" "$?" 0 || diag_file err
	ZIPPER_PROFILE=native.zg natively 6 ./patterns cg 4 1000 5 >out 2>err
	ok "... has the graph of the native run, here" same native.zg zmpirun.zg
	rm -f zmpirun.zg
done
ZIPPER_PROFILE=zmpirun.zg limited 60 "$ZMPIRUN" --clusters 1 -n 2 ./patterns ring >out 2>err </dev/null
ok "zmpirun records as ZIPPER_PROFILE says" "$ZIPMAP" show zmpirun.zg
limited 60 "$ZMPIRUN" --clusters 1 -n 2 -env ZIPPER_PROFILE env.zg ./patterns ring >out 2>err </dev/null
ok "... and -env" "$ZIPMAP" show env.zg
for clusters in 1 2; do
	limited 60 "$ZMPIRUN" --clusters $clusters -n 1 -env ZIPPER_PROFILE env.zg ./patterns ring : -n 1 ./patterns ring >out 2>err </dev/null
	is "... and -env of one program alone, --clusters $clusters" "$? $(cat err)" "2 zmpirun: ZIPPER_PROFILE is 'env.zg' for ./patterns and '' \
for ./patterns: all ranks are recorded in one file, so use --profile FILE in place of -env"
done
limited 60 "$ZMPIRUN" --clusters 1 -n 2 --profile mine ./patterns ring >out 2>err </dev/null
is "zmpirun: a file that is no graph" "$?" 1
matches "... has one line" err '^libzipper: rank 0: MPI_Init: ZIPPER_PROFILE: .*/mine exists and is no recorded graph'
limited 60 "$ZMPIRUN" --clusters 2 --no-mpi --profile no.zg true >out 2>err </dev/null
is "zmpirun: nothing to record" "$? $(head -n1 err)" \
	"2 zmpirun: --profile records calls of MPI, and --no-mpi says that there are none"

wait "$half"
is "a job of which only one rank records does not begin" "$(cat half.rc)" 1
matches "... with one line" half.err '^libzipper: rank 0: MPI_Init: ZIPPER_PROFILE: some ranks of this job do not record.*: set it for all ranks$'
ok "... and leaves no graph" test ! -e half.zg
done_testing
