#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Zipperds that end under load and are started again at the same place: the job waits for its only one, uses one of several again,
# and prints its native output. A job whose rank or zipper is really gone ends.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
compile "$(program failover.c)" failover >cc.out 2>&1 || { diag_file cc.out; bail_out "failover.c"; }
unset ZIPPER_RECONNECT

# joined K: prints how often all ranks of a job have joined at zipper K
joined() { grep -c 'have joined$' "zipper.$1"; }
# recovers NAME RAILS ROUNDS STRIKE...: runs failover, whose zippers are kept
recovers() {
	local name=$1 rails=$2 rounds=$3 k rc
	local strikes=("${@:4}")
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers "$rails" a,b
	[ ${#again[@]} = 0 ] || options=("${again[@]}")
	for ((k = 1; k <= rails; k++)); do
		strikes=("${strikes[@]//@$k/${zipper[k]}}")
		keep "$k"
	done
	native 60 4 ./failover "$rounds" 2>&1 | LC_ALL=C sort >native
	by_hand a,b "2 2" "$(addresses $(seq "$rails"))" ./failover "$rounds" "${strikes[@]}"
	rc=$?
	is "$name: status" $rc 0 || { diag_file err.a; diag_file err.b; diag_file zipper.1; }
	is "$name: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
	ok "$name: all ranks have come back" test "$(joined 1)" -ge 2
	is_gone "$name: nothing is left"
	stop_keepers
	stop_zippers
	rm -f out.* err.* next.*
}
recovers "the only one is killed" 1 2 1.1=@1:9
recovers "the only one is restarted" 1 2 0.5=@1:15
ZIPPER_WAIT=sleep ZIPPER_ONE_SIDED=yes recovers "the only one is killed, memory to memory" 1 2 0.9=@1:9
options=(-o workers=2)
recovers "the only one is killed, two workers" 1 2 1.1=@1:9
again=(-o workers=3)
recovers "the only one is back with one worker more" 1 2 1.1=@1:9
again=()
options=(-o workers=2)
ZIPPER_ONE_SIDED=yes recovers "two of two workers, one after the other" 2 3 0.1=@1:9 1.9=@2:15
options=()
# The second loss has all of the time again: it comes later after the first one than that time.
again() { # FILE
	while [ ! -e "$1" ]; do sleep 0.1; done
	sleep 7
	kill -9 "$(cat next.1)"
	rm "$1"
}
again "$TAP_TMP/again" &
TAP_PIDS+=($!)
ZIPPER_RECONNECT=6s recovers "the only one is killed twice" 1 2 0.5=@1:9 "1.1=$TAP_TMP/again"
ok "the only one is killed twice: all ranks have come back twice" test "$(joined 1)" -ge 3
kind=tcp
recovers "the only one is killed, over TCP" 1 2 1.8=@1:9
recovers "two, one after the other" 2 3 0.1=@1:9 1.9=@2:15
kind=shm
options=(-o eager_bytes=4K -o dest_share=8K) # many refusals
recovers "two, one after the other, refusals" 2 3 0.1=@1:15 1.9=@2:9
options=()
if [ -n "${ZIP_LONG:-}" ]; then
	for phase in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		kind=shm
		recovers "phase $phase, the only one is killed" 1 2 1.$phase=@1:9
		kind=tcp
		recovers "phase $phase, both are restarted" 2 2 0.$phase=@1:15 1.$phase=@2:15
	done
fi

# --- ranks that compute for longer than the zipper may be away
# strikes_at FILE SIGNAL PROCESS SECONDS: when a rank has made the file, which waits for its end, the process gets the signal. The
# rank goes on after these seconds
strikes_at() {
	while [ ! -e "$1" ]; do sleep 0.1; done
	kill "-$2" "$3"
	sleep "$4"
	rm -f "$1"
}
# strike_at K SECONDS: does that with zipper K, by the file "computes" of this test
strike_at() {
	strikes_at "$TAP_TMP/computes" 9 "${zipper[$1]}" "$2" &
	TAP_PIDS+=($!)
}
# computes NAME SIZES: one rank computes when the only zipper is restarted, and the others are back long before it
computes() {
	local rc
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers 1 a,b
	keep 1
	strike_at 1 9
	native 60 $((${2// /+})) ./failover 2 2>&1 | LC_ALL=C sort >native
	ZIPPER_RECONNECT=3s by_hand a,b "$2" "$(addresses 1)" ./failover 2 "1.1=$TAP_TMP/computes"
	rc=$?
	is "$1: status" $rc 0 || { diag_file err.a; diag_file err.b; diag_file zipper.1; }
	is "$1: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
	ok "$1: all ranks have come back" test "$(joined 1)" -ge 2
	is_gone "$1: nothing is left"
	stop_keepers
	stop_zippers
	rm -f out.* err.* next.*
}
kind=tcp
computes "a rank of two computes" "2 2"
computes "a whole part computes" "1 1"

# --- with zmpirun, which registers the job again
kind=tcp
start_zippers 1 a,b
hosts "${at[1]}" >hostfile
native 60 4 ./failover 2 2>&1 | LC_ALL=C sort >native
keep 1
ZIPPER_KEY=$KEY limited 60 "${marked[@]}" "$ZMPIRUN" -f hostfile ./failover 2 "1.1=${zipper[1]}:9" >out.z 2>err.z </dev/null
is "zmpirun: status" $? 0 || diag_file err.z zipper.1
is "zmpirun: as natively" "$(LC_ALL=C sort out.z)" "$(cat native)"
ok "zmpirun: all ranks have come back" test "$(joined 1)" -ge 2
is "zmpirun: nobody calls the job lost" "$(grep -E '^(zmpirun|libzipper):' err.z | grep -vc -e '; the job waits for it' -e 'is back; the job goes on with 1 of 1')" 0 || diag_file err.z
is_gone "zmpirun: nothing is left"
stop_keepers
stop_zippers

start_zippers 1 a,b
hosts "${at[1]}" >hostfile
keep 1
strike_at 1 9
ZIPPER_KEY=$KEY limited 60 "${marked[@]}" "$ZMPIRUN" -f hostfile --reconnect 3s ./failover 2 "1.1=$TAP_TMP/computes" >out.z 2>err.z </dev/null
is "zmpirun, a rank computes: status" $? 0 || diag_file err.z zipper.1
is "zmpirun, a rank computes: as natively" "$(LC_ALL=C sort out.z)" "$(cat native)"
is_gone "zmpirun, a rank computes: nothing is left"
stop_keepers
stop_zippers

# zmpirun looks for the zipper when its ranks have found it, and one part has ended. The job has ended well.
start_zippers 1 a,b
hosts "${at[1]}" >hostfile
keep 1
stops_zmpirun() {
	local pid
	while [ ! -e "$TAP_TMP/computes" ]; do sleep 0.1; done
	pid=$(left_named zmpirun)
	kill -STOP $pid
	kill -9 "${zipper[1]}"
	rm -f "$TAP_TMP/computes"
	wait_for 60 sh -c "[ -e a.over ] && [ -e b.over ]"
	sleep 1
	kill -CONT $pid
}
stops_zmpirun &
TAP_PIDS+=($!)
# shellcheck disable=SC2016 # for the ranks
ZIPPER_KEY=$KEY limited 60 "${marked[@]}" "$ZMPIRUN" -f hostfile sh -c './failover 2 "$@"; s=$?; : >$ZIPPER_PART.over
[ $ZIPPER_PART = a ] || sleep 5; exit $s' sh "1.1=$TAP_TMP/computes" >out.z 2>err.z </dev/null
is "zmpirun, a part ends before it looks: status" $? 0 || diag_file err.z zipper.1
is "zmpirun, a part ends before it looks: as natively" "$(LC_ALL=C sort out.z)" "$(cat native)"
is_gone "zmpirun, a part ends before it looks: nothing is left"
stop_keepers
stop_zippers
rm -f ./*.over

# --- what does not come back
# gone NAME SIZES WHAT STRIKE...: a job whose zipper is back at once ends all the same, and every part says WHAT
gone() {
	local name=$1 rc part
	JOB_NUMBER=$((JOB_NUMBER + 1))
	by_hand a,b "$2" "$(addresses 1)" ./failover 2 "${@:4}"
	rc=$?
	ok "$name: the job ends" test $rc -ne 0 -a $rc -ne 124
	for part in $said; do matches "$name: what part $part says" "err.$part" "$3"; done
	is_gone "$name: nothing is left"
	stop_keepers
	stop_zippers
	rm -f out.* err.* next.* "$TAP_TMP/computes"
}
start_zippers 1 a,b
options=(-o eager_bytes=1K)
keep 1
said="a b" gone "a zipper that is back with less" "2 2" 'is back, but of no use: its eager_bytes are fewer than before' "1.1=${zipper[1]}:9"
options=()
# The job used two workers: with one it does not go on, with three it goes on with two.
options=(-o workers=2)
start_zippers 1 a,b
options=(-o workers=1)
keep 1
said="a b" gone "a zipper that is back with fewer workers" "2 2" 'is back, but of no use: its workers are fewer than before' "1.1=${zipper[1]}:9"
options=()
# process_in PART: prints the process of that part's first rank
process_in() {
	local pid
	for pid in $(left_named failover); do
		tr '\0' '\n' <"/proc/$pid/environ" | grep -qx -e "ZIPPER_PART=$1" || continue
		tr '\0' '\n' <"/proc/$pid/environ" | grep -qx -e PMI_RANK=0 && echo "$pid"
	done
}
# dies SECONDS: the first rank of part b, which computes, dies so long after the zipper
dies() {
	while [ ! -e "$TAP_TMP/computes" ]; do sleep 0.1; done
	kill -9 "${zipper[1]}"
	sleep "$1"
	kill -9 "$(process_in b)"
}
start_zippers 1 a,b
keep 1
dies 3 &
TAP_PIDS+=($!)
said=a gone "a rank that computes dies while others are back" "2 2" 'rank [01] of part b on .* died' "1.1=$TAP_TMP/computes"
options=(-o return_timeout=1h)
start_zippers 1 a,b
keep 1
strike_at 1 4
said=a gone "MPI_Abort of a part that computes" "1 1" 'aborted with code 7' "0.1=$TAP_TMP/computes" 0.1=abort
options=(-o return_timeout=4s)
start_zippers 1 a,b
keep 1
dies 3 &
TAP_PIDS+=($!)
said=a gone "a whole part dies" "1 1" 'not all ranks have come back within 4 s: part b: nobody came back' "0.1=$TAP_TMP/computes"
options=()
start_zippers 1 a,b
hosts "${at[1]}" >hostfile
keep 1
dies 3 &
TAP_PIDS+=($!)
ZIPPER_KEY=$KEY limited 60 "${marked[@]}" "$ZMPIRUN" -f hostfile --ppn 1 ./failover 2 "0.1=$TAP_TMP/computes" >out.z 2>err.z </dev/null
rc=$?
ok "zmpirun, a whole part dies: the job ends" test $rc -ne 0 -a $rc -ne 124
is_gone "zmpirun, a whole part dies: nothing is left"
stop_keepers
stop_zippers
rm -f out.* err.* next.* computes
start_zippers 1 a,b
hosts "${at[1]}" >hostfile
ZIPPER_KEY=$KEY limited 60 "${marked[@]}" "$ZMPIRUN" -f hostfile --reconnect 2s ./failover 2 "1.1=${zipper[1]}:9" >out.z 2>err.z </dev/null
rc=$?
ok "a zipper that stays away ends the job" test $rc -ne 0 -a $rc -ne 124
matches "... and is named" err.z 'it has not come back within 2 s'
is_gone "... and nothing is left"
stop_zippers
start_zippers 1 a,b
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b "2 2" "$(addresses 1)" ./failover 2 1.1=0:9
rc=$?
ok "a rank that dies ends the job at once" test $rc -ne 0 -a $rc -ne 124
cat err.* >err
matches "... and is named" err 'rank [23] .*died'
stop_zippers
done_testing
