/* SPDX-License-Identifier: BSD-3-Clause */
/* A native communicator of our own over the part. */
#include "libzip/comm/internal/comm_internal.h"

#include "libzip/comm/internal/comm_unnumber.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/world/world.h"

static MPI_Comm internal = MPI_COMM_NULL;
static int tags; /* from 0, so many */

int zcomm_internal_init(void)
{
	int *tag_ub, found = 0, rc = zn.Comm_dup(zworld.base, &internal);
	if (rc == MPI_SUCCESS)
		rc = zn.Comm_set_errhandler(internal,
			MPI_ERRORS_RETURN); /* errors are raised on communicators of the application */
	if (rc == MPI_SUCCESS && zrunning_has_bug(ZVERSION_COMM_IDUP))
		rc = zcomm_unnumber(&internal);
	if (rc == MPI_SUCCESS && internal == MPI_COMM_NULL) /* another process has failed */
		rc = MPI_ERR_OTHER;
	tags = ZCOMM_INTERNAL_TAGS_MIN;
	if (rc == MPI_SUCCESS && zn.Comm_get_attr(internal, MPI_TAG_UB, &tag_ub, &found) == MPI_SUCCESS && found)
		tags = *tag_ub < ZCOMM_INTERNAL_TAGS_MAX ? *tag_ub : ZCOMM_INTERNAL_TAGS_MAX;
	return rc;
}

void zcomm_internal_fini(void)
{
	if (internal != MPI_COMM_NULL)
		zn.Comm_free(&internal);
}

int zcomm_internal_mix(uint64_t number, int modulus)
{
	return (int)((number * UINT64_C(0x9e3779b97f4a7c15) >> 33) % (uint64_t)modulus); /* 2^64 / phi */
}

int zcomm_internal_tags(void)
{
	return tags;
}

MPI_Comm zcomm_internal(int tag, int *mixed)
{
	*mixed = zcomm_internal_mix((uint64_t)(uint32_t)tag << 16, tags);
	return internal;
}

MPI_Comm zcomm_internal_win(int *tag)
{
	*tag = tags; /* the highest tag: mixed ones are below */
	return internal;
}
