/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the probe's lines, see say.h. */
#include "launch/probe/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void zsay(const char *key, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, fmt);
	int len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		return;
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	printf(ZSAY_MARK "%s %s\n", key, text);
	fflush(stdout);
	free(text);
}
