/* SPDX-License-Identifier: BSD-3-Clause */
/* fakectl: changes the fabric that FAKEVERBS_FABRIC names, for shell tests. */
#include "test/fakeverbs/fabric.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int usage(void)
{
	fputs("usage: fakectl up|down DEVICE PORT | gone DEVICE [PID] | fail POINT VALUE [AFTER [TIMES [PID]]] | "
	      "complaints "
	      "|\n"
	      "       count POINT | qps | lost | silence PID | keep PID | seek PID | seeks\n",
		stderr);
	return 2;
}

static int find_point(const char *name)
{
	for (int p = 0; p < FAKE_POINTS; p++)
		if (strcmp(fake_point_names[p], name) == 0)
			return p;
	return -1;
}

static unsigned argument(int argc, char **argv, int i)
{
	return i < argc ? (unsigned)strtoul(argv[i], NULL, 0) : 0;
}

/* Prints one line for each queue pair, for tests. */
static void list_qps(struct fake_fabric *f)
{
	for (uint32_t i = 0; i < f->nqps; i++) {
		const struct fake_qp *q = &f->qp[i];
		if (q->used)
			printf("pid=%d %s:%u state=%d dlid=%u sl=%u pkey=0x%04x global=%d domain=%d single=%d "
			       "context=%u waits=%d shared=%d\n",
				(int)q->pid, f->device[q->device].name, q->port, (int)q->state, q->dlid, q->sl,
				q->port ? f->device[q->device].port[q->port - 1].pkey[q->pkey_index] : 0, q->global,
				q->domain, q->single, q->context, q->waits, !q->own_rq);
	}
}

/* Queue pairs that are still open, in processes that live. */
static unsigned lost_contexts(const struct fake_fabric *f)
{
	unsigned n = 0;
	for (int i = 0; i < FAKE_CONTEXTS; i++)
		n += f->context[i].pid && f->context[i].lost && kill(f->context[i].pid, 0) == 0;
	return n;
}

int main(int argc, char **argv)
{
	struct fake_fabric *f = fake_fabric_open(getenv("FAKEVERBS_FABRIC"));
	const char *what = argc > 1 ? argv[1] : "";
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0), rc = 0;
	if (!f || sock < 0) {
		perror("fakectl");
		return 1;
	}
	struct fake_device *d = argc > 2 ? fake_device_find(f, argv[2]) : NULL;
	int point = argc > 2 ? find_point(argv[2]) : -1;
	unsigned port = argument(argc, argv, 3);
	fake_lock(f);
	if ((strcmp(what, "up") == 0 || strcmp(what, "down") == 0) && d && port >= 1 && (int)port <= d->ports)
		fake_port_set(f, sock, (unsigned)(d - f->device), port, what[0] == 'u');
	else if (strcmp(what, "gone") == 0 && d)
		fake_device_gone(f, sock, (unsigned)(d - f->device), (pid_t)port);
	else if (strcmp(what, "lost") == 0)
		printf("%u\n", lost_contexts(f));
	else if (strcmp(what, "fail") == 0 && point >= 0 && argc > 3)
		f->fault[point] = (struct fake_fault){.value = (int)port,
			.after = argument(argc, argv, 4),
			.times = argument(argc, argv, 5),
			.pid = (pid_t)argument(argc, argv, 6)};
	else if (strcmp(what, "complaints") == 0)
		printf("%u\n", f->complaints);
	else if (strcmp(what, "count") == 0 && point >= 0)
		printf("%llu\n", (unsigned long long)f->operations[point]);
	else if (strcmp(what, "silence") == 0 && argc > 2)
		f->silent = (pid_t)argument(argc, argv, 2); /* requests that wait go on with the next receives */
	else if (strcmp(what, "keep") == 0 && argc > 2)
		f->kept = (pid_t)argument(argc, argv, 2); /* likewise */
	else if (strcmp(what, "seek") == 0 && argc > 2)
		f->seeking = (pid_t)argument(argc, argv, 2);
	else if (strcmp(what, "seeks") == 0)
		printf("%u\n", f->seeks);
	else if (strcmp(what, "qps") == 0)
		list_qps(f);
	else
		rc = usage();
	fake_unlock(f);
	return rc;
}
