/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of zmpirun: one poll over signals, zipperd and all streams. */
#include "launch/run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/run/progress.h"
#include "launch/run/relay.h"
#include "launch/run/tally.h"
#include "launch/run/verdict.h"
#include "common/base/clock.h"
#include "launch/run/ending.h"
#include "launch/base/process.h"

#define DRAIN_MS 1000 /* for our own reader to take the last output */
#define FAILED_MS 10  /* between two tries where poll fails */
#define TAIL_MS 500   /* a stream that stays open so long after its mpiexec belongs to another process */

/* Entries of the poll set. AT_JOB and AT_LOGS have one entry for each rail; from AT_PARTS on each part has two. */
enum {
	AT_SIGNALS,
	AT_INPUT,
	AT_INPUT_TO,
	AT_OUT,
	AT_ERR,
	AT_JOB,
	AT_LOGS = AT_JOB + ZCTL_RAILS_MAX,
	AT_PARTS = AT_LOGS + ZCTL_RAILS_MAX,
	SET_MAX = AT_PARTS + 2 * ZCTL_PARTS_MAX
};

int zrun_init(struct zrun *run, const struct zoptions *options, const struct zplan *plan, struct zjob *job,
	struct zrailset *rails, struct zerr *err)
{
	static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	sigset_t set;
	memset(run, 0, sizeof(*run));
	run->options = options;
	run->plan = plan;
	run->job = job;
	run->rails = rails;
	run->input.to = run->input.others = -1;
	for (int i = 0; i < ZCTL_RAILS_MAX; i++)
		run->logs[i].fd = -1;
	zoutput_init(&run->out, STDOUT_FILENO);
	zoutput_init(&run->err, STDERR_FILENO);
	sigemptyset(&set);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would keep us from waiting for children */
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct sigaction old;
		/* Ignored signals stay ignored: nohup, and background jobs of scripts. */
		if (sigaction(wanted[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		sigaddset(&set, wanted[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is reported as a full file system is */
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? zerr_set(err, -errno, "signalfd: %s", strerror(errno)) : 0;
}

/* Memory for texts of the environment. */
struct texts {
	char addresses[ZRAILSET_TEXT_BYTES], entries[ZRAILSET_ENTRIES_BYTES];
};

/* Zipperds that were started for this job alone do not come back. NULL: as the user has it. */
static const char *find_reconnect(const struct zrun *run)
{
	for (int i = 0; i < run->job->n; i++)
		if (!run->job->rails[i].route->start)
			return run->options->reconnect;
	return "0";
}

/* Describes the job for the ranks of one part. */
static void describe_part(const struct zrun *run, int number, struct texts *texts, struct zenviron *e)
{
	const struct zplan_part *part = &run->plan->parts[number];
	bool bridged = run->job->n > 0;
	e->part = bridged ? part->name : NULL;
	e->zipperd = bridged ? zrailset_format(run->rails, number, texts->addresses) : NULL;
	e->entries = bridged ? zrailset_format_entries(run->rails, texts->entries) : NULL;
	e->ports = bridged ? part->ports : NULL;
	e->reconnect = bridged ? find_reconnect(run) : NULL;
	e->device = bridged && part->cluster ? part->cluster->device : NULL;
}

int zrun_start(struct zrun *run, struct zpart_params *params, struct zerr *err)
{
	int input[2], others[2], rc = zprocess_pipe(input, err);
	if (rc < 0)
		return rc;
	rc = zprocess_pipe(others, err);
	if (rc < 0) {
		close(input[0]);
		close(input[1]);
		return rc;
	}
	params->out = &run->out;
	params->err = &run->err;
	params->hush = run->options->verbose ? NULL : &run->hush;
	run->start_ms = zclock_ms();
	zprogress_init(run);
	for (int i = 0; i < run->rails->n; i++) {
		if (run->rails->daemons[i].pid == 0)
			continue;
		zpump_init(&run->logs[i], run->rails->daemons[i].log, &run->err, NULL, NULL);
		run->logs[i].zipper = run->rails->n > 1 ? run->rails->used[i]->name : NULL;
	}
	for (int i = 0; rc == 0 && i < run->plan->nparts; i++) {
		struct texts texts;
		describe_part(run, i, &texts, &params->environ);
		bool has_first = zplan_vrank(&run->plan->parts[i], 0) == 0;
		rc = zpart_start(&run->parts[i], &run->plan->parts[i], params, has_first ? input[0] : others[0], err);
	}
	close(input[0]);
	close(others[0]);
	zinput_init(&run->input, rc == 0 ? STDIN_FILENO : -1, input[1], others[1], run->job->n == 0);
	if (rc < 0)
		zprocess_kill_all();
	return rc;
}

static struct zpart *find_part(struct zrun *run, pid_t pid)
{
	for (int i = 0; i < run->plan->nparts; i++)
		if (run->parts[i].pid == pid)
			return &run->parts[i];
	return NULL;
}

static void take_children(struct zrun *run)
{
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
		struct zpart *part = find_part(run, pid);
		if (part) {
			part->pid = 0;
			part->wait_status = status;
			part->ended_ms = zclock_ms();
			zending_note_part(run, part);
		}
		for (int i = 0; !part && i < run->rails->n; i++)
			if (pid == run->rails->daemons[i].pid) {
				run->rails->daemons[i].pid = 0;
				zending_note_daemon(run, i, status);
			} /* else: an orphan that mpiexec left behind */
	}
}

static void take_signals(struct zrun *run)
{
	struct signalfd_siginfo info;
	while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;
		if (number == SIGCHLD)
			continue; /* take_children looks in any case */
		if (number == SIGUSR1 || number == SIGUSR2) {
			zrelay_signal(run, number);
			continue;
		}
		zending_note_signal(run, number);
	}
}

static bool any_full(const struct zrun *run)
{
	return zoutput_is_full(&run->out) || zoutput_is_full(&run->err);
}

/* Fills the poll set; returns its length. */
static nfds_t prepare(const struct zrun *run, struct pollfd *p)
{
	p[AT_SIGNALS] = (struct pollfd){.fd = run->signals, .events = POLLIN};
	zinput_prepare(&run->input, p + AT_INPUT);
	p[AT_OUT] = (struct pollfd){.fd = zoutput_is_empty(&run->out) ? -1 : run->out.fd, .events = POLLOUT};
	p[AT_ERR] = (struct pollfd){.fd = zoutput_is_empty(&run->err) ? -1 : run->err.fd, .events = POLLOUT};
	for (int i = 0; i < ZCTL_RAILS_MAX; i++) {
		uint32_t events = POLLIN;
		int fd = zjob_listens(run->job, i) ? zsession_fd(run->job->rails[i].session, &events) : -1;
		p[AT_JOB + i] = (struct pollfd){.fd = fd, .events = (short)events};
		p[AT_LOGS + i] = (struct pollfd){.fd = run->logs[i].fd, .events = POLLIN};
	}
	nfds_t n = AT_PARTS;
	for (int i = 0; i < run->plan->nparts; i++) {
		const struct zpart *part = &run->parts[i];
		bool hold = any_full(run);
		p[n++] = (struct pollfd){.fd = hold ? -1 : part->out.fd, .events = POLLIN};
		p[n++] = (struct pollfd){.fd = hold ? -1 : part->err.fd, .events = POLLIN};
	}
	return n;
}

static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

/* The time to sleep in ms; -1: until something happens. */
static int timeout(struct zrun *run, int64_t now)
{
	int ms = sooner(zending_timeout(run, now), zinput_timeout(&run->input, now));
	ms = sooner(ms, zjob_timeout(run->job));
	ms = sooner(ms, zprogress_timeout(run, now));
	for (int i = 0; i < run->job->n; i++)
		if (zjob_listens(run->job, i) && zsession_arm(run->job->rails[i].session) != 0)
			ms = 0;
	for (int i = 0; i < run->plan->nparts; i++) {
		struct zpart *part = &run->parts[i];
		ms = sooner(ms, zpump_timeout(&part->out, now));
		ms = sooner(ms, zpump_timeout(&part->err, now));
		if (part->pid == 0 && !zpart_is_over(part))
			ms = sooner(ms, 50);
	}
	return ms;
}

/* Moves bytes. p is poll's answer. */
static void move(struct zrun *run, const struct pollfd *p)
{
	zinput_move(&run->input, p + AT_INPUT);
	bool out = p[AT_OUT].fd >= 0 && p[AT_OUT].revents, errs = p[AT_ERR].fd >= 0 && p[AT_ERR].revents;
	if (out)
		zoutput_write(&run->out);
	if (errs)
		zoutput_write(&run->err);
	if (out || errs || (zoutput_is_empty(&run->out) && zoutput_is_empty(&run->err)))
		run->taken_ms = zclock_ms();
	for (int i = 0; i < ZCTL_RAILS_MAX; i++)
		if (p[AT_LOGS + i].fd >= 0 && p[AT_LOGS + i].revents)
			zpump_read(&run->logs[i]);
	int64_t now = zclock_ms();
	zinput_tick(&run->input, now);
	for (int i = 0; i < run->plan->nparts; i++) {
		struct zpart *part = &run->parts[i];
		struct zpump *pumps[] = {&part->out, &part->err};
		for (int k = 0; k < 2; k++) {
			const struct pollfd *mine = &p[AT_PARTS + 2 * i + k];
			if (mine->fd >= 0 && mine->revents)
				zpump_read(pumps[k]);
			else if (pumps[k]->fd >= 0 && part->pid == 0 && mine->fd >= 0 && now > part->ended_ms + TAIL_MS)
				zpump_close(pumps[k]);
			else
				zpump_tick(pumps[k], now);
		}
	}
}

/* zmpirun was interrupted, all parts have ended, and nobody takes our output. */
static bool is_stuck(const struct zrun *run, int64_t now)
{
	bool ended = run->caught && now > run->taken_ms + DRAIN_MS;
	for (int i = 0; ended && i < run->plan->nparts; i++)
		ended = run->parts[i].pid == 0;
	return ended;
}

static bool is_over(const struct zrun *run)
{
	for (int i = 0; i < run->plan->nparts; i++)
		if (!zpart_is_over(&run->parts[i]))
			return is_stuck(run, zclock_ms());
	return true;
}

/* Waits for the entries in use. poll counts unused ones too, and refuses more entries than a process may have
 * descriptors. 0 or a negative errno. */
static int wait_for_any(struct pollfd *p, nfds_t n, int timeout_ms)
{
	struct pollfd used[SET_MAX];
	nfds_t at[SET_MAX], nused = 0;
	for (nfds_t i = 0; i < n; i++) {
		p[i].revents = 0;
		if (p[i].fd >= 0) {
			at[nused] = i;
			used[nused++] = p[i];
		}
	}
	if (poll(used, nused, timeout_ms) < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	for (nfds_t i = 0; i < nused; i++)
		p[at[i]].revents = used[i].revents;
	return 0;
}

/* Nothing can be moved any more. Output of the ranks from now on is lost, and that must not look like success. */
static void fail_wait(struct zrun *run, int code)
{
	zverdict_set(run, 1, 0, "cannot wait for the ranks, and some of their output is lost: %s", strerror(-code));
	zverdict_show(run);
	poll(NULL, 0, FAILED_MS);
}

int zrun_wait(struct zrun *run)
{
	struct pollfd p[SET_MAX];
	while (!is_over(run)) {
		nfds_t n = prepare(run, p);
		int rc = wait_for_any(p, n, timeout(run, zclock_ms()));
		if (rc < 0)
			fail_wait(run, rc);
		/* Children come before zipperd: zipperd hears of ranks whose mpiexec was killed, and the killed mpiexec
		 * is the cause. */
		take_children(run);
		take_signals(run);
		take_children(run); /* children that have ended since then: their SIGCHLD is read already */
		ztally_poll(run->job);
		if (run->phase == ZRUN_GOING)
			ztally_again(run->job, zclock_ms());
		zending_note_job(run);
		move(run, p);
		if (run->out.error == -EPIPE || run->err.error == -EPIPE) {
			take_signals(run); /* the signal that ended our reader may be here, too, and is the cause */
			zending_note_signal(run, SIGPIPE);
		}
		zending_tick(run, zclock_ms());
		zprogress_tick(run, zclock_ms());
	}
	zprogress_end(run);
	return zending_finish(run);
}

/* A missing reader is no loss: it ended the job like a signal. */
static bool is_lost(const struct zoutput *o)
{
	return o->error && o->error != -EPIPE;
}

int zrun_fini(struct zrun *run, struct zerr *err)
{
	int rc = 0;
	for (int i = 0; i < ZCTL_RAILS_MAX; i++)
		if (run->logs[i].fd >= 0)
			zpump_close(&run->logs[i]);
	for (int i = 0; i < run->plan->nparts; i++)
		zpump_fini(&run->parts[i].err);
	zoutput_drain(&run->out, DRAIN_MS);
	zoutput_drain(&run->err, DRAIN_MS);
	if (is_lost(&run->out))
		rc = zerr_set(err, run->out.error, "standard output cannot be written, and some of it is lost: %s",
			strerror(-run->out.error));
	else if (is_lost(&run->err))
		rc = zerr_set(err, run->err.error, "standard error cannot be written, and some of it is lost: %s",
			strerror(-run->err.error));
	zinput_close(&run->input);
	zoutput_free(&run->out);
	zoutput_free(&run->err);
	close(run->signals);
	return rc;
}
