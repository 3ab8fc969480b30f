/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading layouts, see tune_layout.h. */
#include "zipbench/tune/tune_layout.h"

#include <stdlib.h>
#include <string.h>

int tune_layout_clusters(const char *layout)
{
	int n = 1;
	for (const char *p = strchr(layout, '+'); p; p = strchr(p + 1, '+'))
		n++;
	return n;
}

int tune_layout_members_max(const char *layout)
{
	int most = 0;
	for (const char *p = layout; p; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL)
		most = atoi(p) > most ? atoi(p) : most;
	return most;
}

int tune_layout_members_min(const char *layout)
{
	int least = atoi(layout);
	for (const char *p = strchr(layout, '+'); p; p = strchr(p + 1, '+'))
		least = atoi(p + 1) < least ? atoi(p + 1) : least;
	return least;
}

int tune_layout_ranks(const char *layout)
{
	int n = atoi(layout);
	for (const char *p = strchr(layout, '+'); p; p = strchr(p + 1, '+'))
		n += atoi(p + 1);
	return n;
}
