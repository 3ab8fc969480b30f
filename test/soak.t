#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random point-to-point traffic, with a new seed for every job and now and then several endpoints: a few jobs, or for
# ZIP_SECONDS. ZIP_SEED repeats one seed.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/random.c" "$TAP_TMP/random" || bail_out "random.c does not compile"
cd "$TAP_TMP" || exit 99

layouts=(2+2 1+1+2 1+3 3+1 1+1 2+1)
jobs=0
seed=${ZIP_SEED:-$(od -An -tu4 -N4 /dev/urandom | tr -d ' ')}
until [ $jobs -ge 6 ] && [ $SECONDS -ge "${ZIP_SECONDS:-0}" ]; do
	layout=${layouts[jobs % ${#layouts[@]}]}
	export ZIPPER_ENDPOINTS=$((1 + seed / 4 % 4))
	what="seed $seed, as $layout with $ZIPPER_ENDPOINTS endpoints"
	native 60 $((layout)) ./random "$seed" 120 5 2>native.err | sort >expected
	merged 90 "$layout" ./random "$seed" 120 5 2>err | sort >out
	if grep -q 'No errors' expected && cmp -s expected out; then
		[ $jobs -lt 6 ] && pass "$what: $(sed -n 's/^rank 0: \(.*messages\).*/\1/p' out) at rank 0"
	else
		fail "$what"
		diff expected out >diff.txt
		diag_file diff.txt
		diag_file err
		jobs=$((jobs + 1))
		[ $jobs -ge 6 ] && break
		continue
	fi
	jobs=$((jobs + 1))
	[ -z "$ZIP_SEED" ] && seed=$(((seed * 69069 + 1) & 0x7fffffff))
done
diag "$jobs jobs"
done_testing
