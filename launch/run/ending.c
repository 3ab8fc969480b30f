/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when and how a job ends. */
#include "launch/run/ending.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/run/cause.h"
#include "common/base/clock.h"
#include "launch/run/losses.h"
#include "launch/base/process.h"
#include "launch/run/tally.h"
#include "launch/run/unfinished.h"
#include "launch/run/verdict.h"

/* A failure has ended everything within three seconds on a machine that is not overloaded. */
#define GRACE_MS 1500	   /* for the parts to end by themselves, and for their mpiexec to tell how */
#define TERM_MS 700	   /* between SIGTERM and SIGKILL */
#define SRUN_TERM_MS 60000 /* the same for srun */
#define SRUN_SETTLE_MS 5000
#define SIGNAL_GRACE_MS 5000 /* after Ctrl-C: ranks may write something down */
/* Once the world is made, every rank leaves, or zipperd tells that it died. On a busy machine the ranks of other parts
 * may need seconds to leave after the first part has ended. Only a zipperd that hangs tells nothing. */
#define SUSPECT_WORLD_MS 60000
#define SUSPECT_MS 1200 /* zipperd hears of a lost rank later than we hear of its mpiexec, but not that much later */
#define DAEMON_MS 2000	/* from the break of our zipperd's connection until its end is seen */
#define LATE_MS 8000	/* zipperd itself limits the time for reporting; this is for a zipperd that says nothing */
#define TIMEOUT_STATUS ETIMEDOUT /* exit status after -timeout: 110, as mpirun of Open MPI */
#define MPIEXEC_BROKEN 255	 /* exit status of Hydra for its own errors */
#define NAMED_HOSTS 8		 /* in a line; the first of many */
#define INPUT_BYTES 65536	 /* standard input that mpiexec holds for rank 0: what a pipe holds */
#define ASK_MS 1400		 /* for a zipper to answer when all parts have ended */
#define SWEEP_TRIES 50		 /* of 10 ms each, to see the last killed process go */

static bool needs_report(const struct zrun *run)
{
	return run->job->n > 0;
}

static void signal_parts(struct zrun *run, int number, bool group)
{
	for (int i = 0; i < run->plan->nparts; i++)
		zpart_signal(&run->parts[i], number, group);
}

/* Have all zippers been lost, and may one be back? zmpirun learns that some time after the ranks. They may have left,
 * and may have ended well. */
static bool is_away(const struct zrun *run)
{
	return run->job->world && zjob_left(run->job) == 0 && zjob_waits(run->job);
}

/* status: of the mpiexec that has ended. */
static void suspect(struct zrun *run, int status)
{
	int64_t ms = SUSPECT_MS;
	run->suspect_world = run->job->world;
	/* While all zippers are away nobody tells of a rank. */
	if (run->suspect_world && zjob_left(run->job) > 0)
		ms = SUSPECT_WORLD_MS;
	else if (is_away(run) && status == 0)
		ms = run->job->reconnect_ms;
	/* A part that ends well later does not hold up the verdict on one that has not. */
	if (run->suspect_ms == 0 || zclock_ms() + ms < run->suspect_ms)
		run->suspect_ms = zclock_ms() + ms;
}

/* Has mpiexec given up because standard input comes faster than rank 0 reads it? Its proxy says so, but mpiexec may end
 * before it has passed that on. *surely: the proxy's line is there. */
static bool is_flooded(struct zrun *run, struct zpart *part, bool *surely)
{
	const int status = part->wait_status;
	const bool broken = WIFSIGNALED(status) ? WTERMSIG(status) == SIGPIPE : WEXITSTATUS(status) == MPIEXEC_BROKEN;
	if (part->plan->group || !broken || part->chatter.have_codes || zplan_vrank(part->plan, 0) != 0)
		return false;
	zpump_read_all(&part->err);
	*surely = part->err.slow_reader;
	return *surely || ((part->err.broken || WIFSIGNALED(status)) && run->input.given > INPUT_BYTES);
}

void zending_note_part(struct zrun *run, struct zpart *part)
{
	const char *name = part->plan->name;
	struct zjob *job = run->job;
	bool surely;
	part->by_itself = run->phase < ZRUN_TERM;
	if (is_flooded(run, part, &surely)) {
		zverdict_doubt(run);
		zverdict_set(run, 1, GRACE_MS,
			"mpiexec of part %s has given up%s standard input comes faster than rank 0 reads it: let the "
			"program open the file itself",
			name, surely ? ":" : ", probably because");
		zverdict_show(run);
		return;
	}
	if (WIFSIGNALED(part->wait_status)) {
		int number = WTERMSIG(part->wait_status);
		zverdict_doubt(run);
		zverdict_set(run, 128 + number, GRACE_MS, "%s of part %s was killed by signal %d (%s)",
			zpart_launcher(part), name, number, strsignal(number));
		zverdict_show(run);
		return;
	}
	if (!needs_report(run))
		return;
	/* First come the events that are older than this end. */
	ztally_poll(job);
	zending_note_job(run);
	if (job->world ? job->done < (uint32_t)run->plan->nranks : job->joined > 0 || WEXITSTATUS(part->wait_status))
		suspect(run, zpart_status(part, ZPART_KILLED_COUNT));
}

void zending_note_daemon(struct zrun *run, int rail, int wait_status)
{
	char why[128];
	if (WIFSIGNALED(wait_status))
		snprintf(why, sizeof(why), "zipperd was killed by signal %d (%s)", WTERMSIG(wait_status),
			strsignal(WTERMSIG(wait_status)));
	else
		snprintf(why, sizeof(why), "zipperd ended with status %d", WEXITSTATUS(wait_status));
	ztally_poll(run->job); /* zipperd may have told more before it ended */
	ztally_lose(run->job, rail, why);
	zending_note_job(run);
}

/* The connection of a daemon breaks before its end can be seen. Some patience brings the better reason. */
static bool daemon_has_ended(struct zdaemon *daemon, int *status)
{
	for (int ms = 0; ms < DAEMON_MS; ms += 5) {
		if (waitpid(daemon->pid, status, WNOHANG) > 0) {
			daemon->pid = 0;
			return true;
		}
		poll(NULL, 0, 5);
	}
	return false;
}

static void note_lost(struct zrun *run)
{
	const struct zjob *job = run->job;
	struct zdaemon *daemon = &run->rails->daemons[job->rail];
	int status;
	zverdict_doubt(run);
	if (run->phase != ZRUN_GOING)
		return;
	if (daemon->pid > 0 && daemon_has_ended(daemon, &status)) {
		zending_note_daemon(run, job->rail, status);
		return;
	}
	zverdict_set(run, 1, GRACE_MS, "%s", job->text);
	zverdict_show(run);
}

void zending_note_job(struct zrun *run)
{
	const struct zjob *job = run->job;
	if (job->dead)
		zverdict_set(run, job->dead_code > 0 && job->dead_code < 256 ? job->dead_code : 1, GRACE_MS, "%s",
			job->text);
	else if (job->lost)
		note_lost(run);
}

void zending_note_signal(struct zrun *run, int number)
{
	/* The Ctrl-C that ended us has often ended our reader, too. Nobody has asked for less patience. */
	if (run->caught && number == SIGPIPE)
		return;
	if (run->caught && run->phase < ZRUN_TERM) {
		run->phase = ZRUN_TERM; /* a second signal: no more patience */
		run->phase_ms = 0;
		return;
	}
	zverdict_set(run, 128 + number, SIGNAL_GRACE_MS, "ended by signal %d (%s)", number, strsignal(number));
	if (!run->caught)
		run->caught = number;
	zverdict_show(run);
	/* mpiexec hands INT, QUIT and TERM on to the ranks. Other signals would only end mpiexec itself. */
	signal_parts(run, number == SIGINT || number == SIGQUIT ? number : SIGTERM, false);
}

/* The verdict is the end of the part with the highest status. */
static void blame_part(struct zrun *run)
{
	const struct zjob *job = run->job;
	const struct zpart *part = NULL;
	for (int i = 0; i < run->plan->nparts; i++) {
		const struct zpart *p = &run->parts[i];
		if (p->started && p->pid == 0 &&
			(!part || zpart_status(p, ZPART_KILLED_COUNT) > zpart_status(part, ZPART_KILLED_COUNT)))
			part = p;
	}
	if (!part)
		return;
	int status = zpart_status(part, ZPART_KILLED_COUNT);
	if (is_away(run) && status == 0)
		zverdict_set(run, 1, 0,
			"ranks of part %s have left in MPI_Finalize, so others do not come back to a zipper that was "
			"lost",
			part->plan->name);
	else if (!job->world)
		zverdict_set(run, status ? status : 1, 0,
			"part %s ended with status %d before its ranks had reported to zipperd (%u of all %d had)",
			part->plan->name, status, job->joined, run->plan->nranks);
	else
		zverdict_set(run, status ? status : 1, 0,
			"part %s ended with status %d before all its ranks called MPI_Finalize", part->plan->name,
			status);
	zverdict_show(run);
}

/* Fails the job for a part whose mpiexec has ended before all its ranks left, while zipperd says nothing. */
static void fail_suspect(struct zrun *run)
{
	const struct zjob *job = run->job;
	if (job->world && !run->suspect_world) {
		run->suspect_ms = 0;
		suspect(run, EXIT_FAILURE);
		return;
	}
	run->suspect_ms = 0;
	if (job->world && job->done >= (uint32_t)run->plan->nranks)
		return;
	if (zcause_believe_death(run->job)) {
		zending_note_job(run);
		return;
	}
	blame_part(run);
}

/* All parts have ended, and not all ranks have left. Some zipper that says nothing about that may hang: it is asked.
 * Otherwise the end of a part is all that is known. */
static void fail_silent(struct zrun *run)
{
	struct zjob *job = run->job;
	for (const int64_t end = zclock_ms() + 2 * ASK_MS; zclock_ms() < end && run->phase == ZRUN_GOING;
		poll(NULL, 0, 10)) {
		ztally_poll(job);
		if (job->done >= (uint32_t)run->plan->nranks)
			return;
		zending_note_job(run);
		if (run->phase == ZRUN_GOING)
			ztally_ask(job, ASK_MS);
	}
	if (run->phase == ZRUN_GOING)
		blame_part(run);
}

static int64_t join_deadline(const struct zrun *run)
{
	return run->start_ms + run->options->init_timeout_s * INT64_C(1000) + LATE_MS;
}

/* When the whole run is over by -timeout; -1: never. */
static int64_t run_deadline(const struct zrun *run)
{
	return run->options->timeout_s ? run->start_ms + run->options->timeout_s * INT64_C(1000) : -1;
}

static bool waits_for_ranks(const struct zrun *run)
{
	return run->phase == ZRUN_GOING && needs_report(run) && !run->job->world;
}

/* mpiexec is watched until its ranks have reported or, for ranks that do not report, until it has all its proxies. */
static bool watches_launchers(const struct zrun *run, const struct zpart *part)
{
	return part->pid > 0 && !part->plan->group && run->phase == ZRUN_GOING &&
	       (needs_report(run) ? !run->job->world : !part->reach.reached);
}

static int until(int64_t then, int64_t now)
{
	return then <= now ? 0 : then - now > 60000 ? 60000 : (int)(then - now);
}

/* -1 is never. */
static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

int zending_timeout(const struct zrun *run, int64_t now)
{
	if (run->phase == ZRUN_KILL)
		return 20;
	if (run->phase != ZRUN_GOING)
		return until(run->phase_ms, now);
	int over = run_deadline(run) >= 0 ? until(run_deadline(run), now) : -1;
	if (run->suspect_ms)
		return sooner(until(run->suspect_ms, now), over);
	int ms = waits_for_ranks(run) ? until(join_deadline(run), now) : zlosses_timeout(run->job, now);
	ms = sooner(ms, over);
	ms = sooner(ms, zunfinished_timeout(run, now));
	for (int i = 0; i < run->plan->nparts; i++)
		if (watches_launchers(run, &run->parts[i]))
			ms = sooner(ms, zreach_timeout(&run->parts[i].reach, now));
	return ms;
}

/* Slurm needs some time to end the ranks of an srun. */
static bool uses_srun(const struct zrun *run)
{
	return run->plan->nparts > 0 && run->plan->parts[0].group;
}

static void next_phase(struct zrun *run, int64_t now)
{
	if (run->phase == ZRUN_ENDING) {
		zverdict_show_complete(run);
		signal_parts(run, SIGTERM, true);
		run->phase = ZRUN_TERM;
		run->phase_ms = now + (uses_srun(run) ? SRUN_TERM_MS : TERM_MS);
		return;
	}
	run->phase = ZRUN_KILL;
	signal_parts(run, SIGKILL, true);
	zinput_close(&run->input);
}

/* The names of the part's hosts, or of the first of them. */
static void name_hosts(const struct zplan_part *part, char *text, size_t cap)
{
	const char *const sep = ", ";
	size_t len = 0;
	*text = '\0';
	for (int i = 0; i < part->nhosts && i < NAMED_HOSTS && len < cap; i++)
		len += (size_t)snprintf(text + len, cap - len, "%s%s", i > 0 ? sep : "", part->hosts[i].name);
	if (part->nhosts > NAMED_HOSTS && len < cap)
		snprintf(text + len, cap - len, " and %d more", part->nhosts - NAMED_HOSTS);
}

/* what: the program that starts proxies, and how it failed. */
static void fail_unreached(struct zrun *run, const struct zpart *part, const char *what)
{
	const char *name = part->plan->name, *all = part->plan->nhosts > 1 ? "all of " : "";
	char hosts[512];
	name_hosts(part->plan, hosts, sizeof(hosts));
	if (needs_report(run))
		zverdict_set(run, 1, 0,
			"mpiexec of part %s does not reach %s%s: %s before all ranks had reported to "
			"zipperd (%u of all %d had)",
			name, all, hosts, what, run->job->joined, run->plan->nranks);
	else
		zverdict_set(run, 1, 0, "mpiexec of part %s does not reach %s%s: %s", name, all, hosts, what);
	zverdict_show(run);
}

/* A host that cannot be reached must not take all the time that ranks have to report. Without MPI that time has no end.
 */
static void watch_launchers(struct zrun *run, int64_t now)
{
	char what[128];
	for (int i = 0; i < run->plan->nparts; i++) {
		struct zpart *part = &run->parts[i];
		if (run->phase == ZRUN_GOING && part->err.unreached)
			fail_unreached(run, part, "the program that starts its processes there has failed");
		else if (watches_launchers(run, part) &&
			 zreach_has_failed(&part->reach, part->pid, needs_report(run), now, what, sizeof(what)))
			fail_unreached(run, part, what);
	}
}

/* As with a signal, the ranks may write something down. */
static void end_in_time(struct zrun *run)
{
	zverdict_set(run, TIMEOUT_STATUS, SIGNAL_GRACE_MS, "the job has not ended within %d seconds (-timeout)",
		run->options->timeout_s);
	zverdict_show(run);
	signal_parts(run, SIGTERM, false);
}

void zending_tick(struct zrun *run, int64_t now)
{
	watch_launchers(run, now);
	if (run->phase == ZRUN_GOING && run->suspect_ms && now >= run->suspect_ms)
		fail_suspect(run);
	/* A part that has ended may be a sign that the job is about to end, too. */
	if (run->phase == ZRUN_GOING && !run->suspect_ms)
		zlosses_tell(run->job, &run->err, now);
	zunfinished_tick(run, now);
	if (waits_for_ranks(run) && now >= join_deadline(run))
		zverdict_set(run, 1, 0, "only %u of %d ranks have reported to zipperd within %d seconds",
			run->job->joined, run->plan->nranks, run->options->init_timeout_s);
	if (run->phase == ZRUN_GOING && run_deadline(run) >= 0 && now >= run_deadline(run))
		end_in_time(run);
	if ((run->phase == ZRUN_ENDING || run->phase == ZRUN_TERM) && now >= run->phase_ms)
		next_phase(run, now);
}

/* A child of srun has Slurm end the ranks when srun is killed. */
static void settle(void)
{
	for (int ms = 0; ms < SRUN_SETTLE_MS; ms += 10) {
		pid_t pid;
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		poll(NULL, 0, 10);
	}
}

/* No process of a failed job may live on, wherever it hides in the process tree. */
static void sweep(void)
{
	for (int i = 0; i < SWEEP_TRIES && zprocess_kill_all(); i++)
		poll(NULL, 0, 10);
}

/* The highest status of any rank that ended without our help. */
static int ranks_status(const struct zrun *run)
{
	int status = 0, broken = 0;
	const struct zjob *job = run->job;
	const struct zpart *subject = zverdict_subject(run);
	const bool told = job->dead && zcause_is_exit(&job->rails[job->rail]);
	const enum zpart_killed counts = zunfinished_is_over(run) || told ? ZPART_KILLED_NOT
					 : job->dead			  ? ZPART_KILLED_IF_ALONE
									  : ZPART_KILLED_COUNT;
	for (int i = 0; i < run->plan->nparts; i++) {
		/* The status of an mpiexec that gives up tells nothing of its ranks. */
		if (!run->parts[i].by_itself || run->parts[i].err.unreached)
			continue;
		/* The ranks of other parts are killed because that rank has died. */
		const bool other = counts == ZPART_KILLED_IF_ALONE && subject && subject != &run->parts[i];
		int s = zpart_status(&run->parts[i], other ? ZPART_KILLED_NOT : counts);
		/* mpiexec itself breaks down at times when its ranks are killed. Its status counts if there is no
		 * other. */
		if (s == MPIEXEC_BROKEN && !run->parts[i].chatter.have_codes)
			broken = s;
		else if (s > status)
			status = s;
	}
	return status ? status : broken;
}

int zending_finish(struct zrun *run)
{
	struct zjob *job = run->job;
	/* Zippers that have not told of a death yet will not be heard any more. */
	if (run->phase == ZRUN_GOING && job->world && job->done < (uint32_t)run->plan->nranks &&
		zcause_believe_death(job))
		zending_note_job(run);
	watch_launchers(run, zclock_ms()); /* all parts may be over before the next tick */
	int status = ranks_status(run);
	if (run->phase == ZRUN_GOING && needs_report(run) && !job->world && status)
		fail_suspect(run);
	if (run->phase == ZRUN_GOING && needs_report(run) && job->world && status &&
		job->done < (uint32_t)run->plan->nranks)
		fail_silent(run);
	if (run->phase == ZRUN_GOING && needs_report(run) && !job->world)
		zverdict_set(run, status ? status : 1, 0,
			"%u of %d ranks have reported to zipperd: not an MPI program (then use --no-mpi), or "
			"libzipper.so "
			"was not preloaded",
			job->joined, run->plan->nranks);
	if (run->phase == ZRUN_GOING) {
		zlosses_tell_all(job, &run->err);
		zunfinished_tell(run);
		if (!zunfinished_is_over(run))
			zverdict_show_killed(run);
		return status;
	}
	zverdict_show_complete(run);
	/* Our own zipperds have nobody else to serve. Zipperds that go on must see us leave in order. */
	for (int i = 0; i < run->rails->n; i++)
		if (run->rails->daemons[i].pid > 0)
			kill(run->rails->daemons[i].pid, SIGKILL);
	if (uses_srun(run))
		settle();
	sweep();
	for (int i = 0; i < run->rails->n; i++)
		run->rails->daemons[i].pid = 0;
	zjob_close(job);
	if (run->caught)
		return 128 + run->caught;
	return status > run->verdict_status ? status : run->verdict_status;
}
