/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and their addresses, see address.h. The GIDs of a RoCE port are made of the IP addresses of its network
 * interface; an InfiniBand port has one (IPoIB) that sysfs names.
 */
#include "common/transport/verbs/address.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/gid.h"

#define PKEY_DEFAULT 0x7fff

/* How well an entry suits: 0 not at all. One of a full member before one of a limited one, whom only full ones hear.
 * wanted 0: any; the default partition before others, but where it is for management alone all are limited members
 * (Omni-Path, and so may InfiniBand's subnet managers be told). */
static int rate_pkey(uint16_t key, uint16_t wanted)
{
	const uint16_t partition = key & VADDRESS_PARTITION;
	if (partition == 0 || (wanted && partition != wanted))
		return 0;
	return 1 + (partition == PKEY_DEFAULT) + 2 * ((key & VADDRESS_FULL) != 0);
}

/* Entry of the port's partition table. -1: none. */
static int find_pkey(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, uint16_t wanted,
	uint16_t *out)
{
	int best = -1, rating = 0;
	for (int i = 0; i < attr->pkey_tbl_len; i++) {
		__be16 key;
		if (ibv_query_pkey(d->ctx, port, i, &key) != 0 || rate_pkey(ntohs(key), wanted) <= rating)
			continue;
		rating = rate_pkey(ntohs(key), wanted);
		*out = ntohs(key);
		best = i;
	}
	return best;
}

static int query(struct ibv_port_attr *attr, const struct vdevice *d, uint8_t port, struct zerr *err)
{
	if (port > d->attr.phys_port_cnt || ibv_query_port(d->ctx, port, attr) != 0)
		return zerr_set(err, -ENODEV, "%s has no port %u", d->name, port);
	return 0;
}

void vnet_override(struct vnet *net, const struct zaddr *a)
{
	if (a->net[ZADDR_PARTITION])
		net->partition = (uint16_t)((a->net[ZADDR_PARTITION] - 1) & VADDRESS_PARTITION);
	if (a->net[ZADDR_SERVICE_LEVEL])
		net->service_level = (uint8_t)(a->net[ZADDR_SERVICE_LEVEL] - 1);
	if (a->net[ZADDR_TRAFFIC_CLASS])
		net->traffic_class = (uint8_t)(a->net[ZADDR_TRAFFIC_CLASS] - 1);
	if (a->net[ZADDR_MTU])
		net->mtu = (uint8_t)(__builtin_ctz(a->net[ZADDR_MTU] - 1) - 7); /* enum ibv_mtu: 256 is 1 */
	if (a->net[ZADDR_GID_INDEX])
		net->gid_index = (int)a->net[ZADDR_GID_INDEX] - 1;
}

int vaddress_find(struct vaddress *a, struct vdevice *d, uint8_t port, const struct sockaddr *local,
	const struct vframe *peer, const struct vnet *net, struct zerr *err)
{
	struct ibv_port_attr attr;
	struct ibv_gid_entry entry = {.gid_type = IBV_GID_TYPE_IB};
	union ibv_gid gid;
	uint8_t tcp[16];
	const struct vgid_wish wish = {.local = vgid_of(tcp, local) ? tcp : NULL,
		.peer = peer ? peer->gid : NULL,
		.version = !peer      ? 0
			   : peer->v1 ? 1
				      : 2};
	int rc = query(&attr, d, port, err), index = net->gid_index;
	if (rc < 0)
		return rc;
	if (attr.state != IBV_PORT_ACTIVE)
		return zerr_set(err, -ENETDOWN, "%s:%u is not active (%s)", d->name, port,
			ibv_port_state_str(attr.state));
	*a = (struct vaddress){.ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET,
		.grh = attr.flags & IBV_QPF_GRH_REQUIRED,
		.lid = attr.lid,
		.mtu = (uint8_t)(net->mtu && net->mtu < attr.active_mtu ? net->mtu : attr.active_mtu),
		.max_bytes = attr.max_msg_sz};
	if (!a->ethernet) {
		index = index < 0 ? 0 : index;
		rc = find_pkey(d, port, &attr, net->partition, &a->pkey);
		if (rc < 0 && net->partition == 0)
			return zerr_set(err, -ENOENT, "%s:%u is in no partition", d->name, port);
		if (rc < 0)
			return zerr_set(err, -ENOENT, "%s:%u is not in partition 0x%04x", d->name, port,
				net->partition);
		a->pkey_index = (uint16_t)rc;
	} else if (index < 0) {
		index = vgid_find(&gid, d, port, &attr, &wish);
	}
	bool there = index >= 0 && index <= UINT8_MAX && ibv_query_gid(d->ctx, port, index, &gid) == 0 &&
		     (a->lid || memcmp(gid.raw, (uint8_t[16]){0}, 16) != 0);
	if (!there && net->gid_index >= 0)
		return zerr_set(err, -EADDRNOTAVAIL,
			"%s:%u has no address in entry %d of its table (verbs_gid_index, ZIPPER_VERBS_GID_INDEX)",
			d->name, port, index);
	if (!there)
		return zerr_set(err, -EADDRNOTAVAIL, "%s:%u has no address (GID): has its interface an IP address?",
			d->name, port);
	if (a->ethernet && ibv_query_gid_ex(d->ctx, port, (uint32_t)index, &entry, 0) == 0)
		a->v1 = entry.gid_type == IBV_GID_TYPE_ROCE_V1;
	a->gid_index = (uint8_t)index;
	memcpy(a->gid, gid.raw, 16);
	return 0;
}

void vaddress_warn(const struct vaddress *a, const struct vdevice *d, uint8_t port, const struct zverbs_options *o)
{
	char text[160];
	if (a->ethernet || vaddress_is_full(a->pkey) || !o->warn)
		return;
	snprintf(text, sizeof(text), "%s:%u is a limited member of partition 0x%04x: it reaches full members only",
		d->name, port, a->pkey & VADDRESS_PARTITION);
	o->warn(text);
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
	int id = read_number(path); /* older drivers number ports there; both are 0 for the first one */
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

int vaddress_ip(char *buf, size_t cap, struct vdevice *d, uint8_t port, struct zerr *err)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;
	int rc = query(&attr, d, port, err);
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
	int active;	   /* ports */
	struct zerr other; /* why there is a device that is none for us */
};

/* Any of those that its interfaces have. */
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

/* 1: this is it. */
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

/* The last choice. Looking means to open every device of the host. */
static struct {
	pthread_mutex_t lock;
	bool known; /* the address is */
	uint8_t gid[16], port;
	char device[VDEVICE_NAME_MAX]; /* "": none */
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

void vaddress_forget(void)
{
	pthread_mutex_lock(&last.lock);
	last.device[0] = '\0';
	pthread_mutex_unlock(&last.lock);
}

int vaddress_choose(char device[VDEVICE_NAME_MAX], uint8_t *port, const struct sockaddr *local, struct zerr *err)
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

int vaddress_check_kind(const struct vdevice *d, struct zerr *err)
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
