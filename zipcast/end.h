/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How groups end. A group fails, and all members are told; or it comes to its end, when this member has all messages
 * that the root has sent; or it is destroyed; or it is destroyed after one of these. The application gets its memory
 * back when nobody reaches it any more: our own writes from it are complete, and every member that may write to it has
 * said that the group has ended there too, or has lost its link. The context's thread.
 */
#ifndef ZIPCAST_END_H
#define ZIPCAST_END_H

#include "zipcast/group.h"

/* --- failing --- */

/* suspect: the place of the member that is to blame, or ZIPCAST_NOBODY. */
void zend_fail(struct zipcast_group *, uint32_t suspect, const char *why);
/* Does the message lack a member, because it has left? Then the group has failed. */
bool zend_lacks_member(struct zipcast_group *, uint64_t message);
/* A member has left and closed its connection, so that nothing more can be heard: the group fails here alone. */
void zend_cut_off(struct zipcast_group *);
/* The node's connection has ended, or there will be none. Groups with it as a neighbour fail if they still need it;
 * other groups hear of it from its neighbours. */
void zend_without_node(struct node *, const char *why);
/* The group has begun but could not be made here: it fails, so that the other members do not wait. */
void zend_abandon(struct zipcast_group *);

/* --- coming to the end --- */

/* If this member has all messages of the group, and knows that there are no more, then the group is closed: the other
 * members are told, and the application. */
void zend_reach(struct zipcast_group *);
/* The application's callback for that, which is called soon if the group is closed already. NULL: none. */
void zend_on_end(struct zipcast_group *, void (*)(void *arg));

/* --- being destroyed --- */

/* Is this the root, with messages that the application has handed over and that are not sent? */
bool zend_has_unsent(const struct zipcast_group *);
/* The root sends them without further callbacks. Then the group is closed and destroyed. */
void zend_send_rest(struct zipcast_group *);
/* The group is gone on return, or later, when nobody reaches its memory any more. */
void zend_destroy(struct zipcast_group *);
/* The group is gone on return: links break whose other ends still write to its memory. */
void zend_destroy_now(struct zipcast_group *);

/* Gives memory back where that has become possible. True: something happened. */
bool zend_settle(struct zipcast *);
/* Frees the groups that are gone. A request for a group stands before its end in the queue of commands, or has entered
 * it before this turn; so the caller has taken all commands. */
void zend_bury(struct zipcast *);

#endif
