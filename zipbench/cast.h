/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench cast", in three parts: the command line, the figures, and how one point of a figure is measured. */
#ifndef ZIPBENCH_CAST_H
#define ZIPBENCH_CAST_H

#include <stdio.h>

#include "zipbench/cast_net.h"

#define MIB (1u << 20)
#define CAST_OVERLAP_MAX 16  /* groups that send at the same time */
#define CAST_DATA_SHIFT 4096 /* each sender sends other bytes */

struct cast_options {
	const char *figures, *transport, *csv, *at, *zipper;
	unsigned scale, nodes, count, writes, sites;
};

struct cast_bench {
	const struct cast_options *o;
	FILE *out;
	uint8_t *data;
	uint64_t data_bytes;
	double *sample; /* [count or writes] seconds */
	double cpu;	/* share of one processor that the last measurement took, in all threads */
	struct cast_place place[CAST_SITES_MAX];
	uint32_t nplaces;			/* 0: all sites are here */
	uint64_t crossed_blocks, crossed_bytes; /* of all messages of the last measurement, between its sites */
};

struct cast_point {
	const char *line;
	const char *algorithm;
	enum zipcast_waiting waiting;
	uint32_t nodes, senders;
	uint32_t block_bytes; /* 0: the default */
	uint64_t bytes;
	const struct cast_sites *sites; /* NULL: the nodes are in none */
	const char *placement;		/* of the members in them */
};

struct cast_figure {
	const char *name;
	int (*make)(struct cast_bench *, struct zerr *);
};
extern const struct cast_figure cast_figures[]; /* to the one without a name */

/* cast_point.c. Sizes above 1 MiB are the paper's divided by --scale, but not below that. */
uint64_t cast_scaled(const struct cast_bench *, uint64_t bytes);
double cast_cpu_seconds(void); /* of all threads */
void cast_write_head(FILE *);
/* Measures a point and writes its line. 0 or a negative errno with text. */
int cast_add(struct cast_bench *, const char *figure, const struct cast_point *, struct zerr *);

#endif
