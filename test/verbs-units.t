#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The verbs transport in one process, on the fake of libibverbs: conformance, requests to devices, faults.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
units=$ZIP_TOP_BUILDDIR/test/unit/verbs/verbs

if [ -x "$units" ]; then
	while read -r name devices; do
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$units"
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$units" conformance
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$ZIP_TOP_BUILDDIR/test/unit/zipcast/verbs"
	done <<-END
		infiniband fka/ib/pkey=0x8005/mw/tds=64
		roce,late fka/inline=60/lag=3/tds=16/silent
	END
	fake_tap random env -u FAKEVERBS_FABRIC "$ZIP_TOP_BUILDDIR/test/unit/verbs/random"
	# every setting within its range works: settings that depend on each other; with ZIP_LONG also each alone at its least and
	# most
	alone="BUFFER_BYTES=1024 BUFFER_BYTES=1M BUFFERS=16 BUFFERS=16384 WINDOW=4 WINDOW=256 INLINE_BYTES=0 INLINE_BYTES=512
		POST_LIST=1 POST_LIST=32 SIGNAL=1 SIGNAL=32 CACHE_BYTES=0 WINDOWS=no"
	devices=(fka/ib/pkey=0x8005/mw/tds=64 fka/inline=60/lag=3/tds=16/silent)
	runs=0
	while read -r -a settings; do
		ok "conformance: ${settings[*]}" limited 120 env -u FAKEVERBS_FABRIC FAKEVERBS="${devices[runs++ % 2]}" \
			ZIP_TEST_SCALE="${ZIP_TEST_SCALE:-20}" "${settings[@]/#/ZIPPER_VERBS_}" "$units" conformance
	done < <(
		# shellcheck disable=SC2086 # words
		[ -z "$ZIP_LONG" ] || printf '%s\n' $alone
		cat <<-END
			ACK_TIMEOUT=31 TRAFFIC_CLASS=255 SERVICE_LEVEL=15 MTU=256
			BUFFER_BYTES=1M CACHE_BYTES=0
			WINDOWS=no BUFFERS=16384
			WINDOW=4 SIGNAL=32
			WINDOW=5 SIGNAL=16
			WINDOW=12 SIGNAL=32 INLINE_BYTES=512
			WINDOW=256 SIGNAL=32 BUFFERS=16
			WINDOW=4 SIGNAL=32 POST_LIST=32 BUFFERS=16 BUFFER_BYTES=1024
			WINDOW=4 SIGNAL=1 POST_LIST=1 INLINE_BYTES=0 BUFFERS=16
			WINDOW=256 SIGNAL=32 POST_LIST=32 INLINE_BYTES=512 BUFFERS=16384
		END
	)
else
	skip "conformance" "built without cmocka"
fi
done_testing
