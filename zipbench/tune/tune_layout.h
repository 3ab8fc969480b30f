/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of a merged job, as "2+2": the number of ranks (its members) of each cluster. */
#ifndef ZIPBENCH_TUNE_TUNE_LAYOUT_H
#define ZIPBENCH_TUNE_TUNE_LAYOUT_H

int tune_layout_clusters(const char *layout);	 /* fewer than 2: nothing is known of the layout */
int tune_layout_members_max(const char *layout); /* of the largest cluster */
int tune_layout_members_min(const char *layout); /* of the smallest cluster */
int tune_layout_ranks(const char *layout);	 /* of all clusters */

#endif
