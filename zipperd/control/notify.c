/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells others that zipperd is ready, see notify.h. */
#include "zipperd/control/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "zipperd/conn/listener.h"

int notify_ready_fd(const struct daemon *d, int fd, struct zerr *err)
{
	char text[SETTINGS_FABRICS_MAX * (ZCTL_NAME_MAX + 1) + 320];
	FILE *out = fdopen(fd, "w");
	if (!out)
		return zerr_set(err, -errno, "--ready-fd %d: %s", fd, strerror(errno));
	for (int i = 0; i < d->nlisteners; i++) {
		settings_format_listen(&d->settings, &d->listeners[i].where, text, sizeof(text));
		fprintf(out, "%s\n", text);
	}
	fputc('\n', out);
	if (fclose(out) != 0)
		return zerr_set(err, -errno, "--ready-fd %d: %s", fd, strerror(errno));
	return 0;
}

void notify_state(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char text[128];
	size_t len = path ? strlen(path) : 0;
	if (len < 2 || len >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@') /* the abstract namespace */
		to.sun_path[0] = '\0';
	int n = snprintf(text, sizeof(text), "%s\nMONOTONIC_USEC=%lld", state, (long long)zclock_ns() / 1000);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* zipperd works all the same where the manager does not listen. */
	(void)!sendto(fd, text, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}
