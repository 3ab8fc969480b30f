/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, see device.h. */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "expose.h"
#include "objects.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vdevice *devices;

static struct vdevice *find(const char *name)
{
	for (struct vdevice *d = devices; d; d = d->next)
		if (d->pid == getpid() && strcmp(d->name, name) == 0)
			return d;
	return NULL;
}

static int make(struct vdevice **out, const char *name, struct zerr *err)
{
	struct vdevice *d = calloc(1, sizeof(*d));
	if (!d)
		return zerr_set(err, -ENOMEM, "out of memory");
	d->pid = getpid();
	strncpy(d->name, name, sizeof(d->name) - 1);
	int rc = vobject_open(&d->ctx, &d->pd, name, err);
	if (rc == 0) {
		d->common = (struct zep_common){.ctx = d->ctx, .pd = d->pd};
		ibv_query_device(d->ctx, &d->attr);
		fcntl(d->ctx->async_fd, F_SETFL, fcntl(d->ctx->async_fd, F_GETFL) | O_NONBLOCK);
		*out = d;
		return 0;
	}
	free(d);
	return rc;
}

int vdevice_open(struct vdevice **out, const char *name, struct zerr *err)
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
		vobject_close(d->ctx, d->pd);
		free(d);
	}
	pthread_mutex_unlock(&lock);
}

void vdevice_add(struct vdevice *d, struct vlife *life)
{
	pthread_mutex_lock(&lock);
	life->next = d->lives;
	d->lives = life;
	pthread_mutex_unlock(&lock);
}

void vdevice_del(struct vdevice *d, struct vlife *life)
{
	pthread_mutex_lock(&lock);
	for (struct vlife **at = &d->lives; *at; at = &(*at)->next)
		if (*at == life) {
			*at = life->next;
			break;
		}
	pthread_mutex_unlock(&lock);
}

/* port 0: all of them. */
static void tell(struct vdevice *d, unsigned port, int rc)
{
	pthread_mutex_lock(&lock);
	for (struct vlife *life = d->lives; life; life = life->next) {
		if (port && life->port != port)
			continue;
		atomic_store_explicit(&life->lost, rc, memory_order_release);
		shutdown(life->sock, SHUT_RDWR);
	}
	pthread_mutex_unlock(&lock);
}

void vdevice_look(struct vdevice *d)
{
	struct ibv_async_event event;
	if (atomic_flag_test_and_set_explicit(&d->looking, memory_order_acquire))
		return;
	while (ibv_get_async_event(d->ctx, &event) == 0) {
		if (event.event_type == IBV_EVENT_PORT_ERR)
			tell(d, (unsigned)event.element.port_num, -ENETDOWN);
		else if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			tell(d, 0, -ENODEV);
		ibv_ack_async_event(&event);
	}
	atomic_flag_clear_explicit(&d->looking, memory_order_release);
}
