/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as people read them, see units.h. */
#include "zipstat/units.h"

#include <stdio.h>

#include "common/control/ctl.h"

static char *format(char buf[UNITS_BYTES], double v, double base, const char *letters)
{
	int i = 0;
	for (; v >= 999.5 && letters[i]; i++)
		v /= base;
	if (i == 0)
		snprintf(buf, UNITS_BYTES, "%.0f", v);
	else
		snprintf(buf, UNITS_BYTES, "%.*f%c", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, letters[i - 1]);
	return buf;
}

char *units_format_count(char buf[UNITS_BYTES], double v)
{
	return format(buf, v, 1000, "kMGTPE");
}

char *units_format_bytes(char buf[UNITS_BYTES], double v)
{
	return format(buf, v, 1024, "KMGTPE");
}

char *units_format_time(char buf[UNITS_BYTES], uint64_t ms)
{
	const unsigned long long s = ms / 1000;
	if (s < 3600)
		snprintf(buf, UNITS_BYTES, "%llu:%02llu", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, UNITS_BYTES, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(buf, UNITS_BYTES, "%llud %02llu:%02llu", s / 86400, s / 3600 % 24, s / 60 % 60);
	return buf;
}

static void format_bound(char buf[UNITS_BYTES], char sign, unsigned bucket)
{
	const unsigned long long us = 1ull << bucket;
	if (us < 1000)
		snprintf(buf, UNITS_BYTES, "%c%lluus", sign, us);
	else if (us < 1000000)
		snprintf(buf, UNITS_BYTES, "%c%llums", sign, us / 1000);
	else
		snprintf(buf, UNITS_BYTES, "%c%llus", sign, us / 1000000);
}

char *units_format_latency(char buf[UNITS_BYTES], const uint64_t *bucket, double share)
{
	double all = 0, sum = 0;
	unsigned i = 0;
	for (int k = 0; k < ZCTL_LATENCIES; k++)
		all += (double)bucket[k];
	snprintf(buf, UNITS_BYTES, "-");
	if (all == 0)
		return buf;
	while (i < ZCTL_LATENCIES - 1 && (sum += (double)bucket[i]) < share * all)
		i++;
	if (i == ZCTL_LATENCIES - 1)
		format_bound(buf, '>', i - 1);
	else
		format_bound(buf, '<', i);
	return buf;
}
