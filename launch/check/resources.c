/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges limits, RDMA ports and the clock of a host, see resources.h. */
#include "launch/check/resources.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/doctor/limits.h"
#include "common/doctor/rdma.h"

#define FILES_BASE 64 /* descriptors of a rank without zippers: files, MPI's own connections */
#define FILES_RAIL 2  /* for each zipper, besides a channel to each part */
#define LOCKED_ENOUGH (UINT64_C(64) << 20)
#define CLOCK_MS 2000 /* tolerated */

static void say(const struct zresources *r, enum zreport_level level, const char *advice, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void say(const struct zresources *r, enum zreport_level level, const char *advice, const char *fmt, ...)
{
	char text[512];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	r->say(r->ctx, level, advice, text);
}

static void judge_files(const struct zresources *r, const char *text)
{
	const uint64_t soft = strtoull(text, NULL, 10);
	const uint64_t need = FILES_BASE + (uint64_t)r->rails->n * (uint64_t)(r->plan->nparts + FILES_RAIL);
	if (soft < need)
		say(r, ZREPORT_BAD,
			"raise it there (nofile in limits.conf(5)), or before zmpirun where it is passed on",
			"ulimit -n is %" PRIu64 ", and a rank needs %" PRIu64, soft, need);
}

/* The address of a part at a zipper that carries the job, or NULL. */
static const struct zaddr *find_address(const struct zresources *r, int rail)
{
	const struct zroute *route = r->rails->used[rail];
	for (int i = 0; i < route->nports; i++)
		if (strcmp(route->port[i].fabric, r->plan->parts[r->part].name) == 0)
			return &route->port[i].addr;
	return NULL;
}

/* A port address of a zipper on this part's network, if that is reached by RDMA. */
static const struct zaddr *find_rdma(const struct zresources *r)
{
	for (int i = 0; i < r->rails->n; i++) {
		const struct zaddr *a = find_address(r, i);
		if (a && zaddr_traits(a)->by_device)
			return a;
	}
	return NULL;
}

static void judge_locked(const struct zresources *r, const char *text)
{
	const uint64_t soft = strtoull(text, NULL, 10);
	char is[32];
	if (soft < LOCKED_ENOUGH)
		say(r, ZREPORT_WARN,
			"make it unlimited there (memlock in limits.conf(5), and in the service of sshd or slurmd)",
			"ulimit -l is %s: RDMA connections have few buffers, or stay with TCP",
			zlimits_format(is, soft, 1));
}

struct port { /* as the probe tells: NAME ACTIVE ETHERNET MTU KEYS|STATE|RATE */
	char name[80];
	int active, ethernet, mtu;
	const char *rest;
};

static bool read_port(struct port *p, const char *text)
{
	int at = 0;
	if (sscanf(text, "%79s %d %d %d %n", p->name, &p->active, &p->ethernet, &p->mtu, &at) != 4)
		return false;
	p->rest = text + at;
	return true;
}

/* Is a partition among the port's? Membership does not matter here. */
static bool has_partition(const struct port *p, uint32_t partition)
{
	char *after = NULL;
	for (const char *key = p->rest; *key && *key != '|'; key = after + strspn(after, " ")) {
		const unsigned long number = strtoul(key, &after, 16);
		if (after == key)
			return false;
		if ((number & 0x7fff) == (partition & 0x7fff))
			return true;
	}
	return false;
}

static void judge_port(const struct zresources *r, const struct port *p, const struct zaddr *zipper)
{
	const uint32_t partition = zipper->net[ZADDR_PARTITION];
	if (p->ethernet && p->mtu > 0 && zrdma_roce_mtu(p->mtu) < 1024)
		say(r, ZREPORT_WARN,
			"raise the MTU of its network interface, best to 4200 or more, on the whole network",
			"RDMA port %s: its MTU of %d leaves RoCE %d bytes", p->name, p->mtu, zrdma_roce_mtu(p->mtu));
	if (!p->ethernet && partition > 0 && !has_partition(p, partition - 1))
		say(r, ZREPORT_BAD,
			"ask the administrator of the subnet manager, or take another partition= in the hostfile",
			"RDMA port %s is not in partition 0x%04x", p->name, partition - 1);
}

/* device: which port ranks use, or NULL: any active one. */
static void judge_ports(const struct zresources *r, const struct zfacts *f, const struct zaddr *zipper,
	const char *device)
{
	struct port p;
	char down[160] = "it has none";
	bool active = false;
	for (int i = 0; i < f->n; i++) {
		if (strcmp(f->fact[i].key, "port") != 0 || !read_port(&p, f->fact[i].text) ||
			(device && strcmp(device, p.name) != 0))
			continue;
		const char *state = strchr(p.rest, '|');
		if (p.active)
			judge_port(r, &p, zipper);
		else
			snprintf(down, sizeof(down), "%s is %.*s", p.name, state ? (int)strcspn(state + 1, "|") : 0,
				state ? state + 1 : "");
		active |= p.active;
	}
	if (!active)
		say(r, ZREPORT_BAD, "see \"ibv_devinfo\" there, and device= in zipper.hosts(5)",
			"no RDMA port %s%sis active: %s", device ? device : "", device ? " " : "", down);
}

static void judge_clock(const struct zresources *r, const char *text)
{
	const int64_t there = strtoll(text, NULL, 10);
	const int64_t off = there < r->begin_ms - CLOCK_MS ? r->begin_ms - there
			    : there > r->end_ms + CLOCK_MS ? there - r->end_ms
							   : 0;
	if (off > 0)
		say(r, ZREPORT_WARN, "run chrony or ntpd on all hosts: credentials, MUNGE and make need the same time",
			"its clock is %" PRId64 ".%" PRId64 " s %s that of this machine", off / 1000, off % 1000 / 100,
			there < r->begin_ms ? "behind" : "ahead of");
}

void zresources_judge(const struct zresources *r, const struct zfacts *f)
{
	const char *files = zfacts_find(f, "files"), *locked = zfacts_find(f, "locked"),
		   *clock = zfacts_find(f, "clock");
	const struct zcluster *cluster = r->plan->parts[r->part].cluster;
	const struct zaddr *rdma = find_rdma(r);
	if (files)
		judge_files(r, files);
	if (rdma && locked)
		judge_locked(r, locked);
	if (rdma)
		judge_ports(r, f, rdma, cluster ? cluster->device : NULL);
	if (clock)
		judge_clock(r, clock);
}
