/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends zmpirun by a signal before the job runs, see early.h. */
#include "launch/run/early.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static char lines[NUMBERS][80]; /* the lines to write: a handler may not call strsignal */
static const struct zdaemon *daemons;
static int ndaemons;
static struct zscratch *scratch;
static pid_t self;
static volatile pid_t trial;

/* Does only what signal-safety(7) allows. */
static void end(int number)
{
	if (getpid() != self) /* a child that has not become its program yet */
		_exit(127);
	if (trial > 0) {
		kill(trial, SIGTERM);
		waitpid(trial, NULL, 0);
	}
	for (int i = 0; i < ndaemons; i++)
		if (daemons[i].pid > 0) {
			kill(daemons[i].pid, SIGKILL);
			waitpid(daemons[i].pid, NULL, 0); /* it must not put anything into the directory any more */
		}
	zscratch_remove(scratch);
	for (size_t i = 0; i < NUMBERS; i++)
		if (numbers[i] == number && write(STDERR_FILENO, lines[i], strlen(lines[i])) < 0)
			break; /* nobody to tell */
	_exit(128 + number);
}

/* The signals that were not ignored when zmpirun was started. */
static void find_ours(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < NUMBERS; i++) {
		struct sigaction old;
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(set, numbers[i]);
	}
}

void zearly_begin(const struct zdaemon *d, int n, struct zscratch *s)
{
	struct sigaction action = {.sa_handler = end};
	sigset_t set;
	daemons = d;
	ndaemons = n;
	scratch = s;
	self = getpid();
	find_ours(&set);
	action.sa_mask = set;
	for (size_t i = 0; i < NUMBERS; i++) {
		snprintf(lines[i], sizeof(lines[i]), "zmpirun: ended by signal %d (%s)\n", numbers[i],
			strsignal(numbers[i]));
		if (sigismember(&set, numbers[i]) == 1)
			sigaction(numbers[i], &action, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void zearly_note(pid_t pid)
{
	trial = pid;
}

void zearly_end(void)
{
	sigset_t set;
	find_ours(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < NUMBERS; i++)
		if (sigismember(&set, numbers[i]) == 1)
			signal(numbers[i], SIG_DFL);
}
