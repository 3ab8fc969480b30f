/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands signals on to the ranks, see relay.h. */
#include "launch/run/relay.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/base/process.h"

#define PROXY "hydra_pmi_proxy" /* its children are the ranks */
#define DEPTH_MAX 16		/* launchers and their shells between mpiexec and a proxy */

/* Does the process catch this signal? See SigCgt in proc(5). */
static bool catches(pid_t pid, int number)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SigCgt: %llx", &mask) == 1)
			break;
	if (file)
		fclose(file);
	return mask >> (number - 1) & 1;
}

static bool is_proxy(pid_t pid)
{
	char path[64], name[sizeof(PROXY) + 1] = "";
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *file = fopen(path, "re");
	bool is = file && fgets(name, sizeof(name), file) && strcmp(name, PROXY "\n") == 0;
	if (file)
		fclose(file);
	return is;
}

struct search {
	int number;  /* the signal */
	pid_t group; /* process group of the proxy whose ranks are looked at */
	int depth;   /* from mpiexec */
	int nreached;
};

/* As the proxy does it: processes that a rank has started get the signal, too. */
static void signal_rank(pid_t pid, void *arg)
{
	struct search *s = arg;
	pid_t group = getpgid(pid);
	s->nreached += kill(group > 0 && group != s->group ? -group : pid, s->number) == 0;
}

static void search_ranks(pid_t pid, void *arg)
{
	struct search *s = arg;
	if (is_proxy(pid)) {
		s->group = getpgid(pid);
		zprocess_for_children(pid, signal_rank, s);
	} else if (s->depth < DEPTH_MAX) {
		s->depth++;
		zprocess_for_children(pid, search_ranks, s);
		s->depth--;
	}
}

static void warn(struct zrun *run, const struct zpart *part, const struct search *s)
{
	char line[256];
	int n = snprintf(line, sizeof(line),
		"zmpirun: warning: signal %d (%s) has reached %d of %d ranks of part %s, those on this machine: its "
		"mpiexec does not pass it on\n",
		s->number, strsignal(s->number), s->nreached, part->plan->nranks, part->plan->name);
	zoutput_add(&run->err, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void zrelay_signal(struct zrun *run, int number)
{
	for (int i = 0; i < run->plan->nparts; i++) {
		const struct zpart *part = &run->parts[i];
		struct search s = {.number = number};
		if (part->pid <= 0)
			continue;
		if (part->plan->group || catches(part->pid, number)) { /* srun passes them on */
			zpart_signal(part, number, false);
			continue;
		}
		zprocess_for_children(part->pid, search_ranks, &s);
		if (s.nreached < part->plan->nranks)
			warn(run, part, &s);
	}
}
