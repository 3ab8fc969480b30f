/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of the application as bytes on the wire. See data.h. */
#include "libzip/type/data.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/copy.h"
#include "libzip/shim/shim.h"
#include "libzip/type/prefix.h"
#include "libzip/type/type.h"

/* The place of count elements that lie in one piece and need no conversion; else NULL. They must have bytes. */
static uint8_t *dense_at(const struct ztype *e, const void *buf, MPI_Count count)
{
	bool one = e->dense && (count == 1 || e->extent == e->size);

	return one ? (uint8_t *)((uintptr_t)buf + (uintptr_t)e->start) : NULL;
}

int zdata_view(struct zdata *d, const void *buf, MPI_Count count, MPI_Datatype t)
{
	const struct ztype *e = ztype_find(t);
	MPI_Count bytes;

	if (e->error != MPI_SUCCESS)
		return e->error;
	if (__builtin_mul_overflow(count, e->wire_size, &bytes))
		return MPI_ERR_COUNT;
	d->bytes = (uint64_t)bytes;
	d->converted = e->converted;
	/* A zero-size piece lies anywhere that is not NULL. */
	static uint8_t nothing[1];
	d->dense = bytes == 0 ? nothing : dense_at(e, buf, count);
	return MPI_SUCCESS;
}

/*
 * Copies a datatype that native MPI takes for one piece of memory. Only for datatypes that it has packed in part:
 * these are in order, which size and extent alone do not tell.
 */
static int copy_piece(uint8_t *out, uint64_t bytes, const void *buf, MPI_Count count, MPI_Datatype t)
{
	MPI_Count size, lb, extent, true_lb, true_extent;

	if (zn.Type_size_c(t, &size) != MPI_SUCCESS || zn.Type_get_extent_c(t, &lb, &extent) != MPI_SUCCESS ||
		zn.Type_get_true_extent_c(t, &true_lb, &true_extent) != MPI_SUCCESS || size != true_extent ||
		(count > 1 && size != extent) || (uint64_t)(size * count) != bytes)
		return MPI_ERR_INTERN;
	memcpy(out, (const uint8_t *)buf + true_lb, bytes);
	return MPI_SUCCESS;
}

/*
 * MPICH 4.0.2 (typerep_do_pack) packs a datatype that it takes for one piece down to a whole number of elements. For
 * the size of an element it takes bits 8 to 15 of the datatype's own handle. So with some hundred datatypes in use it
 * packs some of them short, up to all of their bytes, without an error; only the position tells. Unpacking is right.
 * Messages are right, too, because MPICH sends such datatypes without packing.
 */
static int pack_native(uint8_t *out, uint64_t bytes, const void *buf, MPI_Count count, MPI_Datatype t)
{
	MPI_Count position = 0;
	int rc = zn.Pack_c(buf, count, t, out, (MPI_Count)bytes, &position, MPI_COMM_SELF);

	return rc != MPI_SUCCESS || (uint64_t)position == bytes ? rc : copy_piece(out, bytes, buf, count, t);
}

static int unpack_native(const uint8_t *in, uint64_t bytes, void *buf, MPI_Count count, MPI_Datatype t)
{
	MPI_Count position = 0;
	int rc = zn.Unpack_c(in, (MPI_Count)bytes, &position, buf, count, t, MPI_COMM_SELF);

	return rc != MPI_SUCCESS || (uint64_t)position == bytes ? rc : MPI_ERR_INTERN;
}

/* MPICH's pack and unpack refuse MPI_BOTTOM, which is a null pointer. So the same memory is addressed from another
 * place. */
static char elsewhere[1];

static int make_shifted(MPI_Datatype t, MPI_Datatype *shifted)
{
	int one = 1;
	MPI_Aint disp = -(MPI_Aint)(intptr_t)elsewhere;
	int rc = zn.Type_create_hindexed(1, &one, &disp, t, shifted);

	if (rc == MPI_SUCCESS && (rc = zn.Type_commit(shifted)) != MPI_SUCCESS)
		zn.Type_free(shifted);
	return rc;
}

int zdata_pack_native(uint8_t *out, uint64_t bytes, const void *buf, MPI_Count count, MPI_Datatype t)
{
	const void *dense = dense_at(ztype_find(t), buf, count);
	MPI_Datatype shifted;
	int rc;

	if (bytes == 0)
		return MPI_SUCCESS;
	if (dense) {
		zcopy(out, dense, bytes);
		return MPI_SUCCESS;
	}
	if (buf != MPI_BOTTOM)
		return pack_native(out, bytes, buf, count, t);
	rc = make_shifted(t, &shifted);
	if (rc == MPI_SUCCESS) {
		rc = pack_native(out, bytes, elsewhere, count, shifted);
		zn.Type_free(&shifted);
	}
	return rc;
}

int zdata_pack(uint8_t *out, uint64_t bytes, const void *buf, MPI_Count count, MPI_Datatype t)
{
	const struct ztype *e = ztype_find(t);

	if (bytes == 0)
		return MPI_SUCCESS;
	if (!e->converted)
		return zdata_pack_native(out, bytes, buf, count, t);
	uint64_t native_bytes = (uint64_t)(e->size * count);
	uint8_t *native = malloc(native_bytes);
	if (!native)
		return MPI_ERR_NO_MEM;
	int rc = zdata_pack_native(native, native_bytes, buf, count, t);
	if (rc == MPI_SUCCESS)
		zsignature_encode(&e->signature, out, native, (uint64_t)count);
	free(native);
	return rc;
}

/* Packs the old element, puts the new bytes over it, and unpacks it again. That writes old values back where no new
 * ones have come. */
static int unpack_part(MPI_Count size, const uint8_t *in, uint64_t bytes, char *at, MPI_Datatype t)
{
	uint8_t *element = malloc((size_t)size);
	int rc;

	if (!element)
		return MPI_ERR_NO_MEM;
	rc = pack_native(element, (uint64_t)size, at, 1, t);
	if (rc == MPI_SUCCESS) {
		memcpy(element, in, bytes);
		rc = unpack_native(element, (uint64_t)size, at, 1, t);
	}
	free(element);
	return rc;
}

/* size and extent are those of one element. */
static int unpack_packed(MPI_Count size, MPI_Count extent, const uint8_t *in, uint64_t bytes, char *buf,
	MPI_Count count, MPI_Datatype t)
{
	MPI_Count whole = (MPI_Count)(bytes / (uint64_t)size);
	int rc = MPI_SUCCESS;

	if (whole > count)
		whole = count;
	uint64_t whole_bytes = (uint64_t)whole * (uint64_t)size;
	if (whole > 0)
		rc = unpack_native(in, whole_bytes, buf, whole, t);
	if (rc != MPI_SUCCESS || whole == count || bytes == whole_bytes)
		return rc;

	uint64_t part = bytes - whole_bytes;
	rc = zprefix_whole(t, &part);
	if (rc == MPI_SUCCESS && part > 0)
		rc = unpack_part(size, in + whole_bytes, part, buf + whole * extent, t);
	return rc == MPI_SUCCESS && part < bytes - whole_bytes ? MPI_ERR_TYPE : rc;
}

int zdata_unpack_native(const uint8_t *in, uint64_t bytes, void *buf, MPI_Count count, MPI_Datatype t)
{
	const struct ztype *e = ztype_find(t);
	void *dense = dense_at(e, buf, count);
	MPI_Datatype shifted;
	int rc;

	if (bytes == 0 || e->size == 0)
		return MPI_SUCCESS;
	if (dense) {
		zcopy(dense, in, bytes);
		return MPI_SUCCESS;
	}
	if (buf != MPI_BOTTOM)
		return unpack_packed(e->size, e->extent, in, bytes, buf, count, t);
	rc = make_shifted(t, &shifted);
	if (rc == MPI_SUCCESS) {
		rc = unpack_packed(e->size, e->extent, in, bytes, elsewhere, count, shifted);
		zn.Type_free(&shifted);
	}
	return rc;
}

int zdata_unpack(const uint8_t *in, uint64_t bytes, void *buf, MPI_Count count, MPI_Datatype t)
{
	const struct ztype *e = ztype_find(t);

	if (bytes == 0 || e->size == 0)
		return MPI_SUCCESS;
	if (!e->converted)
		return zdata_unpack_native(in, bytes, buf, count, t);
	uint64_t native_bytes = zsignature_native_bytes(&e->signature, bytes);
	uint8_t *native = malloc(native_bytes + 1);
	if (!native)
		return MPI_ERR_NO_MEM;
	uint64_t taken = zsignature_decode(&e->signature, native, in, bytes);
	int rc = zdata_unpack_native(native, native_bytes, buf, count, t);
	free(native);
	return rc == MPI_SUCCESS && taken < bytes ? MPI_ERR_TYPE : rc;
}

MPI_Count zdata_native_bytes(MPI_Datatype t, uint64_t wire_bytes)
{
	const struct ztype *e = ztype_find(t);

	return zdata_whole_bytes(t, e->converted ? zsignature_native_bytes(&e->signature, wire_bytes) : wire_bytes);
}

MPI_Count zdata_whole_bytes(MPI_Datatype t, uint64_t bytes)
{
	const struct ztype *e = ztype_find(t);
	uint64_t part = e->size > 0 ? bytes % (uint64_t)e->size : 0, whole = part;

	if (part > 0 && zprefix_whole(t, &whole) == MPI_SUCCESS)
		bytes -= part - whole;
	return (MPI_Count)bytes;
}
