/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, see vdevice.h. */
#include "common/transport/verbs/device/vdevice.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/transport/verbs/device/vchild.h"
#include "common/transport/verbs/device/vexposer.h"
#include "common/transport/verbs/device/vlife.h"
#include "common/transport/verbs/device/voptions.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vdevice *devices;

static struct vdevice *find(const char *name)
{
	for (struct vdevice *d = devices; d; d = d->next)
		if (d->pid == getpid() && strcmp(d->name, name) == 0 && !vdevice_is_lost(d))
			return d;
	return NULL;
}

static int open_context(struct vdevice *d, struct zerr *err)
{
	if (!voptions->blueflame) /* mlx5 reads this when a context is opened; contexts of endpoints are opened after
				     the device's */
		setenv("MLX5_SHUT_UP_BF", "1", 1);
	zep_ibv_init(&d->ibv, d->name, 0);
	d->kept = (struct zep_kept){.ops = &zep_ibv_ops, .to = &d->ibv};
	int rc = zep_seat_open_context(&d->common, &d->kept, err);
	if (rc < 0)
		zep_kept_drop_all(&d->kept);
	d->ctx = rc == 0 ? d->common.ctx : NULL;
	d->pd = rc == 0 ? d->common.pd : NULL;
	return rc;
}

static int check_kind(const struct vdevice *d, struct zerr *err)
{
	const struct ibv_device *dev = d->ctx->device;
	if (dev->transport_type == IBV_TRANSPORT_IB)
		return 0;
	return zerr_set(err, -EPROTONOSUPPORT,
		"%s is %s: only InfiniBand and RoCE adapters are supported; over its network interface, TCP is",
		d->name,
		dev->transport_type == IBV_TRANSPORT_IWARP ? "an iWARP adapter"
		: strncmp(d->name, "efa", 3) == 0	   ? "an Elastic Fabric Adapter (EFA)"
							   : "neither an InfiniBand nor a RoCE adapter");
}

static int make(struct vdevice **out, const char *name, struct zerr *err)
{
	struct vdevice *d = calloc(1, sizeof(*d));
	if (!d)
		return zerr_set(err, -ENOMEM, "out of memory");
	d->pid = getpid();
	strncpy(d->name, name, sizeof(d->name) - 1);
	vchild_init();
	int rc = open_context(d, err);
	if (rc == 0) {
		ibv_query_device(d->ctx, &d->attr);
		rc = check_kind(d, err);
		d->timer = rc == 0 ? timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC) : -1;
		if (rc == 0 && d->timer < 0)
			rc = zerr_set(err, -errno, "%s: cannot make a timer: %s", name, strerror(errno));
		if (rc < 0)
			zep_kept_drop_all(&d->kept);
	}
	if (rc == 0) {
		fcntl(d->ctx->async_fd, F_SETFL, fcntl(d->ctx->async_fd, F_GETFL) | O_NONBLOCK);
		*out = d;
		return 0;
	}
	free(d);
	return rc;
}

static int open_once(struct vdevice **out, const char *name, struct zerr *err)
{
	int rc = 0;
	pthread_mutex_lock(&lock);
	struct vdevice *d = find(name);
	if (!d) {
		rc = make(&d, name, err);
		if (rc == 0) {
			d->next = devices;
			devices = d;
		}
	}
	if (rc == 0)
		d->users++;
	pthread_mutex_unlock(&lock);
	*out = rc == 0 ? d : NULL;
	return rc;
}

int vdevice_open(struct vdevice **out, const char *name, struct zerr *err)
{
	int rc = open_once(out, name, err);
	if (rc < 0)
		return rc;
	vlife_look(*out, (*out)->ctx); /* nobody may have looked while the device was not used */
	if (!vdevice_is_lost(*out))
		return 0;
	vdevice_close(*out);
	return open_once(out, name, err);
}

void vdevice_hold(struct vdevice *d)
{
	pthread_mutex_lock(&lock);
	d->users++;
	pthread_mutex_unlock(&lock);
}

bool vdevice_is_open(const char *name)
{
	pthread_mutex_lock(&lock);
	const bool is = find(name) != NULL;
	pthread_mutex_unlock(&lock);
	return is;
}

void vdevice_close(struct vdevice *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&lock);
	if (--d->users == 0 && d->pid == getpid()) {
		struct vdevice **at = &devices;
		while (*at != d)
			at = &(*at)->next;
		*at = d->next;
		vexposer_close(d->exposer);
		zep_kept_drop_all(&d->kept);
		close(d->timer);
		free(d);
	}
	pthread_mutex_unlock(&lock);
}
