#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # job.sh's and lab.sh's variables
# zmpirun --check: worlds in which a job would run, and one fault after the other. Faults of single hosts are in the laboratory, where
# each node has its own files.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIP_TOP_BUILDDIR/launch/zipprobe" ] || skip_all "no zipprobe in the build tree"
self=$(readlink -f "$0")
cd "$TAP_TMP" || exit 99
release=$("$ZMPIRUN" --version | sed 's/.* //')
# finds NAME REGEX: a line of the check, which is not cut short
finds() { matches "$1" out "^$2" || diag_file err; }
# well NAME: the last line says that a job runs
well() { is "$1: its last line" "$(tail -n 1 out)" "A job would run."; }

if [ -z "$ZIP_LAB" ]; then
	. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
	key=$(printf '%064x' 4711)
	export ZIPPER_USER=me ZIPPER_KEY=$key
	run "this machine" 0 --check --clusters 2
	well "this machine" || diag_file out
	finds "... a host of each cluster" "ok    c2: host this machine: .*libzipper $release, reaches zipper 1 in [0-9.]+ ms$"
	finds "... the clusters together" 'ok    c1 - c2: a job runs: round trip [0-9.]+ ms, [0-9.]+ [MG]B/s there and [0-9.]+ [MG]B/s back$'
	is "... and no other lines" "$(grep -vcE '^(ok    |A job)' out) $(wc -c <err)" "0 0"
	is_gone "nothing is left"
	is "... of its directory, too" "$(scratch_left)" 0

	# a check leaves the graph of an earlier run alone, and writes none
	run "a recorded run" 0 --clusters 2 --profile run.zg "$ZIP_TOP_BUILDDIR/launch/zipprobe" measure
	before=$(cksum run.zg)
	run "--check with --profile" 0 --check --clusters 2 --profile run.zg true
	well "--check with --profile" || diag_file out
	is "... leaves the file alone" "$(cksum run.zg)" "$before"
	ZIPPER_PROFILE=$PWD/new.zg run "--check with ZIPPER_PROFILE" 0 --check --clusters 2 -genv ZIPPER_PROFILE "$PWD/new.zg" true
	well "--check with ZIPPER_PROFILE" || diag_file out
	ok "... writes none" test ! -e new.zg

	# the trial is a zmpirun of its own (/proc/self/exe), with a directory of its own
	background "${marked[@]}" "$ZMPIRUN" --check --clusters 2 >out 2>err
	check=${TAP_PIDS[-1]}
	until trial=$(pgrep -P "$check" -x exe) && [ "$(scratch_left)" = 2 ] || ! kill -0 "$check" 2>/dev/null; do sleep 0.01; done
	kill -INT "$check"
	wait "$check"
	is "an interrupted trial" "$? ${trial:+there}" "130 there"
	is_gone "an interrupted trial: nothing is left"
	is "... of its directory, too" "$(scratch_left)" 0

	zipperd_runs 1 "$key"
	hosts "$ADDRESS_1" >world
	run "a hostfile and a zipperd that runs" 0 --check -f world true
	well "a world" || diag_file out
	finds "... the zipper" "ok    zipper z1: zipperd $release knows you and takes new jobs$"
	finds "... a host of the first cluster" "ok    a: host a1: calls itself .*, libzipper $release, reaches zipper z1 in [0-9.]+ ms$"
	finds "... of the second" "ok    b: host b1: "
	run "only the hosts that get ranks" 0 --check -f world -n 2 true
	is "... are visited" "$(grep -c ': host ' out)" 1
	finds "... and one cluster needs no zipper" "ok    zippers: none is needed"
	ZMPIRUN_HOSTFILE=world run "the hostfile of the site" 0 --check
	well "the hostfile of the site" || diag_file out
	finds "... has the zipper" "ok    zipper z1: "
	run "no program of the user is started" 0 --check -f world touch started
	ok "... indeed" test ! -e started

	"$ZIP_TOP_BUILDDIR/zipstat/zipstat" "$ADDRESS_1" >status
	is "no job is left at the zipper" "$(grep -c 'runs\|forms' status)" 0 || diag_file status
	run "a program that other hosts lack" 1 --check -f world ./heaat
	finds "... is named" 'bad   b: host b1: no program \./heaat: No such file or directory: '
	is "... and counted" "$(tail -n 1 out)" "A job would not run: 2 things to mend."
	run "a working directory that they lack" 1 --check -f world -wdir "$PWD/none" true
	finds "... is named" "bad   a: host a1: it is not reached: .*cannot change to the directory $PWD/none "
	ZIPPER_KEY=$(printf '%064x' 815) run "a wrong key" 1 --check -f world true
	finds "... and what to do" 'bad   zipper z1: .*refuses the key of user me: its administrator must have your key'
	env -u ZIPPER_KEY HOME="$TAP_TMP" "$ZMPIRUN" --check -f world true >out 2>err
	is "no key: status" $? 1
	finds "... is said, with the place" "bad   your key for zipperd on z1: $TAP_TMP/.zipper/key: No such file"

	hosts "$ADDRESS_1" tcp:127.0.0.1:1 >half
	run "a zipper of two that is down" 0 --check -f half true
	finds "... is told" 'warn  zipper z2: .*127.0.0.1:1.*Connection refused: '
	is "... and a job would run" "$(tail -n 1 out)" "A job would run. 1 thing is not as it should be."
	run "... and is not asked with --rails 1" 0 --check --rails 1 -f half true
	well "... and is not asked with --rails 1" || diag_file out
	is "... nor told of" "$(grep -c 'z2' out)" 0
	hosts tcp:127.0.0.1:1 "$ADDRESS_1" >half
	run "the first of two is down" 0 --check --rails 1 -f half true
	finds "... and told" 'warn  zipper z1: .*127.0.0.1:1.*Connection refused: '
	finds "... and the second one is used" 'ok    zipper z2: '
	hosts tcp:127.0.0.1:1 >down
	run "the only zipper is down" 1 --check -f down true
	finds "... is told" 'bad   zipper z1: .*127.0.0.1:1.*Connection refused: '
	finds "... and the hosts are visited all the same" "ok    b: host b1: .*libzipper $release$"
	printf '#ZIP cluster a launcher=rsh launcher-exec=%s localhost=localhost\na1\n#ZIP cluster b\nnowhere.invalid\n#ZIP zipper z a=%s b=%s\n' \
		"$TAP_TMP/rsh" "$ADDRESS_1" "$ADDRESS_1" >unknown
	run "a host name that does not resolve" 1 --check -f unknown true
	finds "... is named, with its line" 'bad   b: unknown:4: host nowhere\.invalid: '
	finds "... and the other host is visited" 'ok    a: host a1: '
	printf '#!/bin/sh\ncase " $* " in *" b1 "*) echo "connect to host b1: Connection refused" >&2; exit 255 ;; esac\nexec %s "$@"\n' \
		"$TAP_TMP/rsh" >refused
	chmod +x refused
	sed "s|$TAP_TMP/rsh|$TAP_TMP/refused|" world >away
	run "a host that is not reached" 1 --check -f away true
	# mpiexec since MPICH 4.2 may end before it has read what the launcher says
	finds "... is named, with what its launcher says" 'bad   b: host b1: it is not reached: .*(connect to host b1: Connection refused|Launch proxy failed)'
	finds "... and the other host is visited" 'ok    a: host a1: '
	is_gone "nothing is left"
	printf '#!/bin/sh\ncase " $* " in *" b1 "*) ulimit -n 48 ;; esac\nexec %s "$@"\n' "$TAP_TMP/rsh" >few
	chmod +x few
	sed "s|$TAP_TMP/rsh|$TAP_TMP/few|" world >narrow
	run "a host with a low ulimit -n" 1 --check -f narrow true
	finds "... is named" 'bad   b: host b1: ulimit -n is 48, and a rank needs [0-9]+: raise it '
	finds "... and the other host is well" 'ok    a: host a1: '

	# --- several programs
	mkdir here there
	cp /bin/true here/one
	cp /bin/true there/two
	two=(-n 1 -wdir "$PWD/here" ./one : -n 3 -wdir "$PWD/there" ./two)
	run "each program in its own directory" 0 --check -f world "${two[@]}"
	well "each program in its own directory" || diag_file out
	two[8]=./one
	run "a program that is in the first one's directory alone" 1 --check -f world "${two[@]}"
	finds "... is named on one host" 'bad   a: host a1: no program \./one: No such file or directory: '
	finds "... and on the other" 'bad   b: host b1: no program \./one: No such file or directory: '
	many=()
	for ((i = 0; i < 70; i++)); do many+=(-n 1 true :); done
	run "the last of 71 programs is missing" 1 --check -f world "${many[@]}" -n 2 ./heaat
	finds "... and named" 'bad   b: host b1: no program \./heaat: '
	run "the directory of the second program is missing" 1 --check -f world -n 1 true : -n 3 -wdir "$PWD/none" true
	finds "... and named" "bad   b: host b1: .*cannot change to the directory $PWD/none "

	# --- a map, by which a zipper node has ranks of both clusters
	sed '/^a1/d; s/^b1/z1/' world | sed "1a a1" >corner
	printf '%s\n' '0 z1 a' '1 z1 b' >corner.map
	run "ranks on a zipper node" 0 --check -f corner -map corner.map true
	well "ranks on a zipper node" || diag_file out

	printf '#ZIP cluster a\na1\n#ZIP cluster b\nb1\n#ZIP zipper z a=%s b=%s\n' "$ADDRESS_1" "$ADDRESS_1" >srun
	SLURM_JOB_ID=1 SLURM_JOB_NODELIST=a1,b1 SLURM_TASKS_PER_NODE='1(x2)' run "a job that srun would start" 1 --check -f srun true
	finds "... is refused" 'bad   srun would start the ranks of a, and --check starts its probes with mpiexec: '
	export ZMPIRUN_HOSTFILE=srun
	SLURM_JOB_ID=1 SLURM_JOB_NODELIST=a1,b1 SLURM_TASKS_PER_NODE='1(x2)' run "a plain job of Slurm" 1 --check true
	finds "... does without the hostfile of the site" 'bad   srun would start the ranks of group0, '
	SLURM_JOB_ID=1 SLURM_JOB_NODELIST=a1,b1 SLURM_TASKS_PER_NODE='1(x2)' run "one with -launcher" 1 --check -launcher ssh true
	finds "... does, too: it would start ranks on all hosts of the site" 'bad   no clusters: give a zipper hostfile '
	SLURM_JOB_ID=1 SLURM_HET_SIZE=2 SLURM_JOB_NODELIST_HET_GROUP_0=b1 SLURM_JOB_NODELIST_HET_GROUP_1=a1 \
		SLURM_TASKS_PER_NODE_HET_GROUP_0=1 SLURM_TASKS_PER_NODE_HET_GROUP_1=1 run "a heterogeneous one" 1 --check true
	finds "... takes it" 'bad   srun would start the ranks of a, '
	unset ZMPIRUN_HOSTFILE

	# --- zipstat check, and a drained zipper
	zipstat=$ZIP_TOP_BUILDDIR/zipstat/zipstat
	background "$ZIPPERD" -o listen=a,b=tcp:127.0.0.1:0 -o key_file="$TAP_TMP/keys1" -o administrators=me -o log_level=error \
		--ready-fd 3 3>ready2
	wait_for 10 grep -q '^$' ready2
	second=$(sed -n 's/^a,b=//p' ready2)
	"$zipstat" check "$ADDRESS_1" "$second" >out 2>err
	is "zipstat check: status" "$? $(tail -n 1 out)" "0 No fault was found." || diag_file out
	finds "... each zipper" "ok    zipper $second: zipperd $release knows you and takes new jobs; jobs now: 0, connections: [0-9]+ of [0-9]+$"
	finds "... the limits of the zipperds of this host" '(ok  |warn)  zipperd \(process [0-9]+\): '
	"$zipstat" drain "$second" >/dev/null
	"$zipstat" check "$ADDRESS_1" "$second" tcp:127.0.0.1:1 >out 2>err
	is "zipstat check, a zipper that is drained, and one that is down: status" "$? $(tail -n 1 out)" \
		"1 A job would not run: 2 things to mend."
	finds "... the first" "bad   zipper $second: it is drained, and takes no new jobs: "
	finds "... the second" 'bad   zipper tcp:127\.0\.0\.1:1: .*Connection refused: no zipperd listens there: '
	hosts "$second" >drained
	run "a drained zipper" 1 --check -f drained true
	finds "... is named" 'bad   zipper z1: it is drained, and takes no new jobs: '
	hosts "$ADDRESS_1" "$second" >half
	run "a drained zipper of two" 0 --check -f half true
	finds "... is told" 'warn  zipper z2: it is drained, and takes no new jobs: jobs go without it'
	finds "... and a job runs over the other one" 'ok    a - b: a job runs: '
	run "a job over both" 0 -f half --stats "$ZIP_TOP_BUILDDIR/launch/zipprobe" measure
	matches "... says which is left out" err '^zmpirun: warning: zipper z2 is left out: .* an administrator drains it '
	"$zipstat" check >out 2>err
	is "zipstat check without an address" "$? $(cat err)" "2 zipstat: check: the address of a zipperd is missing; try zipstat --help"

	printf '#ZIP cluster a\nn1\n#ZIP clutser b\n' >wrong
	run "a hostfile with a mistake" 1 --check -f wrong true
	finds "... is told" 'bad   wrong:3: unknown directive #ZIP clutser '
	run "a file that is no program" 1 --check -f world "$PWD/world"
	finds "... is named" 'bad   b: host b1: no program .*/world: Permission denied: '
	run "no program" 2 -f world
	is "... is still wrong without --check" "$(head -n 1 err)" "zmpirun: no program given"

	lab=$ZIP_TOP_SRCDIR/test/lab
	if reason=$("$lab" with 1 true 2>&1); then
		"$lab" with 2 bash "$self" >lab.out 2>lab.err
		tap_of laboratory lab.out $? lab.err
	else
		skip "laboratory" "namespaces: $reason"
	fi
	done_testing
	exit
fi

. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
# on NODE COMMAND...: in the node's own namespaces
on() { "$lab" run "$@"; }
check() { # STATUS NAME OPTION...
	local wanted=$1 name=$2
	shift 2
	run "$wanted" "$name" --check "$@"
}
"$lab" hosts 1+1 >right
cp right hosts
check 0 "a world" true
well "a world" || diag_file out
# The zipper's own address on A's network: it is reached from the zipper, where zmpirun is, and not from B.
sed -i 's/clusterB=tcp:10\.77\.2\.1/clusterB=tcp:10.77.1.1/' hosts
on clusterB ip route del default
check 1 "a cluster without a route to its zipper" true
finds "... is named" 'bad   clusterB: host clusterB: zipper zipper is not reached: .*10\.77\.1\.1'
finds "... and the other one reaches it" 'ok    clusterA: host clusterA: .*, reaches zipper zipper in [0-9.]+ ms$'
cp right hosts

mkdir empty
sed 's/@(#)libzipper [0-9.]*/@(#)libzipper 0.0.0/' "$LIBZIPPER" >old.so
on clusterB mount --bind old.so "$LIBZIPPER"
check 1 "a host with another libzipper" true
finds "... is named" "bad   clusterB: host clusterB: libzipper.so is of release 0\.0\.0, and this zmpirun of $release: "
on clusterB umount "$LIBZIPPER"
head -c 5000 "$LIBZIPPER" >cut.so
on clusterB mount --bind cut.so "$LIBZIPPER"
check 1 "a host with a damaged one" true
finds "... is named" 'bad   clusterB: host clusterB: libzipper.so: .*(cannot be preloaded|is damaged)'
on clusterB umount "$LIBZIPPER"
on clusterB mount --bind empty "$ZIP_TOP_BUILDDIR/common/.libs"
check 1 "a host without its modules" true
finds "... is named" 'bad   clusterB: host clusterB: libzipper.so cannot prove who you are: .*zipauth.so'
on clusterB umount "$ZIP_TOP_BUILDDIR/common/.libs"
on clusterB mount --bind empty "$ZIP_TOP_BUILDDIR/launch"
check 1 "a host with a release without the probe" true
finds "... is named" 'bad   clusterB: host clusterB: the release there is another one than that of this zmpirun'
on clusterB mount --bind empty "${LIBZIPPER%/*}"
check 1 "a host without libzipper" true
finds "... is named" 'bad   clusterB: host clusterB: libzipper.so is not installed there: install '
finds "... and the other one is well" "ok    clusterA: host clusterA: .*libzipper $release"
done_testing
