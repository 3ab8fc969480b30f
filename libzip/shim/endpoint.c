/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a thread works, see endpoint.h. */
#include "libzip/shim/endpoint.h"

int zend_n = 1, zend_bits;
__thread int zend_here __attribute__((tls_model("initial-exec")));

void zend_init(int n)
{
	zend_n = n;
	for (zend_bits = 0; 1 << zend_bits < n; zend_bits++)
		;
}
