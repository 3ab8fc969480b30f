/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of GIDs, see vgid.h. */
#include "common/transport/verbs/device/vgid.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GIDS_MAX 1024 /* entries in use: adapters have up to 256 a port */
#define ROCE_PORT 4791

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* stand before an address of IPv4 */

bool vgid_of(uint8_t gid[16], const struct sockaddr *sa)
{
	if (sa && sa->sa_family == AF_INET) {
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

bool vgid_is_ipv4(const uint8_t gid[16])
{
	return memcmp(gid, mapped, sizeof(mapped)) == 0;
}

/* There is no way between GIDs of different kinds. */
static int kind_of(const uint8_t gid[16])
{
	const bool is_link_local = gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
	return vgid_is_ipv4(gid) ? 4 : is_link_local ? 0 : 6;
}

bool vgid_is_global(const uint8_t gid[16])
{
	return kind_of(gid) == 6;
}

const char *vgid_format(char text[VGID_TEXT], const uint8_t gid[16])
{
	return inet_ntop(AF_INET6, gid, text, VGID_TEXT);
}

/* The entries in use of the device; or of the port, where entries must be asked for one by one. The list is to be
 * freed. */
static ssize_t list_gids(struct ibv_gid_entry **list, const struct vdevice *d, uint8_t port,
	const struct ibv_port_attr *attr)
{
	*list = malloc(GIDS_MAX * sizeof(**list));
	if (!*list)
		return 0;
	ssize_t n = ibv_query_gid_table(d->ctx, *list, GIDS_MAX, 0);
	if (n >= 0)
		return n;
	n = 0;
	for (int i = 0; i < attr->gid_tbl_len && n < GIDS_MAX; i++)
		n += ibv_query_gid_ex(d->ctx, port, (uint32_t)i, &(*list)[n], 0) == 0;
	return n;
}

static unsigned common_bits(const uint8_t *a, const uint8_t *b)
{
	unsigned n = 0;
	while (n < 128 && ((a[n / 8] ^ b[n / 8]) & (0x80 >> n % 8)) == 0)
		n++;
	return n;
}

/* The address from which packets to the peer's address start, by this host's routes. No packet is sent for that. */
static bool route_to(uint8_t own[16], const uint8_t peer[16])
{
	struct sockaddr_storage sa = {.ss_family = vgid_is_ipv4(peer) ? AF_INET : AF_INET6};
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&sa;
	socklen_t len = sa.ss_family == AF_INET ? sizeof(*v4) : sizeof(*v6);
	if (sa.ss_family == AF_INET) {
		v4->sin_port = htons(ROCE_PORT);
		memcpy(&v4->sin_addr, peer + 12, 4);
	} else {
		v6->sin6_port = htons(ROCE_PORT);
		memcpy(&v6->sin6_addr, peer, 16);
	}
	const int fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool known = fd >= 0 && connect(fd, (struct sockaddr *)&sa, len) == 0 &&
			   getsockname(fd, (struct sockaddr *)&sa, &len) == 0 && vgid_of(own, (struct sockaddr *)&sa);
	if (fd >= 0)
		close(fd);
	return known;
}

static bool is(const uint8_t *gid, const struct ibv_gid_entry *e)
{
	return gid && memcmp(gid, e->gid.raw, 16) == 0;
}

/* How well an entry suits: 0: not at all. In this order of weight: the peer's version, or else version 2; the peer's
 * kind; the address from which the route to the peer starts, or else the TCP connection; the number of bits in common
 * with the peer, or else IPv4, or at least an address that is not of one link alone. */
static unsigned rate(const struct ibv_gid_entry *e, const struct vgid_wish *w, const uint8_t *routed)
{
	const int version = e->gid_type == IBV_GID_TYPE_ROCE_V2 ? 2 : e->gid_type == IBV_GID_TYPE_ROCE_V1 ? 1 : 0;
	if (version == 0)
		return 0;
	unsigned r = 4 + (version == w->version) * 2 + (version == 2);
	r = r << 1 | (w->peer && kind_of(e->gid.raw) == kind_of(w->peer));
	r = r << 2 | (is(routed, e) ? 2 : is(w->local, e) ? 1 : 0);
	const int kind = kind_of(e->gid.raw);
	return r << 8 | (w->peer ? common_bits(e->gid.raw, w->peer) : kind == 4 ? 2 : kind == 6);
}

int vgid_find(union ibv_gid *out, const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr,
	const struct vgid_wish *w)
{
	struct ibv_gid_entry *e;
	uint8_t own[16];
	const uint8_t *routed = w->peer && route_to(own, w->peer) ? own : NULL;
	int best = -1;
	unsigned rating = 0;
	for (ssize_t n = list_gids(&e, d, port, attr), i = 0; i < n; i++) {
		const unsigned r = e[i].port_num == port ? rate(&e[i], w, routed) : 0;
		if (r <= rating)
			continue;
		rating = r;
		best = (int)e[i].gid_index;
		*out = e[i].gid;
	}
	free(e);
	return best;
}

bool vgid_has(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, const uint8_t gid[16])
{
	struct ibv_gid_entry *e;
	bool found = false;
	for (ssize_t n = list_gids(&e, d, port, attr), i = 0; i < n && !found; i++)
		found = e[i].port_num == port && is(gid, &e[i]);
	free(e);
	return found;
}
