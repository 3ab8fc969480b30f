# SPDX-License-Identifier: BSD-3-Clause
# For tests that start jobs and look at what is left of them. Sourced after tap.sh.

# Every process of a job carries this mark in its environment, wherever it is in the process tree.
JOB_MARK=ZMPIRUN_TEST_MARK=$$-$RANDOM$RANDOM

# "${marked[@]}" COMMAND... runs the command with the mark. It is an array, not a function: then $! is the command itself in
# the background. Scripts start background commands with SIGINT ignored.
marked=(env --default-signal=INT,QUIT,HUP,TERM,PIPE,USR1,USR2 "$JOB_MARK")
# run NAME STATUS OPTION...: zmpirun; output in out and err
run() {
	local name=$1 wanted=$2 rc
	shift 2
	limited 60 "${marked[@]}" "$ZMPIRUN" "$@" >out 2>err </dev/null
	rc=$?
	is "$name" "$rc" "$wanted" || diag_file err
}
# sorted FILE COMMAND...: its output with the lines sorted, and its status if that is not 0
sorted() {
	local file=$1 status
	shift
	"$@" >"$file.raw" 2>"$file.err" </dev/null
	status=$?
	LC_ALL=C sort "$file.raw" >"$file"
	[ "$status" = 0 ] || echo "exit status $status" >>"$file"
}
# left: prints the ids of processes that carry the mark
left() {
	local f pid
	for f in /proc/[0-9]*/environ; do
		grep -qzFx -- "$JOB_MARK" "$f" 2>/dev/null || continue
		pid=${f#/proc/}
		echo "${pid%/environ}"
	done
}
# left_named NAME: prints the ids of those whose command is NAME
left_named() {
	local pid
	for pid in $(left); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && echo "$pid"
	done
}
nothing_left() { [ -z "$(left)" ]; }
# is_gone NAME: no process of the job is left, at once or within a second
is_gone() {
	if wait_for 1 nothing_left; then
		pass "$1"
	else
		fail "$1"
		diag "left: $(for p in $(left); do tr '\0' ' ' <"/proc/$p/cmdline"; echo "($p);"; done)"
		kill -9 $(left) 2>/dev/null
	fi
}
# prints the number of zmpirun's private directories in this test's TMPDIR
scratch_left() { find "$TMPDIR" -maxdepth 1 -name 'zmpirun.*' | wc -l; }

# start LAYOUT OPTION...: starts ranks of the program $ENDS that wait for ever, over zipperds of this job; JOB is zmpirun
start() {
	start_over "$(($1))" --clusters "$@"
}
# start_over RANKS OPTION...: the same with other zippers
start_over() {
	local ranks=$1
	shift
	start_as "$ranks" "$@" "$ENDS" wait
}
# start_as RANKS OPTION... PROGRAM...: the same with a program whose ranks print their pid, too
start_as() {
	local ranks=$1
	shift
	: >out # before the background does it: what the last job printed must not count
	"${marked[@]}" "$ZMPIRUN" "$@" >out 2>err </dev/null &
	JOB=$!
	TAP_PIDS+=($JOB)
	wait_for 30 sh -c "[ \$(grep -c pid out) = $ranks ]" || diag "the ranks did not start" "$(cat err)"
}
job_is_over() { child_is_over "$JOB"; }
# ended NAME STATUS REGEX [LINES]: the job ends, with this status and one line, or LINES lines
ended() {
	local rc
	ok "$1: it ends" wait_for 20 job_is_over || kill -9 "$JOB"
	wait "$JOB"
	rc=$?
	is "$1: status" "$rc" "$2"
	matches "$1: which" err "^zmpirun: $3"
	is "$1: ${4:-one} line${4:+s}" "$(grep -c zmpirun: err) of $(wc -l <err)" "${4:-1} of ${4:-1}" || diag_file err
	is_gone "$1: nothing is left"
	is "$1: directory removed" "$(scratch_left)" 0
}
pid_of_rank() { sed -n "s/^rank $1 of .* pid //p" out; }

# forgot: says whether mpiexec has lost the status of a rank, which it does in some runs, and natively, too; then zmpirun names
# the rank without it, and the test asks again
forgot() {
	grep -q -e '(lost its connection)$' -e 'mpiexec has not told$' err && diag "mpiexec has lost the status of a rank; again"
}
# hit SIGNAL RANK START...: the command START starts a job, and a rank of it gets a signal. Three jobs may need it until mpiexec
# names the signal
hit() {
	local try
	for try in 1 2 3; do
		"${@:3}"
		kill "-$1" "$(pid_of_rank "$2")"
		wait_for 20 job_is_over
		[ $try = 3 ] || ! forgot && return
		wait "$JOB"
	done
}

# zipperd_runs NUMBER KEY: starts a zipperd for clusters a and b that runs until the test ends. Its process and address are
# in ZIPPERD_NUMBER and ADDRESS_NUMBER, and the user is "me"
zipperd_runs() {
	printf 'me %s\n' "$2" >keys"$1"
	chmod 600 keys"$1"
	printf 'listen = "a,b=tcp:127.0.0.1:0"\nkey_file = %s/keys%s\nlog_level = error\n' "$TAP_TMP" "$1" >conf"$1"
	background "$ZIPPERD" -c conf"$1" --ready-fd 3 3>ready"$1"
	wait_for 10 grep -q '^$' ready"$1"
	eval "ZIPPERD_$1=$! ADDRESS_$1=$(sed -n 's/^a,b=//p' ready"$1")"
}
# hosts ADDRESS...: prints a hostfile of clusters a and b, two hosts each, with zippers z1, z2, ... at these addresses
hosts() {
	local n=0 address
	printf "#ZIP cluster %s launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost\n%s:2\n" a a1 b b1
	for address; do echo "#ZIP zipper z$((++n)) a=$address b=$address"; done
}

# A launcher for hostfiles with invented host names, which all stand for this machine.
cat >"$TAP_TMP/rsh" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
FAKE_HOST=$1
export FAKE_HOST
shift
exec /bin/sh -c "$*"
END
chmod +x "$TAP_TMP/rsh"
TMPDIR=$TAP_TMP
export TMPDIR

# unreached PATTERN: sets said and how, the words in `err` about host b1, whose launcher `refused` fails. A Hydra that ends by
# itself, of which zmpirun's line has PATTERN, does not tell which program has failed and how, and mostly loses what that has said.
# shellcheck disable=SC2034 # for the test
unreached() {
	said="connect to host b1: Connection refused
" how='refused ended with status 255'
	grep -q "$1" err || return 0
	how='the program that starts its processes there has failed'
	grep -q '^connect' err || said=
}
