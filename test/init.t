#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Init with a wrong environment: one line with the reason, and an exit status. Without a job, and in programs that do not use
# MPI, libzipper does nothing. The progress thread moves messages while the program computes.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"

SO=$ZIP_TOP_BUILDDIR/libzip/.libs/libzipper.so
HELLO=$TAP_TMP/hello
KEY=$(printf '%064d' 7)
cd "$TAP_TMP" || exit 99
compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" "$HELLO" >cc.out 2>&1 ||
	{ diag_file cc.out; bail_out "hello.c does not compile"; }

# with VARIABLE=VALUE... -- COMMAND: runs the command preloaded
preloaded() { env LD_PRELOAD="$SO" "$@"; }
start() { limited 20 "$MPIEXEC" -n 2 env LD_PRELOAD="$SO" "$@" "$HELLO" </dev/null >out 2>err; }
# refused NAME PATTERN VARIABLE=VALUE...
refused() {
	local name=$1 pattern=$2
	shift 2
	start "$@"
	local rc=$?
	if [ $rc = 1 ] && [ "$(grep -c '^libzipper: ' err)" = 1 ] && grep -q "^libzipper: rank 0\( of part a\)\?: MPI_Init: .*$pattern" err; then
		pass "$name"
	else
		fail "$name"
		diag "exit status $rc; wanted one line with: $pattern"
		diag_file err
	fi
}
NO_KEY="ZIPPER_JOB=x ZIPPER_PARTS=a,b ZIPPER_PART=a ZIPPER_ZIPPERD=tcp:127.0.0.1:9
	ZIPPER_MODULE_DIR=$ZIP_TOP_BUILDDIR/common/.libs"
JOB="$NO_KEY ZIPPER_KEY=$KEY"

# --- nothing to do
is "a program without MPI runs as ever" "$(ZIPPER_JOB=x preloaded sh -c 'echo here' 2>&1)" here
start
is "without a job the program runs natively" "$(sort out)" \
	"$(limited 20 "$MPIEXEC" -n 2 "$HELLO" </dev/null | sort)"
start ZIPPER_LOG=debug
is "... also with variables that name no job" "$?" 0

# --- wrong environment; words are split on purpose
# shellcheck disable=SC2086
{
	refused "a misspelt variable" 'unknown variable ZIPPER_JBO.*ZIPPER_JOB' ZIPPER_JBO=1
	refused "a part without a job" 'ZIPPER_PART is set, but ZIPPER_JOB is not' ZIPPER_PART=a
	refused "a job without parts" 'ZIPPER_PARTS is not' ZIPPER_JOB=x ZIPPER_PART=a
	refused "a job without a key" 'your key for zipperd: .*/\.zipper/key: No such file' $NO_KEY HOME="$TAP_TMP"
	mkdir -p home/.zipper
	(umask 077 && echo "me $KEY" >home/.zipper/key)
	refused "a key in the home directory is taken" 'zipperd: cannot connect to tcp:127.0.0.1:9: ' $NO_KEY \
		HOME="$TAP_TMP/home" ZIPPER_USER=me ZIPPER_KEY= ZIPPER_KEY_FILE=
	refused "... if it is this user's" 'home/.zipper/key: there is no key for user you' $NO_KEY \
		HOME="$TAP_TMP/home" ZIPPER_USER=you
	refused "a name that is none" 'ZIPPER_USER is no name' $JOB ZIPPER_USER=me,you
	refused "a bad key" 'ZIPPER_KEY: a key is 64' $JOB ZIPPER_KEY=12
	refused "a key file that is not there" 'nokey: ' $NO_KEY ZIPPER_KEY_FILE="$TAP_TMP/nokey"
	refused "a part twice" 'ZIPPER_PARTS=a,a: ' $JOB ZIPPER_PARTS=a,a
	refused "a bad name" 'ZIPPER_JOB is no name' $JOB ZIPPER_JOB='a,b'
	refused "a bad choice" 'ZIPPER_WAIT: .*perhaps' $JOB ZIPPER_WAIT=perhaps
	matches "... says which part's it is" err '^libzipper: rank 0 of part a: MPI_Init: '
	refused "a bad address" 'ZIPPER_ZIPPERD: ' $JOB ZIPPER_ZIPPERD=tcp:
	refused "a bad hop" 'ZIPPER_ZIPPERD: a hop is written >FROM>TO>ADDRESS' $JOB ZIPPER_ZIPPERD='tcp:127.0.0.1:9>a'
	refused "entries of more zippers than there are" 'ZIPPER_ENTRIES: it is for 2 zippers, and the job has 1' $JOB \
		"ZIPPER_ENTRIES=a,b a,b"
	refused "entries of a part less" 'ZIPPER_ENTRIES: "a" is not the names of fabrics, one for each of the parts a,b' $JOB \
		ZIPPER_ENTRIES=a
	refused "another number of hops than to that zipper" \
		'ZIPPER_ENTRIES: rail 0, by the zipper at tcp:127.0.0.1:9: .* 0 hops, but its entries say 1 of part a' $JOB \
		ZIPPER_ENTRIES=a+1,b
	refused "... or none" 'rail 0, by the zipper at tcp:127.0.0.1:10: .* 1 hops, but its entries say 0 of part a' $JOB \
		ZIPPER_ZIPPERD='tcp:127.0.0.1:9>a>b>tcp:127.0.0.1:10'
	refused "entries without zippers" 'ZIPPER_ENTRIES is set, but ZIPPER_ZIPPERD is not' ZIPPER_JOB=x ZIPPER_KEY=$KEY \
		ZIPPER_HOSTFILE="$TAP_TMP/nohosts" ZIPPER_ENTRIES=a,b
	each="env LD_PRELOAD=$SO $JOB"
	limited 20 "$MPIEXEC" -n 1 $each "$HELLO" : -n 1 $each ZIPPER_PART=b "$HELLO" </dev/null >out 2>err
	is "one launcher for two parts: status" "$?" 1
	is "... one line, at once" "$(grep '^libzipper: ' err)" "libzipper: rank 0 of part a: MPI_Init: ZIPPER_PART differs among \
the ranks of one launcher: start each part by itself, as with srun --het-group=N for each, or all of them with ZIPPER_HOSTFILE"
	refused "no zipperd there" 'zipperd: cannot connect to tcp:127.0.0.1:9: ' $JOB
	refused "no module" 'zipauth.so.*ZIPPER_MODULE_DIR' $JOB ZIPPER_MODULE_DIR="$TAP_TMP"
	for table in '{ const char *release; } zauth_module = { "0.0.0" }' '{ int (*first)(void); } zauth_module = { old }'; do
		echo "static __attribute__((unused)) int old(void) { return 0; } const struct $table;" |
			${CC:-gcc} -shared -fPIC -x c - -o zipauth.so
		refused "a module of another release" '/zipauth.so is of another release' $JOB ZIPPER_MODULE_DIR="$TAP_TMP"
	done
	rm zipauth.so
	refused "a tuning table that is not there" 'ZIPPER_TUNING: .*notable: ' $JOB ZIPPER_TUNING="$TAP_TMP/notable"
	printf '\nbcast segment=none\n' >table
	refused "a bad tuning table" "table:2: segment: 'none' is not" $JOB ZIPPER_TUNING="$TAP_TMP/table"
	refused "a bad rule" "ZIPPER_TUNE:2: unknown collective 'bcats'" $JOB ZIPPER_TUNE="bcast segment=1K;bcats segment=1K"
	refused "a hostfile that is not there" 'nohosts: ' $JOB ZIPPER_HOSTFILE="$TAP_TMP/nohosts"
	printf '#ZIP cluster a\nelsewhere:2\n#ZIP cluster b\nfaraway:2\n#ZIP zipper z a=tcp:127.0.0.1:9 b=tcp:127.0.0.1:9\n' >hosts
	refused "a hostfile without this host" 'hosts: no cluster has host ' ZIPPER_JOB=x ZIPPER_KEY=$KEY \
		ZIPPER_HOSTFILE="$TAP_TMP/hosts" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs"
}

# --- the progress thread
if [ -x "$ZMPIRUN" ]; then
	cat >compute.c <<'END'
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, bytes = 4 << 20;
	char *data = calloc(1, (size_t)bytes);
	MPI_Request request;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	double end = MPI_Wtime() + atoi(argv[1]);
	if (rank == 0) {
		memset(data, 1, (size_t)bytes);
		MPI_Isend(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
		/* "computes" until the message is there, but leaves the cores to others: the test is about who moves it */
		while (access(argv[2], F_OK) != 0 && MPI_Wtime() < end)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		printf("%s\n", access(argv[2], F_OK) == 0 ? "meanwhile" : "afterwards");
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		close(open(data[bytes - 1] == 1 ? argv[2] : "wrong", O_CREAT | O_WRONLY, 0600));
	}
	MPI_Finalize();
	return 0;
}
END
	compile compute.c compute >cc.out 2>&1 || diag_file cc.out
	is "without the thread a large message waits for the computation" \
		"$(merged 60 1+1 ./compute 2 "$PWD/without" 2>&1)" afterwards
	is "with the thread it does not" \
		"$(ZIPPER_PROGRESS=thread merged 90 1+1 ./compute 60 "$PWD/with" 2>&1)" meanwhile

	# --- what is not there: a program that goes on after the error is not alone with that
	compile "$ZIP_TOP_SRCDIR/test/programs/start/unsupported.c" unsupported >cc.out 2>&1 || diag_file cc.out
	merged 60 2+2 ./unsupported >out 2>err
	is "a function that is not there is named, once" "$(grep 'that spans clusters; the program has got' err)" \
		"libzipper: warn: rank 0: MPI_Win_allocate_shared is not supported on a communicator that spans clusters; the program has got an error (reported once)"

	# --- sessions: the end of a program without MPI_Finalize
	cat >ends.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *how = argv[argc > 1];
	MPI_Session s;
	MPI_Group g;
	MPI_Comm all;
	int rank, x;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
	MPI_Comm_create_from_group(g, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
	MPI_Comm_rank(all, &rank);
	if (!strcmp(how, "in the middle") && rank == 1)
		exit(7);
	if (!strcmp(how, "abort") && rank == 1)
		MPI_Abort(all, 9);
	if (strcmp(how, "child") && strcmp(how, "exit") && strcmp(how, "later"))
		MPI_Recv(&x, 1, MPI_INT, 1, 0, all, MPI_STATUS_IGNORE); /* nobody sends that */
	if (!strcmp(how, "child") && fork() == 0)
		exit(0);
	MPI_Comm_free(&all);
	MPI_Group_free(&g);
	MPI_Session_finalize(&s);
	if (!strcmp(how, "later") && rank == 1)
		raise(SIGKILL);
	printf("rank %d ends\n", rank);
	exit(!strcmp(how, "exit") ? 3 : 0);
}
END
	compile ends.c ends >cc.out 2>&1 || diag_file cc.out
	# mpiexec does not always learn how a rank without MPI_Finalize has ended, and then zmpirun says so; hence five tries
	ends() { # NAME STATUS [LINES [WHAT IS SAID]]
		local rc try
		for try in 1 2 3 4 5; do
			merged 60 2+2 ./ends "$1" >out 2>err
			rc=$?
			grep -q 'mpiexec has not told$' err || break
			diag "mpiexec has lost the status of a rank; again"
		done
		is "sessions, $1: status" $rc "$2" || diag_file err
		[ -z "$3" ] || is "sessions, $1: ranks that say so" "$(grep -c '^rank . ends$' out)" "$3"
		[ -z "$4" ] || matches "sessions, $1: the reason" err "$4"
	}
	ends "exit" 3 4
	ends "child" 0 4
	ends "in the middle" 7 0 '^zmpirun: rank 1 .* ended with status 7 without MPI_Finalize$'
	ends "abort" 9 0 '^zmpirun: rank 1 .* aborted with code 9: it called MPI_Abort'
	ends "later" 9 "" '^zmpirun: rank 1 .* died'
	ZIPPER_PROGRESS=thread ends "later" 9 "" '^zmpirun: rank 1 .* died'
	limited 20 "$MPIEXEC" -n 2 env LD_PRELOAD="$SO" ZIPPER_JBO=1 ./ends exit >out 2>err </dev/null
	is "sessions with a misspelt variable" "$(grep ^libzipper err)" \
		"libzipper: rank 0: MPI_Session_init: environment: unknown variable ZIPPER_JBO (did you mean ZIPPER_JOB?)"
else
	skip "the progress thread" "zmpirun is not built"
fi
done_testing
