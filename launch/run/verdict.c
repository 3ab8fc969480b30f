/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the verdict and tells it, see verdict.h. */
#include "launch/run/verdict.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "launch/run/cause.h"
#include "launch/run/losses.h"

void zverdict_set(struct zrun *run, int status, int grace_ms, const char *fmt, ...)
{
	if (run->phase != ZRUN_GOING)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(run->verdict, sizeof(run->verdict), fmt, ap);
	va_end(ap);
	run->verdict_status = status;
	run->hush = true;
	run->phase = ZRUN_ENDING;
	run->phase_ms = zclock_ms() + grace_ms;
}

void zverdict_show(struct zrun *run)
{
	struct zjob *job = run->job;
	if (run->verdict_shown || run->verdict[0] == '\0')
		return;
	run->verdict_shown = true;
	if (job->dead && zcause_is_death(&job->rails[job->rail]))
		zlosses_tell_others(job, &run->err);
	zoutput_add(&run->err, "zmpirun: ", 9);
	zoutput_add(&run->err, run->verdict, strlen(run->verdict));
	zoutput_add(&run->err, "\n", 1);
}

const struct zpart *zverdict_subject(const struct zrun *run)
{
	for (int i = 0; i < run->plan->nparts; i++) {
		char words[ZCTL_NAME_MAX + 16];
		snprintf(words, sizeof(words), " (%s rank ", run->plan->parts[i].name);
		if (strstr(run->verdict, words))
			return &run->parts[i];
	}
	return NULL;
}

/* Finds the signal that killed a rank of that part, or of any part (NULL), and the part; 0: none. */
static int find_signal(const struct zrun *run, const struct zpart **part)
{
	int found = 0;
	const struct zpart *only = *part;
	for (int i = 0; i < run->plan->nparts; i++) {
		int number = only && only != &run->parts[i] ? 0 : zpart_killer(&run->parts[i]);
		if (number == 0 || (found && found != SIGKILL))
			continue;
		found = number;
		*part = &run->parts[i];
	}
	return found;
}

/* zipperd's words for a rank that has gone without a word, in zipperd/control/hear.c. Otherwise it knows the reason, as
 * that a network is down. */
static bool has_no_reason(const char *died)
{
	return strcmp(died, " died (lost its connection)") == 0 || strcmp(died, " died (closed its connection)") == 0;
}

/* A rank has gone without a word. If no signal has killed a rank of its part, it has ended by itself: mpiexec has told
 * its status, and kills the others. mpiexec of MPICH 4.2 forgets the status of a rank at times, and tells 0. */
static void name_end(struct zrun *run)
{
	const struct zpart *part = zverdict_subject(run);
	char *died = strstr(run->verdict, " died (");
	const size_t room = died ? sizeof(run->verdict) - (size_t)(died - run->verdict) : 0;
	if (!died || !has_no_reason(died) || !part || !part->by_itself || !part->chatter.have_codes ||
		part->chatter.signal)
		return;
	if (part->chatter.status > 0)
		snprintf(died, room, " ended with status %d without MPI_Finalize", part->chatter.status);
	else if (part->chatter.nkilled == 0)
		snprintf(died, room,
			" ended without MPI_Finalize, by _exit or in another thread, or by a signal of which mpiexec "
			"has not told");
}

/* Adds "; killed by signal 11 (Segmentation fault)": mpiexec may have told by now how a lost rank died. */
static void add_signal(struct zrun *run)
{
	const struct zjob *job = run->job;
	const struct zpart *part = zverdict_subject(run);
	size_t len = strlen(run->verdict);
	bool may_be =
		job->dead &&
		(!job->world || (zcause_is_death(&job->rails[job->rail]) && !zcause_is_exit(&job->rails[job->rail])));
	int number = may_be && !run->verdict_shown ? find_signal(run, &part) : 0;
	/* SIGKILL may also be mpiexec's own way to end the other ranks of the part. */
	if (number)
		snprintf(run->verdict + len, sizeof(run->verdict) - len, "; %s%s signal %d (%s)",
			number == SIGKILL ? zpart_launcher(part) : "", number == SIGKILL ? " tells of" : "killed by",
			number, strsignal(number));
}

void zverdict_show_complete(struct zrun *run)
{
	if (run->job->dead && !run->verdict_shown)
		name_end(run);
	add_signal(run);
	zverdict_show(run);
}

void zverdict_doubt(struct zrun *run)
{
	if (run->phase == ZRUN_ENDING && (run->job->dead || run->job->lost) && !run->verdict_shown)
		run->phase = ZRUN_GOING;
}

void zverdict_show_killed(struct zrun *run)
{
	const struct zpart *part = NULL;
	int number = find_signal(run, &part);
	if (number == 0)
		return;
	snprintf(run->verdict, sizeof(run->verdict), "a rank of part %s was killed by signal %d (%s)", part->plan->name,
		number, strsignal(number));
	zverdict_show(run);
}
