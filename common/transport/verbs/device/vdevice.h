/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices. Each device is opened once, whatever uses it, until it is lost; then it is opened anew. A device has one
 * protection domain, so that its ports share registered memory. Opening and closing are set-up and take a lock.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VDEVICE_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VDEVICE_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/base/err.h"
#include "common/endpoint/ep_ibv.h"
#include "common/endpoint/ep_kept.h"
#include "common/endpoint/ep_seat.h"

#define VDEVICE_NAME_MAX 64

struct vexposer;
struct vlife;

struct vdevice {
	struct vdevice *next;
	unsigned users;
	pid_t pid; /* of the process that opened it: a child may not use it */
	char name[VDEVICE_NAME_MAX];
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct zep_ibv ibv;
	struct zep_kept kept;	   /* ctx and pd */
	struct zep_context common; /* ctx and pd again, and how many thread domains were made in them */
	struct ibv_device_attr attr;
	struct vexposer *exposer; /* of pd (vexposer.h); NULL: not used yet */
	struct vlife *lives;	  /* of the links on the device (vlife.h) */
	int timer;		  /* descriptor, readable when a port has been down for too long */
	atomic_flag looking;	  /* one thread reads events */
	_Atomic bool told_locks;  /* warned: completion queues have locks, where none are wanted */
	_Atomic bool told_limits; /* warned, at a connecting end: the port reaches some peers only */
	_Atomic bool lost;	  /* it went away, or a part of it has failed: for its users, and no new ones */
	_Atomic bool tells_last;  /* IBV_EVENT_QP_LAST_WQE_REACHED has come */
	_Atomic bool silent;	  /* that event has not come where it had to */
};

/* Opens a device by its name, or counts one more user of an open device. Returns 0 or a negative errno with text. Every
 * open needs its close. */
int vdevice_open(struct vdevice **, const char *name, struct zerr *);
/* One more user of this device, even if it is lost. */
void vdevice_hold(struct vdevice *);
/* Is the device open in this process, and not lost? */
bool vdevice_is_open(const char *name);
void vdevice_close(struct vdevice *); /* NULL has no effect */
static inline bool vdevice_is_lost(const struct vdevice *d)
{
	return atomic_load_explicit(&d->lost, memory_order_acquire);
}

#endif
