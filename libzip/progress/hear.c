/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of the zippers on control links, see hear.h. */
#include "libzip/progress/hear.h"

#include <poll.h>
#include <sys/epoll.h>

#include "common/session/session.h"
#include "libzip/bridge/direct.h"
#include "libzip/progress/ended.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/stations.h"
#include "libzip/world/error.h"
#include "libzip/world/naming.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

static void zipper_gone(int rail, const char *how)
{
	if (zrails_count_good() == 1)
		zerror_lost(1, ZERROR_NO_PART, "the zipper is gone: %s", how);
	zloss_note(rail, how);
}

static void open_channel(int rail, const struct zctl_open *o)
{
	if (o->part >= (uint32_t)zworld.nparts || o->part == (uint32_t)zworld.part ||
		o->endpoint >= (uint32_t)zstation_n)
		return;
	const int was = zstation_visit((int)o->endpoint);
	zchannel_open(zstations_here(), rail, (int)o->part);
	zstation_return(was);
}

bool zhear(int rail)
{
	struct zctl_msg msg;
	struct zerr err = {{0}};
	if (!zrails_is_good(rail))
		return false;
	int rc = zsession_poll(zrails.rail[rail].session, &msg, &err);

	if (rc == 0)
		rc = zsession_watch(zrails.rail[rail].session, zrails_patience(rail), &err);
	if (rc == 0)
		return false;
	if (rc < 0) {
		zipper_gone(rail, err.text[0] ? err.text : "control link closed");
		return true;
	}
	if (msg.type == ZCTL_DEAD)
		zended_freeze();
	if (msg.type == ZCTL_DEAD && zrails_has_another(rail))
		zloss_note(rail, msg.u.dead.text);
	else if (msg.type == ZCTL_DEAD)
		zerror_lost((int)msg.u.dead.code, (int)msg.u.dead.part, "%s", msg.u.dead.text);
	if (msg.type == ZCTL_OPEN)
		open_channel(rail, &msg.u.open);
	if (msg.type == ZCTL_DIRECT)
		zdirect_take(&msg.u.direct);
	if (msg.type == ZCTL_STATE)
		zended_take(rail, &msg.u.state);
	if (msg.type == ZCTL_NAMING)
		znaming_take(rail, &msg.u.naming);
	zctl_free(&msg);
	return true;
}

bool zhear_all(void)
{
	bool did = false;

	for (int i = 0; i < zrails.n; i++)
		did |= zhear(i);
	return did;
}

int zhear_arm(struct pollfd *fds, int n)
{
	uint32_t events;

	for (int i = 0; i < zrails.n; i++) {
		if (!zrails_is_good(i)) {
			fds[n++] = (struct pollfd){.fd = -1};
			continue;
		}
		if (zsession_arm(zrails.rail[i].session) != 0)
			return -1;
		fds[n].fd = zsession_fd(zrails.rail[i].session, &events);
		fds[n++].events = (short)(events & EPOLLIN ? POLLIN : POLLOUT);
	}
	return n;
}
