/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and their IP addresses, see vport.h. */
#include "common/transport/verbs/device/vport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/device/vgid.h"

int vport_query(struct ibv_port_attr *attr, const struct vdevice *d, uint8_t port, struct zerr *err)
{
	if (port > d->attr.phys_port_cnt || ibv_query_port(d->ctx, port, attr) != 0)
		return zerr_set(err, -ENODEV, "%s has no port %u", d->name, port);
	return 0;
}

/* --- the network interface of a port --- */

static int read_number(const char *path)
{
	int n = -1;
	FILE *f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%i", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static bool is_interface_of(const char *device, uint8_t port, const char *interface)
{
	char path[512];
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/net/%s/dev_port", device, interface);
	int n = read_number(path);
	if (n > 0)
		return n == port - 1;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/net/%s/dev_id", device, interface);
	int id = read_number(path); /* older drivers number ports in dev_id; both files say 0 for the first port */
	return (n == 0 || id >= 0) && (id > 0 ? id : n) == port - 1;
}

static int format_ip(char *buf, size_t cap, const struct sockaddr *sa, struct zerr *err)
{
	socklen_t len = sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	int rc = getnameinfo(sa, len, buf, (socklen_t)cap, NULL, 0, NI_NUMERICHOST);
	return rc == 0 ? 0 : zerr_set(err, -EADDRNOTAVAIL, "cannot write an IP address: %s", gai_strerror(rc));
}

static int interface_ip(char *buf, size_t cap, const struct vdevice *d, uint8_t port, struct zerr *err)
{
	struct ifaddrs *list, *at;
	int rc = -EADDRNOTAVAIL;
	if (getifaddrs(&list) != 0)
		return zerr_set(err, -errno, "cannot list the network interfaces: %s", strerror(errno));
	for (int family = AF_INET; rc != 0; family = AF_INET6) {
		for (at = list; at && rc != 0; at = at->ifa_next)
			if (at->ifa_addr && at->ifa_addr->sa_family == family && at->ifa_flags & IFF_UP &&
				is_interface_of(d->name, port, at->ifa_name))
				rc = format_ip(buf, cap, at->ifa_addr, err);
		if (family == AF_INET6)
			break;
	}
	freeifaddrs(list);
	return rc;
}

int vport_ip(char *buf, size_t cap, struct vdevice *d, uint8_t port, struct zerr *err)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;
	int rc = vport_query(&attr, d, port, err);
	if (rc < 0)
		return rc;
	const bool has_gid = attr.link_layer == IBV_LINK_LAYER_ETHERNET &&
			     vgid_find(&gid, d, port, &attr, &(struct vgid_wish){0}) >= 0;
	if (has_gid && vgid_is_ipv4(gid.raw)) {
		inet_ntop(AF_INET, gid.raw + 12, buf, (socklen_t)cap);
		return 0;
	}
	if (interface_ip(buf, cap, d, port, err) == 0)
		return 0;
	if (has_gid && vgid_is_global(gid.raw)) {
		vgid_format(buf, gid.raw);
		return 0;
	}
	return zerr_set(err, -EADDRNOTAVAIL,
		"%s:%u has no IP address of its own: write %s:%u@HOST:PORT, a TCP address "
		"at which connections to it are made",
		d->name, port, d->name, port);
}

/* --- which port --- */

struct choice {
	const uint8_t *wanted; /* as GID, or NULL */
	char *device;
	uint8_t *port;
	int active;	   /* number of active ports */
	struct zerr other; /* why a device cannot be used */
};

/* Has one of the port's interfaces this IP address? */
static bool interface_has_ip(const struct vdevice *d, uint8_t port, const uint8_t *wanted)
{
	struct ifaddrs *list;
	uint8_t gid[16];
	bool found = false;
	if (getifaddrs(&list) != 0)
		return false;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = vgid_of(gid, at->ifa_addr) && memcmp(gid, wanted, 16) == 0 &&
			is_interface_of(d->name, port, at->ifa_name);
	freeifaddrs(list);
	return found;
}

static bool has_ip(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, const uint8_t *wanted)
{
	return (attr->link_layer == IBV_LINK_LAYER_ETHERNET && vgid_has(d, port, attr, wanted)) ||
	       interface_has_ip(d, port, wanted);
}

/* Returns 1: the device has the wanted port. */
static int try_device(struct choice *c, const char *name)
{
	struct vdevice *d;
	struct zerr why = {""};
	int found = 0, rc = vdevice_open(&d, name, &why);
	if (rc == -EPROTONOSUPPORT)
		c->other = why;
	if (rc < 0)
		return 0;
	for (unsigned p = 1; p <= d->attr.phys_port_cnt && !found; p++) {
		struct ibv_port_attr attr;
		if (ibv_query_port(d->ctx, (uint8_t)p, &attr) != 0 || attr.state != IBV_PORT_ACTIVE)
			continue;
		found = c->wanted && has_ip(d, (uint8_t)p, &attr, c->wanted);
		if (found || c->active++ == 0) {
			snprintf(c->device, VDEVICE_NAME_MAX, "%s", name);
			*c->port = (uint8_t)p;
		}
	}
	vdevice_close(d);
	return found;
}

static int choose(struct choice *c, struct zerr *err)
{
	int n = 0, found = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	for (int i = 0; list && i < n && !found; i++)
		found = try_device(c, ibv_get_device_name(list[i]));
	if (list)
		ibv_free_device_list(list);
	if (found || c->active == 1)
		return 0;
	if (c->active == 0)
		return zerr_set(err, -ENODEV, "no RDMA device of this host has an active port%s%.200s",
			c->other.text[0] ? "; " : "", c->other.text);
	return zerr_set(err, -ENODEV,
		"%d RDMA ports are active on this host and none has the IP address that leads to "
		"the zipper: ZIPPER_DEVICE must say which to use",
		c->active);
}

/* The last choice, which is kept as a choice opens every device of the host. */
static struct {
	pthread_mutex_t lock;
	bool known; /* the address was known */
	uint8_t gid[16], port;
	char device[VDEVICE_NAME_MAX]; /* "": there is none */
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

void vport_forget(void)
{
	pthread_mutex_lock(&last.lock);
	last.device[0] = '\0';
	pthread_mutex_unlock(&last.lock);
}

int vport_choose(char device[VDEVICE_NAME_MAX], uint8_t *port, const struct sockaddr *local, struct zerr *err)
{
	uint8_t gid[16] = {0};
	const bool known = vgid_of(gid, local);
	struct choice c = {.wanted = known ? gid : NULL, .device = device, .port = port};
	int rc = 0;
	pthread_mutex_lock(&last.lock);
	if (last.device[0] && last.known == known && memcmp(last.gid, gid, 16) == 0 && vdevice_is_open(last.device)) {
		memcpy(device, last.device, VDEVICE_NAME_MAX);
		*port = last.port;
	} else {
		rc = choose(&c, err);
		last.known = known;
		memcpy(last.gid, gid, 16);
		last.port = *port;
		snprintf(last.device, sizeof(last.device), "%s", rc == 0 ? device : "");
	}
	pthread_mutex_unlock(&last.lock);
	return rc;
}
