/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that all processes of a fabric share, see fabric.h: making it, its lock, faults. */
#include "test/fakeverbs/fabric.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x66616b6576657262u
#define BYTES ((size_t)1 << 30) /* of addresses: only the used part becomes memory */
#define DEFAULT "fka,fkb/ip=127.0.0.2"

const char *const fake_point_names[FAKE_POINTS] = {"send", "write", "read", "local", "recv", "post", "post-recv",
	"poll", "notify", "open", "pd", "td", "reg", "channel", "cq", "srq", "qp", "modify", "route", "end", "mw"};

/* --- devices --- */

static void bad(const char *spec)
{
	fprintf(stderr, "fakeverbs: FAKEVERBS: bad device \"%s\"\n", spec);
	abort();
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);
	if (*end || end == text)
		bad(text);
	return n;
}

static void init_ports(struct fake_device *d, unsigned index, uint32_t ip, uint16_t pkey)
{
	for (int p = 0; p < d->ports; p++) {
		struct fake_port *port = &d->port[p];
		const uint32_t own = htonl(ip + (uint32_t)p);
		*port = (struct fake_port){.state = IBV_PORT_ACTIVE,
			.lid = (uint16_t)(16 * (index + 1) + (unsigned)p),
			.pkey = {0x7fff, 0xffff, pkey == 0xffff ? 0 : 0x8777, pkey & 0x7fff, pkey}};
		if (d->ib) {
			static const uint8_t prefix[8] = {0xfe, 0x80};
			memcpy(port->gid, prefix, 8);
			port->gid[15] = (uint8_t)port->lid;
		} else {
			port->gid[10] = port->gid[11] = 0xff;
			memcpy(port->gid + 12, &own, 4);
		}
	}
}

static void add_device(struct fake_fabric *f, char *spec)
{
	char *rest = spec, *word = strsep(&rest, "/");
	uint32_t ip = 0x7f000001;
	uint16_t pkey = 0xffff;
	if (f->ndevices == FAKE_DEVICES || strlen(word) == 0 || strlen(word) >= sizeof(f->device[0].name))
		bad(spec);
	struct fake_device *d = &f->device[f->ndevices];
	*d = (struct fake_device){.ports = 1, .v2 = true, .inline_bytes = FAKE_INLINE_MAX, .srq_max = 16384};
	strcpy(d->name, word);
	while ((word = strsep(&rest, "/"))) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (!value && strcmp(word, "ib") == 0)
			d->ib = true;
		else if (!value && strcmp(word, "grh") == 0)
			d->grh = true;
		else if (!value && (strcmp(word, "v1") == 0 || strcmp(word, "v12") == 0))
			d->v1 = true, d->v2 = word[2] == '2';
		else if (!value && strcmp(word, "iwarp") == 0)
			d->iwarp = true;
		else if (!value && strcmp(word, "silent") == 0)
			d->silent = true;
		else if (!value && strcmp(word, "mute") == 0)
			d->mute = true;
		else if (!value && strcmp(word, "mw") == 0)
			d->windows = true;
		else if (!value && strcmp(word, "oldfork") == 0)
			f->old_fork = true;
		else if (!value)
			bad(word);
		else if (strcmp(word, "ip") == 0)
			ip = ntohl(inet_addr(value));
		else if (strcmp(word, "ports") == 0 && number(value) <= FAKE_PORTS)
			d->ports = (int)number(value);
		else if (strcmp(word, "pkey") == 0)
			pkey = (uint16_t)number(value);
		else if (strcmp(word, "tds") == 0)
			d->tds = (uint32_t)number(value);
		else if (strcmp(word, "inline") == 0 && number(value) <= FAKE_INLINE_MAX)
			d->inline_bytes = (uint32_t)number(value);
		else if (strcmp(word, "srq") == 0)
			d->srq_max = (uint32_t)number(value);
		else if (strcmp(word, "lag") == 0)
			d->lag_us = (uint32_t)number(value);
		else if (strcmp(word, "memlock") == 0)
			d->memlock_kib = (uint32_t)number(value);
		else
			bad(word);
	}
	init_ports(d, f->ndevices++, ip, pkey);
}

static void init_fabric(struct fake_fabric *f)
{
	const char *spec = getenv("FAKEVERBS");
	char text[1024], *rest = text, *one;
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&f->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	f->end = (sizeof(*f) + 4095) & ~(uint64_t)4095;
	snprintf(text, sizeof(text), "%s", spec ? spec : DEFAULT);
	while ((one = strsep(&rest, ",")))
		add_device(f, one);
	f->magic = MAGIC;
}

/* --- making and opening --- */

struct fake_fabric *fake_fabric_open(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1, code;
	struct stat st;
	if (path && fd < 0)
		return NULL;
	if (path && (flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0 ||
			    (st.st_size < (off_t)BYTES && ftruncate(fd, (off_t)BYTES) != 0))) {
		code = errno;
		close(fd);
		errno = code;
		return NULL;
	}
	struct fake_fabric *f = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_NORESERVE | (path ? 0 : MAP_ANONYMOUS), fd, 0);
	if (f != MAP_FAILED && f->magic != MAGIC)
		init_fabric(f);
	code = errno;
	if (fd >= 0) {
		flock(fd, LOCK_UN); /* the mapping keeps it */
		close(fd);
	}
	errno = code;
	return f == MAP_FAILED ? NULL : f;
}

static struct fake_fabric *fabric;

static void open_own(void)
{
	fabric = fake_fabric_open(getenv("FAKEVERBS_FABRIC"));
}

struct fake_fabric *fake_fabric(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_own);
	return fabric;
}

/* --- lock and memory --- */

static bool unseen;

#ifdef __SANITIZE_THREAD__
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
static void hide(bool from_now_on)
{
	if (from_now_on) {
		__tsan_ignore_thread_begin();
		AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
	} else {
		AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
		__tsan_ignore_thread_end();
	}
}
#else
static void hide(bool from_now_on)
{
	(void)from_now_on;
}
#endif

void fake_unseen(bool now)
{
	unseen = now;
}

void fake_lock(struct fake_fabric *f)
{
	if (unseen)
		hide(true);
	if (pthread_mutex_lock(&f->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&f->lock);
}

void fake_unlock(struct fake_fabric *f)
{
	pthread_mutex_unlock(&f->lock);
	if (unseen)
		hide(false);
}

void *fake_ptr(struct fake_fabric *f, fake_at at)
{
	return at ? (uint8_t *)f + at : NULL;
}

static unsigned class_of(size_t bytes)
{
	unsigned c = 6;
	while (((size_t)1 << c) < bytes)
		c++;
	return c;
}

fake_at fake_alloc(struct fake_fabric *f, size_t bytes)
{
	unsigned c = class_of(bytes);
	fake_at at = f->free[c];
	if (at) {
		memcpy(&f->free[c], fake_ptr(f, at), sizeof(at));
	} else if (f->end + ((uint64_t)1 << c) <= BYTES) {
		at = f->end;
		f->end += (uint64_t)1 << c;
	}
	if (at)
		memset(fake_ptr(f, at), 0, bytes);
	return at;
}

void fake_free(struct fake_fabric *f, fake_at at, size_t bytes)
{
	unsigned c = class_of(bytes);
	if (!at)
		return;
	memcpy(fake_ptr(f, at), &f->free[c], sizeof(at));
	f->free[c] = at;
}

/* --- faults --- */

int fake_hit(struct fake_fabric *f, enum fake_point point)
{
	struct fake_fault *t = &f->fault[point];
	f->operations[point]++;
	if (t->value == 0 || (t->pid && t->pid != getpid()))
		return 0;
	if (t->after > 0) {
		t->after--;
		return 0;
	}
	int value = t->value;
	if (t->times <= 1)
		t->value = 0;
	else
		t->times--;
	return value;
}

void fake_complain(struct fake_fabric *f, const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	f->complaints++;
	fprintf(stderr, "fakeverbs: %d: %s\n", (int)getpid(), text);
}

struct fake_device *fake_device_find(struct fake_fabric *f, const char *name)
{
	for (uint32_t i = 0; i < f->ndevices; i++)
		if (strcmp(f->device[i].name, name) == 0)
			return &f->device[i];
	return NULL;
}

const uint8_t *fake_gid(const struct fake_device *d, unsigned port, int index)
{
	const int first = d->ib ? 1 : d->v1 + d->v2; /* the same address once for each version */
	if (port < 1 || (int)port > d->ports || index < 0 || index >= first + d->port[port - 1].more_gids)
		return NULL;
	return index < first ? d->port[port - 1].gid : d->port[port - 1].more[index - first];
}

void fake_event(struct fake_fabric *f, int sock, unsigned device, pid_t pid, enum ibv_event_type type, int port)
{
	const int event[2] = {(int)type, port};
	for (int i = 0; i < FAKE_CONTEXTS; i++) {
		struct fake_context *c = &f->context[i];
		if (c->pid && c->device == device && (!pid || pid == c->pid))
			sendto(sock, event, sizeof(event), MSG_DONTWAIT | MSG_NOSIGNAL,
				(struct sockaddr *)&c->async.sun, c->async.len);
	}
}

void fake_qp_event(struct fake_fabric *f, int sock, const struct fake_qp *q, enum ibv_event_type type)
{
	const int event[2] = {(int)type, (int)q->number};
	const struct fake_context *c = &f->context[q->context];
	sendto(sock, event, sizeof(event), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&c->async.sun,
		c->async.len);
}

/* Completions that are held back. */
static void lose_late(struct fake_fabric *f, fake_at at)
{
	struct fake_cq *cq = fake_ptr(f, at);
	struct fake_cqe *ring = fake_ptr(f, cq->ring);
	uint32_t to = cq->head;
	for (uint32_t i = cq->head; i != cq->tail; i++)
		if (ring[i % cq->size].seen_ns == 0)
			ring[to++ % cq->size] = ring[i % cq->size];
	cq->tail = to;
}

void fake_device_gone(struct fake_fabric *f, int sock, unsigned device, pid_t pid)
{
	for (int i = 0; i < FAKE_CONTEXTS; i++) {
		struct fake_context *c = &f->context[i];
		c->lost |= c->pid && c->device == device && (!pid || pid == c->pid);
	}
	for (uint32_t i = 0; i < f->nqps; i++) {
		struct fake_qp *q = &f->qp[i];
		if (!q->used || q->device != device || (pid && pid != q->pid))
			continue;
		q->gone = true;
		q->waits = false;
		lose_late(f, q->send_cq);
		lose_late(f, q->recv_cq);
	}
	fake_event(f, sock, device, pid, IBV_EVENT_DEVICE_FATAL, 0);
}

void fake_port_set(struct fake_fabric *f, int sock, unsigned device, unsigned port, bool up)
{
	f->device[device].port[port - 1].state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	fake_event(f, sock, device, 0, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, (int)port);
}

void fake_port_renumber(struct fake_fabric *f, int sock, unsigned device, unsigned port)
{
	struct fake_port *p = &f->device[device].port[port - 1];
	if (f->device[device].ib)
		p->lid = (uint16_t)(p->lid + 256);
	else
		p->gid[14]++;
	fake_event(f, sock, device, 0, f->device[device].ib ? IBV_EVENT_LID_CHANGE : IBV_EVENT_GID_CHANGE, (int)port);
}
