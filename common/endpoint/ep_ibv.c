/* SPDX-License-Identifier: BSD-3-Clause */
/* The builder's operations on libibverbs, see ep_ibv.h. */
#include "common/endpoint/ep_ibv.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE_BYTES 4096u /* a UAR page of mlx5, whatever the page size of the host is */

static uint64_t mapped_bytes(void)
{
	uint64_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64, &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void zep_ibv_init(struct zep_ibv *v, const char *device, int access)
{
	*v = (struct zep_ibv){.device = device, .access = access, .mapped = mapped_bytes()};
}

const char *zep_ibv_hint(int code)
{
	struct rlimit limit;
	const bool limited = getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
	return limited && (code == ENOMEM || code == EAGAIN) ? "; perhaps the limit of locked memory (ulimit -l)" : "";
}

static int fail_with(const struct zep_ibv *v, struct zerr *err, const char *what, const char *hint)
{
	int code = zep_ibv_refusal();
	/* a provider without this call has no function for it, or refuses unknown flags */
	if (code == ENOSYS || code == ENOTSUP)
		code = EOPNOTSUPP;
	return zerr_set(err, -code, "%s: cannot make %s: %s%s", v->device, what, strerror(code), hint);
}

static int fail(const struct zep_ibv *v, struct zerr *err, const char *what)
{
	return fail_with(v, err, what, "");
}

static int fail_locked(const struct zep_ibv *v, struct zerr *err, const char *what)
{
	return fail_with(v, err, what, zep_ibv_hint(zep_ibv_refusal()));
}

/* libibverbs has loaded the provider's library when the first device of its kind was opened. */
static void find_mlx5(struct zep_ibv *v, struct ibv_device *device)
{
	bool (*is_supported)(struct ibv_device *);
	void *library = dlopen("libmlx5.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return;
	*(void **)&is_supported = dlsym(library, "mlx5dv_is_supported");
	if (is_supported && is_supported(device))
		*(void **)&v->init_obj = dlsym(library, "mlx5dv_init_obj");
	dlclose(library); /* libibverbs keeps it */
}

static struct ibv_context *open_device(struct ibv_device *device)
{
	zep_ibv_ask();
	return ibv_open_device(device);
}

static int open_ctx(void *to, void **ctx, struct zerr *err)
{
	struct zep_ibv *v = to;
	struct ibv_device **list = ibv_get_device_list(NULL), *found = NULL;
	int rc = 0;
	if (!list)
		return zerr_set(err, -ENODEV, "there is no RDMA device %s on this host", v->device);
	for (int i = 0; list[i] && !found; i++)
		if (strcmp(ibv_get_device_name(list[i]), v->device) == 0)
			found = list[i];
	if (!found)
		rc = zerr_set(err, -ENODEV, "there is no RDMA device %s on this host", v->device);
	else if (!(*ctx = open_device(found)))
		rc = fail(v, err, "a context");
	else if (!v->init_obj)
		find_mlx5(v, found);
	ibv_free_device_list(list);
	return rc;
}

static int alloc_pd(void *to, void *ctx, void **pd, struct zerr *err)
{
	zep_ibv_ask();
	*pd = ibv_alloc_pd(ctx);
	return *pd ? 0 : fail(to, err, "a protection domain");
}

static int alloc_td(void *to, void *ctx, void **td, struct zerr *err)
{
	struct ibv_td_init_attr attr = {.comp_mask = 0};
	zep_ibv_ask();
	*td = ibv_alloc_td(ctx, &attr);
	return *td ? 0 : fail(to, err, "a thread domain");
}

static int alloc_parent(void *to, void *ctx, void *pd, void *td, void **parent, struct zerr *err)
{
	struct ibv_parent_domain_init_attr attr = {.pd = pd, .td = td};
	zep_ibv_ask();
	*parent = ibv_alloc_parent_domain(ctx, &attr);
	return *parent ? 0 : fail(to, err, "a parent domain");
}

static int reg_mr(void *to, void *pd, void *addr, size_t len, void **mr, struct zerr *err)
{
	const struct zep_ibv *v = to;
	zep_ibv_ask();
	*mr = ibv_reg_mr(pd, addr, len, v->access);
	return *mr ? 0 : fail_locked(v, err, "a memory region");
}

static int create_cq(void *to, void *ctx, unsigned depth, bool single, void **cq, struct zerr *err)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = depth,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	zep_ibv_ask();
	if (!single) {
		*cq = ibv_create_cq(ctx, (int)depth, NULL, NULL, 0);
		return *cq ? 0 : fail_locked(to, err, "a completion queue");
	}
	struct ibv_cq_ex *ex = ibv_create_cq_ex(ctx, &attr);
	*cq = ex ? ibv_cq_ex_to_cq(ex) : NULL;
	if (!ex && zep_ibv_refusal() == EINVAL)
		errno = EOPNOTSUPP; /* the provider has the call but not the flag; if the depth were the reason, the
				       plain call says so */
	return ex ? 0 : fail_locked(to, err, "a single-threaded completion queue");
}

static int create_qp(void *to, void *pd, void *cq, const struct zep_plan *plan, void **qp, struct zerr *err)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap =
			{
				.max_send_wr = plan->send_depth,
				.max_recv_wr = plan->recv_depth,
				.max_send_sge = 1,
				.max_recv_sge = 1,
				.max_inline_data = plan->inline_bytes,
			},
	};
	zep_ibv_ask();
	*qp = ibv_create_qp(pd, &attr);
	return *qp ? 0 : fail_locked(to, err, "a queue pair");
}

static void destroy(void *to, enum zep_kind kind, void *object)
{
	(void)to;
	switch (kind) {
	case ZEP_CTX:
		ibv_close_device(object);
		break;
	case ZEP_PD:
	case ZEP_PARENT:
		ibv_dealloc_pd(object);
		break;
	case ZEP_TD:
		ibv_dealloc_td(object);
		break;
	case ZEP_MR:
		ibv_dereg_mr(object);
		break;
	case ZEP_CQ:
		ibv_destroy_cq(object);
		break;
	case ZEP_QP:
		ibv_destroy_qp(object);
		break;
	case ZEP_KINDS:
		break;
	}
}

/* The address of the queue pair's doorbell register is the address of its uUAR. */
static int locate(void *to, void *qp, struct zep_place *place)
{
	const struct zep_ibv *v = to;
	struct mlx5dv_qp out = {.comp_mask = 0};
	struct mlx5dv_obj obj = {.qp = {.in = qp, .out = &out}};
	if (!v->init_obj || v->init_obj(&obj, MLX5DV_OBJ_QP) != 0)
		return -EOPNOTSUPP;
	place->uuar = (uintptr_t)out.bf.reg;
	place->page = place->uuar / PAGE_BYTES;
	return 0;
}

static int allocated(void *to, uint64_t *pages, uint64_t *uuars)
{
	(void)to, (void)pages, (void)uuars;
	return -EOPNOTSUPP; /* no provider tells the number of unused ones */
}

static int bytes(void *to, uint64_t *n)
{
	const struct zep_ibv *v = to;
	uint64_t now = mapped_bytes();
	*n = now > v->mapped ? now - v->mapped : 0;
	return v->mapped ? 0 : -EOPNOTSUPP;
}

const struct zep_ops zep_ibv_ops = {
	.open_ctx = open_ctx,
	.alloc_pd = alloc_pd,
	.alloc_td = alloc_td,
	.alloc_parent = alloc_parent,
	.reg_mr = reg_mr,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.destroy = destroy,
	.locate = locate,
	.allocated = allocated,
	.bytes = bytes,
};
