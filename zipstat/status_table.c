/* SPDX-License-Identifier: BSD-3-Clause */
/* The status as a table, see status_table.h. */
#include "zipstat/status_table.h"

#include <string.h>

#include "zipstat/units.h"

static void print_zipper(const struct snapshot *s, const char *address, FILE *out)
{
	const struct zctl_status_reply *r = &s->now;
	char time[UNITS_BYTES], used[UNITS_BYTES], memory[UNITS_BYTES];
	fprintf(out, "zipper %s: release %s, up %s%s\n", address, r->release, units_format_time(time, r->uptime_ms),
		r->draining ? ", DRAINING: it takes no new jobs" : "");
	fprintf(out,
		"jobs %u of %u, connections %u of %u (%u unproved, %llu refused so far), circuits %u, memory %s of "
		"%s\n",
		r->jobs, r->max_jobs, r->connections, r->max_connections, r->strangers, (unsigned long long)r->refused,
		r->circuits, units_format_bytes(used, (double)r->memory_used),
		units_format_bytes(memory, (double)r->memory));
}

static bool has_several(const struct zctl_status_reply *r)
{
	for (uint32_t i = 0; i < r->nworkers; i++)
		if (r->worker[i].number > 0)
			return true;
	return false;
}

/* Two workers that share a thread are one. A direction may have several, which have numbers. */
static void print_workers(const struct snapshot *s, FILE *out)
{
	const bool numbered = has_several(&s->now);
	for (uint32_t i = 0; i < s->now.nworkers; i++) {
		const struct zctl_worker_status *w = &s->now.worker[i];
		char number[16] = "";
		if (numbered)
			snprintf(number, sizeof(number), " #%u", w->number);
		fprintf(out, "%s%s %s %s%s %.0f%%", i == 0 ? "workers (part of a core): " : ", ", w->from,
			w->shares ? "<>" : ">", w->to, number, 100 * snapshot_load(s, i));
		i += w->shares;
	}
	if (s->now.nworkers > 0)
		fputc('\n', out);
}

static void print_ranks(char *buf, size_t cap, const struct zctl_job_status *j)
{
	if (j->phase == ZCTL_JOB_FORMS && j->total > 0)
		snprintf(buf, cap, "%u/%u", j->joined, j->total);
	else
		snprintf(buf, cap, "%u", j->phase == ZCTL_JOB_FORMS ? j->joined : j->total);
}

static void print_job(const struct snapshot_job *j, FILE *out)
{
	const struct zctl_job_status *job = j->job;
	char time[UNITS_BYTES], ranks[24], rail[24] = "-", ended[UNITS_BYTES];
	print_ranks(ranks, sizeof(ranks), job);
	if (job->nrails > 0)
		snprintf(rail, sizeof(rail), "%u/%u", job->rail + 1, job->nrails);
	fprintf(out, "%-24s %-12s %-6s %9s %11s %8u %5s  ", job->id, job->user, snapshot_state(job), ranks,
		units_format_time(time, job->age_ms), job->channels, rail);
	for (uint32_t i = 0; i < job->nparts; i++) {
		const struct zctl_part_status *p = &j->part[i];
		fprintf(out, "%s%s", i ? "," : "", p->name);
		if (job->phase == ZCTL_JOB_FORMS && p->size > 0)
			fprintf(out, " %u/%u", p->joined, p->size);
		else if (p->size > 0 || p->joined > 0)
			fprintf(out, " %u", p->size ? p->size : p->joined);
	}
	if (job->incarnation > 0)
		fprintf(out, " (rail came back %u times)", job->incarnation);
	if (snapshot_is_over(job))
		fprintf(out, " (%s ago)", units_format_time(ended, job->ended_ms));
	fputc('\n', out);
	if (job->text[0])
		fprintf(out, "    %s\n", job->text);
}

static void print_lane(const struct snapshot *s, const struct snapshot_job *j, uint32_t i, FILE *out)
{
	const struct zctl_lane_status *l = &j->lane[i];
	const struct snapshot_rates rate = snapshot_rates(s, j, i);
	char bytes[UNITS_BYTES], msgs_s[UNITS_BYTES], bytes_s[UNITS_BYTES], queue[UNITS_BYTES], high[UNITS_BYTES],
		half[UNITS_BYTES], most[UNITS_BYTES], direct[UNITS_BYTES], shared[UNITS_BYTES];
	fprintf(out, "    %-10s %-10s %12llu %8s %8s %8s %8s %8s %8llu %6llu %7s %7s %10s %8s\n", j->part[l->from].name,
		j->part[l->to].name, (unsigned long long)l->msgs, units_format_bytes(bytes, (double)l->bytes),
		units_format_count(msgs_s, rate.msgs), units_format_bytes(bytes_s, rate.bytes),
		units_format_bytes(queue, (double)l->queue_bytes),
		units_format_bytes(high, (double)l->queue_high_bytes), (unsigned long long)l->naks,
		(unsigned long long)l->stalls, units_format_latency(half, l->latency, 0.5),
		units_format_latency(most, l->latency, 0.99), units_format_count(direct, (double)l->direct_msgs),
		units_format_bytes(shared, (double)l->shared_bytes));
}

static void print_jobs(const struct snapshot *s, bool over, FILE *out)
{
	struct snapshot_job j = {.job = NULL};
	bool first = true;
	while (snapshot_next(s, &j)) {
		if (snapshot_is_over(j.job) != over)
			continue;
		if (first)
			fprintf(out, "\n%-24s %-12s %-6s %9s %11s %8s %5s  %s\n", over ? "ENDED JOB" : "JOB", "USER",
				"STATE", "RANKS", "AGE", "CHANNELS", "RAIL", "PARTS");
		if (first)
			fprintf(out, "    %-10s %-10s %12s %8s %8s %8s %8s %8s %8s %6s %7s %7s %10s %8s\n", "from",
				"to", "messages", "bytes", "msgs/s", "bytes/s", "queued", "most", "refused", "stalls",
				"50%", "99%", "direct", "shared");
		first = false;
		print_job(&j, out);
		for (uint32_t i = 0; i < j.job->nlanes; i++)
			print_lane(s, &j, i, out);
	}
}

void status_table_print(const struct snapshot *s, const char *address, FILE *out)
{
	print_zipper(s, address, out);
	print_workers(s, out);
	print_jobs(s, false, out);
	print_jobs(s, true, out);
	if (s->now.njobs == 0)
		fprintf(out, "\n%s\n", s->now.all ? "no jobs" : "no jobs of yours");
}
