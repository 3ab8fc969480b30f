/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the probe's lines, see say.h. */
#include "launch/probe/say.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_BYTES 1200 /* the longest error, and a few words */

void zsay(const char *key, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	printf(ZSAY_MARK "%s %s\n", key, text);
	fflush(stdout);
}
