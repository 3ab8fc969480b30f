/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that end without MPI_Finalize, see ended.h. */
#include "libzip/progress/ended.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

#define WAITS_MS                                                                                                       \
	2000	   /* so long nothing comes for a rank that waits: large messages and slow bridges bring something     \
		    */
#define GAP_MS 100 /* between two vain looks: a rank that looks less often has something else to do */

bool zended_any;
static struct {
	bool tells;
	bool frozen;
	uint32_t over; /* a bit for each rail whose zipper has said OVER */
	enum zctl_state_what doing, told;
	int64_t since_ms, looked_ms; /* vain looks: the first one, 0: there was none; and the last one */
} self;

void zended_init(bool tells)
{
	zended_any = false;
	self.over = 0;
	self.tells = tells;
	self.frozen = false;
	self.doing = self.told = ZCTL_STATE_RUNS;
	self.since_ms = self.looked_ms = 0;
}

static void tell_code(enum zctl_state_what what, uint32_t code)
{
	self.told = what;
	for (int i = 0; i < zrails.n; i++)
		if (zrails_is_good(i))
			zsession_state(zrails.rail[i].session, what, code);
}

static void tell(enum zctl_state_what what)
{
	if (what != self.told)
		tell_code(what, 0);
}

/* A zipper that has not heard of all ranks yet takes a rank that goes for a dead one. */
bool zended_is_over(void)
{
	bool over = !zrails_is_stranded();

	for (int i = 0; i < zrails.n; i++)
		over &= !zrails_is_good(i) || (self.over >> i & 1);
	return over;
}

void zended_take(int rail, const struct zctl_state *s)
{
	if (s->what == ZCTL_STATE_OVER)
		self.over |= 1u << rail;
	if (s->what != ZCTL_STATE_ENDED)
		return;
	/* Each zipper names the rank of which it has heard first. One zipper's word is told. */
	if (self.tells && s->vrank == (uint32_t)zworld.vrank && rail == zrails_first()) {
		self.tells = false;
		fprintf(stderr, "libzipper: rank %d of %s (%s): it ended without MPI_Finalize\n", zworld.vrank,
			zworld_job(), zworld.part_name[zworld.part]);
	}
	if (zended_any)
		return;
	zended_any = true;
	tell(self.doing);
}

void zended_return(int rail)
{
	self.over &= ~(1u << rail);
	self.frozen = false;
	if (zended_any || self.told == ZCTL_STATE_ENDED)
		zsession_state(zrails.rail[rail].session, self.told, 0);
}

void zended_freeze(void)
{
	self.frozen = true;
}

void zended_finalize(void)
{
	self.doing = ZCTL_STATE_FINALIZES;
	if (zended_any)
		tell(self.doing);
}

void zended_end(void)
{
	self.doing = ZCTL_STATE_ENDED;
	tell(self.doing);
}

void zended_fail(uint32_t status)
{
	tell_code(ZCTL_STATE_ENDED, status);
}

void zended_wait(bool came)
{
	const int64_t now = zclock_ms();
	const bool away = now - self.looked_ms > GAP_MS;

	self.looked_ms = now;
	if (self.doing != ZCTL_STATE_RUNS || self.frozen)
		return;
	if (came || away || self.since_ms == 0) {
		self.since_ms = now;
		tell(ZCTL_STATE_RUNS);
	} else if (now - self.since_ms >= WAITS_MS) {
		tell(ZCTL_STATE_WAITS);
	}
}

void zended_go_on(void)
{
	self.since_ms = 0;
	if (self.doing == ZCTL_STATE_RUNS && !self.frozen)
		tell(ZCTL_STATE_RUNS);
}
