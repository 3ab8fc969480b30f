/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials of MUNGE, see munge.h. No other file needs libmunge; it is the module zipmunge.so. */
#include "common/control/munge.h"

#include <errno.h>
#include <munge.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/module.h"

static munge_ctx_t open_context(const char *socket, struct zerr *err)
{
	munge_ctx_t ctx = munge_ctx_create();
	if (ctx && (!*socket || munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS))
		return ctx;
	munge_ctx_destroy(ctx);
	zerr_set(err, -ENOMEM, "MUNGE: out of memory");
	return NULL;
}

/* libmunge has a longer text for some errors, as which socket it is. */
static int complain(munge_ctx_t ctx, munge_err_t e, struct zerr *err)
{
	const char *more = munge_ctx_strerror(ctx);
	return zerr_set(err, -EACCES, "MUNGE: %.160s", more ? more : munge_strerror(e));
}

static bool is_there(const char *socket)
{
	const char *path = NULL;
	munge_ctx_t ctx = open_context(socket, NULL);
	bool there =
		ctx && munge_ctx_get(ctx, MUNGE_OPT_SOCKET, &path) == EMUNGE_SUCCESS && path && access(path, F_OK) == 0;
	munge_ctx_destroy(ctx);
	return there;
}

static int encode(char text[ZCTL_MUNGE_MAX + 1], const char *socket, uint32_t reader,
	const uint8_t payload[ZMUNGE_PAYLOAD_BYTES], struct zerr *err)
{
	char *made = NULL;
	munge_ctx_t ctx = open_context(socket, err);
	if (!ctx)
		return -ENOMEM;
	munge_err_t e = munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, (uid_t)reader);
	if (e == EMUNGE_SUCCESS)
		e = munge_encode(&made, ctx, payload, ZMUNGE_PAYLOAD_BYTES);
	int rc = 0;
	if (e != EMUNGE_SUCCESS)
		rc = complain(ctx, e, err);
	else if (strlen(made) > ZCTL_MUNGE_MAX)
		rc = zerr_set(err, -EMSGSIZE, "MUNGE: the credential is too long");
	else
		strcpy(text, made);
	free(made);
	munge_ctx_destroy(ctx);
	return rc;
}

/* munged says "unauthorized" to a reader for whom the credential is not meant. */
static int complain_of_credential(munge_ctx_t ctx, munge_err_t e, struct zerr *err)
{
	if (e == EMUNGE_CRED_UNAUTHORIZED)
		return zerr_set(err, -EACCES,
			"MUNGE: the credential is not for this zipperd, which user %u has: ZIPPER_MUNGE_USER "
			"names the user of zipperd",
			(unsigned)geteuid());
	return complain(ctx, e, err);
}

static int decode(uint8_t payload[ZMUNGE_PAYLOAD_BYTES], uint32_t *uid, const char *socket, const char *text,
	struct zerr *err)
{
	void *found = NULL;
	int len = 0;
	uid_t user = 0;
	gid_t group = 0;
	munge_ctx_t ctx = open_context(socket, err);
	if (!ctx)
		return -EACCES;
	/* Also with an error there may be a payload, which is not to be believed. */
	munge_err_t e = munge_decode(text, ctx, &found, &len, &user, &group);
	int rc = 0;
	if (e != EMUNGE_SUCCESS)
		rc = complain_of_credential(ctx, e, err);
	else if (len != ZMUNGE_PAYLOAD_BYTES)
		rc = zerr_set(err, -EACCES, "MUNGE: the credential was made for something else");
	else
		memcpy(payload, found, ZMUNGE_PAYLOAD_BYTES);
	*uid = (uint32_t)user;
	if (found)
		explicit_bzero(found, (size_t)len);
	free(found);
	munge_ctx_destroy(ctx);
	return rc;
}

__attribute__((visibility("default"))) const struct zmunge_ops zmunge_module = {
	.release = ZMODULE_RELEASE,
	.is_there = is_there,
	.encode = encode,
	.decode = decode,
};
