#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Zippers with several workers for each direction: the same output as natively, every worker carries something, order holds,
# and large messages are divided. A job has fewer workers where it must.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
command -v python3 >/dev/null || skip_all "no python3"
cd "$TAP_TMP" || exit 99
for program in ordering collectives multicast large p2p_mixed p2p_huge win_random hello; do
	compile "$(program "$program.c")" $program >cc.out 2>&1 || { diag_file cc.out; bail_out "$program.c"; }
done
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
ZIPSTAT=$ZIP_TOP_BUILDDIR/zipstat/zipstat

# workers K: prints a line "FROM>TO NUMBER MESSAGES" for each worker of that zipper that there is, in order
workers() {
	ZIPPER_KEY=$KEY limited 20 "$ZIPSTAT" --json -u "$(id -un)" "${at[$1]}" 2>err.zipstat | python3 -c '
import json, sys
for w in sorted(json.load(sys.stdin)["zippers"][0]["workers"], key=lambda w: (w["from"], w["to"], w["number"])):
    print("%s>%s %d %d" % (w["from"], w["to"], w["number"], w["msgs"]))' || diag_file err.zipstat
}
# Both ranks wait until a file is there.
cat >waits.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	fclose(fopen("began", "w"));
	for (int i = 0; i < 1000 && access("go", F_OK) != 0; i++)
		usleep(20000);
	MPI_Finalize();
	return 0;
}
END
compile waits.c waits >cc.out 2>&1 || { diag_file cc.out; bail_out "waits.c"; }

# carried K: prints how many workers of that zipper have carried something, and how many there are
carried() { workers "$1" | awk '{ all++; some += $3 > 0 } END { print some + 0, all + 0 }'; }

# --- the same output as natively, and all take part
# twin WORKERS PARTS SIZES PROGRAM RANKS ZIPPERS: expects that all workers of all zippers carry something
twin() {
	local name="$6 zippers, $1 workers, ranks $3: $4" k parts pairs
	IFS=, read -ra parts <<<"$2"
	pairs=$((${#parts[@]} * (${#parts[@]} - 1)))
	JOB_NUMBER=$((JOB_NUMBER + 1))
	options+=(-o workers="$1")
	start_zippers "$6" "$2"
	native 60 "$5" "./$4" >native 2>&1
	by_hand "$2" "$3" "$(addresses $(seq "$6"))" "./$4"
	is "$name" $? 0 || { for k in ${2//,/ }; do diag_file "err.$k"; done; }
	is "$name: as natively" "$(cat out.* | LC_ALL=C sort)" "$(LC_ALL=C sort native)"
	for ((k = 1; k <= $6; k++)); do
		is "$name: all workers of zipper $k have carried something" "$(carried $k)" "$((pairs * $1)) $((pairs * $1))" || workers $k >&2
	done
	stop_zippers
	options=()
	rm -f out.* err.*
}
twin 3 a,b "3 3" ordering 6 1
twin 2 a,b,c "2 2 2" collectives 6 1
ZIPPER_TUNE="all multicast=yes" twin 2 a,b,c "2 2 2" multicast 6 1
twin 3 a,b "3 3" win_random 6 1
# Large messages of one pair of ranks take all workers, and are received in order.
twin 3 a,b "1 1" p2p_mixed 2 1
ZIPPER_ONE_SIDED=yes twin 2 a,b "1 1" p2p_mixed 2 2
ZIPPER_ONE_SIDED=yes ZIPPER_PROGRESS=thread twin 2 a,b "2 2" p2p_mixed 4 2
# One very large message takes as many workers as it has parts.
twin 3 a,b "1 1" p2p_huge 2 1
ZIPPER_ONE_SIDED=yes ZIPPER_PROGRESS=thread twin 3 a,b "2 2" p2p_huge 4 1
kind=tcp twin 2 a,b "2 2" large 4 1
options=(-o eager_bytes=4K -o dest_share=8K) # many refusals
twin 3 a,b "2 2" p2p_mixed 4 1
ZIPPER_ENDPOINTS=2 twin 2 a,b "2 2" p2p_mixed 4 1

# --- fewer than there are
# tracks NAME EXPECTED SIZES OPTION...: as many workers of the one zipper carry something as are expected
tracks() {
	local name=$1 expected=$2 sizes=$3
	shift 3
	JOB_NUMBER=$((JOB_NUMBER + 1))
	options=(-o workers=4 "$@")
	start_zippers 1 a,b
	by_hand a,b "$sizes" "$(addresses 1)" ./p2p_mixed
	is "$name: the job ends well" $? 0 || diag_file err.a
	is "$name: $expected workers for each direction" "$(carried 1)" "$((2 * expected)) $((2 * expected))" || workers 1 >&2
	stop_zippers
	options=()
}
# Two ranks need 4 connections with one worker, and 2 more for each of the others, of which half of what is left may go.
tracks "enough connections" 4 "1 1" -o user_connections=16
tracks "connections for three" 3 "1 1" -o user_connections=15
tracks "connections for two" 2 "1 1" -o user_connections=8
tracks "connections for one" 1 "1 1" -o user_connections=4
tracks "max_connections for two" 2 "1 1" -o max_connections=8
ok "... is nothing that a log has to say" test "$(grep -c refused zipper.1)" = 0

# A second job of the user finds room.
JOB_NUMBER=$((JOB_NUMBER + 1))
options=(-o workers=4 -o user_connections=14)
start_zippers 1 a,b
by_hand a,b "1 1" "$(addresses 1)" ./waits & # three tracks, which may take 8
first_job=$!
wait_for 20 test -e began || diag_file zipper.1
JOB_NUMBER=$((JOB_NUMBER + 1))
mkdir -p second && (cd second && by_hand a,b "1 1" "$(addresses 1)" ../hello)
is "a second job: it ends well" $? 0 || diag_file second/err.a
touch go
wait $first_job
is "... and the first" $? 0 || diag_file err.a
stop_zippers
options=()

# Two zippers with different numbers: the job has the smaller one at both.
JOB_NUMBER=$((JOB_NUMBER + 1))
options=(-o workers=3)
start_zippers 1 a,b
first=(${zipper[1]}) first_at=${at[1]}
mv zipper.sock.1 other.sock
options=(-o workers=2)
start_zippers 1 a,b
at[2]=shm:$TAP_TMP/other.sock
zipper[2]=${first[0]}
by_hand a,b "2 2" "${at[1]},${at[2]}" ./p2p_mixed
is "two zippers with 2 and 3 workers: the job ends well" $? 0 || diag_file err.a
is "... and has two of the first" "$(carried 1)" "4 4"
is "... and two of the second" "$(carried 2)" "4 6"
stop_all "${zipper[@]}"
options=()

# --- jobs begin with different workers
options=(-o workers=3)
start_zippers 1 a,b
for k in 1 2 3; do
	JOB_NUMBER=$((JOB_NUMBER + 1))
	by_hand a,b "1 1" "$(addresses 1)" ./hello
	is "job $k of one pair of ranks" $? 0 || diag_file err.a
	is "... has another worker than those before" "$(carried 1)" "$((2 * k)) 6" || workers 1 >&2
done
stop_zippers
options=()

# --- bad values
for bad in 0 33 two 1.5 -1; do
	limited 10 "$ZIPPERD" -o listen=a,b=shm:@none -o key_file=keys -o workers=$bad -t >out 2>err
	is "workers=$bad: status" $? 1
	is "workers=$bad: one line" "$(cat out err)" "zipperd: error: -o: workers: '$bad' is not auto or a number from 1 to 32"
done
done_testing
