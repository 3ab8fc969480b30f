# SPDX-License-Identifier: BSD-3-Clause
# Reads the output of zmpirun --stats. Sourced.

# stats WHAT [FROM TO]: prints "MESSAGES BYTES" of one direction, or of all together, from the output in err. WHAT: over the
# bridge, directly, natively
stats() {
	sed -n "/^zmpirun: $1/,/^zmpirun: [a-z]/s/^zmpirun:   ${2:-[^ ]*} -> ${3:-[^ ]*}: \\([0-9]*\\) messages, \\([0-9]*\\) bytes/\\1 \\2/p" err |
		awk '{ m += $1; b += $2 } END { print m + 0, b + 0 }'
}
