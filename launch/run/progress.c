/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the zippers and says what crosses, see progress.h. */
#include "launch/run/progress.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "launch/run/tally.h"

#define EVERY_MS 1000
#define END_MS 500   /* for the last answers */
#define WAYS_SHOWN 6 /* those of three clusters */
#define LINE_BYTES 1024
#define COLUMNS_DEFAULT 80

struct line {
	char text[LINE_BYTES];
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *l, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, args);
	va_end(args);
	l->len += n > 0 ? (size_t)n : 0;
	if (l->len >= sizeof(l->text))
		l->len = sizeof(l->text) - 1;
}

static void add_bytes(struct line *l, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	int u = 0;
	for (; bytes >= 1023.95 && u < 6; u++)
		bytes /= 1024;
	add(l, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}

void zprogress_init(struct zrun *run)
{
	struct zprogress *p = &run->progress;
	p->on = run->options->progress && run->job->n > 0;
	p->terminal = isatty(STDERR_FILENO);
	if (!p->on || !p->terminal)
		return;
	run->err.over = &p->over;
	if (isatty(STDOUT_FILENO))
		run->out.over = &p->over;
}

static bool all_have_answered(const struct zjob *job)
{
	for (int i = 0; i < job->n; i++)
		if (zjob_listens(job, i) && job->rails[i].asked)
			return false;
	return true;
}

int zprogress_timeout(const struct zrun *run, int64_t now)
{
	const struct zprogress *p = &run->progress;
	if (!p->on || run->phase != ZRUN_GOING)
		return -1;
	return p->next_ms <= now ? 0 : (int)(p->next_ms - now);
}

static int find_part(const struct zplan *plan, const char *name)
{
	for (int i = 0; i < plan->nparts; i++)
		if (strcmp(plan->parts[i].name, name) == 0)
			return i;
	return -1;
}

/* Adds up what all zippers have carried. The share of a zipper that is lost stays at what it said last. */
static void sum(struct zrun *run)
{
	struct zprogress *p = &run->progress;
	memset(p->bytes, 0, sizeof(p->bytes));
	for (int i = 0; i < run->job->n; i++) {
		const struct zctl_stats_reply *r = &run->job->rails[i].stats;
		for (uint32_t k = 0; k < r->ndirs; k++) {
			int from = find_part(run->plan, r->dirs[k].from), to = find_part(run->plan, r->dirs[k].to);
			if (from >= 0 && to >= 0 && from != to)
				p->bytes[from][to] += r->dirs[k].bytes;
		}
	}
}

static double rate(const struct zprogress *p, int from, int to, double seconds)
{
	uint64_t now = p->bytes[from][to], before = p->before[from][to];
	return now > before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

static void add_way(struct line *l, const struct zrun *run, int from, int to, double seconds)
{
	const struct zprogress *p = &run->progress;
	add(l, " %s > %s ", run->plan->parts[from].name, run->plan->parts[to].name);
	add_bytes(l, (double)p->bytes[from][to]);
	add(l, " (");
	add_bytes(l, rate(p, from, to, seconds));
	add(l, "/s)");
}

/* Writes all ways, or with many clusters their sum; then the way on which most crosses now. */
static void add_ways(struct line *l, const struct zrun *run, double seconds)
{
	const struct zprogress *p = &run->progress;
	const int n = run->plan->nparts;
	const bool each = n * (n - 1) <= WAYS_SHOWN;
	double bytes = 0, rates = 0, highest = 0;
	int from = -1, to = -1;
	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			if (a == b)
				continue;
			double r = rate(p, a, b, seconds);
			bytes += (double)p->bytes[a][b];
			rates += r;
			if (r > highest) {
				highest = r;
				from = a;
				to = b;
			}
			if (each) {
				add_way(l, run, a, b, seconds);
				add(l, ",");
			}
		}
	if (!each) {
		add(l, " ");
		add_bytes(l, bytes);
		add(l, " (");
		add_bytes(l, rates);
		add(l, "/s),");
	}
	if (from < 0)
		add(l, " nothing crosses now");
	else if (each)
		add(l, " most %s > %s", run->plan->parts[from].name, run->plan->parts[to].name);
	else {
		add(l, " most");
		add_way(l, run, from, to, seconds);
	}
}

static void show(struct zrun *run, struct line *l)
{
	struct winsize size = {.ws_col = 0};
	if (!run->progress.terminal) {
		add(l, "\n");
		zoutput_add(&run->err, l->text, l->len);
		return;
	}
	size_t columns =
		ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : COLUMNS_DEFAULT;
	zoutput_put_over(&run->err, l->text, l->len < columns ? l->len : columns - 1);
}

static void tell(struct zrun *run, int64_t now)
{
	struct zprogress *p = &run->progress;
	struct line l = {.len = 0};
	add(&l, "zmpirun: %lld s", (long long)((now - run->start_ms) / 1000));
	if (run->job->world) {
		sum(run);
		add(&l, ", %d of %d zippers:", zjob_left(run->job), run->job->n);
		add_ways(&l, run, (double)(now - (p->told_ms ? p->told_ms : run->start_ms)) / 1000);
		memcpy(p->before, p->bytes, sizeof(p->before));
		p->told_ms = now;
	} else {
		add(&l, ": %u of %d ranks have reported", run->job->joined, run->plan->nranks);
	}
	show(run, &l);
}

/* Does the terminal show the beginning of a line of the ranks, as a question? */
static bool is_mid_line(const struct zrun *run)
{
	for (int i = 0; i < run->plan->nparts; i++)
		if (run->parts[i].out.mid_line || run->parts[i].err.mid_line)
			return true;
	return false;
}

void zprogress_tick(struct zrun *run, int64_t now)
{
	struct zprogress *p = &run->progress;
	if (!p->on || run->phase != ZRUN_GOING)
		return;
	if (p->asked && all_have_answered(run->job)) {
		p->asked = false;
		if (!p->terminal || !is_mid_line(run))
			tell(run, now);
	}
	if (now < p->next_ms)
		return;
	bool first = p->next_ms == 0; /* at the very start nobody has anything to tell */
	p->next_ms = now + EVERY_MS;
	if (first)
		return;
	zjob_ask_stats(run->job);
	p->asked = true;
}

void zprogress_end(struct zrun *run)
{
	if (!run->progress.on)
		return;
	for (int64_t end = zclock_ms() + END_MS; !all_have_answered(run->job) && zclock_ms() < end; poll(NULL, 0, 5))
		ztally_poll(run->job);
	zoutput_clear(&run->err);
}
