/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of zipperd: jobs of fake ranks, mostly a 0, a 1, b 0 and b 1. */
#ifndef ZIP_TEST_JOB_FIXTURE_H
#define ZIP_TEST_JOB_FIXTURE_H

#include "test/unit/zipperd/daemon_fixture.h"

/* to listen on */
#define TCP "a,b,c=tcp:127.0.0.1:0"
#define SHM "a,b,c=shm:%d/sock"
#define RUN_MS 180000 /* sanitizers and two busy cores are slow */

/* The four ranks of a job of two parts, in that order. addr: the daemon's address for all of them. */
void job_init(struct fake_rank *, const char *job, const struct zaddr *addr);
/* The same with a map: vranks has the vranks of a 0, a 1, b 0, b 1, and r[v] is vrank v. */
void job_init_mapped(struct fake_rank *r, const char *job, const struct zaddr *addr, const uint32_t vranks[4]);
void job_assert_joined(const struct fake_rank *, int n);
/* Starts a daemon and such a job "j" of four ranks, which have all joined. */
void job_start(struct daemon_fixture *, struct fake_rank r[4], const char *listen, const char *options);
/* All ranks to all ranks of other parts. */
void job_set_goals(struct fake_rank *, int n, uint64_t goal);
/* The same, and waits until everything has come. */
void job_exchange(struct fake_rank *, int n, uint64_t goal);
/* No rank has seen wrong content, or was told that the job is dead. */
void job_assert_good(const struct fake_rank *, int n);
void job_bye(struct fake_rank *, int n);

#endif
