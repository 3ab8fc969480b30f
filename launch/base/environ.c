/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the environment of an mpiexec. */
#include "launch/base/environ.h"

#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/device/verbs_options.h"

extern char **environ;

/* These variables serve a start by hand: ZIPPER_HOSTFILE, ZIPPER_RAILS, ZIPPER_KEY_FILE, ZIPPER_MAP and those of MUNGE.
 * With zmpirun they would contradict it. */
static const char *const ours[] = {"ZIPPER_JOB", "ZIPPER_PARTS", "ZIPPER_PART", "ZIPPER_ZIPPERD", "ZIPPER_ENTRIES",
	"ZIPPER_USER", "ZIPPER_CREDENTIAL", "ZIPPER_KEY", "ZIPPER_KEY_FILE", "ZIPPER_HOSTFILE", "ZIPPER_RAILS",
	"ZIPPER_MAP", "ZIPPER_PORTS", "ZIPPER_STATS", "ZIPPER_LAUNCHER", "ZIPPER_APPNUM", "ZIPPER_MEMBER",
	"ZIPPER_MUNGE", "ZIPPER_MUNGE_USER"};

bool zenviron_is_ours(const char *name)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strcmp(ours[i], name) == 0)
			return true;
	return false;
}

const char *zenviron_names(void)
{
	return "ZIPPER_JOB,ZIPPER_PARTS,ZIPPER_PART,ZIPPER_ZIPPERD,ZIPPER_ENTRIES,ZIPPER_LAUNCHER,"
	       "ZIPPER_APPNUM,ZIPPER_USER,ZIPPER_CREDENTIAL,ZIPPER_MODULE_DIR,ZIPPER_PORTS,ZIPPER_DIRECT,ZIPPER_LOG,"
	       "ZIPPER_WAIT,ZIPPER_PROGRESS,ZIPPER_REPRESENTATION,ZIPPER_PROFILE,ZIPPER_STATS,ZIPPER_TUNING,"
	       "ZIPPER_TUNE,ZIPPER_ONE_SIDED,ZIPPER_SHARED,ZIPPER_NODE,ZIPPER_NODE_PROGRAM,ZIPPER_ENDPOINTS,"
	       "ZIPPER_TIMEOUT,ZIPPER_RECONNECT,ZIPPER_DEVICE," ZVERBS_VARIABLES;
}

const char *zenviron_find(const struct zargv *globals, const char *name)
{
	const char *value = getenv(name);
	for (size_t i = 0; i + 2 < globals->count; i++)
		if (strcmp(globals->words[i], "-genv") == 0) {
			if (strcmp(globals->words[i + 1], name) == 0)
				value = globals->words[i + 2]; /* the last one counts */
			i += 2;
		}
	return value;
}

const char *zenviron_find_local(const struct zargv *locals, const char *option, const char *name)
{
	const char *value = NULL;
	for (size_t i = 0; i < locals->count; i++) {
		const char *word = locals->words[i];
		const size_t nargs =
			strcmp(word, "-env") == 0 ? 2 : strcmp(word, "-wdir") == 0 || strcmp(word, "-envlist") == 0;
		if (strcmp(word, option) == 0 && i + nargs < locals->count &&
			(!name || strcmp(locals->words[i + 1], name) == 0))
			value = locals->words[i + nargs];
		i += nargs;
	}
	return value;
}

static void add(struct zargv *envp, const char *name, const char *value)
{
	if (value)
		zargv_addf(envp, "%s=%s", name, value);
}

void zenviron_build(struct zargv *envp, const struct zenviron *e)
{
	for (char **p = environ; *p; p++) {
		char name[32];
		size_t len = strcspn(*p, "=");
		if (len < sizeof(name)) {
			memcpy(name, *p, len);
			name[len] = '\0';
			if (zenviron_is_ours(name) || (e->module_dir && strcmp(name, "ZIPPER_MODULE_DIR") == 0) ||
				(e->device && strcmp(name, "ZIPPER_DEVICE") == 0) ||
				(e->reconnect && strcmp(name, "ZIPPER_RECONNECT") == 0))
				continue;
		}
		zargv_add(envp, *p);
	}
	add(envp, "ZIPPER_JOB", e->job);
	add(envp, "ZIPPER_PARTS", e->parts);
	add(envp, "ZIPPER_PART", e->part);
	add(envp, "ZIPPER_ZIPPERD", e->zipperd);
	add(envp, "ZIPPER_ENTRIES", e->entries);
	add(envp, "ZIPPER_USER", e->user);
	add(envp, "ZIPPER_CREDENTIAL", e->credential);
	add(envp, "ZIPPER_PORTS", e->ports);
	add(envp, "ZIPPER_MODULE_DIR", e->module_dir);
	add(envp, "ZIPPER_DEVICE", e->device);
	add(envp, "ZIPPER_RECONNECT", e->reconnect);
	add(envp, "ZIPPER_LAUNCHER", e->job ? "zmpirun" : NULL);
	add(envp, "ZIPPER_STATS", e->job && e->stats ? "yes" : NULL);
}
