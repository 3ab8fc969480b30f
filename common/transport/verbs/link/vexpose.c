/* SPDX-License-Identifier: BSD-3-Clause */
/* The application's memory, open to the peer or to our own device, see vexpose.h. */
#include "common/transport/verbs/link/vexpose.h"

#include <errno.h>
#include <stdatomic.h>

#include "common/transport/verbs/device/vexposer.h"
#include "common/transport/verbs/device/vshare.h"
#include "common/transport/verbs/link/vwindow.h"

#define WINDOW_MAX_BYTES ((size_t)1 << 31) /* of mlx5 devices, which refuse to bind more (KLM entries) */
#define BIND_MS 10	/* after that the memory is registered, as the peer is not to be waited for */
#define UNBIND_MS 20000 /* the device has given up before, with the default of verbs_ack_timeout */

/* The place of the exposer of this half: with its device; or with its share, where the endpoint category gives the
 * endpoint a context of its own. */
static struct vexposer **place_of(const struct vlink *l, enum zlink_half half)
{
	struct vshare *s = l->share[half];
	return s->home.pd == l->dev->pd ? &l->dev->exposer : &s->exposer;
}

/* The exposer of this half. NULL: out of memory. */
static struct vexposer *exposer_of(const struct vlink *l, enum zlink_half half)
{
	return vexposer_at(place_of(l, half), l->dev, l->share[half]->home.pd);
}

static void drop_late(struct vexposer *x, struct vlate *late)
{
	if (late->mw)
		ibv_dealloc_mw(late->mw);
	if (late->reg)
		vexposer_put_reg(x, late->reg);
	*late = (struct vlate){.mw = NULL};
}

/* A window that the device had not bound in time has no user. It is dropped when it is bound. false: not yet. */
static bool see_to_late(struct vlink *l, struct vexposer *x, enum zlink_half half)
{
	struct vlate *late = half == ZLINK_TX ? &l->tx.late_window : &l->rx.late_window;
	if (late->mw && vwindow_wait(l, half, 0) == -EINPROGRESS)
		return false;
	drop_late(x, late);
	return true;
}

/* Exposes by a window of a kept registration. -EOPNOTSUPP: not possible for this memory, for so much of it, or at the
 * moment. */
static int expose_window(struct vlink *l, struct vexposer *x, struct vexposure *e, void *base, size_t len,
	uint32_t *rkey)
{
	if (!vexposer_keeps(x) || !e->mw || len > WINDOW_MAX_BYTES || !see_to_late(l, x, e->half))
		return -EOPNOTSUPP;
	int rc = vexposer_get_reg(x, base, len, &e->reg);
	if (rc != 0) {
		e->reg = NULL;
		return rc;
	}
	rc = vwindow_bind(l, e->half, e->mw, e->reg->handle, base, len, BIND_MS);
	if (rc == 0) {
		*rkey = e->mw->rkey;
		return 0;
	}
	if (rc == -EINPROGRESS) {
		*(e->half == ZLINK_TX ? &l->tx.late_window : &l->rx.late_window) = (struct vlate){e->mw, e->reg};
		e->mw = NULL;
		rc = -EOPNOTSUPP;
	} else { /* the half is broken, but the device may still bind it */
		ibv_dealloc_mw(e->mw);
		e->mw = NULL;
		vexposer_put_reg(x, e->reg);
	}
	e->reg = NULL;
	return rc;
}

static int expose_once(struct vexposer *x, struct vexposure *e, void *base, size_t len, uint32_t *rkey)
{
	int access = e->half == ZLINK_TX ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	int rc = vexposer_reg_once(x, base, len, access, &e->mr);
	if (rc == 0)
		*rkey = e->mr->rkey;
	return rc;
}

static void put_number(uint8_t *at, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

int vexpose(struct zlink *base_link, enum zlink_half half, void *base, size_t len, struct zrma_exposure *out)
{
	struct vlink *l = (struct vlink *)base_link;
	uint32_t rkey;
	if (!vlink_is_ready(l) || atomic_load_explicit(&l->told_path, memory_order_relaxed))
		return -EOPNOTSUPP;
	struct vexposer *x = exposer_of(l, half);
	struct vexposure *e = x ? vexposer_get(x) : NULL;
	if (!e)
		return -ENOMEM;
	e->half = half;
	int rc = expose_window(l, x, e, base, len, &rkey);
	if (rc == -EOPNOTSUPP)
		rc = expose_once(x, e, base, len, &rkey);
	if (rc != 0) {
		vexposer_put(x, e);
		return rc;
	}
	out->impl = e;
	put_number(out->key, (uintptr_t)base, 8);
	put_number(out->key + 8, rkey, 8);
	put_number(out->key + 16, 0, 8);
	return 0;
}

void vexpose_conceal(struct zlink *base_link, struct zrma_exposure *exposure)
{
	struct vlink *l = (struct vlink *)base_link;
	struct vexposure *e = exposure->impl;
	struct vexposer *x = *place_of(l, e->half);
	if (e->mr) {
		ibv_dereg_mr(e->mr);
		e->mr = NULL;
	} else {
		if (vwindow_unbind(l, e->half, e->mw, UNBIND_MS) != 0) {
			ibv_dealloc_mw(e->mw); /* the queue pair is broken, so nobody comes by it */
			e->mw = NULL;
		}
		vexposer_put_reg(x, e->reg);
		e->reg = NULL;
	}
	vexposer_put(x, e);
}

void vexpose_fini(struct vlink *l)
{
	if (l->tx.late_window.mw)
		drop_late(*place_of(l, ZLINK_TX), &l->tx.late_window);
	if (l->rx.late_window.mw)
		drop_late(*place_of(l, ZLINK_RX), &l->rx.late_window);
}

int vexpose_pin(struct zlink *base_link, enum zlink_half half, void *base, size_t len, struct zregion **out)
{
	struct vlink *l = (struct vlink *)base_link;
	if (!vlink_is_ready(l))
		return -EOPNOTSUPP;
	struct vexposer *x = exposer_of(l, half);
	struct zregion *r = x ? vexposer_get_region(x) : NULL;
	if (!r)
		return -ENOMEM;
	*r = (struct zregion){.exposer = x, .share = l->share[half]};
	int rc = vexposer_keeps(x) ? vexposer_get_reg(x, base, len, &r->reg) : -EOPNOTSUPP;
	if (rc == 0)
		r->mr = r->reg->handle;
	else if (rc == -EOPNOTSUPP)
		rc = vexposer_reg_once(x, base, len, half == ZLINK_RX ? IBV_ACCESS_LOCAL_WRITE : 0, &r->mr);
	if (rc != 0) {
		vexposer_put_region(x, r);
		return rc;
	}
	atomic_fetch_add(&r->share->regions, 1); /* which keeps the device, should the link go first */
	*out = r;
	return 0;
}

void vexpose_unpin(struct zregion *r)
{
	struct vexposer *x = r->exposer;
	struct vshare *share = r->share;
	if (r->reg)
		vexposer_put_reg(x, r->reg);
	else
		ibv_dereg_mr(r->mr);
	vexposer_put_region(x, r);
	atomic_fetch_sub(&share->regions, 1); /* the device may go with it */
}
