/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and their addresses, see address.h. The GIDs of a RoCE port are made of the IP addresses of its network
 * interface; an InfiniBand port has one (IPoIB) that sysfs names.
 */
#include "address.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PKEY_FULL 0x8000 /* of a partition key: membership (InfiniBand specification 1.3, 10.9.1.1) */

/* IPv4 as the mapped IPv6 address that a GID of it is. */
static bool to_gid(uint8_t gid[16], const struct sockaddr *sa)
{
	if (sa && sa->sa_family == AF_INET) {
		static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
		memcpy(gid, mapped, sizeof(mapped));
		memcpy(gid + 12, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
		return true;
	}
	if (sa && sa->sa_family == AF_INET6) {
		memcpy(gid, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
		return true;
	}
	return false;
}

static bool is_mapped(const uint8_t gid[16])
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid);
}

/* Entry of the port's GID table for RoCE version 2: the one of this IP address, else the first of an IPv4 address, else
 * the first. -1: none. */
static int find_gid(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, const uint8_t *wanted,
	union ibv_gid *out)
{
	int best = -1, rank = 0;
	for (int i = 0; i < attr->gid_tbl_len; i++) {
		struct ibv_gid_entry e;
		if (ibv_query_gid_ex(d->ctx, port, (uint32_t)i, &e, 0) != 0 || e.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		int r = wanted && memcmp(e.gid.raw, wanted, 16) == 0 ? 3 : is_mapped(e.gid.raw) ? 2 : 1;
		if (r > rank) {
			rank = r;
			best = i;
			*out = e.gid;
		}
	}
	return best;
}

/* Entry of the port's partition table: one of a full member, else of a limited one, whom only full ones hear. -1: none.
 */
static int find_pkey(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, uint16_t wanted,
	bool *limited)
{
	int best = -1;
	for (int i = 0; i < attr->pkey_tbl_len; i++) {
		__be16 key;
		if (ibv_query_pkey(d->ctx, port, i, &key) != 0 || (ntohs(key) & ~PKEY_FULL) != (wanted & ~PKEY_FULL))
			continue;
		*limited = !(ntohs(key) & PKEY_FULL);
		if (!*limited)
			return i;
		best = best < 0 ? i : best;
	}
	return best;
}

static int query(struct ibv_port_attr *attr, const struct vdevice *d, uint8_t port, struct zerr *err)
{
	if (port > d->attr.phys_port_cnt || ibv_query_port(d->ctx, port, attr) != 0)
		return zerr_set(err, -ENODEV, "%s has no port %u", d->name, port);
	return 0;
}

int vaddress_find(struct vaddress *a, struct vdevice *d, uint8_t port, const struct sockaddr *local,
	const struct zverbs_options *o, struct zerr *err)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;
	uint8_t wanted[16];
	bool known = to_gid(wanted, local);
	int rc = query(&attr, d, port, err), index = (int)o->gid_index;
	if (rc < 0)
		return rc;
	if (attr.state != IBV_PORT_ACTIVE)
		return zerr_set(err, -ENETDOWN, "%s:%u is not active (%s)", d->name, port,
			ibv_port_state_str(attr.state));
	*a = (struct vaddress){.ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET,
		.grh = attr.flags & IBV_QPF_GRH_REQUIRED,
		.lid = attr.lid,
		.mtu = (uint8_t)attr.active_mtu,
		.max_bytes = attr.max_msg_sz};
	if (!a->ethernet) {
		index = index < 0 ? 0 : index;
		rc = find_pkey(d, port, &attr, (uint16_t)o->partition, &a->limited);
		if (rc < 0)
			return zerr_set(err, -ENOENT, "%s:%u is not in partition 0x%04x", d->name, port,
				(unsigned)o->partition);
		a->pkey_index = (uint16_t)rc;
	} else if (index < 0) {
		index = find_gid(d, port, &attr, known ? wanted : NULL, &gid);
	}
	if (index < 0 || index > UINT8_MAX || ibv_query_gid(d->ctx, port, index, &gid) != 0)
		return zerr_set(err, -EADDRNOTAVAIL, "%s:%u has no address (GID): has its interface an IP address?",
			d->name, port);
	a->gid_index = (uint8_t)index;
	memcpy(a->gid, gid.raw, 16);
	return 0;
}

void vaddress_warn(const struct vaddress *a, const struct vdevice *d, uint8_t port, const struct zverbs_options *o)
{
	char text[160];
	if (!a->limited || !o->warn)
		return;
	snprintf(text, sizeof(text), "%s:%u is a limited member of partition 0x%04x: it reaches full members only",
		d->name, port, (unsigned)o->partition);
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
	if (attr.link_layer == IBV_LINK_LAYER_ETHERNET && find_gid(d, port, &attr, NULL, &gid) >= 0 &&
		is_mapped(gid.raw)) {
		inet_ntop(AF_INET, gid.raw + 12, buf, (socklen_t)cap);
		return 0;
	}
	if (interface_ip(buf, cap, d, port, err) == 0)
		return 0;
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
	int active; /* ports */
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
		found = to_gid(gid, at->ifa_addr) && memcmp(gid, wanted, 16) == 0 &&
			is_interface_of(d->name, port, at->ifa_name);
	freeifaddrs(list);
	return found;
}

static bool has_ip(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, const uint8_t *wanted)
{
	for (int i = 0; attr->link_layer == IBV_LINK_LAYER_ETHERNET && i < attr->gid_tbl_len; i++) {
		union ibv_gid entry;
		if (ibv_query_gid(d->ctx, port, i, &entry) == 0 && memcmp(entry.raw, wanted, 16) == 0)
			return true;
	}
	return interface_has_ip(d, port, wanted);
}

/* 1: this is it. */
static int try_device(struct choice *c, const char *name)
{
	struct vdevice *d;
	int found = 0;
	if (vdevice_open(&d, name, NULL) < 0)
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

int vaddress_choose(char device[VDEVICE_NAME_MAX], uint8_t *port, const struct sockaddr *local, struct zerr *err)
{
	uint8_t gid[16];
	struct choice c = {.wanted = to_gid(gid, local) ? gid : NULL, .device = device, .port = port};
	int n = 0, found = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	for (int i = 0; list && i < n && !found; i++)
		found = try_device(&c, ibv_get_device_name(list[i]));
	if (list)
		ibv_free_device_list(list);
	if (found || c.active == 1)
		return 0;
	if (c.active == 0)
		return zerr_set(err, -ENODEV, "no RDMA device of this host has an active port");
	return zerr_set(err, -ENODEV,
		"%d RDMA ports are active on this host and none has the IP address that leads to "
		"the zipper: ZIPPER_DEVICE must say which to use",
		c.active);
}
