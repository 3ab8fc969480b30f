/* SPDX-License-Identifier: BSD-3-Clause */
/* The station of a thread. See station.h. */
#include "libzip/shim/station.h"

int zstation_n = 1, zstation_bits;
__thread int zstation_here __attribute__((tls_model("initial-exec")));

void zstation_init(int n)
{
	zstation_n = n;
	for (zstation_bits = 0; 1 << zstation_bits < n; zstation_bits++)
		;
}
