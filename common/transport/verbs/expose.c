/* SPDX-License-Identifier: BSD-3-Clause */
/* The application's memory, open to the peer or to our own device, see expose.h. */
#include "common/transport/verbs/expose.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/child.h"
#include "common/base/log.h"
#include "common/transport/verbs/regcache.h"
#include "common/transport/verbs/rma.h"
#include "common/transport/verbs/share.h"
#include "common/transport/verbs/window.h"

#define KEPT_MAX 256			   /* registrations; some thousand are what devices look up fast */
#define WINDOW_MAX_BYTES ((size_t)1 << 31) /* of mlx5 devices, which refuse to bind more (KLM entries) */
#define BIND_MS 10			   /* then it is a registration: not to be waited for is the peer */
#define UNBIND_MS 20000			   /* the device has given up before, with the default of verbs_ack_timeout */

struct exposure {
	struct exposure *next;
	enum zlink_half half;
	struct ibv_mw *mw; /* stays with it in the free list; NULL where there are none */
	struct vreg *reg;  /* kept one, to which mw is bound; or */
	struct ibv_mr *mr; /* one for this transfer */
};

/* Of all exposers, and what is below them (regcache.h, watch.h). Not held while the device is waited for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vexposer *all;

struct vexposer {
	struct vexposer *next; /* of all */
	struct ibv_pd *pd;
	struct vregcache *cache; /* NULL: nothing is kept */
	bool windows;
	struct exposure *free;
	struct zregion *free_pins;
};

static int error_of(int code)
{
	return code == EAGAIN ? -ENOMEM : code > 0 ? -code : -EIO;
}

static int reg_local(void *ctx, void *base, size_t len, void **handle)
{
	struct vexposer *x = ctx;
	zep_ibv_ask();
	*handle = ibv_reg_mr(x->pd, base, len, IBV_ACCESS_LOCAL_WRITE | (x->windows ? IBV_ACCESS_MW_BIND : 0));
	return *handle ? 0 : error_of(zep_ibv_refusal());
}

static void unreg_local(void *ctx, void *handle)
{
	(void)ctx;
	ibv_dereg_mr(handle);
}

/* Whether the device keeps the peer within a window of type 2. Soft-RoCE has them, but checks an access against the
 * bounds of the whole region behind (Linux 6.1, rxe_resp.c); it is known by the OUI that stands for no vendor, older
 * ones by 0. */
static bool has_windows(const struct vdevice *d)
{
	const unsigned type2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	bool soft = d->attr.vendor_id == 0xffffff || d->attr.vendor_id == 0;
	return d->attr.device_cap_flags & type2 && voptions->windows != ZVERBS_WINDOWS_NO &&
	       (!soft || voptions->windows == ZVERBS_WINDOWS_YES);
}

static struct vexposer *make_exposer(const struct vdevice *d, struct ibv_pd *pd)
{
	static const struct vregcache_ops ops = {reg_local, unreg_local};
	struct zerr err;
	struct vexposer *x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->pd = pd;
	x->windows = has_windows(d);
	if (!x->windows)
		zlog(ZLOG_INFO, "%s: without memory windows, memory is registered for each transfer it is open to",
			d->name);
	if (!vchild_has_all())
		zlog(ZLOG_INFO, "%s: as children would lack it, memory is registered for each transfer", d->name);
	else if (voptions->cache_bytes > 0 &&
		 vregcache_create(&x->cache, &ops, x, KEPT_MAX, (size_t)voptions->cache_bytes, &err) < 0)
		zlog(ZLOG_INFO, "%s: memory is registered for each transfer: %s", d->name, err.text);
	x->next = all;
	all = x;
	return x;
}

/* Where that of this half is: with its device, or, where the endpoint category gives its endpoint a context of its own,
 * with what its links have in common there. */
static struct vexposer **place_of(const struct vlink *l, enum zlink_half half)
{
	struct vshare *s = l->share[half];
	return s->home.pd == l->dev->pd ? &l->dev->exposer : &s->exposer;
}

/* Made when it is needed first. NULL: no memory. */
static struct vexposer *exposer_of(const struct vlink *l, enum zlink_half half)
{
	struct vexposer **at = place_of(l, half);
	pthread_mutex_lock(&lock);
	if (!*at)
		*at = make_exposer(l->dev, l->share[half]->home.pd);
	struct vexposer *x = *at;
	pthread_mutex_unlock(&lock);
	return x;
}

/* With the lock held: what others keep counts as locked memory, too. */
static unsigned trim_all(void)
{
	unsigned n = 0;
	for (struct vexposer *x = all; x; x = x->next)
		n += x->cache ? vregcache_trim(x->cache) : 0;
	return n;
}

static int get_reg(struct vexposer *x, void *base, size_t len, struct vreg **out)
{
	pthread_mutex_lock(&lock);
	int rc = vregcache_get(x->cache, base, len, out);
	if (rc == -ENOMEM && trim_all() > 0)
		rc = vregcache_get(x->cache, base, len, out);
	pthread_mutex_unlock(&lock);
	return rc;
}

static void put_reg(struct vexposer *x, struct vreg *r)
{
	pthread_mutex_lock(&lock);
	vregcache_put(x->cache, r);
	pthread_mutex_unlock(&lock);
}

void vexposer_close(struct vexposer *x)
{
	if (!x)
		return;
	while (x->free) {
		struct exposure *e = x->free;
		x->free = e->next;
		if (e->mw)
			ibv_dealloc_mw(e->mw);
		free(e);
	}
	while (x->free_pins) {
		struct zregion *r = x->free_pins;
		x->free_pins = r->next;
		free(r);
	}
	pthread_mutex_lock(&lock);
	struct vexposer **at = &all;
	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	if (x->cache)
		vregcache_destroy(x->cache);
	pthread_mutex_unlock(&lock);
	free(x);
}

/* --- exposures --- */

static void put(struct vexposer *x, struct exposure *e)
{
	pthread_mutex_lock(&lock);
	e->next = x->free;
	x->free = e;
	pthread_mutex_unlock(&lock);
}

static struct exposure *get(struct vexposer *x)
{
	pthread_mutex_lock(&lock);
	struct exposure *e = x->free;
	if (e)
		x->free = e->next;
	pthread_mutex_unlock(&lock);
	if (!e)
		e = calloc(1, sizeof(*e));
	if (e && x->cache && x->windows && !e->mw)
		e->mw = ibv_alloc_mw(x->pd, IBV_MW_TYPE_2);
	return e;
}

static void drop_late(struct vexposer *x, struct vlate *late)
{
	if (late->mw)
		ibv_dealloc_mw(late->mw);
	if (late->reg)
		put_reg(x, late->reg);
	*late = (struct vlate){.mw = NULL};
}

/* What the device was still to bind on this half when it was no longer waited for has no user: it goes once that is
 * done. false: not yet. */
static bool see_to_late(struct vlink *l, struct vexposer *x, enum zlink_half half)
{
	struct vlate *late = half == ZLINK_TX ? &l->tx.late_window : &l->rx.late_window;
	if (late->mw && vwindow_wait(l, half, 0) == -EINPROGRESS)
		return false;
	drop_late(x, late);
	return true;
}

/* A window of a registration that is kept. -EOPNOTSUPP: not possible for this memory, or so much of it, or just now. */
static int expose_window(struct vlink *l, struct vexposer *x, struct exposure *e, void *base, size_t len,
	uint32_t *rkey)
{
	if (!x->cache || !e->mw || len > WINDOW_MAX_BYTES || !see_to_late(l, x, e->half))
		return -EOPNOTSUPP;
	int rc = get_reg(x, base, len, &e->reg);
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
	} else { /* the half is broken, but the device may come to it still */
		ibv_dealloc_mw(e->mw);
		e->mw = NULL;
		put_reg(x, e->reg);
	}
	e->reg = NULL;
	return rc;
}

/* For one transfer. NULL: errno says why not. */
static struct ibv_mr *reg_once(struct vexposer *x, void *base, size_t len, int access)
{
	zep_ibv_ask();
	struct ibv_mr *mr = ibv_reg_mr(x->pd, base, len, access);
	if (mr || error_of(zep_ibv_refusal()) != -ENOMEM)
		return mr;
	pthread_mutex_lock(&lock);
	unsigned given_up = trim_all();
	pthread_mutex_unlock(&lock);
	errno = ENOMEM;
	return given_up > 0 ? ibv_reg_mr(x->pd, base, len, access) : NULL;
}

static int expose_once(struct vexposer *x, struct exposure *e, void *base, size_t len, uint32_t *rkey)
{
	int access = e->half == ZLINK_TX ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	e->mr = reg_once(x, base, len, access);
	if (!e->mr)
		return error_of(zep_ibv_refusal());
	*rkey = e->mr->rkey;
	return 0;
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
	struct exposure *e = x ? get(x) : NULL;
	if (!e)
		return -ENOMEM;
	e->half = half;
	int rc = expose_window(l, x, e, base, len, &rkey);
	if (rc == -EOPNOTSUPP)
		rc = expose_once(x, e, base, len, &rkey);
	if (rc != 0) {
		put(x, e);
		return rc;
	}
	out->impl = e;
	put_number(out->key, (uintptr_t)base, 8);
	put_number(out->key + 8, rkey, 8);
	put_number(out->key + 16, 0, 8);
	return 0;
}

void vconceal(struct zlink *base_link, struct zrma_exposure *exposure)
{
	struct vlink *l = (struct vlink *)base_link;
	struct exposure *e = exposure->impl;
	struct vexposer *x = *place_of(l, e->half);
	if (e->mr) {
		ibv_dereg_mr(e->mr);
		e->mr = NULL;
	} else {
		if (vwindow_unbind(l, e->half, e->mw, UNBIND_MS) != 0) {
			ibv_dealloc_mw(e->mw); /* the queue pair is broken, and nobody comes this way either */
			e->mw = NULL;
		}
		put_reg(x, e->reg);
		e->reg = NULL;
	}
	put(x, e);
}

void vexpose_fini(struct vlink *l)
{
	if (l->tx.late_window.mw)
		drop_late(*place_of(l, ZLINK_TX), &l->tx.late_window);
	if (l->rx.late_window.mw)
		drop_late(*place_of(l, ZLINK_RX), &l->rx.late_window);
}

/* --- the initiator's --- */

static struct zregion *get_pin(struct vexposer *x)
{
	pthread_mutex_lock(&lock);
	struct zregion *r = x->free_pins;
	if (r)
		x->free_pins = r->next;
	pthread_mutex_unlock(&lock);
	return r ? r : malloc(sizeof(*r));
}

static void put_pin(struct vexposer *x, struct zregion *r)
{
	pthread_mutex_lock(&lock);
	r->next = x->free_pins;
	x->free_pins = r;
	pthread_mutex_unlock(&lock);
}

int vpin(struct zlink *base_link, enum zlink_half half, void *base, size_t len, struct zregion **out)
{
	struct vlink *l = (struct vlink *)base_link;
	if (!vlink_is_ready(l))
		return -EOPNOTSUPP;
	struct vexposer *x = exposer_of(l, half);
	struct zregion *r = x ? get_pin(x) : NULL;
	if (!r)
		return -ENOMEM;
	*r = (struct zregion){.exposer = x, .share = l->share[half]};
	int rc = x->cache ? get_reg(x, base, len, &r->reg) : -EOPNOTSUPP;
	if (rc == 0)
		r->mr = r->reg->handle;
	else if (rc == -EOPNOTSUPP)
		rc = (r->mr = reg_once(x, base, len, half == ZLINK_RX ? IBV_ACCESS_LOCAL_WRITE : 0))
			     ? 0
			     : error_of(zep_ibv_refusal());
	if (rc != 0) {
		put_pin(x, r);
		return rc;
	}
	atomic_fetch_add(&r->share->regions, 1); /* which keeps the device, should the link go first */
	*out = r;
	return 0;
}

void vunpin(struct zregion *r)
{
	struct vexposer *x = r->exposer;
	struct vshare *share = r->share;
	if (r->reg)
		put_reg(x, r->reg);
	else
		ibv_dereg_mr(r->mr);
	put_pin(x, r);
	atomic_fetch_sub(&share->regions, 1); /* and the device with it, perhaps */
}
