/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes of zipcast in this process, each with its own context and thread, and multicasts among them that are timed:
 * from the call of send until the last receiver has been told that its message is complete. One thread uses a net.
 */
#ifndef ZIPBENCH_CAST_NET_H
#define ZIPBENCH_CAST_NET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "zipbench/cast_sites.h"
#include "common/base/err.h"
#include "zipcast/zipcast.h"

struct cast_member;
struct cast_net {
	const struct cast_sites *sites; /* or NULL */
	uint32_t n;
	struct zipcast **zc; /* [n] */
	uint32_t lanes;	     /* groups that may send at the same time */
	uint8_t **memory;    /* [n * lanes] what arrives at a node in a group of that lane lands here */
	uint64_t memory_bytes;
	char dir[64]; /* of shm: */
	uint32_t next_group;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* (lock) */
	uint64_t left_receivers, left; /* completions that are outstanding; left: roots' too */
	double last;		       /* when the last receiver completed, seconds */
	char why[ZIPCAST_WHY_BYTES];   /* of a failure; empty: none */
};

struct cast_group {
	struct cast_net *net;
	uint32_t n, lane;
	struct cast_member *member; /* [n]; 0: root */
	const uint8_t *data;	    /* what the root sends */
};

/* n nodes that have met, at addresses of their own: of the transport, or where their sites are (NULL: in none), which
 * stay until close. 0 or a negative errno with text. */
int cast_net_open(struct cast_net *, const char *transport, uint32_t n, uint32_t lanes, enum zipcast_waiting,
	uint64_t message_bytes, const struct cast_sites *, struct zerr *);
void cast_net_close(struct cast_net *);
/* members[0] is the root. data: at least as many bytes as are ever sent in the group. lane: another one than those of
 * groups that send at the same time. */
int cast_group_open(struct cast_group *, struct cast_net *, uint32_t lane, const uint32_t *members, uint32_t n,
	const char *algorithm, uint32_t block_bytes, const uint8_t *data, struct zerr *);
void cast_group_close(struct cast_group *);
/* `messages` messages in each of the groups at the same time; how long it took altogether. */
int cast_net_send(struct cast_net *, struct cast_group *, uint32_t ngroups, uint64_t bytes, uint32_t messages,
	double *seconds, struct zerr *);
/* Whether the last message that was sent in the group alone is what its receivers have. */
int cast_group_verify(const struct cast_group *, uint64_t bytes, struct zerr *);

/* Adds what was sent in the group from one site to another, if it is open. */
void cast_group_crossed(const struct cast_group *, uint64_t *blocks, uint64_t *bytes);

#endif
