/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of what an mlx5 device and its provider allot to Verbs objects: UAR pages of two uUARs each, and memory.
 *
 * The rules are those of the endpoints paper (endpoint.h), sections II-A and III, Table I and appendix B. A context
 * begins with static uUARs: the first one of high latency, the last ones of low latency, the others of medium latency.
 * Queue pairs without a thread domain get one uUAR of low latency each, then those of medium latency in turns. A thread
 * domain takes a new page, or the other half of the page of the thread domain before it. Start-up only; one thread.
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
	uint64_t pages, bytes, made; /* at this time; pages numbered so far */
};

/* Sets the defaults, or the numbers as the provider reads them from MLX5_TOTAL_UUARS and MLX5_NUM_LOW_LAT_UUARS (texts;
 * NULL: not set): rounded up to whole pages, and at most 12 uUARs not of low latency. -EINVAL with text where the
 * provider would refuse them. */
int uarmodel_init(struct uarmodel *, const char *total_uuars, const char *low_uuars, struct zerr *);
extern const struct zep_ops uarmodel_ops; /* to: struct uarmodel * */

#endif
