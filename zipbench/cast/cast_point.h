/* SPDX-License-Identifier: BSD-3-Clause */
/* One point of a figure of "zipbench cast": how it is measured, and its line of CSV. */
#ifndef ZIPBENCH_CAST_CAST_POINT_H
#define ZIPBENCH_CAST_CAST_POINT_H

#include <stdio.h>

#include "zipbench/cast/cast_sites.h"

#define MIB (1u << 20)
#define CAST_OVERLAP_MAX 16  /* groups that send at the same time */
#define CAST_DATA_SHIFT 4096 /* bytes: each sender's data begins so much further, and so differs */

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
	uint64_t crossed_blocks, crossed_bytes; /* between sites, in all messages of the last measurement */
};

struct cast_point {
	const char *line;
	const char *algorithm;
	enum zipcast_waiting waiting;
	uint32_t nodes, senders;
	uint32_t block_bytes; /* 0: the default */
	uint64_t bytes;
	const struct cast_sites *sites; /* NULL: the nodes are in none */
	const char *placement;		/* of the members in the sites */
};

/* The paper's size, divided by --scale if it is above 1 MiB, but then not below 1 MiB. */
uint64_t cast_point_scaled(const struct cast_bench *, uint64_t bytes);
/* The names of the columns. */
void cast_point_write_head(FILE *);
/* Measures a point and writes its line. 0 or a negative errno with text. */
int cast_point_add(struct cast_bench *, const char *figure, const struct cast_point *, struct zerr *);

#endif
