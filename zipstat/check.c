/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries zippers and this host, see check.h. */
#include "zipstat/check.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/doctor/limits.h"
#include "common/doctor/rdma.h"
#include "common/doctor/report.h"
#include "config.h"
#include "zipstat/ask.h"

#define FILES_MIN 256 /* descriptors: fewer are hardly enough for one small job */

static void judge_status(struct zreport *r, const char *address, const struct zctl_status_reply *s)
{
	const int before = r->count[ZREPORT_BAD] + r->count[ZREPORT_WARN];
	if (s->draining)
		zreport_add(r, ZREPORT_BAD, "\"zipstat resume\" ends that",
			"zipper %s: it is drained, and takes no new jobs", address);
	if (s->max_jobs > 0 && s->jobs >= s->max_jobs)
		zreport_add(r, ZREPORT_BAD, "wait, or raise max_jobs", "zipper %s: it has %u jobs, and takes no more",
			address, s->jobs);
	if (s->max_connections > 0 && s->connections >= s->max_connections)
		zreport_add(r, ZREPORT_BAD, "wait, or raise max_connections",
			"zipper %s: it has %u connections, and takes no more", address, s->connections);
	if (strcmp(s->release, PACKAGE_VERSION) != 0)
		zreport_add(r, ZREPORT_WARN, "update the older one",
			"zipper %s: its zipperd is of release %s, and this zipstat of %s", address, s->release,
			PACKAGE_VERSION);
	if (r->count[ZREPORT_BAD] + r->count[ZREPORT_WARN] == before)
		zreport_add(r, ZREPORT_OK, NULL,
			"zipper %s: zipperd %s knows you and takes new jobs; jobs now: %u, connections: %u of %u",
			address, s->release, s->jobs, s->connections, s->max_connections);
}

static void check_zipper(struct zreport *r, const struct check_options *o, const char *address)
{
	const struct ask_options as = {.address = address, .user = o->user};
	struct zctl_status_reply status = {0};
	struct zsession *session = NULL;
	struct zerr err = {{0}};
	int rc = ask_open(&session, &as, &err);
	if (rc == 0)
		rc = zsession_status(session, &status, &err);
	if (rc == 0)
		judge_status(r, address, &status);
	else if (rc == -EPROTONOSUPPORT)
		zreport_add(r, ZREPORT_WARN, "update it",
			"zipper %s: its zipperd is of an earlier release than this zipstat, %s", address,
			PACKAGE_VERSION);
	else
		zreport_add(r, ZREPORT_BAD,
			rc == -ECONNREFUSED ? "no zipperd listens there: see \"systemctl status zipperd\" on its host"
			: rc == -EACCES	    ? "your key must be in its key_file, see zipperd.conf(5)"
					    : NULL,
			"zipper %s: %s", address, err.text);
	zctl_status_free(&status);
	zsession_close(session);
}

/* The soft limit in a line of /proc/PID/limits, "Max open files 1024 524288 files". */
static uint64_t read_limit(FILE *file, const char *name)
{
	char line[256], *end;
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		uint64_t limit = strtoull(line + strlen(name), &end, 10);
		return end > line + strlen(name) ? limit : ZLIMITS_NONE;
	}
	return ZLIMITS_NONE;
}

static bool is_zipperd(const char *pid)
{
	char path[300], name[32] = "";
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool is = fgets(name, sizeof(name), file) && strcmp(name, "zipperd\n") == 0;
	fclose(file);
	return is;
}

static void check_limits(struct zreport *r, const char *pid, bool has_rdma)
{
	char path[300], files[32], locked[32];
	snprintf(path, sizeof(path), "/proc/%s/limits", pid);
	FILE *file = fopen(path, "re");
	if (!file) {
		zreport_add(r, ZREPORT_WARN, "ask as its user, or as root", "zipperd (process %s): its limits: %s", pid,
			strerror(errno));
		return;
	}
	const uint64_t open = read_limit(file, "Max open files"), lock = read_limit(file, "Max locked memory");
	fclose(file);
	zlimits_format(files, open, 0);
	zlimits_format(locked, lock, 1);
	if (open < FILES_MIN)
		zreport_add(r, ZREPORT_WARN, "LimitNOFILE= in its systemd unit",
			"zipperd (process %s): ulimit -n is %s", pid, files);
	else if (has_rdma && lock != ZLIMITS_NONE)
		zreport_add(r, ZREPORT_WARN, "LimitMEMLOCK=infinity in its systemd unit",
			"zipperd (process %s): ulimit -l is %s, and RDMA connections need locked memory", pid, locked);
	else
		zreport_add(r, ZREPORT_OK, NULL, "zipperd (process %s): ulimit -n %s, -l %s", pid, files, locked);
}

static void check_port(void *report, const struct zrdma_port *p)
{
	char mtu[64] = "";
	if (p->ethernet && p->mtu > 0)
		snprintf(mtu, sizeof(mtu), ", MTU %d (RoCE: %d)", p->mtu, zrdma_roce_mtu(p->mtu));
	if (p->active)
		zreport_add(report, ZREPORT_OK, NULL, "RDMA port %s:%d: %s, %s%s, partitions %s", p->device, p->port,
			p->ethernet ? "RoCE" : "InfiniBand", p->rate, mtu, *p->keys ? p->keys : "none");
	else
		zreport_add(report, ZREPORT_WARN, "see its cable, its switch, and the subnet manager",
			"RDMA port %s:%d: its state is %s", p->device, p->port, p->state);
}

int check_run(const struct check_options *o, FILE *out)
{
	struct zreport r = {.out = out};
	for (int i = 0; i < o->naddresses; i++)
		check_zipper(&r, o, o->address[i]);
	const bool has_rdma = zrdma_visit(ZRDMA_SYSFS, check_port, &r) > 0;
	DIR *dir = opendir("/proc");
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_zipperd(e->d_name))
			check_limits(&r, e->d_name, has_rdma);
	if (dir)
		closedir(dir);
	return zreport_end(&r, "No fault was found");
}
