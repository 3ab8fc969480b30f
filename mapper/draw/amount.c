/* SPDX-License-Identifier: BSD-3-Clause */
/* Amounts as text. See amount.h. */
#include "mapper/draw/amount.h"

#include <stdio.h>

const char *amount_bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	int u = 0;

	while (v >= 9999.5 && u < 6) {
		v /= 1024;
		u++;
	}
	snprintf(buf, size, u ? "%.1f %s" : "%.0f %s", v, units[u]);
	return buf;
}

const char *amount_seconds(char *buf, size_t size, double s)
{
	if (s < 1e-3)
		snprintf(buf, size, "%.3g us", s * 1e6);
	else if (s < 1)
		snprintf(buf, size, "%.3g ms", s * 1e3);
	else
		snprintf(buf, size, "%.4g s", s);
	return buf;
}

double amount_percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}
