/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of what an mlx5 device and its provider allot to Verbs objects: UAR pages of two uUARs each, and memory.
 * Rules from the endpoints paper (endpoint.h), sections II-A and III, Table I and appendix B: a context begins with
 * static uUARs, the first of high latency, the last ones of low latency, the others of medium latency; queue pairs
 * without a thread domain get those of low latency one each, then those of medium latency in turns; a thread domain
 * takes a new page, or the other half of the page of the one before it. Start-up only; one thread.
 */
#ifndef ZIP_COMMON_ENDPOINT_UARMODEL_H
#define ZIP_COMMON_ENDPOINT_UARMODEL_H

#include "common/endpoint/endpoint.h"

#define UARMODEL_UUARS 16	   /* static ones of a context, by default */
#define UARMODEL_LOW 4		   /* of them of low latency, by default */
#define UARMODEL_DEVICE_PAGES 8192 /* of a ConnectX-4 */
#define UARMODEL_DYNAMIC_PAGES 512 /* of a context, for thread domains */

struct uarmodel {
	unsigned uuars, low;	     /* of each context */
	uint64_t pages, bytes, made; /* now; pages numbered so far */
};

/* Defaults, or as the provider reads MLX5_TOTAL_UUARS and MLX5_NUM_LOW_LAT_UUARS (texts; NULL: not set): rounded up to
 * whole pages, and at most 12 of them not of low latency. -EINVAL with text as the provider would refuse it. */
int uarmodel_init(struct uarmodel *, const char *total_uuars, const char *low_uuars, struct zerr *);
extern const struct zep_ops uarmodel_ops; /* to: struct uarmodel * */

#endif
