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
#include "libzip/world/rejoin.h"
#include "libzip/world/world.h"

static void zipper_gone(int rail, const char *how)
{
	if (!zrails_has_another(rail))
		zloss_end_by_word();
	if (zrails_count_good() == 1 && zrails.reconnect_ms == 0)
		zerror_lost(1, ZERROR_NO_PART, "the zipper is gone: %s", how);
	zloss_note_end(rail, how);
}

/* The zipper says that the job is over. Another one, or this one itself after a while, may say otherwise. */
static void zipper_says_dead(int rail, const struct zctl_dead *dead)
{
	zended_freeze();
	if (!zrails_has_another(rail) && (dead->part != ZCTL_PART_ZIPPER || zrails.reconnect_ms == 0))
		zerror_lost((int)dead->code, dead->part == ZCTL_PART_ZIPPER ? ZERROR_NO_PART : (int)dead->part, "%s",
			dead->text);
	if (dead->part != ZCTL_PART_ZIPPER)
		zloss_remember(dead);
	zloss_note_end(rail, dead->text);
}

/* The rails that may still come back: a zipper may be away for some time. Where it is there again it waits for the
 * ranks that compute, and zipperd knows how long (zipperd/job/job_return.h). */
static uint32_t find_hopeful(void)
{
	uint32_t rails = zrails.failing;

	for (int i = 0; i < zrails.n; i++)
		if ((zrails.lost >> i & 1) && zrejoin_away_ms(i) < zrails.reconnect_ms)
			rails |= 1u << i;
	return rails;
}

/* Ends the job if a zipper that the ranks have come back to says that it is over. */
static void hear_over(void)
{
	struct zctl_dead dead;

	for (int i = 0; i < zrails.n; i++)
		if ((zrails.lost >> i & 1) && zrejoin_is_over(i, &dead))
			zerror_lost((int)dead.code, (int)dead.part, "%s", dead.text);
}

/* Ends the job if it would wait for a zipper in vain. */
static void watch_stranded(void)
{
	char why[ZLOSS_WHY_BYTES], address[512];
	int rail = 0;

	if (!zrails_is_stranded() || zrails.returning)
		return;
	hear_over();
	const uint32_t hopeful = find_hopeful();
	if (zrails_suffice(hopeful))
		return;
	while (rail < zrails.n - 1 && (zrails_is_good(rail) || (hopeful >> rail & 1)))
		rail++;
	zaddr_format(zhops_last(&zrails.rail[rail].way), address, sizeof(address));
	zrejoin_why(rail, why, sizeof(why));
	if (zrejoin_away_ms(rail) == INT64_MAX)
		zerror_lost(1, ZERROR_NO_PART, "the zipper at %s is back, but of no use: %s", address, why);
	zerror_lost(1, ZERROR_NO_PART, "the zipper at %s is gone: %s; it has not come back within %lld s%s%s", address,
		zloss_why(rail), (long long)zrails.reconnect_ms / 1000, why[0] ? ": " : "", why);
}

/* Looks whether a lost rail has come back. */
static bool look_for(int rail)
{
	const uint32_t bit = 1u << rail;

	if (!(zrails.lost & bit) || (zrails.returning & bit) || !zrejoin_turn(rail))
		return false;
	zended_return(rail);
	zloss_forget();
	zrails.returning |= bit;
	return true;
}

static void open_channel(int rail, const struct zctl_open *o)
{
	if (o->part >= (uint32_t)zworld.nparts || o->part == (uint32_t)zworld.part ||
		o->endpoint >= (uint32_t)zstation_n || o->track >= (uint32_t)zrails.tracks)
		return;
	const int was = zstation_visit((int)o->endpoint);
	zchannel_open(zstations_here(), (struct zrails_track){.rail = rail, .track = (int)o->track}, (int)o->part);
	zstation_return(was);
}

bool zhear(int rail)
{
	struct zctl_msg msg;
	struct zerr err = {{0}};
	if (!zrails_is_good(rail))
		return look_for(rail);
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
		zipper_says_dead(rail, &msg.u.dead);
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
	if (__builtin_expect(zrails.lost != 0 && zrails.reconnect_ms > 0, 0))
		watch_stranded();
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
