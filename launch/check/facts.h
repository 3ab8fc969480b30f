/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a probe (launch/probe/say.h) as pairs of key and text. Start-up only. */
#ifndef ZIP_LAUNCH_FACTS_H
#define ZIP_LAUNCH_FACTS_H

#define ZFACTS_MAX 256 /* lines of one probe that count */

struct zfacts {
	int n;
	struct {
		const char *key, *text;
	} fact[ZFACTS_MAX];
};

/* Finds the probe's lines in the output of an mpiexec, which is cut up and must live as long as the facts. */
void zfacts_read(struct zfacts *, char *output);
/* The text of the first fact with this key, or NULL. */
const char *zfacts_find(const struct zfacts *, const char *key);
int zfacts_count(const struct zfacts *, const char *key);

#endif
