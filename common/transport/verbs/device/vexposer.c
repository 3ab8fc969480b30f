/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations and exposures of a protection domain, see vexposer.h. */
#include "common/transport/verbs/device/vexposer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/endpoint/ep_ibv.h"
#include "common/transport/verbs/device/vchild.h"
#include "common/transport/verbs/device/voptions.h"

#define KEPT_MAX 256 /* registrations; devices look up some thousand of them fast */

/* Of all exposers, and of the modules below them (vregcache.h, vwatch.h). Not held while the device is waited for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vexposer *all;

struct vexposer {
	struct vexposer *next; /* of all */
	struct ibv_pd *pd;
	struct vregcache *cache; /* NULL: nothing is kept */
	bool windows;
	struct vexposure *free;
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

/* Does the device keep the peer within a window of type 2? Soft-RoCE has such windows, but checks an access against the
 * bounds of the whole region behind the window (Linux 6.1, rxe_resp.c). It is known by the OUI that stands for no
 * vendor; older versions by 0. */
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

struct vexposer *vexposer_at(struct vexposer **at, const struct vdevice *d, struct ibv_pd *pd)
{
	pthread_mutex_lock(&lock);
	if (!*at)
		*at = make_exposer(d, pd);
	struct vexposer *x = *at;
	pthread_mutex_unlock(&lock);
	return x;
}

bool vexposer_keeps(const struct vexposer *x)
{
	return x->cache != NULL;
}

/* Gives up all kept registrations that nobody uses, of all exposers, as all count as locked memory. With the lock held.
 */
static unsigned trim_all(void)
{
	unsigned n = 0;
	for (struct vexposer *x = all; x; x = x->next)
		n += x->cache ? vregcache_trim(x->cache) : 0;
	return n;
}

int vexposer_get_reg(struct vexposer *x, void *base, size_t len, struct vreg **out)
{
	pthread_mutex_lock(&lock);
	int rc = vregcache_get(x->cache, base, len, out);
	if (rc == -ENOMEM && trim_all() > 0)
		rc = vregcache_get(x->cache, base, len, out);
	pthread_mutex_unlock(&lock);
	return rc;
}

void vexposer_put_reg(struct vexposer *x, struct vreg *r)
{
	pthread_mutex_lock(&lock);
	vregcache_put(x->cache, r);
	pthread_mutex_unlock(&lock);
}

int vexposer_reg_once(struct vexposer *x, void *base, size_t len, int access, struct ibv_mr **mr)
{
	zep_ibv_ask();
	*mr = ibv_reg_mr(x->pd, base, len, access);
	if (*mr)
		return 0;
	const int rc = error_of(zep_ibv_refusal());
	if (rc != -ENOMEM)
		return rc;
	pthread_mutex_lock(&lock);
	const unsigned given_up = trim_all();
	pthread_mutex_unlock(&lock);
	if (given_up == 0)
		return rc;
	errno = ENOMEM;
	*mr = ibv_reg_mr(x->pd, base, len, access);
	return *mr ? 0 : error_of(zep_ibv_refusal());
}

struct vexposure *vexposer_get(struct vexposer *x)
{
	pthread_mutex_lock(&lock);
	struct vexposure *e = x->free;
	if (e)
		x->free = e->next;
	pthread_mutex_unlock(&lock);
	if (!e)
		e = calloc(1, sizeof(*e));
	if (e && x->cache && x->windows && !e->mw)
		e->mw = ibv_alloc_mw(x->pd, IBV_MW_TYPE_2);
	return e;
}

void vexposer_put(struct vexposer *x, struct vexposure *e)
{
	pthread_mutex_lock(&lock);
	e->next = x->free;
	x->free = e;
	pthread_mutex_unlock(&lock);
}

struct zregion *vexposer_get_region(struct vexposer *x)
{
	pthread_mutex_lock(&lock);
	struct zregion *r = x->free_pins;
	if (r)
		x->free_pins = r->next;
	pthread_mutex_unlock(&lock);
	return r ? r : malloc(sizeof(*r));
}

void vexposer_put_region(struct vexposer *x, struct zregion *r)
{
	pthread_mutex_lock(&lock);
	r->next = x->free_pins;
	x->free_pins = r;
	pthread_mutex_unlock(&lock);
}

void vexposer_close(struct vexposer *x)
{
	if (!x)
		return;
	while (x->free) {
		struct vexposure *e = x->free;
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
