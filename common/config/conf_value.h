/* SPDX-License-Identifier: BSD-3-Clause */
/* One configuration value: its text to and from the field that a row of the table describes (conf.h). */
#ifndef ZIP_COMMON_CONFIG_CONF_VALUE_H
#define ZIP_COMMON_CONFIG_CONF_VALUE_H

#include <stddef.h>

#include "common/config/conf.h"

/* Checks the text and stores it into the row's field of conf. Returns 0, -EINVAL, -ERANGE, -ENOMEM or the error of
 * parse(), with the reason (without place) in err. The field is unchanged on error. */
int zconf_value_set(const struct zconf_row *, void *conf, const char *text, struct zerr *);
/* Writes the field's present value in file syntax; "" for CALL rows and unset strings. Returns buf, always terminated.
 */
const char *zconf_value_format(const struct zconf_row *, const void *conf, char *buf, size_t cap);
/* Writes a number in the syntax of the row's type. */
const char *zconf_value_format_number(const struct zconf_row *, int64_t value, char *buf, size_t cap);
/* Writes for people what is allowed: "a number from 1 to 8", "yes or no". Returns buf. */
const char *zconf_value_domain(const struct zconf_row *, char *buf, size_t cap);

#endif
