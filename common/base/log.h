/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines to stderr, with the journal's "<N>" priority prefix under systemd. Never on the data path. Any thread. */
#ifndef ZIP_COMMON_BASE_LOG_H
#define ZIP_COMMON_BASE_LOG_H

enum zlog_level { ZLOG_ERROR, ZLOG_WARN, ZLOG_INFO, ZLOG_DEBUG };

/* ident is kept, not copied: "zipperd", "zmpirun", "libzipper". Lines of a level above max_level are dropped. */
void zlog_init(const char *ident, enum zlog_level max_level);
void zlog(enum zlog_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
