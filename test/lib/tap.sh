# SPDX-License-Identifier: BSD-3-Clause
# Sourced by every shell test (bash): TAP output, a scratch folder, limits on time, and the paths of the programs of the build
# tree. A test calls plan N or done_testing. Every process it starts ends with it.

: "${ZIP_TOP_BUILDDIR:?run by make check, or set ZIP_TOP_BUILDDIR and ZIP_TOP_SRCDIR}"
: "${ZIP_TOP_SRCDIR:?}"
MPICC=${MPICC:-mpicc.mpich}
MPIEXEC=${MPIEXEC:-mpiexec.mpich}
MPIFC=${MPIFC-mpif90.mpich}
SECONDS=0 # of this test; "make soak SECONDS=60" is in the environment, from where bash would go on counting
ZMPIRUN=${ZMPIRUN:-$ZIP_TOP_BUILDDIR/launch/zmpirun}
ZIPPERD=${ZIPPERD:-$ZIP_TOP_BUILDDIR/zipperd/zipperd}
LIBZIPPER=$ZIP_TOP_BUILDDIR/libzip/.libs/libzipper.so
# Built with --enable-sanitize: the runtimes of two sanitizers must come before everything else in the ranks. ASAN: it is the
# address sanitizer, whose limits some tests know.
ASAN='' RUNTIME='' LINK_RUNTIME=()
SANITIZED=$(ldd "$LIBZIPPER" 2>/dev/null | grep -oE 'lib[atu]b?san' | head -n1)
case $SANITIZED in libasan | libtsan) RUNTIME=$(${CC:-gcc} -print-file-name="$SANITIZED.so") ;; esac
if [ "$SANITIZED" = libasan ]; then
	ASAN=$RUNTIME
	# Only the units look for leaks, for whose suppressions the whole stack of each allocation is read: half of the time of zipmap.
	export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:$ASAN_OPTIONS:fast_unwind_on_malloc=1
fi
# libtsan must see how the threads of a program are made, but preloaded it crashes a shell: MPI programs bring it themselves.
[ "$SANITIZED" != libtsan ] || LINK_RUNTIME=(-Wl,--no-as-needed -ltsan)
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:$UBSAN_OPTIONS
PRELOAD_LIST=${RUNTIME:+$RUNTIME:}$LIBZIPPER # for ranks that are started by hand
# Most tests that end a zipperd start no other one: a job shall not wait for it. recover.t is about that.
export ZIPPER_RECONNECT=${ZIPPER_RECONNECT:-0}
YIELD=$ZIP_TOP_BUILDDIR/test/.libs/zyield.so # for native runs, see lib/yield.c
LEAVE=$ZIP_TOP_BUILDDIR/test/.libs/zleave.so # for native jobs over several hosts, see lib/leave.c

TAP_COUNT=0
TAP_SHELL=$BASHPID
TAP_TMP=$(mktemp -d "${TMPDIR:-/tmp}/zip-test.XXXXXX") || exit 99
TAP_PIDS=()   # processes that the test started and that end with it
TAP_ATEXIT=() # commands to run at the end, last first
if [ -n "$SANITIZED" ]; then # what it reports, of any process of the test, is a failure of the test
	mkdir "$TAP_TMP/.sanitizer"
	export {ASAN,TSAN,UBSAN}_OPTIONS
	ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$TAP_TMP/.sanitizer/report
	TSAN_OPTIONS=$TSAN_OPTIONS:log_path=$TAP_TMP/.sanitizer/report
	UBSAN_OPTIONS=$UBSAN_OPTIONS:log_path=$TAP_TMP/.sanitizer/report
fi
PLAIN_ZMPIRUN=$ZMPIRUN
if [ -n "$ASAN" ]; then # a script stands for zmpirun
	printf '#!/bin/sh\nexec "%s" -genv LD_PRELOAD "%s${LD_PRELOAD:+:$LD_PRELOAD}" "$@"\n' "$ZMPIRUN" "$RUNTIME" >"$TAP_TMP/.sanitizer/zmpirun"
	chmod +x "$TAP_TMP/.sanitizer/zmpirun"
	ZMPIRUN=$TAP_TMP/.sanitizer/zmpirun
fi

at_exit() { TAP_ATEXIT=("$1" "${TAP_ATEXIT[@]}"); }
# child_runs PID: has this background process of the test not ended yet? The kernel soon gives the number of an ended one to another process,
# which may be anybody's: kill and kill -0 would reach that one.
child_runs() { [[ " $(jobs -rp | tr '\n' ' ')" == *" $1 "* ]]; }
child_is_over() { ! child_runs "$1"; }
tap_end() {
	local rc=$? pid cmd report
	# a subshell that gets a signal between its fork and the reset of its traps would come here too
	[ "$BASHPID" = "$TAP_SHELL" ] || return
	trap - EXIT
	for pid in "${TAP_PIDS[@]}"; do child_runs "$pid" && kill "$pid" 2>/dev/null; done
	for cmd in "${TAP_ATEXIT[@]}"; do eval "$cmd"; done
	for report in "$TAP_TMP"/.sanitizer/report*; do
		[ -s "$report" ] || continue
		head -n 60 "$report" | sed 's/^/# /'
		echo "Bail out! $SANITIZED reports an error"
		rc=99
	done
	rm -rf "$TAP_TMP"
	exit $rc
}
trap tap_end EXIT
trap 'exit 143' TERM INT HUP

plan() { echo "1..$1"; }
done_testing() { echo "1..$TAP_COUNT"; }
skip_all() { echo "1..0 # SKIP $*"; exit 0; }
bail_out() { echo "Bail out! $*"; exit 99; }
diag() { printf '%s\n' "$@" | sed 's/^/# /'; }
diag_file() { # FILE [LINES]
	[ -s "$1" ] && tail -n "${2:-30}" "$1" | cut -c1-300 | sed 's/^/#   /'
}
pass() { TAP_COUNT=$((TAP_COUNT + 1)); echo "ok $TAP_COUNT - $*"; }
fail() { TAP_COUNT=$((TAP_COUNT + 1)); echo "not ok $TAP_COUNT - $*"; return 1; }
skip() { TAP_COUNT=$((TAP_COUNT + 1)); echo "ok $TAP_COUNT - $1 # SKIP $2"; }
# tap_of PREFIX FILE STATUS [ERRORS]: the results that another test has printed there, with this test's numbers. A test that has
# not come to its end is a failure, too.
tap_of() {
	local prefix=$1 line planned='' seen=0
	while IFS= read -r line; do
		case $line in
		"1..0"*SKIP*) skip "$prefix" "${line#*SKIP }"; planned=0 ;;
		"1.."*) planned=${line#1..} ;;
		"ok "*) seen=$((seen + 1)); pass "$prefix: ${line#*ok *[0-9] - }" ;;
		"not ok "*) seen=$((seen + 1)); fail "$prefix: ${line#*ok *[0-9] - }" ;;
		"Bail out"*) diag "$line" ;;
		"#"*) echo "$line" ;;
		esac
	done <"$2"
	[ "$3" = 0 ] && [ "$planned" = "$seen" ] && return
	fail "$prefix: runs to its end"
	diag "status $3, planned ${planned:-nothing}, seen $seen"
	[ -z "$4" ] || diag_file "$4" 40
}
# ok NAME COMMAND...: passes when the command succeeds; otherwise its output is shown
ok() {
	local name=$1 rc=0
	shift
	"$@" >"$TAP_TMP/.ok" 2>&1 || rc=$?
	if [ $rc = 0 ]; then
		pass "$name"
	else
		fail "$name"
		diag "failed with status $rc: $*"
		diag_file "$TAP_TMP/.ok"
		return 1
	fi
}
# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		diag "got:    $2" "wanted: $3"
		return 1
	fi
}
# matches NAME FILE REGEX (extended)
matches() {
	if grep -Eq -- "$3" "$2"; then
		pass "$1"
	else
		fail "$1"
		diag "no line of $(basename "$2") matches: $3"
		diag_file "$2"
		return 1
	fi
}

# All limits are for an idle machine; a busy or slow machine gets a multiple.
: "${ZIP_PATIENCE:=6}"
# limited SECONDS COMMAND...: runs the command for that long at most. Status 124 or 137: it was ended.
limited() {
	local seconds=$(($1 * ZIP_PATIENCE))
	shift
	timeout -k 5 "$seconds" "$@"
}
# background COMMAND...: runs the command until the test ends; its id is in $!
background() {
	"$@" &
	TAP_PIDS+=($!)
}
# wait_for SECONDS COMMAND...: waits until the command succeeds. Status 1: it did not
wait_for() {
	local end=$((SECONDS + $1 * ZIP_PATIENCE))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

[ -z "$ZIP_MIXED" ] || . "$ZIP_TOP_SRCDIR/test/lib/mixed.sh"
# program NAME: prints the path of that twin program, as programs/FOLDER/modes.c
program() { printf '%s\n' "$ZIP_TOP_SRCDIR"/test/programs/*/"$1"; }
# compile SOURCE OUTPUT: compiles as a user does, with nothing of ours in the command line. Status 77: no compiler for it.
compile() {
	case $1 in
	*.c) "$MPICC" -O1 -g -Wall -Wno-stringop-overflow -pthread "$1" -o "$2" "${LINK_RUNTIME[@]}" -lm ;;
	*.f | *.f90)
		[ -n "$MPIFC" ] || return 77
		"$MPIFC" -O1 -g -J "$(dirname "$2")" "$1" -o "$2" "${LINK_RUNTIME[@]}"
		;;
	esac
}
# native SECONDS RANKS PROGRAM...: runs one MPICH job
native() {
	local seconds=$1 ranks=$2
	shift 2
	limited "$seconds" "$MPIEXEC" -genv LD_PRELOAD "$YIELD" -n "$ranks" "$@" </dev/null
}
# merged SECONDS LAYOUT PROGRAM...: runs one world made of the clusters in LAYOUT (as 2+2): on this machine; in the laboratory
# (lab.t), if there is one, over tcp; in a virtual machine (lib/vm.sh) over verbs; with ZIP_MIXED (lib/mixed.sh) of several releases of Debian
merged() {
	local seconds=$1 layout=$2
	shift 2
	if [ -n "$ZIP_LAB" ]; then
		"$ZIP_TOP_SRCDIR/test/lab" hosts "$layout" >"$TAP_TMP/lab.hosts"
		limited "$seconds" "$ZIP_TOP_SRCDIR/test/lab" run zipper "$ZMPIRUN" -f "$TAP_TMP/lab.hosts" -n $((layout)) \
			"$@" </dev/null
	elif [ -n "$ZIP_VM" ]; then
		"$ZIP_TOP_SRCDIR/test/vm/vmlab" hosts "$layout" $ZIP_VM_KIND >"$TAP_TMP/vm.hosts"
		"$ZIP_TOP_SRCDIR/test/vm/vmlab" run -t $((seconds * 10)) zipper "$ZMPIRUN" -f "$TAP_TMP/vm.hosts" -init-timeout $((seconds * 8)) -n $((layout)) \
			"$@"
	elif [ -n "$ZIP_MIXED" ]; then
		mixed_hosts "$layout" >"$TAP_TMP/mixed.hosts"
		TMPDIR=$TAP_TMP limited "$seconds" "$ZMPIRUN" -f "$TAP_TMP/mixed.hosts" -n $((layout)) "$@" </dev/null
	else
		limited "$seconds" "$ZMPIRUN" --clusters "$layout" "$@" </dev/null
	fi
}
[ -z "$ZIP_OMPI" ] || . "$ZIP_TOP_SRCDIR/test/lib/ompi.sh"
[ -z "$ZIP_STANDARD" ] || . "$ZIP_TOP_SRCDIR/test/lib/standard.sh"
