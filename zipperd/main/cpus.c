/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds zipperd to cores, see cpus.h. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "zipperd/main/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ranges.h"

#define SET_BYTES CPU_ALLOC_SIZE(ZRANGES_CPU_MAX + 1)

/* The kernel is content if one of several cores is there: check for all. */
static int bind_to(cpu_set_t *wanted, cpu_set_t *got, const char *list, struct zerr *err)
{
	uint32_t first, last;
	bool more = true;
	for (const char *p = list; more && zranges_scan(&p, ZRANGES_CPU_MAX, &first, &last, &more);)
		for (uint32_t cpu = first; cpu <= last; cpu++)
			CPU_SET_S(cpu, SET_BYTES, wanted);
	int rc = sched_setaffinity(0, SET_BYTES, wanted) == 0 && sched_getaffinity(0, SET_BYTES, got) == 0 ? 0 : -errno;
	if (rc == 0 && !CPU_EQUAL_S(SET_BYTES, wanted, got))
		rc = -EINVAL;
	if (rc == -EINVAL)
		return zerr_set(err, rc, "cpus = %.64s: not all of these cores are there, or allowed", list);
	return rc == 0 ? 0 : zerr_set(err, rc, "cpus = %.64s: %s", list, strerror(-rc));
}

int cpus_bind(const char *list, struct zerr *err)
{
	cpu_set_t *sets = calloc(2, SET_BYTES);
	if (!sets)
		return zerr_set(err, -ENOMEM, "out of memory");
	int rc = bind_to(sets, (cpu_set_t *)((char *)sets + SET_BYTES), list, err);
	free(sets);
	return rc;
}
