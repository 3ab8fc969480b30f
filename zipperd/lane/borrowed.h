/* SPDX-License-Identifier: BSD-3-Clause */
/* Other workers' staging memory as the links of this worker know it: a receiver's worker writes a reader's pieces from
 * there (fanout.h). Worker's thread. */
#ifndef ZIPPERD_BORROWED_H
#define ZIPPERD_BORROWED_H

struct transfer;
struct worker;
struct zerr;
struct zlink;

/* Makes the reader's pieces known to the link of a fanned transfer's receiver, and sets t->region. 0 or a negative
 * errno, with text the first time. */
int borrowed_join(struct worker *, struct transfer *t, struct zerr *);
/* Undoes borrowed_join, if there was one. */
void borrowed_leave(struct worker *, struct transfer *);
/* The sending half of this link leaves. */
void borrowed_forget(struct worker *, const struct zlink *);
/* All threads have ended: undoes all registrations of other workers' memory. */
void borrowed_fini(struct worker *);

#endif
