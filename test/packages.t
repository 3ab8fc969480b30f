#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Binary programs of Debian packages over the bridge: their own checks of their results must pass.
# With ZIP_LONG also the full inputs of the packages.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
scalapack=$(ls -d /usr/lib/*/scalapack/mpich-tests 2>/dev/null | head -n1)
inputs=/usr/share/scalapack
here=$ZIP_TOP_SRCDIR/test/packages
cd "$TAP_TMP" || exit 99

over_bridge() { # NAME SECONDS LAYOUT PROGRAM...: output in out, status in rc
	merged "${@:2}" >out 2>err
	rc=$?
	[ $rc = 124 ] && diag "$1 was ended after $2 s"
}
show() { diag "status $rc"; diag_file out; diag_file err; }

if np=$(command -v NPmpich2); then
	for size in 16 100000 1048576; do
		over_bridge NetPIPE 60 1+1 "$np" -i -n 5 -l "$((size - 3))" -u "$size"
		if [ $rc = 0 ] && grep -q "Integrity check passed" err && ! grep -qi "failed" out err; then
			pass "NetPIPE, $size bytes, integrity checked"
		else
			fail "NetPIPE, $size bytes, integrity checked"
			show
		fi
	done
else
	skip "NetPIPE" "netpipe-mpich2 is not installed"
fi

# BLACS: the tester counts its own tests; the last one is that BLACS_ABORT ends all
blacs() { # NAME SECONDS LAYOUT
	over_bridge "$1" "$2" "$3" "$scalapack/BLACS/xCbtest"
	if ! grep -q 'FAILED' out || grep 'TESTS;' out | grep -vq ' 0 FAILED'; then
		fail "$1 as $3: its results"
		show
	else
		pass "$1 as $3: $(grep -c 'TESTS;' out) groups of tests, none failed"
	fi
	if grep -q 'PASSED  BLACS_SET/BLACS_GET' out && grep -q 'killed other procs' out err && [ $rc != 0 ] && [ $rc != 124 ]; then
		pass "$1 as $3: auxiliary tests and BLACS_ABORT, status $rc"
	else
		fail "$1 as $3: auxiliary tests and BLACS_ABORT"
		show
	fi
}
scalapack() { # NAME SECONDS LAYOUT
	over_bridge "$1" "$2" "$3" "$scalapack/$1"
	local good bad
	good=$(awk '/tests completed and passed/ { print $1 }' out)
	bad=$(awk '/tests completed and failed/ { print $1 }' out)
	if [ "$rc" = 0 ] && [ "${good:-0}" -gt 0 ] && [ "$bad" = 0 ]; then
		pass "$1 as $3: $good tests passed, none failed"
	else
		fail "$1 as $3: $good passed, $bad failed"
		show
	fi
}
if [ -n "$scalapack" ] && [ -d $inputs ]; then
	cp $inputs/*.dat $inputs/BLACS/*.dat .
	cp "$here"/*.dat .
	blacs xCbtest 100 2+2
	# all its broadcasts of single precision: of triangles and trapezoids, thousands of datatypes one after the other
	mkdir broadcasts && cd broadcasts || exit 99
	cp $inputs/BLACS/*.dat .
	sed -i "4s/T/F/;6,7s/T/F/;8s/^5/1/;9s/'I' 'S' 'D' 'C' 'Z'/'S'/" bt.dat
	over_bridge "broadcasts of xCbtest" 100 2+2 "$scalapack/BLACS/xCbtest"
	ok "xCbtest as 2+2: 9600 tests of broadcasts, none failed" grep -q 'REAL BSBR TESTS: 9600 TESTS;.* 0 FAILED' out || show
	cd .. || exit 99
	for program in xdlu xdbrd xdhrd xdnep; do
		scalapack $program 60 2+2
	done
	scalapack xdlu 60 1+1+2
	# its communication graph does not depend on how it runs
	ZIPPER_PROFILE=native.zg limited 60 "$MPIEXEC" -n 4 env LD_PRELOAD="$PRELOAD_LIST:$YIELD" "$scalapack/xdlu" \
		</dev/null >out 2>err
	ZIPPER_PROFILE=merged.zg over_bridge xdlu 60 2+2 "$scalapack/xdlu"
	"$ZIP_TOP_BUILDDIR/mapper/zipmap" show native.zg >native.txt 2>&1
	matches "xdlu is recorded" native.txt '^native.zg: 4 ranks, 12 pairs, [1-9][0-9]+ bytes .*; recorded of xdlu$'
	for graph in native merged; do "$ZIP_TOP_BUILDDIR/mapper/zipmap" show --edges $graph.zg >$graph.edges 2>&1; done
	ok "... natively and merged the same" cmp native.edges merged.edges || show
	if [ -n "$ZIP_LONG" ]; then
		cp $inputs/*.dat $inputs/BLACS/*.dat .
		blacs xCbtest 900 2+2
		for program in xdlu xdqr xdtrd xdhrd xdinv xdls xdsep xzlu; do
			scalapack $program 600 2+2
		done
	fi
else
	skip "BLACS and ScaLAPACK" "scalapack-mpi-test is not installed"
fi
done_testing
