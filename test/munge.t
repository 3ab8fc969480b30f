#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MUNGE in place of keys, with a munged of the test's own: jobs of zmpirun and by hand without any key file; false users, credentials that are
# used again, too old, or of another realm; a munged that is not there, or hangs.
# shellcheck disable=SC2154 # ADDRESS_NAME and MUNGED_NAME: functions set them
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
MODULES=$ZIP_TOP_BUILDDIR/common/.libs
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
[ -e "$MODULES/zipmunge.so" ] || skip_all "built without libmunge"
MUNGED=$(PATH=$PATH:/usr/sbin:/sbin command -v munged) || skip_all "no munged"
command -v python3 >/dev/null || skip_all "no python3"
ZIPSTAT=$ZIP_TOP_BUILDDIR/zipstat/zipstat
GOLDEN=$ZIP_TOP_SRCDIR/test/golden/golden.py
cd "$TAP_TMP" || exit 99
compile "$(program modes.c)" modes >cc.out 2>&1 || { diag_file cc.out; bail_out "modes.c"; }
chmod 711 "$TAP_TMP" # munged wants a socket that all can reach
me=$(id -un)

# start_munged NAME KEY [OPTION...]: socket NAME.sock
start_munged() {
	local name=$1 key=$2
	shift 2
	[ -s "$key" ] || (umask 077 && head -c 64 /dev/urandom >"$key")
	background "$MUNGED" -F --key-file="$TAP_TMP/$key" --socket="$TAP_TMP/$name.sock" --pid-file="$TAP_TMP/$name.pid" \
		--log-file="$TAP_TMP/$name.log" --seed-file="$TAP_TMP/$name.seed" "$@" 2>"$name.err"
	eval "MUNGED_$name=$!"
	wait_for 20 test -S "$name.sock" || { diag_file "$name.err"; skip_all "munged does not run here"; }
}
# serve NAME OPTION...: zipperd; ADDRESS_NAME
serve() {
	local name=$1
	shift
	rm -f "ready.$name"
	background "$ZIPPERD" -o listen=a,b=tcp:127.0.0.1:0 -o module_dir="$MODULES" -o log_level=warn "$@" --ready-fd 3 3>"ready.$name" 2>"zipper.$name"
	eval "ZIPPERD_$name=$!"
	wait_for 20 grep -q '^$' "ready.$name" || { diag_file "zipper.$name"; bail_out "zipperd $name does not start"; }
	eval "ADDRESS_$name=$(sed -n 's/^a,b=//p' "ready.$name")"
}
start_munged one realm
unset ZIPPER_KEY ZIPPER_KEY_FILE ZIPPER_USER ZIPPER_CREDENTIAL
export HOME=$TAP_TMP # no key there
export ZIPPER_MUNGE=$TAP_TMP/one.sock ZIPPER_MUNGE_USER=$me ZIPPER_MODULE_DIR=$MODULES

# --- without any key
serve 1 -o munge="$TAP_TMP/one.sock"
serve 2 -o munge="$TAP_TMP/one.sock"
# asks NAME LINE [COMMAND...]: zipstat is refused with that line, by zipperd 1 unless ADDRESS says otherwise
asks() {
	local name=$1 line=$2
	shift 2
	limited 60 "$@" "$ZIPSTAT" "${ADDRESS:-$ADDRESS_1}" >out 2>err
	is "$name: status" $? 1
	is "$name: its line" "$(cat err)" "zipstat: $line"
}
answers() {
	limited 60 "$ZIPSTAT" "$@" >out 2>err && [ ! -s err ]
}
ok "zipstat is answered" answers "$ADDRESS_1"
native 60 4 ./modes 2>&1 | LC_ALL=C sort >native
hosts "$ADDRESS_1" "$ADDRESS_2" >file
run "zmpirun, two zippers" 0 -f file ./modes
is "zmpirun: as natively" "$(LC_ALL=C sort out)" "$(cat native)"
is "zmpirun: no other line" "$(cat err)" ""
hosts "$ADDRESS_1" tcp:127.0.0.1 >file # without a port: zmpirun starts that one itself
run "zmpirun, one of MUNGE and one of its own" 0 -f file ./modes
is "one of its own: as natively" "$(LC_ALL=C sort out)" "$(cat native)"
by_munge() {
	local name pids=() pid rc=0
	for name in a b; do
		limited 60 "${marked[@]}" "$MPIEXEC" -n 2 env LD_PRELOAD="$PRELOAD_LIST" ZIPPER_JOB=hand ZIPPER_PARTS=a,b ZIPPER_PART=$name \
			ZIPPER_ZIPPERD="$ADDRESS_1,$ADDRESS_2" "$@" ./modes >"out.$name" 2>"err.$name" </dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
	return $rc
}
ok "by hand" by_munge || diag_file err.a
is "by hand: as natively" "$(cat out.a out.b | LC_ALL=C sort)" "$(cat native)"
is "zipperd says nothing" "$(cat zipper.1 zipper.2)" ""
# over hops: the zipperds on the way know the job, too
for k in 1 2; do
	[ $k = 1 ] && fabrics="a b" || fabrics="b c"
	options=()
	for fabric in $fabrics; do options+=(-o "listen=$fabric=shm:$TAP_TMP/z$k.$fabric" -o "next=$fabric"); done
	background "$ZIPPERD" "${options[@]}" -o module_dir="$MODULES" -o munge="$TAP_TMP/one.sock" --ready-fd 3 3>"ready.z$k" 2>"zipper.z$k"
	wait_for 20 grep -q '^$' "ready.z$k" || { diag_file "zipper.z$k"; bail_out "zipperd z$k does not start"; }
done
{
	printf "#ZIP cluster %s launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost\n%s\n" a a1 b b1 c c1
	echo "#ZIP zipper z1 a=shm:$TAP_TMP/z1.a b=shm:$TAP_TMP/z1.b"
	echo "#ZIP zipper z2 b=shm:$TAP_TMP/z2.b c=shm:$TAP_TMP/z2.c"
} >file
native 60 3 ./modes 2>&1 | LC_ALL=C sort >native3
run "zmpirun, a chain" 0 -f file ./modes
is "a chain: as natively" "$(LC_ALL=C sort out)" "$(cat native3)"

# --- who it is not
ZIPPER_USER=somebody asks "another user's name" "zipperd at $ADDRESS_1: MUNGE says that it is user $me, not somebody (ZIPPER_USER)"
matches "another user's name: in the log" zipper.1 "MUNGE says that it is user $me, not somebody .ZIPPER_USER.: refused"
other=$(id -un 1)
ZIPPER_MUNGE_USER=$other asks "a credential for another reader" \
	"zipperd at $ADDRESS_1: MUNGE: the credential is not for this zipperd, which user $(id -u) has: ZIPPER_MUNGE_USER names the user of zipperd"
ZIPPER_MUNGE_USER=nobody-of-that-name asks "an unknown reader" \
	"ZIPPER_MUNGE: MUNGE: there is no user nobody-of-that-name here: ZIPPER_MUNGE_USER names the user of zipperd"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$ZIPSTAT" zipstat 2>/dev/null && libtool_wrapper=$(head -c 2 zipstat)
	[ "$libtool_wrapper" = "#!" ] && cp "$ZIP_TOP_BUILDDIR/zipstat/.libs/zipstat" zipstat
	cp "$MODULES/zipmunge.so" zipmunge.so
	chmod 755 zipstat zipmunge.so
	ZIPSTAT=$TAP_TMP/zipstat ZIPPER_MODULE_DIR=$TAP_TMP ZIPPER_USER=$me asks "a user who says that it is another" \
		"zipperd at $ADDRESS_1: MUNGE says that it is user $other, not $me (ZIPPER_USER)" setpriv --reuid 1 --clear-groups
	ZIPSTAT=$TAP_TMP/zipstat ZIPPER_MODULE_DIR=$TAP_TMP asks "a user without a name" \
		"zipperd at $ADDRESS_1: MUNGE: user id 54321 has no name on zipperd's host" setpriv --reuid 54321 --clear-groups
	ZIPSTAT=$TAP_TMP/zipstat ZIPPER_MODULE_DIR=$TAP_TMP ZIPPER_USER=uid54321 asks "... who says another" \
		"zipperd at $ADDRESS_1: MUNGE: user id 54321 has no name on zipperd's host" setpriv --reuid 54321 --clear-groups
	ok "a user as itself" env ZIPPER_MODULE_DIR="$TAP_TMP" setpriv --reuid 1 --clear-groups "$TAP_TMP/zipstat" "$ADDRESS_1"
fi

# --- credentials that were overheard
start_munged two realm # of another host of that realm: it has not seen the credential
start_munged short realm --max-ttl=1
start_munged other otherrealm
serve two -o munge="$TAP_TMP/two.sock"
serve short -o munge="$TAP_TMP/short.sock"
serve other -o munge="$TAP_TMP/other.sock"
background python3 -B "$GOLDEN" record port 127.0.0.1 "${ADDRESS_1##*:}" overheard.hex
recorder=$!
wait_for 20 test -s port || bail_out "golden.py does not start"
ok "a stranger hears zipstat" answers "tcp:127.0.0.1:$(cat port)"
kill $recorder
wait $recorder
# again NAME ADDRESS TEXT: the stranger says it again there
again() {
	is "$1" "$(python3 -B "$GOLDEN" again overheard.hex 127.0.0.1 "${2##*:}")" "zipperd at $2: $3"
}
again "again to the same zipperd" "$ADDRESS_1" "MUNGE: Replayed credential"
again "to another zipperd of the realm" "$ADDRESS_two" "the credential of MUNGE was made for another connection"
again "to one of another realm" "$ADDRESS_other" "MUNGE: Invalid credential"
sleep 3 # longer than it is good there
again "too late" "$ADDRESS_short" "MUNGE: Expired credential"

# --- what is missing
ADDRESS=$ADDRESS_1 ZIPPER_MUNGE=no asks "not asked for" "$HOME/.zipper/key: No such file or directory, and neither ZIPPER_KEY nor ZIPPER_KEY_FILE is set; \"zipperd --make-key $(id -un)\" prints a key, for this file and for that of zipperd"
ZIPPER_MUNGE=maybe asks "no such word" "ZIPPER_MUNGE: 'maybe' is not yes, no or the path of munged's socket"
ZIPPER_MODULE_DIR=$TAP_TMP/nowhere asks "no module" "ZIPPER_MUNGE: there is no $TAP_TMP/nowhere/zipmunge.so (built without libmunge?)"
limited 60 "$ZIPPERD" -t -o listen=a,b=tcp:127.0.0.1:0 -o munge=yes -o module_dir="$TAP_TMP/nowhere" >out 2>err
is "zipperd without the module" "$? $(cat err)" "1 zipperd: error: munge: there is no $TAP_TMP/nowhere/zipmunge.so (built without libmunge?)"
(umask 077 && echo "$me $(printf '%064x' 1)" >keys)
serve keys -o key_file="$TAP_TMP/keys"
ADDRESS=$ADDRESS_keys asks "a zipperd of keys" "zipperd at $ADDRESS_keys takes no credentials of MUNGE, but keys (munge in zipperd.conf)"
hosts "$ADDRESS_keys" >file
run "zmpirun, a zipperd of keys" 1 -f file ./modes
is "zmpirun, a zipperd of keys: its line" "$(cat err)" \
	"zmpirun: zipperd at $ADDRESS_keys takes no credentials of MUNGE, but keys (munge in zipperd.conf)"

# --- a munged that hangs delays its own users alone
serve both -o munge="$TAP_TMP/two.sock" -o key_file="$TAP_TMP/keys"
kill -STOP "$MUNGED_two"
limited 60 "$ZIPSTAT" "$ADDRESS_both" >out.late 2>&1 &
late=$!
keyed() {
	ZIPPER_MUNGE=no ZIPPER_KEY=$(printf '%064x' 1) answers "$ADDRESS_both"
}
ok "munged hangs: a user with a key is answered" keyed
ok "munged hangs: again" keyed
kill -CONT "$MUNGED_two"
wait $late
is "munged goes on: so does its user" "$? $(grep -c '^zipper ' out.late)" "0 1"
kill "$MUNGED_two"
wait "$MUNGED_two"
rm -f two.sock
ADDRESS=$ADDRESS_both asks "no munged at zipperd" \
	"zipperd at $ADDRESS_both: MUNGE: Failed to access \"$TAP_TMP/two.sock\": No such file or directory (Did you start munged?)"
ok "no munged: a user with a key is answered" keyed
ZIPPER_MUNGE=$TAP_TMP/two.sock asks "no munged here" \
	"MUNGE: Failed to access \"$TAP_TMP/two.sock\": No such file or directory (Did you start munged?)"
done_testing
