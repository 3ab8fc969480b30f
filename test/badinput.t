#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bad peers and bad settings: each gets the reason, and a job beside them is not disturbed.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] && [ -x "$ZIPPERD" ] || skip_all "zmpirun or zipperd is not built"
cd "$TAP_TMP" || exit 99
export ZIPPER_MODULE_DIR=$ZIP_TOP_BUILDDIR/common/.libs
for p in hello random; do
	compile "$(program "$p.c")" $p || bail_out "$p.c does not compile"
done
native 30 4 ./hello | sort >expected

key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
printf 'me %s\nother %064d\n' "$key" 7 >keys
chmod 600 keys
# zipperd_as NAME OPTION...: starts a zipperd; its messages are in log.NAME
zipperd_as() {
	background "$ZIPPERD" -o listen=a=tcp:127.0.0.1:0 -o listen=b=tcp:127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
		-o log_level=info "${@:2}" --ready-fd 3 3>"ready.$1" 2>"log.$1"
	ZD=$!
	wait_for 10 grep -q '^$' "ready.$1" || bail_out "zipperd did not start: $(cat "log.$1")"
}
# port FABRIC [NAME]: prints the port of a zipperd
port() { sed -n "s/^$1=tcp:127.0.0.1://p" "ready.${2:-patient}"; }
zipperd_as narrow -o user_connections=6 # a job of four ranks may need eight
zipperd_as hasty -o join_timeout=5s # for parts that do not come
zipperd_as patient

# part JOB PART PARTS PORT PROGRAM...: starts two ranks of one part by hand
part() {
	limited 60 env ZIPPER_JOB="$1" ZIPPER_PART="$2" ZIPPER_PARTS="$3" ZIPPER_ZIPPERD="tcp:127.0.0.1:$4" \
		ZIPPER_USER="${ZIPPER_USER:-me}" ZIPPER_KEY="${ZIPPER_KEY:-$key}" "$MPIEXEC" -n 2 \
		-genv LD_PRELOAD "${PRELOAD:-$PRELOAD_LIST}" "${@:5}" </dev/null
}
# together JOB PORT-OF-A PORT-OF-B PROGRAM...: runs both parts; output in out and err; status of both in rc
together() {
	part "$1" b a,b "$3" "${@:4}" >outB 2>errB &
	local second=$! first
	part "$1" a a,b "$2" "${@:4}" >outA 2>errA
	first=$?
	wait $second
	rc="$first $?"
	sort outA outB >out
	cat errA errB >err
}

# --- a job through a proxy that keeps the bytes of its ranks
mkdir streams
background python3 -B "$ZIP_TOP_SRCDIR/test/lib/hostile.py" record proxy 127.0.0.1 "$(port a)" streams
wait_for 10 test -s proxy || bail_out "no proxy"
together recorded "$(cat proxy)" "$(port b)" ./hello
is "a job through a proxy" "$rc $(cat out)" "0 0 $(cat expected)" || diag_file err

# --- bad streams while another job runs
rss() { awk '/^VmRSS/ { print $2 }' /proc/$ZD/status; }
fds() { ls /proc/$ZD/fd | wc -l; }
fds_before=$(fds)
native 60 4 ./random 5 60 12 | sort >expected.random
seed=${ZIP_SEED:-$RANDOM}
python3 -B "$ZIP_TOP_SRCDIR/test/lib/hostile.py" throw 127.0.0.1 "$(port a)" streams "$seed" stop >thrown 2>&1 &
thrower=$!
TAP_PIDS+=($thrower)
undisturbed=0
end=$((SECONDS + ${ZIP_SECONDS:-6})) # a slow machine needs longer than that for a job
together beside0 "$(port a)" "$(port b)" ./random 5 60 12
rss_before=$(rss) # with the buffers of one job
until [ $undisturbed -gt 0 ] && [ $SECONDS -ge $end ]; do
	together beside$undisturbed "$(port a)" "$(port b)" ./random 5 60 12
	if [ "$rc" != "0 0" ] || ! cmp -s out expected.random; then
		undisturbed=-1
		break
	fi
	undisturbed=$((undisturbed + 1))
done
touch stop
wait $thrower
thrown=$?
is "bad streams were thrown ($(tail -n1 thrown))" $thrown 0
ok "jobs beside them are not disturbed ($undisturbed of them)" test $undisturbed -gt 0 || { diag "statuses $rc"; diag_file err; }
ok "zipperd lives" child_runs "$ZD"
fds_back() { [ "$(fds)" -le "$fds_before" ]; }
ok "all their connections are closed ($fds_before before)" wait_for 15 fds_back || diag "$(fds) now"
ok "its memory has not grown with them ($rss_before KiB before, $(rss) after)" test "$(rss)" -lt $((rss_before + 16384))
matches "a line names the peer" log.patient '127\.0\.0\.1:[0-9]+'
ok "the log says no more than one line for each" test "$(wc -l <log.patient)" -lt \
	$((2 * $(grep -oE '[0-9]+ (cut|damaged|random|replayed|huge)' thrown | awk '{ s += $1 } END { print s + 500 }')))

# --- wrong settings
ZIPPER_KEY=$(printf '%064d' 1) part wrong a a,b "$(port a)" ./hello >out 2>err
rc=$?
ok "wrong key: status is not 0" test $rc -ne 0
matches "wrong key: who was refused" err '^libzipper: .*(key|credential|refused)' || diag "status $rc"
is "wrong key: nothing ran" "$(cat out)" ""
ZIPPER_USER=stranger part wrong a a,b "$(port a)" ./hello >out 2>err
ok "unknown user: status is not 0" test $? -ne 0
matches "unknown user" err 'libzipper: '
part lonely a a,b "$(port a hasty)" ./hello >out 2>err
ok "a part that does not come: status is not 0" test $? -ne 0
matches "a part that does not come is named" err "libzipper: .*MPI_Init: .*\\bb\\b"
is "a part that does not come: nothing ran" "$(cat out)" ""
part fabric c a,c "$(port a)" ./hello >out 2>err
ok "a fabric that zipperd does not have: status is not 0" test $? -ne 0
matches "a fabric that zipperd does not have is named" err "libzipper: .*MPI_Init: .*\\bc\\b"
part notmine x a,b "$(port a)" ./hello >out 2>err
ok "a part that is not in the list: status is not 0" test $? -ne 0
matches "a part that is not in the list is named" err 'libzipper: .*MPI_Init: .*\bx\b'
part nobody a a,b 1 ./hello >out 2>err
ok "no zipperd there: status is not 0" test $? -ne 0
matches "no zipperd there: its address" err 'libzipper: .*127\.0\.0\.1:1\b'
ZIPPER_PATRS=a,b part typo a a,b "$(port a)" ./hello >out 2>err
ok "a variable with a typing error: status is not 0" test $? -ne 0
matches "a variable with a typing error: which, and what was meant" err 'ZIPPER_PATRS.*ZIPPER_PARTS'
together narrow "$(port a narrow)" "$(port b narrow)" ./hello
ok "a user at a limit: no status is 0" test "${rc% *}" -ne 0 -a "${rc#* }" -ne 0
is "... the limit is named, once in each part" "$(grep -c 'user_connections of user me is 6: the job may need 8' err)" 2 || diag_file err
matches "... and in zipperd's log" log.narrow 'refused: user_connections of user me is 6'
is "... nothing ran" "$(cat out)" ""
together2() { # one part of the two without its preload: the dynamic linker only warns
	PRELOAD=/nonexistent/libzipper.so part bare b a,b "$(port b hasty)" ./hello >outB 2>errB &
	part bare a a,b "$(port a hasty)" ./hello >outA 2>errA
	rc=$?
	wait $!
}
together2
ok "a part without its preload: status of the other one is not 0" test $rc -ne 0
matches "a part without its preload is missed by name" errA 'libzipper: .*MPI_Init: .*\bb\b'

together3() { # the same table in both parts, or not
	ZIPPER_TUNE=$1 part tuned b a,b "$(port b)" ./hello >outB 2>errB &
	ZIPPER_TUNE="bcast segment=1K" part tuned a a,b "$(port a)" ./hello >outA 2>errA
	rc=$?
	wait $!
	rc="$rc $?"
	cat errA errB >err
}
together3 "bcast segment=1K "
is "two parts with the same tuning table" "$rc" "0 0" || diag_file err
together3 "bcast segment=2K"
ok "parts with different tuning tables: status is not 0" test "$rc" != "0 0"
matches "parts with different tuning tables: why" err 'libzipper: .*another tuning table than the others'

limited 30 "$ZMPIRUN" --clusters 2 -n 1 env ZIPPER_PROFILE="$PWD/some.zg" ./hello : -n 3 ./hello >out 2>err </dev/null
ok "a graph of some ranks alone: status is not 0" test $? -ne 0
matches "a graph of some ranks alone: why" err \
	'does not fit in: it records (a graph, others do not|no graph, others do) \(ZIPPER_PROFILE\)'
is "a graph of some ranks alone: nothing ran" "$(cat out)" ""

# --- a message that is too long is named
cat >short.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void say(int rc)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;
	MPI_Error_string(rc, text, &n);
	puts(text);
}
int main(int argc, char **argv)
{
	static char buf[300000];
	int rank, flag;
	MPI_Request r;
	MPI_Status st;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int how = 0; rank == 3 && how < 5; how++)
		MPI_Send(buf, how == 0 ? 300000 : 100, MPI_BYTE, 0, how, MPI_COMM_WORLD);
	if (rank == 0) {
		say(MPI_Recv(buf, 10, MPI_BYTE, 3, 0, MPI_COMM_WORLD, &st));
		MPI_Irecv(buf, 10, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r);
		say(MPI_Wait(&r, &st));
		MPI_Irecv(buf, 10, MPI_BYTE, 3, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
		int rc = 0;
		for (flag = 0; !flag && !rc;)
			rc = MPI_Test(&r, &flag, &st);
		say(rc);
		MPI_Irecv(buf, 10, MPI_BYTE, 3, 3, MPI_COMM_WORLD, &r);
		say(MPI_Waitany(1, &r, &flag, &st));
		say(MPI_Sendrecv(buf, 0, MPI_BYTE, MPI_PROC_NULL, 0, buf, 10, MPI_BYTE, 3, 4, MPI_COMM_WORLD, &st));
	}
	MPI_Finalize();
	return 0;
}
END
compile short.c short >cc.out 2>&1 || diag_file cc.out
merged 30 2+2 ./short >out 2>err
is "messages longer than their receives: status" $? 0 || diag_file err
long() { echo "$1: the message of $2 bytes from rank 3, tag $3, is longer than the receive buffer of 10"; }
{ long MPI_Recv 300000 0; long MPI_Wait 100 1; long MPI_Test 100 2; long MPI_Waitany 100 3; long MPI_Sendrecv 100 4; } >want
ok "messages longer than their receives: which" diff -u want out

# --- hostfiles
hostfile() { # NAME REGEX: hosts from standard input
	cat >hosts
	limited 30 "$ZMPIRUN" -f hosts ./hello >out 2>err </dev/null
	ok "$1: status is not 0" test $? -ne 0
	matches "$1: its line" err "$2"
	is "$1: nothing ran" "$(cat out)" ""
}
hostfile "hostfile with a typing error" '^zmpirun: hosts:3: .*cluster' <<END
#ZIP cluster a
localhost
#ZIP cluter b
END
hostfile "unknown fabric" '^zmpirun: hosts:5: .*\bc\b' <<END
#ZIP cluster a
h1
#ZIP cluster b
h2
#ZIP zipper z a=tcp:127.0.0.1:1 c=tcp:127.0.0.1:2
END
hostfile "unknown host" '^zmpirun: hosts:4: host nonexistent\.invalid: ' <<END
#ZIP cluster a
localhost
#ZIP cluster b
nonexistent.invalid
#ZIP zipper z a=shm b=shm
END
hostfile "slots that are no number" '^zmpirun: hosts:2: ' <<END
#ZIP cluster a
localhost:many
END
hostfile "bad address" '^zmpirun: hosts:5: ' <<END
#ZIP cluster a
h1
#ZIP cluster b
h2
#ZIP zipper z a=tcp:127.0.0.1:99999 b=shm
END

# --- collectives whose members give different amounts: if errors end the job, it ends at once, though messages are missing
cat >mismatch.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	const MPI_Comm c = MPI_COMM_WORLD;
	char *from = calloc(1, 1 << 22), *to = calloc(1, 1 << 22), *call = argv[1];
	int rank, size = atoi(argv[2]), n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(c, &rank);
	n = rank == atoi(argv[4]) ? atoi(argv[3]) : size;
	if (strcmp(call, "gather") == 0)
		MPI_Gather(from, size, MPI_BYTE, to, n, MPI_BYTE, 0, c);
	if (strcmp(call, "allgather") == 0)
		MPI_Allgather(from, n, MPI_BYTE, to, n, MPI_BYTE, c);
	if (strcmp(call, "reduce") == 0)
		MPI_Reduce(from, to, n, MPI_BYTE, MPI_BOR, 0, c);
	if (strcmp(call, "allreduce") == 0)
		MPI_Allreduce(from, to, n, MPI_BYTE, MPI_BOR, c);
	if (strcmp(call, "persistent") == 0) {
		MPI_Request q;
		MPI_Allreduce_init(from, to, n, MPI_BYTE, MPI_BOR, c, MPI_INFO_NULL, &q);
		MPI_Start(&q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	if (strcmp(call, "scan") == 0)
		MPI_Scan(from, to, n, MPI_BYTE, MPI_BOR, c);
	if (strcmp(call, "exscan") == 0)
		MPI_Exscan(from, to, n, MPI_BYTE, MPI_BOR, c);
	MPI_Finalize();
	return argc != 5;
}
END
compile mismatch.c mismatch || bail_out "mismatch.c does not compile"
# a call, the line of all ranks, and the line of one of them instead
for call in "gather 5000 20000 0" "gather 20000 1000000 0" "reduce 400000 1000000 0" "reduce 300000 500000 1" \
	"reduce 300000 150000 0" "allreduce 800000 400000 0" "allgather 300000 500000 1" "scan 300000 150000 0" \
	"exscan 300000 150000 0" "persistent 800000 400000 0"; do
	# shellcheck disable=SC2086 # words
	merged 20 2+2 ./mismatch $call >out 2>err
	is "$call: status, and one line with the reason, and whose data" "$? $(grep -c '^zmpirun: ' err) $(:
	)$(grep -c '^zmpirun: .*members gave different amounts of data: .* rank [0-3]' err)" "14 1 1" || diag_file err
done

# --- and after all that
together last "$(port a)" "$(port b)" ./hello
is "zipperd serves the next job" "$rc $(cat out)" "0 0 $(cat expected)" || diag_file err
done_testing
