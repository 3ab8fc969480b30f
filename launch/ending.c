/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when and how a job ends. */
#include "ending.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "process.h"

/* A failure has ended everything within three seconds on a machine that is not overloaded. */
#define GRACE_MS 1500	     /* for the parts to end by themselves, and their mpiexec to tell how */
#define TERM_MS 700	     /* between SIGTERM and SIGKILL */
#define SIGNAL_GRACE_MS 5000 /* after Ctrl-C: ranks may write something down */
/* Once the world is made every rank leaves or zipperd tells that it died, and on a busy machine those of other parts
 * may need seconds to leave after the first part has ended: only a zipperd that hangs tells nothing. */
#define SUSPECT_WORLD_MS 60000
#define SUSPECT_MS 1200	   /* zipperd hears of a lost rank later than we of its mpiexec, but not that much later */
#define DAEMON_MS 2000	   /* for our zipperd to be seen as ended after its connection broke */
#define LATE_MS 8000	   /* zipperd watches the time for reporting; this is only for when it does not tell */
#define MPIEXEC_BROKEN 255 /* exit status of Hydra for errors of its own */
#define SWEEP_TRIES 50	   /* of 10 ms each, to see the last killed process go */

static bool needs_report(const struct zrun *run)
{
	return run->job->n > 0;
}

static void show_cause(struct zrun *run)
{
	if (run->cause_shown || run->cause[0] == '\0')
		return;
	run->cause_shown = true;
	zoutput_add(&run->err, "zmpirun: ", 9);
	zoutput_add(&run->err, run->cause, strlen(run->cause));
	zoutput_add(&run->err, "\n", 1);
}

__attribute__((format(printf, 4, 5))) static void fail(struct zrun *run, int status, int grace_ms, const char *fmt, ...)
{
	if (run->phase != ZRUN_GOING)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(run->cause, sizeof(run->cause), fmt, ap);
	va_end(ap);
	run->cause_status = status;
	run->hush = needs_report(run) && !run->options->verbose;
	run->phase = ZRUN_ENDING;
	run->phase_ms = zclock_ms() + grace_ms;
}

/* The signal that killed a rank of any part, and which part that is; 0: none. */
static int find_signal(const struct zrun *run, const struct zpart **part)
{
	int found = 0;
	for (int i = 0; i < run->plan->nparts; i++) {
		int number = zpart_killer(&run->parts[i]);
		if (number == 0 || (found && found != SIGKILL))
			continue;
		found = number;
		*part = &run->parts[i];
	}
	return found;
}

/* "; killed by signal 11 (Segmentation fault)": what mpiexec has told meanwhile of a lost rank. */
static void add_signal(struct zrun *run)
{
	const struct zpart *part;
	size_t len = strlen(run->cause);
	int number = run->job->dead && !run->cause_shown ? find_signal(run, &part) : 0;
	/* SIGKILL may also be mpiexec's own way to end the other ranks of the part. */
	if (number)
		snprintf(run->cause + len, sizeof(run->cause) - len, "; %s signal %d (%s)",
			number == SIGKILL ? "mpiexec tells of" : "killed by", number, strsignal(number));
}

static void signal_parts(struct zrun *run, int number, bool group)
{
	for (int i = 0; i < run->plan->nparts; i++)
		zpart_signal(&run->parts[i], number, group);
}

static void suspect(struct zrun *run)
{
	run->suspect_world = run->job->world;
	run->suspect_ms = zclock_ms() + (run->suspect_world ? SUSPECT_WORLD_MS : SUSPECT_MS);
}

/* The ranks die with an mpiexec, or with a zipperd, and the word of another zipperd on that may have come first. */
static void doubt_cause(struct zrun *run)
{
	if (run->phase == ZRUN_ENDING && (run->job->dead || run->job->lost) && !run->cause_shown)
		run->phase = ZRUN_GOING;
}

void zending_note_part(struct zrun *run, struct zpart *part)
{
	const char *name = part->plan->name;
	struct zjob *job = run->job;
	part->by_itself = run->phase < ZRUN_TERM;
	if (WIFSIGNALED(part->wait_status)) {
		int number = WTERMSIG(part->wait_status);
		doubt_cause(run);
		fail(run, 128 + number, GRACE_MS, "mpiexec of part %s was killed by signal %d (%s)", name, number,
			strsignal(number));
		show_cause(run);
		return;
	}
	if (!needs_report(run))
		return;
	/* Events that are older than this end. */
	zjob_poll(job);
	zending_note_job(run);
	if (job->world ? job->done < (uint32_t)run->plan->nranks : job->joined > 0 || WEXITSTATUS(part->wait_status))
		suspect(run);
}

void zending_note_daemon(struct zrun *run, int rail, int wait_status)
{
	const struct zjob *job = run->job;
	char which[ZROUTE_NAME_MAX + 16] = "";
	if (job->n > 1)
		snprintf(which, sizeof(which), "zipper %s: ", job->rails[rail].name);
	if (!job->rails[rail].dead)
		doubt_cause(run);
	if (WIFSIGNALED(wait_status))
		fail(run, 1, GRACE_MS, "%szipperd was killed by signal %d (%s)", which, WTERMSIG(wait_status),
			strsignal(WTERMSIG(wait_status)));
	else
		fail(run, 1, GRACE_MS, "%szipperd ended with status %d", which, WEXITSTATUS(wait_status));
	show_cause(run);
}

/* Its connection breaks before we can see it go: a moment of patience for the better reason. */
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
	doubt_cause(run);
	if (run->phase != ZRUN_GOING)
		return;
	if (daemon->pid > 0 && daemon_has_ended(daemon, &status)) {
		zending_note_daemon(run, job->rail, status);
		return;
	}
	fail(run, 1, GRACE_MS, "%s", job->text);
	show_cause(run);
}

void zending_note_job(struct zrun *run)
{
	const struct zjob *job = run->job;
	if (job->dead)
		fail(run, job->dead_code > 0 && job->dead_code < 256 ? job->dead_code : 1, GRACE_MS, "%s", job->text);
	else if (job->lost)
		note_lost(run);
}

void zending_note_signal(struct zrun *run, int number)
{
	if (run->caught == SIGPIPE && number == SIGPIPE)
		return;
	if (run->caught && run->phase < ZRUN_TERM) {
		run->phase = ZRUN_TERM; /* the second one: no more patience */
		run->phase_ms = 0;
		return;
	}
	fail(run, 128 + number, SIGNAL_GRACE_MS, "ended by signal %d (%s)", number, strsignal(number));
	if (!run->caught)
		run->caught = number;
	show_cause(run);
	/* mpiexec hands INT, QUIT and TERM on to the ranks; the others would only end itself. */
	signal_parts(run, number == SIGINT || number == SIGQUIT ? number : SIGTERM, false);
}

/* A part whose mpiexec has ended though its ranks have not all left, and zipperd says nothing. */
static void fail_suspect(struct zrun *run)
{
	const struct zjob *job = run->job;
	const struct zpart *part = NULL;
	for (int i = 0; i < run->plan->nparts; i++) {
		const struct zpart *p = &run->parts[i];
		if (p->started && p->pid == 0 && (!part || zpart_status(p, false) > zpart_status(part, false)))
			part = p;
	}
	if (job->world && !run->suspect_world) {
		suspect(run);
		return;
	}
	run->suspect_ms = 0;
	if (!part || (job->world && job->done >= (uint32_t)run->plan->nranks))
		return;
	int status = zpart_status(part, false);
	if (!job->world)
		fail(run, status ? status : 1, 0,
			"part %s ended with status %d before its ranks had reported to zipperd (%u of all %d had)",
			part->plan->name, status, job->joined, run->plan->nranks);
	else
		fail(run, status ? status : 1, 0,
			"part %s ended with status %d before all its ranks called MPI_Finalize", part->plan->name,
			status);
	show_cause(run);
}

static int64_t join_deadline(const struct zrun *run)
{
	return run->start_ms + run->options->timeout_s * INT64_C(1000) + LATE_MS;
}

static bool waits_for_ranks(const struct zrun *run)
{
	return run->phase == ZRUN_GOING && needs_report(run) && !run->job->world;
}

static int until(int64_t then, int64_t now)
{
	return then <= now ? 0 : then - now > 60000 ? 60000 : (int)(then - now);
}

int zending_timeout(const struct zrun *run, int64_t now)
{
	if (run->phase == ZRUN_KILL)
		return 20;
	if (run->phase != ZRUN_GOING)
		return until(run->phase_ms, now);
	if (run->suspect_ms)
		return until(run->suspect_ms, now);
	return waits_for_ranks(run) ? until(join_deadline(run), now) : -1;
}

static void next_phase(struct zrun *run, int64_t now)
{
	if (run->phase == ZRUN_ENDING) {
		add_signal(run);
		show_cause(run);
		signal_parts(run, SIGTERM, true);
		run->phase = ZRUN_TERM;
		run->phase_ms = now + TERM_MS;
		return;
	}
	run->phase = ZRUN_KILL;
	signal_parts(run, SIGKILL, true);
	zinput_close(&run->input);
}

void zending_tick(struct zrun *run, int64_t now)
{
	if (run->phase == ZRUN_GOING && run->suspect_ms && now >= run->suspect_ms)
		fail_suspect(run);
	if (waits_for_ranks(run) && now >= join_deadline(run))
		fail(run, 1, 0, "only %u of %d ranks have reported to zipperd within %d seconds", run->job->joined,
			run->plan->nranks, run->options->timeout_s);
	if ((run->phase == ZRUN_ENDING || run->phase == ZRUN_TERM) && now >= run->phase_ms)
		next_phase(run, now);
}

/* Nobody of a failed job may live on, wherever it has hidden in the process tree. */
static void sweep(void)
{
	for (int i = 0; i < SWEEP_TRIES && zprocess_kill_all(); i++)
		poll(NULL, 0, 10);
}

/* Highest status of any rank that ended without our help. */
static int ranks_status(const struct zrun *run)
{
	int status = 0, broken = 0;
	for (int i = 0; i < run->plan->nparts; i++) {
		if (!run->parts[i].by_itself)
			continue;
		int s = zpart_status(&run->parts[i], run->job->dead);
		/* mpiexec itself broke down, as it does at times when its ranks are killed: counts if nothing else. */
		if (s == MPIEXEC_BROKEN && !run->parts[i].chatter.have_codes)
			broken = s;
		else if (s > status)
			status = s;
	}
	return status ? status : broken;
}

/* Where no zipperd has told of it: what mpiexec's banner, which we take out, would have said. */
static void show_killed(struct zrun *run)
{
	const struct zpart *part = NULL;
	int number = find_signal(run, &part);
	if (number == 0)
		return;
	snprintf(run->cause, sizeof(run->cause), "a rank of part %s was killed by signal %d (%s)", part->plan->name,
		number, strsignal(number));
	show_cause(run);
}

int zending_finish(struct zrun *run)
{
	int status = ranks_status(run);
	const struct zjob *job = run->job;
	if (run->phase == ZRUN_GOING && needs_report(run) && !job->world && status)
		fail_suspect(run);
	if (run->phase == ZRUN_GOING && needs_report(run) && !job->world)
		fail(run, status ? status : 1, 0,
			"%u of %d ranks have reported to zipperd: not an MPI program (then use --no-mpi), or "
			"libzipper.so "
			"was not preloaded",
			job->joined, run->plan->nranks);
	if (run->phase == ZRUN_GOING) {
		show_killed(run);
		return status;
	}
	add_signal(run);
	show_cause(run);
	/* Our own zipperds have nobody else to serve. Those that go on shall see us leave in order. */
	for (int i = 0; i < run->rails->n; i++)
		if (run->rails->daemons[i].pid > 0)
			kill(run->rails->daemons[i].pid, SIGKILL);
	sweep();
	for (int i = 0; i < run->rails->n; i++)
		run->rails->daemons[i].pid = 0;
	zjob_close(run->job);
	if (run->caught)
		return 128 + run->caught;
	return status > run->cause_status ? status : run->cause_status;
}
