/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of error text for a person, which travels beside a negative errno. Any thread; no global state. */
#ifndef ZIP_COMMON_BASE_ERR_H
#define ZIP_COMMON_BASE_ERR_H

struct zerr {
	char text[1024]; /* no newline; empty: nothing was said. Long enough for a path and what is wrong with it */
};

/* Formats the text (cut to fit) and returns code, a negative errno, so that a caller can write `return zerr_set(err,
 * -EINVAL, "...")`. err may be NULL: then the function only returns code. */
int zerr_set(struct zerr *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the text. Returns code. */
int zerr_prefix(struct zerr *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Formats a text that ends with a newline (a longer one than 4,095 bytes is cut to that), and writes it to stderr in
 * one piece, so that lines of several processes do not mix: fprintf of the C library writes what has no buffer in
 * pieces. Keeps errno. */
void zerr_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
