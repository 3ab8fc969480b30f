/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of lost rails, see loss.h. */
#include "libzip/stream/loss.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/session/session.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/station.h"
#include "libzip/stream/remote.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"

#define LAST_WORD_MS 500 /* zipperd has so long to say who died */
/* All zippers notice a rank's death within that time of each other, also where its host has gone without a word: each
 * asks every 10 s (common/transport/tcp/tcp_socket.c). */
#define WORD_MS 12000
#define PATIENT_MS 5000 /* the same where zipperd must first see a rank go, on a machine with more to do */

static struct {
	char why[ZCTL_RAILS_MAX][ZLOSS_WHY_BYTES];
	struct zctl_dead word; /* the last one on a rank that has died */
	int64_t word_ms;       /* and when it came; 0: there is none */
	/* losses that stations other than 0 have noted, with the latest reason */
	struct later {
		uint32_t rails; /* a bit each */
		char why[ZLOSS_WHY_BYTES];
	} later[ZSTATIONS_MAX];
} self;
atomic_bool zloss_heard;

void zloss_init(void)
{
	memset(&self, 0, sizeof(self));
	zloss_heard = false;
}

char *zloss_why(int rail)
{
	return self.why[rail];
}

void zloss_remember(const struct zctl_dead *dead)
{
	self.word = *dead;
	self.word_ms = zclock_ms();
}

void zloss_forget(void)
{
	self.word_ms = 0;
}

void zloss_end_by_word(void)
{
	if (self.word_ms != 0 && zclock_ms() - self.word_ms < WORD_MS)
		zerror_lost((int)self.word.code, (int)self.word.part, "%s", self.word.text);
}

/* Asks all zippers, as any of them may know who died. False: a zipper is gone, and nothing more is to be waited for. */
static bool hear_of_death(void)
{
	for (int i = 0; i < zrails.n; i++) {
		struct zctl_msg msg;
		if (!zrails_is_good(i))
			continue;
		int rc = zsession_poll(zrails.rail[i].session, &msg, NULL);
		if (rc < 0)
			return false;
		if (rc == 1 && msg.type == ZCTL_DEAD && msg.u.dead.part != ZCTL_PART_ZIPPER)
			zerror_lost((int)msg.u.dead.code, (int)msg.u.dead.part, "%s", msg.u.dead.text);
		if (rc == 1)
			zctl_free(&msg);
	}
	return true;
}

void zloss_end(const char *text, bool patient)
{
	zshim_whole(); /* no other thread speaks to the zippers meanwhile */
	for (int ms = 0; ms < (patient ? PATIENT_MS : LAST_WORD_MS); ms++) {
		if (!hear_of_death())
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	zloss_end_by_word();
	zerror_lost(1, ZERROR_NO_PART, "%s", text);
}

/* Other rails may be good that do not carry to all parts: then the reason of this loss alone does not tell why the job
 * ends. */
static _Noreturn void lose_last(int rail, const char *why)
{
	char address[512], text[1024];

	if (zrails_count_good() > 1) {
		zaddr_format(zhops_last(&zrails.rail[rail].way), address, sizeof(address));
		snprintf(text, sizeof(text), "the zipper at %s is lost, the last one to some part: %s", address, why);
		zloss_end(text, false);
	}
	zloss_end(why, false);
}

/* The last rail to some part is lost, which may be the end of the job: its zipper has some time to say so. Returns
 * why, or a better reason. */
static const char *hear_reason(int rail, const char *why)
{
	static char better[ZLOSS_WHY_BYTES];

	for (int ms = 0; ms < LAST_WORD_MS; ms++) {
		struct zctl_msg msg;
		int rc = zsession_poll(zrails.rail[rail].session, &msg, NULL);
		if (rc < 0) {
			zloss_end_by_word();
			return why;
		}
		const bool dead = rc == 1 && msg.type == ZCTL_DEAD;
		if (dead && msg.u.dead.part != ZCTL_PART_ZIPPER)
			zerror_lost((int)msg.u.dead.code, (int)msg.u.dead.part, "%s", msg.u.dead.text);
		if (dead)
			snprintf(better, sizeof(better), "%s", msg.u.dead.text);
		if (rc == 1)
			zctl_free(&msg);
		if (dead)
			return better;
		nanosleep(&(struct timespec){.tv_nsec = rc == 1 ? 0 : 1000000}, NULL);
	}
	return why;
}

static void note(int rail, const char *why)
{
	zrails.failing |= 1u << rail;
	snprintf(self.why[rail], sizeof(self.why[rail]), "%s", why);
}

void zloss_note_end(int rail, const char *why)
{
	if (!zrails_has_another(rail) && zrails.reconnect_ms == 0)
		lose_last(rail, why);
	note(rail, why);
}

void zloss_note(int rail, const char *why)
{
	if (!zrails_is_good(rail))
		return;
	if (zshim_at != 0) {
		struct later *l = &self.later[zshim_at];
		l->rails |= 1u << rail;
		snprintf(l->why, sizeof(l->why), "%s", why);
		zloss_heard = true;
		return;
	}
	if (!zrails_has_another(rail) && zrails.reconnect_ms > 0)
		why = hear_reason(rail, why);
	zloss_note_end(rail, why);
}

void zloss_collect(void)
{
	for (int e = 1; e < zstation_n; e++) {
		struct later *l = &self.later[e];
		const uint32_t rails = l->rails;
		l->rails = 0;
		for (int i = 0; i < zrails.n; i++)
			if (rails >> i & 1)
				zloss_note(i, l->why);
	}
}

void zloss_meet(struct zremote *r)
{
	if (__builtin_expect(zrails.losses == 0, 1))
		return;
	r->stream.halted = !r->stream.gone;
	zloss_heard = true;
}
