/* SPDX-License-Identifier: BSD-3-Clause */
/* See pair.h. */
#include "zipbench/endpoints/pair.h"

#include <errno.h>

#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static int connect_all(struct pair *p, const struct port *port, struct zerr *err)
{
	int rc = 0;
	for (unsigned i = 0; i < zep_set_used_qps(&p->set) && rc == 0; i++) {
		struct ibv_qp *mine = zep_set_used_qp(&p->set, i), *theirs = zep_set_qp(&p->far, i, 0);
		rc = port_connect(port, mine, theirs->qp_num, err);
		if (rc == 0)
			rc = port_connect(port, theirs, mine->qp_num, err);
	}
	return rc;
}

int pair_open(struct pair *p, const struct port *port, const struct zep_plan *plan, size_t target_bytes,
	struct zerr *err)
{
	static bool told; /* the user has been told what the device lacks */
	zep_ibv_init(&p->mine, port->device, ACCESS);
	int rc = zep_set_build(&p->set, plan, &zep_ibv_ops, &p->mine, told ? NULL : port->device, err);
	if (rc < 0)
		return rc;
	told = told || p->set.no_domains || p->set.no_single;
	struct zep_plan far = zep_category_plan(ZEP_STATIC, (unsigned)zep_set_used_qps(&p->set));
	far.mr_ways = far.buf_ways = far.cq_ways = far.threads;
	far.buf_bytes = target_bytes;
	far.send_depth = far.cq_depth = 1;
	zep_ibv_init(&p->theirs, port->device, ACCESS);
	rc = zep_set_build(&p->far, &far, &zep_ibv_ops, &p->theirs, NULL, err);
	if (rc == 0) {
		p->target = zep_set_buf(&p->far, 0, 0);
		p->rkey = ((struct ibv_mr *)zep_set_mr(&p->far, 0, 0))->rkey;
		rc = connect_all(p, port, err);
		if (rc < 0)
			zep_set_destroy(&p->far);
	}
	if (rc < 0)
		zep_set_destroy(&p->set);
	return rc;
}

void pair_close(struct pair *p)
{
	zep_set_destroy(&p->set);
	zep_set_destroy(&p->far);
}

int pair_set_depth(struct zep_plan *plan, const struct port *port, unsigned depth, struct zerr *err)
{
	plan->send_depth = depth * plan->qp_ways;
	/* the paper has one entry for each completion; a queue pair that fails needs one for each message */
	plan->cq_depth = depth * plan->cq_ways * plan->paths;
	if (plan->send_depth > port->max_send_wr)
		return zerr_set(err, -EINVAL, "%s has no queue pairs of depth %u: --depth must be less", port->device,
			plan->send_depth);
	return 0;
}
