# SPDX-License-Identifier: BSD-3-Clause
# For tests that start jobs and look what is left of them. Sourced behind tap.sh.

# Every process of a job carries this in its environment, wherever it has gone in the process tree.
JOB_MARK=ZMPIRUN_TEST_MARK=$$-$RANDOM$RANDOM

# "${marked[@]}" COMMAND... runs it with the mark. An array, no function: in the background $! is then the command itself.
# Scripts start what is in the background with SIGINT ignored.
marked=(env --default-signal=INT,QUIT,HUP,TERM,PIPE,USR1,USR2 "$JOB_MARK")
# run NAME STATUS OPTION...: zmpirun; output in out and err
run() {
	local name=$1 wanted=$2 rc
	shift 2
	limited 60 "${marked[@]}" "$ZMPIRUN" "$@" >out 2>err </dev/null
	rc=$?
	is "$name" "$rc" "$wanted" || diag_file err
}
# left: ids of processes that carry the mark
left() {
	local f pid
	for f in /proc/[0-9]*/environ; do
		grep -qzFx -- "$JOB_MARK" "$f" 2>/dev/null || continue
		pid=${f#/proc/}
		echo "${pid%/environ}"
	done
}
# left_named NAME: those whose command is NAME
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
# how many private directories of zmpirun there are in this test's TMPDIR
scratch_left() { find "$TMPDIR" -maxdepth 1 -name 'zmpirun.*' | wc -l; }

# A launcher for hostfiles with invented hosts: all of them are this machine.
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
