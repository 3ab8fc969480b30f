/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of devices, and the links that end with them: see vlife.h. */
#include "common/transport/verbs/device/vlife.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/transport/verbs/device/vdevice.h"
#include "common/transport/verbs/device/voptions.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the lives of all devices */

void vlife_add(struct vdevice *d, struct vlife *life)
{
	pthread_mutex_lock(&lock);
	life->next = d->lives;
	d->lives = life;
	pthread_mutex_unlock(&lock);
}

void vlife_del(struct vdevice *d, struct vlife *life)
{
	pthread_mutex_lock(&lock);
	for (struct vlife **at = &d->lives; *at; at = &(*at)->next)
		if (*at == life) {
			*at = life->next;
			break;
		}
	pthread_mutex_unlock(&lock);
}

static void end(struct vlife *life, int rc)
{
	atomic_store_explicit(&life->lost, rc, memory_order_release);
	shutdown(life->sock, SHUT_RDWR);
}

static void tell_lost(struct vdevice *d)
{
	pthread_mutex_lock(&lock);
	atomic_store_explicit(&d->lost, true, memory_order_release);
	for (struct vlife *life = d->lives; life; life = life->next)
		end(life, -ENODEV);
	pthread_mutex_unlock(&lock);
}

/* Sets the timer to the first end of a grace. With the lock held. */
static void set_timer(struct vdevice *d)
{
	int64_t first = 0;
	for (const struct vlife *life = d->lives; life; life = life->next)
		if (life->until_ms && (first == 0 || life->until_ms < first))
			first = life->until_ms;
	const struct itimerspec when = {.it_value = {.tv_sec = first / 1000, .tv_nsec = first % 1000 * 1000000}};
	timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* A port may be down for some seconds, as the queue pairs try again for that long. */
static void tell_port(struct vdevice *d, unsigned port, bool down)
{
	const int64_t until = zclock_ms() + voptions->port_grace;
	pthread_mutex_lock(&lock);
	for (struct vlife *life = d->lives; life; life = life->next) {
		if (life->port != port)
			continue;
		life->until_ms = down ? until : 0;
		if (down && voptions->port_grace == 0)
			end(life, -ENETDOWN);
	}
	set_timer(d);
	pthread_mutex_unlock(&lock);
}

/* The port is asked, as another context may tell the same event later. */
void vlife_look_at_ports(struct vdevice *d)
{
	uint64_t times;
	const int64_t now = zclock_ms();
	if (read(d->timer, &times, sizeof(times)) != sizeof(times))
		return;
	pthread_mutex_lock(&lock);
	for (struct vlife *life = d->lives; life; life = life->next) {
		struct ibv_port_attr port;
		if (life->until_ms == 0 || life->until_ms > now)
			continue;
		life->until_ms = 0;
		if (ibv_query_port(d->ctx, life->port, &port) == 0 && port.state != IBV_PORT_ACTIVE)
			end(life, -ENETDOWN);
	}
	set_timer(d);
	pthread_mutex_unlock(&lock);
}

/* Why a link ends when this event comes for its queue. 0: it does not end. */
static int failure(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_QP_ACCESS_ERR: /* by the peer */
		return -EACCES;
	case IBV_EVENT_QP_REQ_ERR: /* likewise */
		return -EREMOTEIO;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
		return -EIO;
	default:
		return 0;
	}
}

static bool is_of(const struct ibv_async_event *e, const struct ibv_qp *qp)
{
	if (!qp)
		return false;
	if (e->event_type == IBV_EVENT_CQ_ERR)
		return e->element.cq == qp->send_cq;
	return e->event_type == IBV_EVENT_SRQ_ERR ? e->element.srq == qp->srq : e->element.qp == qp;
}

/* The lock protects the queues, as a link leaves, which takes the lock, before its queues are destroyed. */
static void tell_failure(struct vdevice *d, const struct ibv_async_event *e, const char *what)
{
	char text[160];
	bool told = false;
	pthread_mutex_lock(&lock);
	if (e->event_type == IBV_EVENT_SRQ_ERR) /* links to come would use it, too */
		atomic_store_explicit(&d->lost, true, memory_order_release);
	for (struct vlife *life = d->lives; life; life = life->next) {
		int none = 0;
		if (!is_of(e, atomic_load(&life->qp)) && !is_of(e, atomic_load(&life->sender)))
			continue;
		atomic_compare_exchange_strong(&life->lost, &none, failure(e->event_type));
		shutdown(life->sock, SHUT_RDWR);
		told = true;
	}
	pthread_mutex_unlock(&lock);
	snprintf(text, sizeof(text), "%s: %s: what uses it ends", d->name, what);
	if (told && voptions->warn)
		voptions->warn(text);
}

static void tell_last(struct vdevice *d, const struct ibv_qp *qp)
{
	atomic_store(&d->tells_last, true);
	atomic_store(&d->silent, false);
	pthread_mutex_lock(&lock);
	for (struct vlife *life = d->lives; life; life = life->next)
		if (atomic_load(&life->qp) == qp)
			atomic_store(&life->last, true);
	pthread_mutex_unlock(&lock);
}

void vlife_look(struct vdevice *d, struct ibv_context *ctx)
{
	struct ibv_async_event event;
	if (atomic_flag_test_and_set_explicit(&d->looking, memory_order_acquire))
		return;
	while (ibv_get_async_event(ctx, &event) == 0) {
		if (event.event_type == IBV_EVENT_PORT_ERR)
			tell_port(d, (unsigned)event.element.port_num, true);
		else if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			tell_port(d, (unsigned)event.element.port_num, false);
		else if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			tell_lost(d);
		else if (event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
			tell_last(d, event.element.qp);
		else if (failure(event.event_type))
			tell_failure(d, &event, ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	atomic_flag_clear_explicit(&d->looking, memory_order_release);
}

void vlife_fail_receives(struct vdevice *d, struct ibv_srq *srq, int code)
{
	char what[96];
	vlife_look(d, d->ctx); /* the device may have gone, which is the better reason */
	snprintf(what, sizeof(what), "a shared receive queue takes no receives (%s)", strerror(code));
	tell_failure(d, &(struct ibv_async_event){.event_type = IBV_EVENT_SRQ_ERR, .element.srq = srq}, what);
}

bool vlife_awaits_last(struct vdevice *d, struct vlife *life)
{
	if (atomic_load(&d->silent) || atomic_load(&life->lost) == -ENODEV)
		return false;
	vlife_look(d, atomic_load(&life->qp)->context);
	return !atomic_load(&life->last);
}

void vlife_lacks_last(struct vdevice *d)
{
	atomic_store(&d->silent, !atomic_load(&d->tells_last));
}
