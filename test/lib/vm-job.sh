# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that start jobs in the Verbs laboratory, after vm.sh: a job in the background, and its end.
: "${vmlab:?vm.sh comes first}"
STREAM=$ZIP_VM/files/stream
out=$ZIP_VM/files/out err=$ZIP_VM/files/err

# stream_start BYTES [COMMAND...]: starts one rank in each cluster, for ever; true when both are under way. job: its process;
# more_hosts: lines for its hostfile
more_hosts=
stream_start() {
	local bytes=$1
	shift
	{ "$vmlab" hosts 1+1 && echo "$more_hosts"; } >"$ZIP_VM/files/hosts"
	: >"$out"
	"$vmlab" run -t 600 zipper "$ZMPIRUN" -f "$ZIP_VM/files/hosts" -init-timeout 500 -n 2 "$@" "$STREAM" "$bytes" 0 >"$out" 2>"$err" &
	job=$!
	TAP_PIDS+=($job)
	wait_for 300 stream_stands
	under_way
}
under_way() { [ "$(grep -c 'under way' "$out")" = 2 ]; }
stream_stands() { under_way || ! child_runs $job; }
# job_ended NAME STATUS REGEX: the job ends with this status, and zmpirun prints only this
job_ended() {
	local rc
	wait $job
	rc=$?
	is "$1: status" $rc "$2" || diag_file "$err"
	matches "$1: why" "$err" "$3"
	is "$1: in one line" "$(grep -c '^zmpirun:' "$err")" 1 || diag_file "$err"
}
