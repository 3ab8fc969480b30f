/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of zipcast in one process, each with its own context and thread, and groups that check their messages. */
#ifndef ZIP_TEST_CAST_FIXTURE_H
#define ZIP_TEST_CAST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "zipcast/zipcast.h"

#define CAST_NODES_MAX 16

struct cast {
	uint32_t n;
	struct zipcast *zc[CAST_NODES_MAX]; /* NULL: closed */
	char dir[64];
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct cast_member { /* one member's side of a group */
	struct cast *cast;
	struct zipcast_group *group;
	uint32_t node, number;
	bool root, refuses;		      /* refuses: has no memory for messages */
	bool unchecked;			      /* it does not check the bytes */
	void (*behind)(struct cast_member *); /* called after each message, in the context's thread; or NULL */
	uint64_t salt;			      /* of the bytes that the root sends */
	/* under cast.lock */
	uint32_t complete, damaged, failed, ended, passed;
	uint32_t suspect; /* place of the member that the failure names */
	bool begun;	  /* a message has begun to arrive */
	char why[ZIPCAST_WHY_BYTES];
	void *buffer;	  /* of the arriving message; a root's: of the last message that it sends */
	const void *kept; /* a message of the root that is neither freed nor checked */
	bool keeps_all;	  /* the root's messages are all like that */
};

/* NULL: all nodes are on one fabric. Otherwise nodes with even and odd numbers are on the fabrics "a" and "b", which
 * this zipperd connects. */
struct cast_zipper {
	char address[2][320];
	const char *user;
	uint8_t key[ZIPCAST_KEY_BYTES];
};
extern const struct cast_zipper *cast_zipper;

extern uint32_t cast_timeout_ms; /* of all nodes that are opened */
extern const uint8_t cast_key[ZIPCAST_KEY_BYTES];

/* Opens n nodes that listen at addresses of their own (tcp, shm or verbs: device fka) and know each other. */
void cast_open(struct cast *, const char *transport, uint32_t n, enum zipcast_waiting);
void cast_close_node(struct cast *, uint32_t node);
void cast_close(struct cast *);
/* Creates one member, which the caller has filled. Returns the result of zipcast_group_create. */
int cast_create(struct cast_member *, const struct zipcast_group_config *, char why[ZIPCAST_WHY_BYTES]);
/* Fills and creates a member for each member that the config names, all at the same time. */
void cast_group(struct cast *, struct cast_member *, const struct zipcast_group_config *);
void cast_destroy(struct cast_member *, uint32_t n);
/* Sends the root's message of this number (1, 2, ...); complete frees it. */
void cast_send(struct cast_member *root, uint32_t message, uint64_t bytes);
/* The same for a group that may have failed: -EPIPE. */
int cast_try_send(struct cast_member *root, uint32_t message, uint64_t bytes);
/* The bytes of a message. */
void cast_fill(uint64_t salt, uint32_t message, uint8_t *data, uint64_t bytes);
/* The size of a message. */
uint64_t cast_size(uint64_t salt, uint32_t message, uint64_t largest);
/* Waits until all n members have that many messages, or a failure; fails the test if these do not come. */
void cast_wait_complete(struct cast_member *, uint32_t n, uint32_t messages);
void cast_wait_failed(struct cast_member *, uint32_t n);
/* The callback of a barrier. */
void cast_passed(void *member);
/* Waits until all n members have passed that many barriers; fails the test if a member has failed. */
void cast_wait_passed(struct cast_member *, uint32_t n, uint32_t barriers);
/* Waits until all n members have come to the end of the group; fails the test if a member has failed. */
void cast_wait_ended(struct cast_member *, uint32_t n);

#endif
