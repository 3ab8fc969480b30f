/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the user of lost zippers. */
#include "launch/run/losses.h"

#include <stdio.h>
#include <string.h>

#include "launch/run/cause.h"

/* On a quiet machine the end of a job takes no longer: all zippers tell of a dead rank, and its mpiexec ends. */
#define HOLD_MS 1500
/* When the rank's host has gone without a word, however, each zipper finds out by its own next question
 * (common/transport/tcp/tcp_socket.c, every 10 s). */
#define HOLD_DEATH_MS 12000

static bool is_untold(const struct zjob_rail *rail)
{
	return zjob_is_down(rail) && !rail->told;
}

/* A rank is not dead because one zipper alone takes it for dead. The text "rank 3 (b rank 1 on h) died (lost its
 * connection)" becomes "rank 3 (b rank 1 on h): lost its connection". */
const char *zlosses_format(const struct zjob_rail *rail, char buf[ZCTL_TEXT_MAX + 1])
{
	static const char died[] = " died (";
	const char *word = zcause_is_death(rail) ? strstr(rail->text, died) : NULL;
	size_t len = strlen(rail->text);
	if (word && rail->text[len - 1] == ')')
		snprintf(buf, ZCTL_TEXT_MAX + 1, "%.*s: %.*s", (int)(word - rail->text), rail->text,
			(int)(rail->text + len - 1 - (word + strlen(died))), word + strlen(died));
	else
		snprintf(buf, ZCTL_TEXT_MAX + 1, "%s", rail->text);
	return buf;
}

static void tell(struct zjob *job, struct zjob_rail *rail, struct zoutput *out)
{
	char line[ZCTL_TEXT_MAX + ZCTL_NAME_MAX + 128], why[ZCTL_TEXT_MAX + 1], rest[64] = "";
	int left = zjob_left(job);
	if (zjob_waits(job))
		snprintf(rest, sizeof(rest), "; the job waits for it to come back");
	else if (left > 0)
		snprintf(rest, sizeof(rest), "; the job goes on with %d of %d", left, job->n);
	int n = snprintf(line, sizeof(line), "zmpirun: warning: zipper %s is lost: %s%s\n", rail->name,
		zlosses_format(rail, why), rest);
	zoutput_add(out, line, (size_t)n);
	rail->told = true;
}

static int64_t due_ms(const struct zjob_rail *rail)
{
	return rail->down_ms + (zcause_is_death(rail) ? HOLD_DEATH_MS : HOLD_MS);
}

int zlosses_timeout(const struct zjob *job, int64_t now)
{
	int64_t least = -1;
	for (int i = 0; i < job->n; i++) {
		int64_t left = due_ms(&job->rails[i]) - now;
		if (is_untold(&job->rails[i]) && (least < 0 || left < least))
			least = left > 0 ? left : 0;
	}
	return (int)least;
}

static void tell_return(const struct zjob *job, struct zjob_rail *rail, struct zoutput *out)
{
	char line[ZCTL_NAME_MAX + 128];
	int n = snprintf(line, sizeof(line), "zmpirun: zipper %s is back; the job goes on with %d of %d\n", rail->name,
		zjob_left(job), job->n);
	zoutput_add(out, line, (size_t)n);
	rail->back = false;
}

void zlosses_tell(struct zjob *job, struct zoutput *out, int64_t now)
{
	for (int i = 0; i < job->n; i++)
		if (job->rails[i].back)
			tell_return(job, &job->rails[i], out);
	for (int i = 0; i < job->n; i++)
		if (is_untold(&job->rails[i]) && now >= due_ms(&job->rails[i]))
			tell(job, &job->rails[i], out);
}

void zlosses_tell_all(struct zjob *job, struct zoutput *out)
{
	zlosses_tell(job, out, INT64_MAX);
}

void zlosses_tell_others(struct zjob *job, struct zoutput *out)
{
	for (int i = 0; i < job->n; i++)
		if (is_untold(&job->rails[i]) && !zcause_is_death(&job->rails[i]))
			tell(job, &job->rails[i], out);
}
