/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing a configuration table (conf.h): current values in file syntax, and the option list of a manual page. */
#ifndef ZIP_COMMON_CONFIG_CONF_PRINT_H
#define ZIP_COMMON_CONFIG_CONF_PRINT_H

#include <stdio.h>

#include "common/config/conf.h"

/* Prints all options with their current values in file syntax, with the help texts as comments. */
void zconf_print(const struct zconf_row *rows, const void *conf, FILE *);
/* Prints one line "name = value". The value stands in quotes where it could not be read back without them. */
void zconf_print_line(const char *name, const char *value, FILE *);
/* Prints the option list of a manual page as mdoc(7) source (.It items). */
void zconf_print_mdoc(const struct zconf_row *rows, FILE *);

#endif
