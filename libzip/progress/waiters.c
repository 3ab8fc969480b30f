/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait in MPI at the same time, see waiters.h. */
#include "libzip/progress/waiters.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "libzip/shim/shim.h"

struct waiter {
	struct zshim_sleeper sleeper;
	bool (*done)(void *ctx);
	void *ctx;
	bool leads; /* it was woken to lead: it is not done */
	struct waiter *next;
};

static struct {
	struct waiter *first, **end; /* in the order in which they came */
	bool led;		     /* there is a leader, or a thread that was told to lead is about to */
	atomic_bool news;   /* since the leader last served, threads have come, or have made turns that did something */
	bool serving;	    /* guards against a walk within a walk (callbacks) */
	bool resting;	    /* a thread sleeps on descriptors */
	atomic_bool called; /* fd has called that thread */
	int fd;
} self = {.end = &self.first, .fd = -1};

/* how often this thread has joined as the leader */
static __thread int leading __attribute__((tls_model("initial-exec")));

int zwaiters_init(void)
{
	self.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return self.fd < 0 ? -errno : 0;
}

void zwaiters_fini(void)
{
	if (self.fd >= 0)
		close(self.fd);
	self.fd = -1;
}

bool zwaiters_join(bool (*done)(void *ctx), void *ctx)
{
	if (leading > 0 || !self.led) {
		self.led = true;
		leading++;
		return false;
	}
	struct waiter w = {.sleeper = ZSHIM_SLEEPER, .done = done, .ctx = ctx};
	*self.end = &w;
	self.end = &w.next;
	self.news =
		true; /* only a turn does the work that this thread has left: the leader must not go to sleep before */
	zshim_sleep(&w.sleeper);
	leading += w.leads;
	return !w.leads;
}

static struct waiter *take_out(struct waiter **at)
{
	struct waiter *w = *at;
	*at = w->next;
	if (!w->next)
		self.end = at;
	return w;
}

static void call_the_resting(void)
{
	if (!self.resting || atomic_load_explicit(&self.called, memory_order_relaxed) ||
		atomic_exchange(&self.called, true))
		return;
	(void)!write(self.fd, &(uint64_t){1}, sizeof(uint64_t));
}

void zwaiters_serve(bool did)
{
	if (did)
		call_the_resting();
	if (self.serving)
		return;
	self.news = false;
	self.serving = true;
	for (struct waiter **at = &self.first; *at;) {
		if ((*at)->done((*at)->ctx))
			zshim_wake(&take_out(at)->sleeper);
		else
			at = &(*at)->next;
	}
	self.serving = false;
}

void zwaiters_leave(void)
{
	if (--leading > 0)
		return;
	zwaiters_serve(false); /* a thread that is done need not lead */
	self.led = self.first != NULL;
	if (!self.led) {
		call_the_resting();
		return;
	}
	struct waiter *heir = take_out(&self.first);
	heir->leads = true;
	zshim_wake(&heir->sleeper);
}

bool zwaiters_are_none(void)
{
	return !self.first;
}

bool zwaiters_rest(void)
{
	if (self.news || leading > 1) /* the outer wait of this thread must still lead when it goes on */
		return false;
	if (self.resting) { /* the resting thread may be done, which only that thread can tell, and must not be left
			       behind */
		call_the_resting();
		return false;
	}
	self.led = false;
	leading = 0;
	self.resting = true;
	return true;
}

bool zwaiters_resume(bool (*done)(void *ctx), void *ctx)
{
	self.resting = false;
	if (self.called) {
		uint64_t calls;
		(void)!read(self.fd, &calls, sizeof(calls));
		self.called = false;
	}
	return (self.led && done(ctx)) || zwaiters_join(done, ctx);
}

int zwaiters_fd(void)
{
	return self.fd;
}

void zwaiters_disturbed(void)
{
	if (!atomic_load_explicit(&self.news, memory_order_relaxed))
		self.news = true;
	if (!self.led)
		call_the_resting();
}
