/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to the memory of the process at the other end, see shm_rma.h. */
#define _GNU_SOURCE /* process_vm_readv, struct ucred */
#include "common/transport/shm/shm_rma.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/transport/shm/shm_link.h"

#define OP_BYTES ((size_t)1 << 20) /* one system call; other links have their turn in between */

struct key {
	uint64_t address, len;
};
_Static_assert(sizeof(struct key) <= ZRMA_KEY_BYTES, "the key fits");

/* Copies len bytes. Returns 0, or why not all bytes were copied. */
static int copy(pid_t pid, bool write, uint64_t address, void *local, size_t len)
{
	struct iovec here = {local, len}, there = {(void *)(uintptr_t)address, len};
	ssize_t n;
	do
		n = write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
			  : process_vm_readv(pid, &here, 1, &there, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len)
		return 0;
	if (n >= 0)
		return -EFAULT; /* the memory ends within these bytes */
	return errno == ESRCH ? -ECONNRESET : -errno;
}

/* --- may we? --- */

void shm_rma_offer(struct shm_link *l)
{
	/* A value that another process with this number would not have at this place by chance. */
	l->rma.value = (uint64_t)zclock_ns();
	atomic_store(&l->rma.word, l->rma.value);
	*l->map.probe = (struct shm_probe){.address = (uintptr_t)&l->rma.word, .value = l->rma.value};
}

void shm_rma_try(struct shm_link *l)
{
	const struct shm_probe probe = *l->map.probe;
	struct ucred who;
	socklen_t len = sizeof(who);
	uint64_t word;
	if (probe.address == 0 || getsockopt(l->rx.sock, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.pid <= 0 ||
		who.uid != geteuid())
		return;
	if (copy(who.pid, false, probe.address, &word, sizeof(word)) != 0 || word != probe.value)
		return;
	word++;
	if (copy(who.pid, true, probe.address, &word, sizeof(word)) == 0)
		l->rma.pid = who.pid;
}

/* --- owner --- */

static int shm_expose(struct zlink *base, enum zlink_half half, void *memory, size_t len, struct zrma_exposure *out)
{
	const struct shm_link *l = (const struct shm_link *)base;
	const struct key key = {(uintptr_t)memory, len};
	(void)half;
	if (l->rma.value == 0 || atomic_load_explicit(&l->rma.word, memory_order_relaxed) != l->rma.value + 1)
		return -EOPNOTSUPP;
	out->impl = NULL;
	memset(out->key, 0, sizeof(out->key));
	memcpy(out->key, &key, sizeof(key));
	return 0;
}

static void shm_conceal(struct zlink *base, struct zrma_exposure *e)
{
	/* A process that may use process_vm_writev here needs no permission of ours; the key is worth nothing to
	 * others. */
	(void)base;
	(void)e;
}

/* --- initiator --- */

static const void *shm_domain(const struct zlink *base, enum zlink_half half)
{
	(void)base;
	(void)half;
	return NULL;
}

static int shm_reg(struct zlink *base, enum zlink_half half, void *memory, size_t len, struct zregion **out,
	struct zerr *err)
{
	(void)base;
	(void)half;
	(void)memory;
	(void)len;
	(void)err;
	*out = NULL; /* any memory will do */
	return 0;
}

static void shm_unreg(struct zregion *region)
{
	(void)region;
}

static int shm_pin(struct zlink *base, enum zlink_half half, void *memory, size_t len, struct zregion **out)
{
	return shm_reg(base, half, memory, len, out, NULL);
}

static bool shm_is_lost(const struct zregion *region)
{
	(void)region;
	return false;
}

static void shm_limits(const struct zlink *base, struct zrma_limits *out)
{
	const struct shm_link *l = (const struct shm_link *)base;
	const uint32_t one = l->rma.pid != 0;
	*out = (struct zrma_limits){.max_bytes = OP_BYTES, .reads = one, .writes = one};
}

static bool shm_is_ordered(const struct zlink *base)
{
	(void)base; /* an operation is complete when it returns */
	return true;
}

static int start(const struct shm_link *l, struct shm_rma_half *h, const struct zrma_op *op, bool write)
{
	struct key key;
	int rc = -EPROTO;
	if (h->error)
		return h->error;
	if (h->outstanding)
		return -EAGAIN;
	if (l->rma.pid == 0 || op->len == 0 || op->len > OP_BYTES)
		return -EINVAL;
	memcpy(&key, op->key, sizeof(key));
	if (op->offset <= key.len && op->len <= key.len - op->offset)
		rc = copy(l->rma.pid, write, key.address + op->offset, op->local, op->len);
	h->done = (struct zrma_done){.cookie = op->cookie, .rc = rc};
	h->outstanding = true;
	h->error = rc;
	return 0;
}

static int shm_read(struct zlink *base, const struct zrma_op *op)
{
	struct shm_link *l = (struct shm_link *)base;
	return start(l, &l->rx.rma, op, false);
}

static int shm_write(struct zlink *base, const struct zrma_op *op)
{
	struct shm_link *l = (struct shm_link *)base;
	return start(l, &l->tx.rma, op, true);
}

static int shm_reap(struct zlink *base, enum zlink_half half, struct zrma_done *out, unsigned cap)
{
	struct shm_link *l = (struct shm_link *)base;
	struct shm_rma_half *h = half == ZLINK_RX ? &l->rx.rma : &l->tx.rma;
	if (!h->outstanding)
		return h->error;
	if (cap == 0)
		return 0;
	*out = h->done;
	h->outstanding = false;
	return 1;
}

static void shm_give_up(struct zlink *base, enum zlink_half half)
{
	(void)base; /* nothing waits for the peer */
	(void)half;
}

const struct zrma shm_rma_ops = {
	.expose = shm_expose,
	.conceal = shm_conceal,
	.domain = shm_domain,
	.reg = shm_reg,
	.unreg = shm_unreg,
	.pin = shm_pin,
	.unpin = shm_unreg,
	.is_lost = shm_is_lost,
	.limits = shm_limits,
	.is_ordered = shm_is_ordered,
	.read = shm_read,
	.write = shm_write,
	.reap = shm_reap,
	.give_up = shm_give_up,
	.min_bytes = SIZE_MAX,
};
