/* SPDX-License-Identifier: BSD-3-Clause */
/* Text as a field of a CSV file (RFC 4180). */
#ifndef ZIP_MAPPER_CSV_H
#define ZIP_MAPPER_CSV_H

#include <stdio.h>

/* Writes a field in quotes, with quotes inside doubled. */
void csv_text(FILE *, const char *text);

#endif
