/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct link or bridge, see choice.h. */
#include "libzip/stream/choice.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common/session/session.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/way.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

static struct {
	/* words to zipperd from each station, until a thread has the whole library */
	struct words {
		struct word {
			enum zctl_direct_what what;
			uint32_t vrank;
		} * word; /* [room] */
		int n, room;
	} words[ZSTATIONS_MAX];
	atomic_bool has_words;
} self;

void zchoice_fini(void)
{
	for (int e = 0; e < zstation_n; e++) {
		free(self.words[e].word);
		self.words[e] = (struct words){0};
	}
}

bool zchoice_is_possible(uint32_t vrank)
{
	return zworld.nattached > 0 && (zworld_fabrics(zworld.vrank) & zworld_fabrics((int)vrank)) != 0;
}

static void say_later(struct words *w, enum zctl_direct_what what, uint32_t vrank)
{
	if (w->n == w->room) {
		int room = w->room ? 2 * w->room : 8;
		struct word *more = realloc(w->word, (size_t)room * sizeof(*more));
		if (!more)
			zerror_fatal(1, "out of memory for the state of a rank");
		w->word = more;
		w->room = room;
	}
	w->word[w->n++] = (struct word){what, vrank};
	self.has_words = true;
}

void zchoice_say(const struct zstation *s, enum zctl_direct_what what, uint32_t vrank)
{
	if (zshim_at != 0)
		say_later(&self.words[zshim_at], what, vrank);
	else if (zrails_is_unbroken(0)) /* a broken control link shows at its next poll */
		zsession_direct(zrails.rail[0].session, what, vrank, (uint32_t)s->number);
}

bool zchoice_is_due(void)
{
	return self.has_words;
}

void zchoice_say_all(void)
{
	self.has_words = false;
	zstation_for_each(1) {
		struct words *w = &self.words[zstation_here];
		for (int i = 0; i < w->n; i++)
			zchoice_say(zstations_here(), w->word[i].what, w->word[i].vrank);
		w->n = 0;
	}
}

struct zchannel *zchoice_begin(struct zstation *s, uint32_t vrank)
{
	if (!zchoice_is_possible(vrank) || !zrails_is_unbroken(0))
		return zchannel_home(s, vrank);
	struct zchannel *ch = zchannel_create_waiting(s, vrank);
	if (ch)
		zchoice_say(s, ZCTL_DIRECT_ASK, vrank);
	return ch;
}

static void hand_over(struct zremote *r, struct zchannel *bridge)
{
	struct zchannel *own = r->channel;

	/* No transfer is under way and nothing has been posted. So the channel has only control messages and the rank
	 * that is ready. */
	r->channel = bridge;
	if (own->control_head) {
		if (bridge->control_head)
			bridge->control_tail->next = own->control_head;
		else
			bridge->control_head = own->control_head;
		bridge->control_tail = own->control_tail;
	}
	own->control_head = own->control_tail = NULL;
	own->ready_head = own->ready_tail = NULL;
	zchannel_close_link(own);
	own->waiting = false;
	r->ready = false;
	zway_make_ready(r);
}

void zchoice_give_way(struct zremote *r)
{
	hand_over(r, zchannel_home(r->station, r->vrank));
	zloss_meet(r);
}
