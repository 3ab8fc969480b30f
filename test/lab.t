#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The honest laboratory: jobs over tcp between network namespaces that have no route between the clusters.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
lab=$ZIP_TOP_SRCDIR/test/lab

if [ -z "$ZIP_LAB" ]; then
	reason=$("$lab" with 1 true 2>&1) || skip_all "namespaces: $reason"
	"$lab" with 3 bash "$0"
	exit
fi

"$lab" check >"$TAP_TMP/check"
rc=$?
while read -r line; do
	case $line in
	*zipper*yes | cluster*no) pass "$line" ;;
	*) fail "$line" ;;
	esac
done <"$TAP_TMP/check"
is "no cluster reaches another one" $rc 0
if [ ! -x "$ZMPIRUN" ]; then
	skip "jobs" "zmpirun is not built"
	done_testing
	exit
fi

# --- twin programs: their results with this test's numbers
for source in "$ZIP_TOP_SRCDIR"/test/programs/*/*.c; do
	sed 20q "$source" | grep -q 'twin:.*tcp=yes' || continue
	case $source in
	*/multicast.c) layouts="2+2+2 1+1+4" ;;
	*) layouts="2+2 1+1+2" ;;
	esac
	ZIP_LAYOUTS=$layouts "$ZIP_TOP_SRCDIR/test/twin" "$source" >"$TAP_TMP/tap"
	tap_of tcp "$TAP_TMP/tap" $?
done

cd "$TAP_TMP" || exit 99
compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" hello
native 30 4 ./hello | sort >expected
rsh=$ZIP_TOP_SRCDIR/test/lib/lab-rsh

# --- a running zipperd, at a port in the hostfile
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
echo "$(id -un) $key" >keys
chmod 600 keys
background "$lab" run zipper "$ZIPPERD" --die-with-parent -o listen=clusterA=tcp:10.77.1.1:7474 \
	-o listen=clusterB=tcp:10.77.2.1:7474 -o key_file="$TAP_TMP/keys" 2>zipperd.log
up() { "$lab" run clusterA bash -c 'exec 3<>/dev/tcp/10.77.1.1/7474' 2>/dev/null; }
ok "zipperd listens on both networks" wait_for 10 up
export ZIPPER_KEY_FILE=$TAP_TMP/keys
"$lab" hosts 2+2 7474 >hosts
limited 40 "$lab" run zipper "$ZMPIRUN" -f hosts ./hello >out 2>err
rc=$?
is "zmpirun with a zipperd that runs" "$rc $(sort out)" "0 $(cat expected)" || diag_file err

# --- two mpiexec by hand, the second one later
job() { # CLUSTER NUMBER
	limited 40 "$lab" run zipper env ZIPPER_JOB=by-hand ZIPPER_PARTS=clusterA,clusterB ZIPPER_PART="$1" \
		ZIPPER_ZIPPERD="tcp:10.77.$2.1:7474" "$MPIEXEC" -launcher rsh -launcher-exec "$rsh" -localhost "10.77.$2.1" \
		-hosts "$1" -n 2 -genv LD_PRELOAD "$PRELOAD_LIST" -genv ZIPPER_MODULE_DIR "$ZIP_TOP_BUILDDIR/common/.libs" ./hello
}
job clusterB 2 >outB 2>errB &
second=$!
sleep 0.3
job clusterA 1 >outA 2>errA
rcA=$?
wait $second
is "two mpiexec by hand" "$rcA $? $(sort outA outB)" "0 0 $(cat expected)" || { diag_file errA; diag_file errB; }

# --- one mpiexec over all hosts, with a slow common network: the zipper's kernel routes
"$lab" forward on
limited 60 "$lab" run zipper "$MPIEXEC" -launcher rsh -launcher-exec "$rsh" -localhost 10.77.1.1 -f hosts -n 4 \
	-genv LD_PRELOAD "$PRELOAD_LIST" -genv ZIPPER_MODULE_DIR "$ZIP_TOP_BUILDDIR/common/.libs" -genv ZIPPER_JOB one-mpiexec \
	-genv ZIPPER_HOSTFILE "$TAP_TMP/hosts" -genv ZIPPER_LOG info ./hello >out 2>err
rc=$?
is "one stock mpiexec over all hosts" "$rc $(sort out)" "0 $(cat expected)" || diag_file err
"$lab" forward off

if np=$(command -v NPmpich2); then
	limited 60 "$lab" run zipper "$ZMPIRUN" -f hosts -ppn 1 -n 2 --stats "$np" -n 5 -u 65536 >out 2>err
	is "NetPIPE of the package over tcp" $? 0 || diag_file err
	matches "something went over the bridge" err 'clusterA -> clusterB: [0-9]+ messages, [0-9]+ bytes'
fi
done_testing
