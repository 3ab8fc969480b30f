/* SPDX-License-Identifier: BSD-3-Clause */
/* The status as JSON (RFC 8259), see status_json.h. */
#include "zipstat/status_json.h"

#include <inttypes.h>

/* A string. Texts of zipperd are printable ASCII. */
static void put_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_name(const char *name, const char *text, FILE *out)
{
	fprintf(out, "\"%s\":", name);
	put_text(text, out);
	fputc(',', out);
}

static void put_number(const char *name, uint64_t v, FILE *out)
{
	fprintf(out, "\"%s\":%" PRIu64 ",", name, v);
}

static void put_lane(const struct snapshot_job *j, const struct zctl_lane_status *l, FILE *out)
{
	fputc('{', out);
	put_name("from", j->part[l->from].name, out);
	put_name("to", j->part[l->to].name, out);
	put_number("messages", l->msgs, out);
	put_number("bytes", l->bytes, out);
	put_number("envelopes", l->envelopes, out);
	put_number("copied_bytes", l->copied_bytes, out);
	put_number("refused", l->naks, out);
	put_number("queued_bytes", l->queue_bytes, out);
	put_number("most_queued_bytes", l->queue_high_bytes, out);
	put_number("stalls", l->stalls, out);
	put_number("direct_messages", l->direct_msgs, out);
	put_number("direct_bytes", l->direct_bytes, out);
	put_number("shared_bytes", l->shared_bytes, out);
	put_number("latency_ns", l->latency_ns, out);
	fputs("\"latency\":[", out);
	for (int i = 0; i < ZCTL_LATENCIES; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", l->latency[i]);
	fputs("]}", out);
}

static void put_job(const struct snapshot_job *j, FILE *out)
{
	const struct zctl_job_status *job = j->job;
	fputc('{', out);
	put_number("number", job->number, out);
	put_name("id", job->id, out);
	put_name("user", job->user, out);
	put_name("state", snapshot_phase(job), out);
	put_name("error", job->text, out);
	put_number("age_ms", job->age_ms, out);
	put_number("ended_ms", job->ended_ms, out);
	put_number("ranks", job->total, out);
	put_number("joined", job->joined, out);
	put_number("done", job->done, out);
	put_number("endpoints", job->endpoints, out);
	put_number("channels", job->channels, out);
	put_number("rail", job->rail + 1, out);
	put_number("rails", job->nrails, out);
	put_number("came_back", job->incarnation, out);
	fputs("\"parts\":[", out);
	for (uint32_t i = 0; i < job->nparts; i++) {
		fputs(i ? ",{" : "{", out);
		put_name("name", j->part[i].name, out);
		put_name("fabric", j->part[i].fabric, out);
		put_number("joined", j->part[i].joined, out);
		fprintf(out, "\"ranks\":%u}", j->part[i].size);
	}
	fputs("],\"directions\":[", out);
	for (uint32_t i = 0; i < job->nlanes; i++) {
		if (i > 0)
			fputc(',', out);
		put_lane(j, &j->lane[i], out);
	}
	fputs("]}", out);
}

void status_json_print(const struct snapshot *s, const char *address, FILE *out)
{
	const struct zctl_status_reply *r = &s->now;
	struct snapshot_job j = {.job = NULL};
	fputc('{', out);
	put_name("address", address, out);
	fprintf(out, "\"up\":true,\"all_jobs\":%s,\"draining\":%s,", r->all ? "true" : "false",
		r->draining ? "true" : "false");
	put_name("release", r->release, out);
	put_number("uptime_ms", r->uptime_ms, out);
	put_number("connections", r->connections, out);
	put_number("max_connections", r->max_connections, out);
	put_number("unproved", r->strangers, out);
	put_number("refused", r->refused, out);
	put_number("jobs_now", r->jobs, out);
	put_number("max_jobs", r->max_jobs, out);
	put_number("circuits", r->circuits, out);
	put_number("memory_used", r->memory_used, out);
	put_number("memory", r->memory, out);
	fputs("\"workers\":[", out);
	for (uint32_t i = 0; i < r->nworkers; i++) {
		fputs(i ? ",{" : "{", out);
		put_name("from", r->worker[i].from, out);
		put_name("to", r->worker[i].to, out);
		put_number("number", r->worker[i].number, out);
		put_number("cpu_ns", r->worker[i].cpu_ns, out);
		put_number("msgs", r->worker[i].msgs, out);
		put_number("bytes", r->worker[i].bytes, out);
		fprintf(out, "\"shared\":%s}", r->worker[i].shares ? "true" : "false");
	}
	fputs("],\"jobs\":[", out);
	for (bool first = true; snapshot_next(s, &j); first = false) {
		if (!first)
			fputc(',', out);
		put_job(&j, out);
	}
	fputs("]}", out);
}

void status_json_print_error(const char *address, const char *why, FILE *out)
{
	fputc('{', out);
	put_name("address", address, out);
	fputs("\"up\":false,\"error\":", out);
	put_text(why, out);
	fputc('}', out);
}
