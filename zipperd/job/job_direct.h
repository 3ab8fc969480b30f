/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct links between ranks of different parts that share a fabric: the connecting rank, the address, and the
 * credential (ctl.h has the protocol). zipperd only introduces the ranks, and never sees what they then say to each
 * other. Control thread.
 */
#ifndef ZIPPERD_JOB_DIRECT_H
#define ZIPPERD_JOB_DIRECT_H

#include "zipperd/job/job.h"

/* Notes where a rank that joins listens for others. 0 or -EINVAL. */
int job_direct_note(struct rank *, const struct zctl_join *, struct zerr *);
/* The ranks whose fabrics do not follow from their part. *list is the caller's. 0 or -ENOMEM. */
int job_direct_list(const struct job *, struct zctl_attached **list, uint32_t *n);
/* A rank asks for a link to another rank, or says that it has none for it. false: that makes no sense. */
bool job_direct_request(struct rank *, const struct zctl_direct *);
/* A rank tells what it has sent over direct links. false: that makes no sense. */
bool job_direct_traffic(struct rank *, const struct zctl_traffic *);

#endif
