/* SPDX-License-Identifier: BSD-3-Clause */
/* The share of an endpoint on a device, see vshare.h. */
#include "common/transport/verbs/device/vshare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/transport/verbs/device/vexposer.h"
#include "common/transport/verbs/device/voptions.h"

/* Links of one thread and device, which its shared receive queue has room for. zipperd.conf(5) has this number. */
#define LINKS_MAX 4096

void vshare_destroy(struct vshare *s)
{
	struct vdevice *d = s->home.dev;
	vexposer_close(s->exposer);
	vpool_destroy(s->rx);
	vpool_destroy(s->tx);
	vmemory_leave(&s->endpoint->memory, s->place);
	vobject_home_close(&s->home);
	vdevice_close(d);
	free(s);
}

static void drop_lost(struct zendpoint *e)
{
	struct vshare **at = &e->shares;
	while (*at) {
		struct vshare *s = *at;
		if (s->halves > 0 || atomic_load(&s->regions) > 0 || !vdevice_is_lost(s->home.dev)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		vshare_destroy(s);
	}
}

/* The links of `connect` have one endpoint in a process, which needs no context beside the device's. */
static enum zep_category category_of(const struct zendpoint *e)
{
	enum zep_category c = (enum zep_category)voptions->endpoints;
	return e->connects && c == ZEP_MPI_EVERYWHERE ? ZEP_STATIC : c;
}

static int make(struct vshare **out, struct zendpoint *e, struct vdevice *dev, struct zerr *err)
{
	struct vshare *s = calloc(1, sizeof(*s));
	if (!s)
		return zerr_set(err, -ENOMEM, "out of memory");
	int rc = vobject_home_open(&s->home, dev, category_of(e), err);
	if (rc == 0) {
		rc = vmemory_join(&e->memory, s->home.pd, dev, &s->place, err);
		if (rc < 0)
			vobject_home_close(&s->home);
	}
	if (rc < 0) {
		free(s);
		return rc;
	}
	vdevice_hold(dev);
	s->endpoint = e;
	s->next = e->shares;
	e->shares = s;
	*out = s;
	return 0;
}

int vshare_join(struct vshare **out, struct zendpoint *e, struct vdevice *dev, struct zerr *err)
{
	int rc = 0;
	drop_lost(e);
	struct vshare *s = e->shares;
	while (s && s->home.dev != dev)
		s = s->next;
	if (!s)
		rc = make(&s, e, dev, err);
	if (rc < 0)
		return rc;
	s->halves++;
	*out = s;
	return 0;
}

void vshare_leave(struct vshare *s)
{
	if (!s)
		return;
	s->halves--;
	drop_lost(s->endpoint);
}

int vshare_pool(struct vpool **out, struct vshare *s, bool receiving, uint32_t buffers, struct zerr *err)
{
	struct vpool **pool = receiving ? &s->rx : &s->tx;
	int rc = 0;
	if (!*pool)
		rc = vpool_create(pool, &s->home, &s->endpoint->memory, s->place, (uint32_t)voptions->buffer_bytes,
			buffers, receiving ? LINKS_MAX : 0, err);
	if (rc == 0)
		rc = vpool_add_link(*pool, err);
	*out = rc == 0 ? *pool : NULL;
	return rc;
}

void vshare_leave_pool(struct vpool **in, struct vshare *s, bool receiving)
{
	struct vpool **shared = receiving ? &s->rx : &s->tx;
	if (*in)
		vpool_del_link(*in, NULL, 0);
	*in = NULL;
	if (*shared && (*shared)->links == 0) {
		vpool_destroy(*shared);
		*shared = NULL;
	}
}

void vshare_renew(struct vshare *s)
{
	if (!s || !s->rx || s->rx->links > 0 || !s->rx->lacks)
		return;
	vpool_destroy(s->rx);
	s->rx = NULL;
}

void vshare_spread(struct vshare *s)
{
	static _Atomic bool told;
	struct zerr why;
	char text[400];
	if (!s->endpoint->accepts || vmemory_spread(&s->endpoint->memory, &why) == 0 || !voptions->warn ||
		atomic_exchange(&told, true))
		return;
	snprintf(text, sizeof(text), "%.300s: messages between devices are copied", why.text);
	voptions->warn(text);
}
