/* SPDX-License-Identifier: BSD-3-Clause */
/* The ZIPPER_* environment variables of a rank, without user and key (common/session/credentials.h). Read once in
 * MPI_Init. */
#ifndef ZIP_LIBZIP_ENV_H
#define ZIP_LIBZIP_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/conf.h"
#include "common/base/err.h"
#include "common/transport/verbs/device/verbs_options.h"

enum zenv_representation { ZENV_REPRESENTATION_AUTO, ZENV_REPRESENTATION_NATIVE, ZENV_REPRESENTATION_EXTERNAL32 };
enum zenv_direct { ZENV_DIRECT_YES, ZENV_DIRECT_NO };
enum zenv_shared { ZENV_SHARED_YES, ZENV_SHARED_NO };
enum zenv_stats { ZENV_STATS_NO, ZENV_STATS_YES };
enum zenv_progress { ZENV_PROGRESS_NONE, ZENV_PROGRESS_THREAD };

struct zenv { /* strings are NULL where nothing was set */
	char *job, *parts, *part, *zipperd, *entries, *launcher, *hostfile, *map, *ports, *module_dir, *node_program,
		*profile, *tuning, *tune;
	int64_t log;		/* enum zlog_level */
	int64_t wait;		/* order of zservice_params.wait */
	int64_t progress;	/* enum zenv_progress */
	int64_t direct;		/* enum zenv_direct */
	int64_t shared;		/* enum zenv_shared */
	int64_t node;		/* enum zsession_node */
	int64_t stats;		/* enum zenv_stats */
	int64_t representation; /* enum zenv_representation */
	int64_t rails;		/* the most that a job uses */
	int64_t timeout_ms;	/* 0: none */
	int64_t reconnect_ms;	/* 0: lost zippers do not come back */
	int64_t appnum;		/* -1: as the native job has it */
	int64_t endpoints;	/* number of this rank's stations */
	int64_t one_sided;	/* order of zservice_params.one_sided */
	struct zverbs_options verbs;
};

/* Reads the environment. Unknown ZIPPER_* variables and bad values are errors. Returns 1: part of a job; 0: no
 * ZIPPER_JOB, so the library does nothing, except recording where profile is set; -EINVAL or -ENOMEM. The caller calls
 * zenv_free in any case. */
int zenv_read(struct zenv *, struct zerr *);
void zenv_free(struct zenv *);
/* The file for the graph; NULL: nothing is to be recorded. */
const char *zenv_profile(const struct zenv *);

/* The rows, for the manual page. */
extern const struct zconf_row zenv_rows[];

#endif
