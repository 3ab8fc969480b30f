/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the collectives: temporary ones, copies, packing and reductions. */
#include "libzip/coll/base/buf.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "common/base/copy.h"
#include "libzip/type/data.h"
#include "libzip/shim/shim.h"
#include "libzip/type/redop.h"

MPI_Count zbuf_size(MPI_Datatype type)
{
	return ztype_find(type)->size;
}

MPI_Aint zbuf_extent(MPI_Datatype type)
{
	return (MPI_Aint)ztype_find(type)->extent;
}

bool zbuf_is_contiguous(MPI_Datatype type)
{
	const struct ztype *t = ztype_find(type);
	return t->dense && t->start == 0 && t->extent == t->size;
}

/* The bytes that count elements touch: [*low, *high) from the buffer's address. */
static void span(MPI_Count count, MPI_Datatype type, MPI_Aint *low, MPI_Aint *high)
{
	MPI_Aint lb, extent, true_lb, true_extent;
	*low = *high = 0;
	if (count == 0)
		return;
	zn.Type_get_extent(type, &lb, &extent);
	zn.Type_get_true_extent(type, &true_lb, &true_extent);
	MPI_Aint last = (count - 1) * extent;
	*low = true_lb + (last < 0 ? last : 0);
	*high = true_lb + true_extent + (last > 0 ? last : 0);
}

int zbuf_temp(struct zsched *s, MPI_Count count, MPI_Datatype type, void **buf)
{
	MPI_Aint low, high;
	span(count, type, &low, &high);
	char *p = zsched_alloc(s, (size_t)(high - low) + 1);
	if (!p)
		return MPI_ERR_NO_MEM;
	*buf = p - low;
	return MPI_SUCCESS;
}

bool zbuf_interleaves(MPI_Datatype type)
{
	MPI_Aint low, high, extent = zbuf_extent(type);
	span(1, type, &low, &high);
	return high - low > (extent < 0 ? -extent : extent);
}

MPI_Aint zbuf_pitch(MPI_Count count, MPI_Datatype type)
{
	const MPI_Aint align = alignof(max_align_t);
	MPI_Aint low, high;
	if (!zbuf_interleaves(type))
		return count * zbuf_extent(type);
	span(count, type, &low, &high);
	return (high - low + align - 1) / align * align;
}

int zbuf_temps(struct zsched *s, MPI_Count count, MPI_Datatype type, int n, void ***bufs)
{
	int rc = MPI_SUCCESS;
	*bufs = zsched_alloc(s, (size_t)n * sizeof **bufs);
	if (!*bufs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = zbuf_temp(s, count, type, &(*bufs)[i]);
	return rc;
}

void zbuf_copy_span(const void *from, void *to, MPI_Count count, MPI_Datatype type)
{
	MPI_Aint low, high;
	span(count, type, &low, &high);
	if (high > low)
		zcopy((char *)to + low, (const char *)from + low, (size_t)(high - low));
}

int zbuf_copy(struct zsched *s, const void *from, MPI_Count fromcount, MPI_Datatype fromtype, void *to,
	MPI_Count tocount, MPI_Datatype totype)
{
	MPI_Count bytes = fromcount * zbuf_size(fromtype), room = tocount * zbuf_size(totype);
	bool from_plain = zbuf_is_contiguous(fromtype), to_plain = zbuf_is_contiguous(totype);
	if (bytes > room)
		return MPI_ERR_TRUNCATE;
	if (bytes == 0)
		return MPI_SUCCESS;
	if (from_plain && to_plain) {
		memmove(to, from, (size_t)bytes);
		return MPI_SUCCESS;
	}
	char *packed = from_plain ? (char *)from : to_plain ? to : zsched_alloc(s, (size_t)bytes);
	if (!packed)
		return MPI_ERR_NO_MEM;
	int rc = MPI_SUCCESS;
	if (!from_plain)
		rc = zdata_pack_native((uint8_t *)packed, (uint64_t)bytes, from, fromcount, fromtype);
	if (rc == MPI_SUCCESS && !to_plain)
		rc = zdata_unpack_native((const uint8_t *)packed, (uint64_t)bytes, to, tocount, totype);
	return rc;
}

MPI_Count zbuf_wire_bytes(MPI_Count count, MPI_Datatype type)
{
	return count * ztype_find(type)->wire_size;
}

int zbuf_pack(const void *buf, MPI_Count count, MPI_Datatype type, char *at)
{
	MPI_Count bytes = zbuf_wire_bytes(count, type);
	return bytes == 0 ? MPI_SUCCESS : zdata_pack((uint8_t *)at, (uint64_t)bytes, buf, count, type);
}

int zbuf_unpack(const char *at, void *buf, MPI_Count count, MPI_Datatype type)
{
	MPI_Count bytes = zbuf_wire_bytes(count, type);
	return bytes == 0 ? MPI_SUCCESS : zdata_unpack((const uint8_t *)at, (uint64_t)bytes, buf, count, type);
}

bool zbuf_is_wire(MPI_Datatype type)
{
	return zbuf_is_contiguous(type); /* never where the representation must be converted */
}

int zbuf_wire(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, char **wire, MPI_Count *bytes)
{
	*bytes = zbuf_wire_bytes(count, type);
	*wire = (char *)buf;
	if (zbuf_is_wire(type))
		return MPI_SUCCESS;
	*wire = zsched_alloc(s, (size_t)*bytes);
	return *wire ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int zbuf_reduce(const void *in, void *inout, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	int rc;
	if (count == 0)
		return MPI_SUCCESS;
	if (zredop_is_predefined(op))
		return zn.Reduce_local_c(in, inout, count, type, op) == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OP;
	zshim_callback_begin();
	rc = zn.Reduce_local_c(in, inout, count, type, op);
	zshim_callback_end();
	return rc == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OP;
}
