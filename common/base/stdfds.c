/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the numbers of closed standard descriptors, see stdfds.h. */
#include "common/base/stdfds.h"

#include <fcntl.h>
#include <unistd.h>

void zstdfds_take(void)
{
	/* In this order each one gets the lowest free number, which is its own. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* opened for the wrong direction */
}
