/* SPDX-License-Identifier: BSD-3-Clause */
/* zipperd's configuration: the table, zipperd.conf(5), and the checks across options. Start-up only. */
#ifndef ZIPPERD_SETTINGS_H
#define ZIPPERD_SETTINGS_H

#include <stdbool.h>

#include "common/config/conf.h"
#include "common/control/ctl.h"
#include "common/control/munge.h"
#include "common/transport/base/addr.h"
#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/verbs_options.h"

#define SETTINGS_FABRICS_MAX ZCTL_PARTS_MAX
#define SETTINGS_LISTENS_MAX 64
#define SETTINGS_NEXTS_MAX 256
#define SETTINGS_SPIN_AUTO (-1) /* by the number of cores */
#define SETTINGS_WORKERS_AUTO 0 /* the same */

struct settings_listen {
	struct zaddr addr;
	uint64_t fabrics;	    /* a bit for each fabric */
	char at[ZCONF_PLACE_BYTES]; /* the place in the configuration */
};

struct settings_next { /* a zipperd that a hop may lead to */
	char fabric[ZCTL_NAME_MAX + 1];
	struct zaddr addr; /* kind ZADDR_NONE: any on that fabric */
};

enum settings_threads { SETTINGS_THREADS_AUTO, SETTINGS_THREADS_DIRECTION, SETTINGS_THREADS_PAIR };

struct settings {
	char fabric[SETTINGS_FABRICS_MAX][ZCTL_NAME_MAX + 1];
	int nfabrics;
	struct settings_listen listen[SETTINGS_LISTENS_MAX];
	int nlistens;
	struct settings_next *next; /* [nnexts] */
	int nnexts;
	int64_t trunks; /* 1: hops of a job share connections to the next zipperd */
	char *key_file;
	char key_file_at[ZCONF_PLACE_BYTES];
	bool keyed; /* there is a key that is in no file (node_key.h) */
	char *munge_text;
	bool munge;	      /* from munge_text: users without a key may have credentials of MUNGE */
	char *administrators; /* names with commas; NULL: none */
	char *user_weights;   /* NAME:WEIGHT with commas; NULL: none */
	int64_t ended_time_ms;
	char munge_socket[ZMUNGE_SOCKET_MAX]; /* "": munged's usual one */
	char *spin_text;
	int64_t spin;	 /* from spin_text: idle polls, or SETTINGS_SPIN_AUTO (negative) */
	int64_t poll_ms; /* 0: as spin says */
	int64_t join_timeout_ms, max_join_timeout_ms, return_timeout_ms, hello_timeout_ms, meet_timeout_ms;
	int64_t eager_bytes, frag_bytes, rdv_window, dest_share, one_sided_bytes, memory;
	int64_t max_jobs, max_ranks, max_connections, max_strangers, address_strangers;
	int64_t user_jobs, user_connections, user_circuits, user_dials, user_memory; /* see their help */
	char *cpus;								     /* list of cores; NULL: any */
	int64_t threads;							     /* enum settings_threads */
	char *workers_text;
	int64_t workers;   /* from workers_text: of each direction, or SETTINGS_WORKERS_AUTO */
	int64_t log_level; /* enum zlog_level */
	char *module_dir;
	struct zverbs_options verbs;
};

/* The largest fragment that a rank may send. */
static inline uint32_t settings_fragment(const struct settings *c)
{
	return c->frag_bytes > 0 ? (uint32_t)c->frag_bytes : (uint32_t)ZTRANSPORT_FRAGMENT_MAX;
}

/* The number of workers of each direction between two fabrics. */
uint32_t settings_workers(const struct settings *);

/* The origin of settings; all of it stays the caller's. */
struct settings_source {
	const char *path;	/* the file; NULL: none */
	const char *const *set; /* [nset] -o NAME=VALUE, in order; read after the file */
	int nset;
	bool keyed; /* as in settings */
};

extern const struct zconf_row settings_rows[];

/* Reads defaults, file and options, and checks them. 0 or a negative errno with text; settings_fini in any case. */
int settings_load(struct settings *, const struct settings_source *, struct zerr *);
/* The same in single steps: defaults; then zconf_set or zconf_read; then settings_check. */
int settings_init(struct settings *, struct zerr *);
int settings_check(struct settings *, const char *path, struct zerr *);
void settings_fini(struct settings *);
/* Prints the whole configuration in the syntax of the file. */
void settings_print(const struct settings *, FILE *);
/* Writes "a,b=tcp:10.0.0.1:7474", the syntax of listen. */
void settings_format_listen(const struct settings *, const struct settings_listen *, char *buf, size_t cap);
/* May a hop lead to the zipperd there? */
bool settings_may_reach(const struct settings *, int fabric, const struct zaddr *);
/* The protection of a hop that may lead there, over TCP: what `next` says, and its default where next says nothing; or
 * more where the address says more. Where next names no address, the address decides. */
enum zseal_level settings_seal(const struct settings *, int fabric, const struct zaddr *);
/* The user's weight in user_weights, or 1. */
uint32_t settings_weight(const struct settings *, const char *user);
/* Is the user one of `administrators`? */
bool settings_has_administrator(const struct settings *, const char *user);
/* The index of the fabric, or -ENOENT. */
int settings_find_fabric(const struct settings *, const char *name);

#endif
