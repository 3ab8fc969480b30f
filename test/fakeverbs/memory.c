/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions and windows of the fake, and the access that they give. */
#include "test/fakeverbs/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fmw {
	struct ibv_mw mw;
	uint32_t index;
};

/* --- children --- */

static bool fork_ready; /* of this process */

bool fake_fork_ready(const struct fake_fabric *f)
{
	return f->old_fork && fork_ready;
}

__attribute__((visibility("default"))) enum ibv_fork_status ibv_is_fork_initialized(void)
{
	const struct fake_fabric *f = fake_fabric();
	return !f || !f->old_fork ? IBV_FORK_UNNEEDED : fork_ready ? IBV_FORK_ENABLED : IBV_FORK_DISABLED;
}

__attribute__((visibility("default"))) int ibv_fork_init(void)
{
	struct fake_fabric *f = fake_fabric();
	int code = 0;
	fake_lock(f);
	for (uint32_t i = 0; i < FAKE_CONTEXTS; i++)
		if (f->context[i].pid == getpid() && !fork_ready)
			code = EINVAL; /* its pages may be registered already */
	fake_unlock(f);
	fork_ready |= code == 0;
	return code;
}

/* Whole pages; a page that two regions share comes back with the first. */
static void advise(const struct fake_fabric *f, const struct fake_key *k, int advice)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = k->start & ~(page - 1);
	if (fake_fork_ready(f))
		madvise((void *)(uintptr_t)start, k->start + k->len - start, advice);
}

/* --- regions --- */

static uint64_t locked; /* bytes of this process's regions, however often they are registered */

static bool may_lock(const struct ibv_pd *pd, size_t bytes)
{
	const uint64_t limit = (uint64_t)fcontext_of(pd->context)->dev->memlock_kib * 1024;
	return limit == 0 || locked + bytes <= limit;
}

static struct fake_key *new_key(struct fake_fabric *f, struct ibv_pd *pd)
{
	static uint32_t from = 1;
	for (uint32_t i = 0; i < FAKE_KEYS; i++) {
		uint32_t n = (from + i) % FAKE_KEYS;
		struct fake_key *k = &f->key[n];
		if (n == 0 || k->used)
			continue;
		from = n + 1; /* a key that has just been given up stays wrong for long */
		*k = (struct fake_key){.used = true, .pid = getpid(), .pd = (uintptr_t)fpd_base(pd), .key = n << 8};
		fpd_base(pd)->users++;
		return k;
	}
	return NULL;
}

__attribute__((visibility("default"))) struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
	uint64_t iova, unsigned int access)
{
	struct fake_fabric *f = fake_fabric();
	struct ibv_mr *mr = calloc(1, sizeof(*mr));
	struct fake_key *k = NULL;
	int code = mr ? 0 : ENOMEM;
	fake_lock(f);
	if (code == 0)
		code = fcontext_is_lost(pd->context) ? EIO : fake_hit(f, FAKE_REG);
	if (code == 0 && (iova != (uintptr_t)addr || length == 0 ||
				 (access & (IBV_ACCESS_REMOTE_WRITE) && !(access & IBV_ACCESS_LOCAL_WRITE))))
		code = EINVAL;
	if (code == 0 && (!may_lock(pd, length) || !(k = new_key(f, pd))))
		code = ENOMEM;
	if (code == 0) {
		locked += length;
		k->start = (uintptr_t)addr;
		k->len = length;
		k->access = access;
		advise(f, k, MADV_DONTFORK);
		*mr = (struct ibv_mr){.context = pd->context,
			.pd = pd,
			.addr = addr,
			.length = length,
			.lkey = k->key,
			.rkey = k->key,
			.handle = k->key >> 8};
	}
	fake_unlock(f);
	if (code == 0)
		return mr;
	free(mr);
	errno = code;
	return NULL;
}

#undef ibv_reg_mr
__attribute__((visibility("default"))) struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
	int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

__attribute__((visibility("default"))) int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct fake_fabric *f = fake_fabric();
	int code = 0;
	fake_lock(f);
	struct fake_key *k = &f->key[mr->handle];
	if (!k->used || k->key != mr->lkey) {
		fake_complain(f, "a memory region that is none is deregistered");
		code = EINVAL;
	} else if (k->windows) {
		fake_complain(f, "a memory region with %u windows is deregistered", k->windows);
		code = EBUSY;
	} else {
		fpd_base(mr->pd)->users--;
		advise(f, k, MADV_DOFORK);
		k->used = false;
		locked -= mr->length;
	}
	fake_unlock(f);
	if (code == 0)
		free(mr);
	return code;
}

/* --- windows --- */

struct ibv_mw *fake_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct fake_fabric *f = fake_fabric();
	struct fmw *w = calloc(1, sizeof(*w));
	struct fake_key *k = NULL;
	int code = w ? 0 : ENOMEM;
	fake_lock(f);
	if (code == 0)
		code = fcontext_is_lost(pd->context) ? EIO : fake_hit(f, FAKE_MW);
	if (code == 0 && type != IBV_MW_TYPE_2)
		code = EOPNOTSUPP;
	if (code == 0 && !(k = new_key(f, pd)))
		code = ENOMEM;
	if (code == 0) {
		k->window = true;
		w->index = k->key >> 8;
		w->mw = (struct ibv_mw){.context = pd->context, .pd = pd, .rkey = k->key, .type = type};
		k->key = 0;
	}
	fake_unlock(f);
	if (code == 0)
		return &w->mw;
	free(w);
	errno = code;
	return NULL;
}

static void unbind(struct fake_fabric *f, struct fake_key *k)
{
	f->key[k->region >> 8].windows--;
	k->key = 0;
}

int fake_dealloc_mw(struct ibv_mw *mw)
{
	struct fake_fabric *f = fake_fabric();
	struct fmw *w = (struct fmw *)mw;
	fake_lock(f);
	struct fake_key *k = &f->key[w->index];
	if (k->key)
		unbind(f, k);
	k->used = false;
	fpd_base(mw->pd)->users--;
	fake_unlock(f);
	free(w);
	return 0;
}

enum ibv_wc_status fake_bind(struct fake_fabric *f, const struct fake_qp *q, const struct fake_swqe *w)
{
	struct fake_key *k = &f->key[(w->rkey >> 8) % FAKE_KEYS],
			*region = &f->key[((uint32_t)w->value >> 8) % FAKE_KEYS];
	const unsigned remote = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	const uint64_t start = w->sge[0].addr, len = w->remote;
	if (!k->used || !k->window || k->key || k->pid != q->pid || k->pd != q->pd)
		return IBV_WC_MW_BIND_ERR; /* bound, as a window of type 2 is only from the invalid state */
	if (!region->used || region->window || region->key != (uint32_t)w->value || region->pd != k->pd ||
		!(region->access & IBV_ACCESS_MW_BIND) || w->imm & ~remote ||
		(w->imm & IBV_ACCESS_REMOTE_WRITE && !(region->access & IBV_ACCESS_LOCAL_WRITE)))
		return IBV_WC_MW_BIND_ERR;
	if (start < region->start || len > region->len || start - region->start > region->len - len)
		return IBV_WC_MW_BIND_ERR;
	k->start = start;
	k->len = len;
	k->access = w->imm;
	k->key = w->rkey;
	k->qp = q->number;
	k->region = region->key;
	region->windows++;
	return IBV_WC_SUCCESS;
}

enum ibv_wc_status fake_invalidate(struct fake_fabric *f, const struct fake_qp *q, const struct fake_swqe *w)
{
	struct fake_key *k = &f->key[(w->rkey >> 8) % FAKE_KEYS];
	if (!k->used || !k->window || k->key != w->rkey || k->qp != q->number || k->pid != q->pid)
		return IBV_WC_MW_BIND_ERR;
	unbind(f, k);
	return IBV_WC_SUCCESS;
}

/* --- access --- */

static struct fake_key *find(struct fake_fabric *f, uint32_t key, uint64_t addr, uint64_t len, unsigned access)
{
	struct fake_key *k = &f->key[(key >> 8) % FAKE_KEYS];
	if (!k->used || k->key != key || key == 0 || (k->access & access) != access)
		return NULL;
	return addr < k->start || len > k->len || addr - k->start > k->len - len ? NULL : k;
}

struct fake_key *fake_local(struct fake_fabric *f, const struct fake_qp *q, uint64_t pd, const struct ibv_sge *sge,
	unsigned access)
{
	struct fake_key *k = find(f, sge->lkey, sge->addr, sge->length, access);
	return k && !k->window && k->pid == q->pid && k->pd == pd ? k : NULL;
}

struct fake_key *fake_remote(struct fake_fabric *f, const struct fake_qp *owner, uint32_t rkey, uint64_t addr,
	uint64_t len, unsigned access)
{
	struct fake_key *k = find(f, rkey, addr, len, access);
	if (!k || k->pid != owner->pid || k->pd != owner->pd || (owner->access & access) != access ||
		(k->window && k->qp != owner->number))
		return NULL;
	return k->window ? &f->key[k->region >> 8] : k; /* whether memory is stale is the region's */
}
