/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of a group, along the tree that the first block of a message takes (common/castplan/castplan.h). A member
 * whose children have all entered the next barrier, and which has entered it too, says so to its parent. The root then
 * passes, and says so to its children, who pass and tell theirs. One barrier is under way at a time. The word is READY
 * with F_SYNC (wire.h). The context's thread.
 */
#ifndef ZIPCAST_BARRIER_H
#define ZIPCAST_BARRIER_H

#include "zipcast/group.h"

/* The application has entered one more barrier. Takes the entry. */
void zbarrier_enter(struct zipcast_group *, struct entry *);
/* A member has said that it and all below it have entered the barrier, or that all have. */
void zbarrier_hear(struct zipcast_group *, struct member *, const struct zwire_env *);
/* Tells and passes what is due. The group fails if a member has left that has not entered, or that was to tell us. */
void zbarrier_progress(struct zipcast_group *);

#endif
