/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing and entering places, see cast_sites.h. */
#include "zipbench/cast/cast_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/session/credentials.h"

static int open_place(struct cast_place *p, const char *word, struct zerr *err)
{
	const char *at = strchr(word, '@');
	const size_t len = at ? (size_t)(at - word) : strlen(word);
	p->netns = -1;
	if (len == 0 || len >= sizeof(p->host))
		return zerr_set(err, -EINVAL, "--at: '%.200s' is not of the form HOST[@FILE]", word);
	snprintf(p->host, sizeof(p->host), "%.*s", (int)len, word);
	if (!at)
		return 0;
	p->netns = open(at + 1, O_RDONLY | O_CLOEXEC);
	return p->netns >= 0 ? 0 : zerr_set(err, -errno, "--at: %s: %s", at + 1, strerror(errno));
}

int cast_sites_open(struct cast_place place[CAST_SITES_MAX], uint32_t *n, const char *list, struct zerr *err)
{
	char words[4096], *save = NULL;
	int rc = 0;
	*n = 0;
	if (snprintf(words, sizeof(words), "%s", list) >= (int)sizeof(words))
		return zerr_set(err, -E2BIG, "--at: the list is too long");
	for (char *word = strtok_r(words, ",", &save); word && rc == 0; word = strtok_r(NULL, ",", &save)) {
		if (*n == CAST_SITES_MAX)
			return zerr_set(err, -E2BIG, "--at: more than %d sites", CAST_SITES_MAX);
		rc = open_place(&place[(*n)++], word, err);
		if (rc == 0 && (place[0].netns < 0) != (place[*n - 1].netns < 0)) /* a thread cannot go back */
			rc = zerr_set(err, -EINVAL, "--at: all sites are in network namespaces of their own, or none");
	}
	return rc < 0 || *n > 1 ? rc : zerr_set(err, -EINVAL, "--at: one site alone");
}

static int set_zipper(struct cast_place *p, const char *word, struct zerr *err)
{
	const char *equals = strchr(word, '=');
	const size_t len = equals ? (size_t)(equals - word) : 0;
	if (len == 0 || len >= sizeof(p->fabric) || strlen(equals + 1) >= sizeof(p->zipper))
		return zerr_set(err, -EINVAL, "--zipper: '%.200s' is not of the form FABRIC=ADDRESS", word);
	snprintf(p->fabric, sizeof(p->fabric), "%.*s", (int)len, word);
	snprintf(p->zipper, sizeof(p->zipper), "%s", equals + 1);
	return 0;
}

int cast_sites_connect(struct cast_place *place, uint32_t n, const char *list, struct zerr *err)
{
	char words[4096], user[ZCTL_NAME_MAX + 1], *save = NULL;
	uint8_t key[ZAUTH_KEY_BYTES];
	uint32_t named = 0;
	int rc = zcredentials_find_user(user, err);
	if (rc == 0)
		rc = zcredentials_find_key(&zauth_module, key, user, err);
	if (rc == 0 && snprintf(words, sizeof(words), "%s", list) >= (int)sizeof(words))
		rc = zerr_set(err, -E2BIG, "--zipper: the list is too long");
	if (rc < 0)
		return rc;
	for (char *word = strtok_r(words, ",", &save); rc == 0 && word; word = strtok_r(NULL, ",", &save)) {
		if (named == n)
			return zerr_set(err, -EINVAL, "--zipper: more than the %u sites of --at", n);
		struct cast_place *p = &place[named++];
		memcpy(p->user, user, sizeof(user));
		memcpy(p->key, key, sizeof(p->key));
		rc = set_zipper(p, word, err);
	}
	return rc < 0 || named == n ? rc : zerr_set(err, -EINVAL, "--zipper: %u of the %u sites of --at", named, n);
}

void cast_sites_close(struct cast_place *place, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (place[i].netns >= 0)
			close(place[i].netns);
}

const struct cast_place *cast_sites_place(const struct cast_sites *sites, uint32_t node)
{
	return sites && sites->place ? &sites->place[sites->of[node]] : NULL;
}

int cast_sites_enter(const struct cast_place *p, struct zerr *err)
{
	if (!p || p->netns < 0 || setns(p->netns, CLONE_NEWNET) == 0)
		return 0;
	return zerr_set(err, -errno, "--at: the network namespace of %s: %s", p->host, strerror(errno));
}
