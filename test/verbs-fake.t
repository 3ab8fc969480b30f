#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The verbs transport on the fake of libibverbs: conformance, what devices are asked for, faults, and jobs.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
units=$ZIP_TOP_BUILDDIR/test/unit/verbs

# --- one process
if [ -x "$units" ]; then
	while read -r name devices; do
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$units"
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$units" conformance
	done <<-END
		infiniband fka/ib/pkey=0x8005/mw/tds=64
		roce,late fka/inline=60/lag=3/tds=3
	END
else
	skip "conformance" "built without cmocka"
fi
done_testing
