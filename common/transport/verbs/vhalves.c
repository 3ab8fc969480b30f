/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues and buffers of a link's halves, see vhalves.h. */
#include "common/transport/verbs/vhalves.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/device/vshare.h"

#define CREDIT_SENDS 32 /* send queue of a receive half: messages of credit, of which at most 16 are under way */
#define QUEUES_KIB 1024 /* about the size of the rings of some connections, beside the buffers */

static int make_tx(struct vlink *l, uint32_t buffers, struct zerr *err)
{
	struct vtx *tx = &l->tx;
	struct vshare *s = l->share[ZLINK_TX];
	int rc = vshare_pool(&tx->pool, s, false, buffers, err);
	if (rc < 0)
		return rc;
	tx->pass = &s->endpoint->pass;
	tx->depth = 2 * (uint32_t)voptions->window + VRMA_MAX + 8;
	/* at least twice in the room of the queue: otherwise the queue could be full without a send that reports */
	tx->signal = (uint32_t)(voptions->signal < voptions->window ? voptions->signal : voptions->window);
	struct vqueue_size size = {.sends = tx->depth,
		.receives = VCREDITS_MAX,
		.completions = tx->depth + VCREDITS_MAX,
		.inline_bytes = (uint32_t)voptions->inline_bytes};
	rc = vobject_queue_create(&tx->queue, &s->home, NULL, &size, err);
	tx->inline_bytes = size.inline_bytes;
	return rc;
}

static int make_rx(struct vlink *l, uint32_t buffers, struct zerr *err)
{
	struct vrx *rx = &l->rx;
	struct vshare *s = l->share[ZLINK_RX];
	int rc = vshare_pool(&rx->pool, s, true, buffers, err);
	if (rc < 0)
		return rc;
	rx->pass = &s->endpoint->pass;
	struct vqueue_size size = {.sends = CREDIT_SENDS + VRMA_MAX + 1, /* one for a memory window */
		.completions = (uint32_t)voptions->window + CREDIT_SENDS + VRMA_MAX + 1};
	return vobject_queue_create(&rx->queue, &s->home, rx->pool->srq, &size, err);
}

static uint64_t needed_kib(uint32_t buffers)
{
	uint64_t n = buffers + VPOOL_OWN * VPOOL_LINKS_STEP;
	return 2 * n * (uint64_t)voptions->buffer_bytes / 1024 + QUEUES_KIB;
}

/* Tells why there is less than wanted; each reason once in a process. limited: so much memory may not be locked;
 * buffers: the number of shared ones of each direction; 0: there is not even memory for queues. */
static void tell_lack(const char *why, bool limited, uint32_t buffers)
{
	static _Atomic bool told[2][2];
	const uint32_t wanted = (uint32_t)voptions->buffers;
	char text[480], remedy[128] = "";
	if (!voptions->warn || atomic_exchange(&told[limited][buffers > 0], true))
		return;
	if (limited && buffers)
		snprintf(remedy, sizeof(remedy), ", for which %" PRIu64 " KiB of locked memory would do",
			needed_kib(wanted));
	else if (limited)
		snprintf(remedy, sizeof(remedy), "; %" PRIu64 " KiB of locked memory are needed, better %" PRIu64,
			needed_kib(VPOOL_LEAST), needed_kib(wanted));
	if (buffers)
		snprintf(text, sizeof(text), "%.300s: %u shared buffers instead of %u%s", why, buffers, wanted, remedy);
	else
		snprintf(text, sizeof(text), "%.300s: messages go by TCP%s", why, remedy);
	voptions->warn(text);
}

static void unmake(struct vlink *l)
{
	vobject_queue_destroy(&l->tx.queue);
	vobject_queue_destroy(&l->rx.queue);
	vshare_leave_pool(&l->tx.pool, l->share[ZLINK_TX], false);
	vshare_leave_pool(&l->rx.pool, l->share[ZLINK_RX], true);
}

/* Warns once in a process. */
static int go_without_srq(const struct vlink *l, struct zerr *err)
{
	static _Atomic bool told;
	char text[160];
	if (!voptions->warn) /* an error where nobody hears the warning */
		return zerr_set(err, -EOPNOTSUPP, "%s has no shared receive queues", l->dev->name);
	snprintf(text, sizeof(text), "%s has no shared receive queues: messages go by TCP", l->dev->name);
	if (!atomic_exchange(&told, true))
		voptions->warn(text);
	return VHALVES_NONE;
}

int vhalves_make(struct vlink *l, struct zerr *err)
{
	struct zerr why = {.text = ""};
	bool limited = false;
	if (l->dev->attr.max_srq < 1 || l->dev->attr.max_srq_wr < 1)
		return go_without_srq(l, err);
	for (uint32_t buffers = (uint32_t)voptions->buffers;; buffers /= 2) {
		const bool again = why.text[0] != '\0';
		int rc = make_tx(l, buffers, &why);
		if (rc == 0)
			rc = make_rx(l, buffers, &why);
		if (rc == 0 && again)
			tell_lack(why.text, limited, buffers);
		if (!vpool_lacks_memory(rc))
			return rc < 0 ? zerr_set(err, rc, "%s", why.text) : 0;
		limited = vpool_is_limited(rc);
		unmake(l); /* with it go pools that no other link uses */
		if ((!l->share[ZLINK_RX]->rx || !l->share[ZLINK_TX]->tx) && buffers / 2 >= VPOOL_LEAST)
			continue;
		if (!voptions->warn && !limited) /* an error where nobody hears the warning */
			return zerr_set(err, -ENOMEM, "%s", why.text);
		if (!voptions->warn)
			return zerr_set(err, -ENOMEM, "%s: %" PRIu64 " KiB of locked memory are needed", why.text,
				needed_kib(VPOOL_LEAST));
		tell_lack(why.text, limited, 0);
		return VHALVES_NONE;
	}
}
