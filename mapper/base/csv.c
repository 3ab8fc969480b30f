/* SPDX-License-Identifier: BSD-3-Clause */
/* See csv.h. */
#include "mapper/base/csv.h"

void csv_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}
