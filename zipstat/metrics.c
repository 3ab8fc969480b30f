/* SPDX-License-Identifier: BSD-3-Clause */
/* Prometheus' text format, see metrics.h. All lines of a name stand together, so names are the outer loop. */
#include "zipstat/metrics.h"

#include <inttypes.h>
#include <stddef.h>

/* Values of a zipper that are u32 or u64 fields of its reply. */
struct zipper_metric {
	const char *name, *type, *help;
	size_t offset;
	bool wide; /* u64 */
};
#define NUMBER(n, t, field, h)                                                                                         \
	{                                                                                                              \
		n, t, h, offsetof(struct zctl_status_reply, field),                                                    \
			sizeof(((struct zctl_status_reply *)0)->field) == 8                                            \
	}
static const struct zipper_metric zipper_metrics[] = {
	NUMBER("zipper_connections", "gauge", connections, "Connections that are open."),
	NUMBER("zipper_connections_max", "gauge", max_connections, "Connections that may be open (max_connections)."),
	NUMBER("zipper_connections_unproved", "gauge", strangers, "Connections that have not shown who they are."),
	NUMBER("zipper_connections_refused_total", "counter", refused, "Connections that got an error."),
	NUMBER("zipper_jobs", "gauge", jobs, "Jobs that form or run."),
	NUMBER("zipper_jobs_max", "gauge", max_jobs, "Jobs that may run (max_jobs)."),
	NUMBER("zipper_circuits", "gauge", circuits, "Circuits of zipcast and of ways to other zippers."),
	NUMBER("zipper_memory_bytes", "gauge", memory_used, "Memory of messages that wait."),
	NUMBER("zipper_memory_max_bytes", "gauge", memory, "Most memory of messages that wait (memory)."),
};

/* Values of a direction of a job. */
struct lane_metric {
	const char *name, *type, *help;
	size_t offset;
};
#define COUNT(n, t, field, h)                                                                                          \
	{                                                                                                              \
		n, t, h, offsetof(struct zctl_lane_status, field)                                                      \
	}
static const struct lane_metric lane_metrics[] = {
	COUNT("zipper_messages_total", "counter", msgs, "Messages that were forwarded."),
	COUNT("zipper_bytes_total", "counter", bytes, "Bytes of messages that were forwarded."),
	COUNT("zipper_envelopes_total", "counter", envelopes, "Envelopes of all kinds that were forwarded."),
	COUNT("zipper_copied_bytes_total", "counter", copied_bytes, "Bytes that zipperd's processor copied."),
	COUNT("zipper_refused_messages_total", "counter", naks, "Messages that were refused and sent again."),
	COUNT("zipper_stalls_total", "counter", stalls, "Times that a sender waited as memory was short."),
	COUNT("zipper_queued_bytes", "gauge", queue_bytes, "Bytes that wait for receivers."),
	COUNT("zipper_queued_bytes_most", "gauge", queue_high_bytes, "Most bytes that have waited for one receiver."),
	COUNT("zipper_direct_messages_total", "counter", direct_msgs, "Messages between ranks without zipperd."),
	COUNT("zipper_direct_bytes_total", "counter", direct_bytes, "Bytes between ranks without zipperd."),
	COUNT("zipper_shared_bytes_total", "counter", shared_bytes, "Bytes that came once for several receivers."),
};
#define N(table) (sizeof(table) / sizeof((table)[0]))

static void put_head(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: backslash and quote are escaped, line ends do not occur. */
static void put_label(const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s=\"", name);
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_zipper(const char *metric, const struct zipper *z, FILE *out)
{
	fprintf(out, "%s{", metric);
	put_label("zipper", z->as.address, out);
}

/* Only zippers that have answered. */
static const struct zctl_status_reply *reply_of(const struct zippers *z, int i)
{
	return z->zipper[i].rc == 0 ? &z->zipper[i].snapshot.now : NULL;
}

static void print_zippers(const struct zippers *z, FILE *out)
{
	put_head("zipper_up", "gauge", "1: zipperd has answered.", out);
	for (int i = 0; i < z->count; i++) {
		put_zipper("zipper_up", &z->zipper[i], out);
		fprintf(out, "} %d\n", z->zipper[i].rc == 0);
	}
	put_head("zipper_uptime_seconds", "gauge", "Time since zipperd was started.", out);
	for (int i = 0; i < z->count; i++) {
		if (!reply_of(z, i))
			continue;
		put_zipper("zipper_uptime_seconds", &z->zipper[i], out);
		fprintf(out, "} %.3f\n", (double)reply_of(z, i)->uptime_ms / 1000);
	}
	put_head("zipper_draining", "gauge", "1: zipperd takes no new jobs.", out);
	for (int i = 0; i < z->count; i++) {
		if (!reply_of(z, i))
			continue;
		put_zipper("zipper_draining", &z->zipper[i], out);
		fprintf(out, "} %d\n", reply_of(z, i)->draining);
	}
	for (size_t m = 0; m < N(zipper_metrics); m++) {
		const struct zipper_metric *metric = &zipper_metrics[m];
		put_head(metric->name, metric->type, metric->help, out);
		for (int i = 0; i < z->count; i++) {
			const char *reply = (const char *)reply_of(z, i);
			if (!reply)
				continue;
			put_zipper(metric->name, &z->zipper[i], out);
			const void *at = reply + metric->offset;
			fprintf(out, "} %" PRIu64 "\n", metric->wide ? *(const uint64_t *)at : *(const uint32_t *)at);
		}
	}
}

static void put_worker(const char *metric, const struct zipper *from, const struct zctl_worker_status *w, FILE *out)
{
	char number[16];
	snprintf(number, sizeof(number), "%u", w->number);
	put_zipper(metric, from, out);
	put_label(",from", w->from, out);
	put_label(",to", w->to, out);
	put_label(",number", number, out);
}

/* Workers that share a thread have one line, with both fabrics. */
static void print_processor_time(const struct zippers *z, FILE *out)
{
	put_head("zipper_worker_cpu_seconds_total", "counter",
		"Processor time of a worker's thread; both: 1 where it does the other direction, too.", out);
	for (int i = 0; i < z->count; i++) {
		const struct zctl_status_reply *r = reply_of(z, i);
		for (uint32_t w = 0; r && w < r->nworkers; w += r->worker[w].shares ? 2 : 1) {
			put_worker("zipper_worker_cpu_seconds_total", &z->zipper[i], &r->worker[w], out);
			fprintf(out, ",both=\"%u\"} %.6f\n", r->worker[w].shares, (double)r->worker[w].cpu_ns / 1e9);
		}
	}
}

static void print_workers(const struct zippers *z, FILE *out)
{
	static const struct {
		const char *name, *help;
		size_t offset;
	} counters[] = {
		{"zipper_worker_messages_total", "Messages that a worker has forwarded.",
			offsetof(struct zctl_worker_status, msgs)},
		{"zipper_worker_bytes_total", "Payload that a worker has forwarded.",
			offsetof(struct zctl_worker_status, bytes)},
	};
	print_processor_time(z, out);
	for (size_t m = 0; m < N(counters); m++) {
		put_head(counters[m].name, "counter", counters[m].help, out);
		for (int i = 0; i < z->count; i++) {
			const struct zctl_status_reply *r = reply_of(z, i);
			for (uint32_t w = 0; r && w < r->nworkers; w++) {
				const char *at = (const char *)&r->worker[w] + counters[m].offset;
				put_worker(counters[m].name, &z->zipper[i], &r->worker[w], out);
				fprintf(out, "} %" PRIu64 "\n", *(const uint64_t *)(const void *)at);
			}
		}
	}
}

/* zipperd's number tells jobs of one name apart. */
static void put_job(const char *metric, const struct zipper *z, const struct zctl_job_status *j, FILE *out)
{
	put_zipper(metric, z, out);
	put_label(",user", j->user, out);
	put_label(",job", j->id, out);
	fprintf(out, ",number=\"%u\"", j->number);
}

static void print_jobs(const struct zippers *z, FILE *out)
{
	put_head("zipper_job_ranks", "gauge", "Ranks of a job; those that have reported, while it forms.", out);
	for (int i = 0; i < z->count; i++)
		for (struct snapshot_job j = {.job = NULL};
			z->zipper[i].rc == 0 && snapshot_next(&z->zipper[i].snapshot, &j);) {
			put_job("zipper_job_ranks", &z->zipper[i], j.job, out);
			put_label(",state", snapshot_state(j.job), out);
			fprintf(out, ",rail=\"%u\"} %u\n", j.job->rail + 1,
				j.job->phase == ZCTL_JOB_FORMS ? j.job->joined : j.job->total);
		}
	put_head("zipper_job_age_seconds", "gauge", "Age of a job; if it has ended: to its end.", out);
	for (int i = 0; i < z->count; i++)
		for (struct snapshot_job j = {.job = NULL};
			z->zipper[i].rc == 0 && snapshot_next(&z->zipper[i].snapshot, &j);) {
			put_job("zipper_job_age_seconds", &z->zipper[i], j.job, out);
			fprintf(out, "} %.3f\n", (double)j.job->age_ms / 1000);
		}
}

static void put_lane(const char *metric, const struct zipper *z, const struct snapshot_job *j,
	const struct zctl_lane_status *l, FILE *out)
{
	put_job(metric, z, j->job, out);
	put_label(",from", j->part[l->from].name, out);
	put_label(",to", j->part[l->to].name, out);
}

static void print_latency(const struct zipper *z, const struct snapshot_job *j, const struct zctl_lane_status *l,
	FILE *out)
{
	uint64_t sum = 0;
	for (int b = 0; b < ZCTL_LATENCIES - 1; b++) {
		sum += l->latency[b];
		put_lane("zipper_forward_seconds_bucket", z, j, l, out);
		fprintf(out, ",le=\"%.9g\"} %" PRIu64 "\n", (double)(UINT64_C(1) << b) / 1e6, sum);
	}
	sum += l->latency[ZCTL_LATENCIES - 1];
	put_lane("zipper_forward_seconds_bucket", z, j, l, out);
	fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", sum);
	put_lane("zipper_forward_seconds_sum", z, j, l, out);
	fprintf(out, "} %.9f\n", (double)l->latency_ns / 1e9);
	put_lane("zipper_forward_seconds_count", z, j, l, out);
	fprintf(out, "} %" PRIu64 "\n", sum);
}

static void print_lanes(const struct zippers *z, const struct lane_metric *m, FILE *out)
{
	for (int i = 0; i < z->count; i++)
		for (struct snapshot_job j = {.job = NULL};
			z->zipper[i].rc == 0 && snapshot_next(&z->zipper[i].snapshot, &j);)
			for (uint32_t k = 0; k < j.job->nlanes; k++) {
				if (!m) {
					print_latency(&z->zipper[i], &j, &j.lane[k], out);
					continue;
				}
				put_lane(m->name, &z->zipper[i], &j, &j.lane[k], out);
				const void *at = (const char *)&j.lane[k] + m->offset;
				fprintf(out, "} %" PRIu64 "\n", *(const uint64_t *)at);
			}
}

void metrics_print(const struct zippers *z, FILE *out)
{
	print_zippers(z, out);
	print_workers(z, out);
	print_jobs(z, out);
	for (size_t m = 0; m < N(lane_metrics); m++) {
		put_head(lane_metrics[m].name, lane_metrics[m].type, lane_metrics[m].help, out);
		print_lanes(z, &lane_metrics[m], out);
	}
	put_head("zipper_forward_seconds", "histogram",
		"Time of messages through zipperd, from their receipt to the receiver's connection; a sample of 1 in "
		"64.",
		out);
	print_lanes(z, NULL, out);
}
