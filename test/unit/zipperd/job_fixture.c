/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of fake ranks, see job_fixture.h. */
#include "test/unit/zipperd/job_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void job_init(struct fake_rank *r, const char *job, const struct zaddr *addr)
{
	fake_init(&r[0], job, "a,b", "a", 0, 2, addr);
	fake_init(&r[1], job, "a,b", "a", 1, 2, addr);
	fake_init(&r[2], job, "a,b", "b", 0, 2, addr);
	fake_init(&r[3], job, "a,b", "b", 1, 2, addr);
}

void job_init_mapped(struct fake_rank *r, const char *job, const struct zaddr *addr, const uint32_t vranks[4])
{
	for (uint32_t i = 0; i < 4; i++)
		fake_init(&r[vranks[i]], job, "a,b", i < 2 ? "a" : "b", i % 2, 2, addr);
}

void job_assert_joined(const struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++) {
		if (r[i].rc != 0)
			print_error("rank %d: %s\n", i, r[i].err.text);
		assert_int_equal(r[i].rc, 0);
	}
}

void job_start(struct daemon_fixture *d, struct fake_rank r[4], const char *listen, const char *options)
{
	daemon_start(d, listen, options);
	job_init(r, "j", d->addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
}

void job_bye(struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++)
		fake_bye(&r[i]);
}

void job_set_goals(struct fake_rank *r, int n, uint64_t goal)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			if (strcmp(r[i].join.part, r[k].join.part) != 0)
				r[i].peer[k].goal = goal;
}

void job_exchange(struct fake_rank *r, int n, uint64_t goal)
{
	job_set_goals(r, n, goal);
	assert_true(fake_run(r, n, fake_all_taken, RUN_MS));
}

void job_assert_good(const struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++) {
		assert_int_equal(r[i].bad, 0);
		assert_false(r[i].dead);
	}
}
