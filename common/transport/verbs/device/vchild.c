/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of fork, see vchild.h. */
#include "common/transport/verbs/device/vchild.h"

#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

static _Atomic bool has_all;

void vchild_init(void)
{
	static bool told;
	enum ibv_fork_status status = ibv_is_fork_initialized();
	int code = 0;
	if (status == IBV_FORK_DISABLED) {
		/* otherwise parts of huge pages cannot be registered (ibv_fork_init(3)) */
		setenv("RDMAV_HUGEPAGES_SAFE", "1", 0);
		code = ibv_fork_init();
	}
	has_all = status == IBV_FORK_UNNEEDED;
	if (code != 0 && !told) /* other code in this process has registered memory before */
		zlog(ZLOG_WARN, "the children of fork may take registered memory away: ibv_fork_init: %s",
			strerror(code));
	told |= code != 0;
}

bool vchild_has_all(void)
{
	return has_all;
}
