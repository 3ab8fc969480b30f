/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of error text for a person, travelling beside a negative errno. Any thread; no global state. */
#ifndef ZIP_COMMON_BASE_ERR_H
#define ZIP_COMMON_BASE_ERR_H

struct zerr {
	char text[1024]; /* no newline; empty when nothing was said. A long path leaves room for what is wrong with it
			  */
};

/* Formats the text (cut to fit) and returns code, a negative errno, so that callers can write
 * `return zerr_set(err, -EINVAL, "...")`. err may be NULL: then only the code is returned. */
int zerr_set(struct zerr *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the text that is there; returns code. */
int zerr_prefix(struct zerr *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
