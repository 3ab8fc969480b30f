/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the rows and writes the file. See record_file.h. */
#include "libzip/record/record_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/graph/graph.h"
#include "common/graph/graph_scan.h"
#include "common/graph/graph_writer.h"
#include "common/graph/graph_model.h"
#include "libzip/shim/patience.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

#define COME_MS 30000
#define AHEAD 8				  /* ranks asked ahead of reading; hides the round trip */
#define ROW_BYTES_MAX ((uint64_t)1 << 30) /* far more than a full table encodes to */
enum { TAG_ASK = 1, TAG_LENGTH, TAG_ROW };

static MPI_Comm comm = MPI_COMM_NULL;
static char *file;
static int rank, size;

/* These calls serve a merged world and a native one. */
static int comm_send(const void *buf, int n, MPI_Datatype type, int to, int tag)
{
	return zworld.merged ? zip_Send(buf, n, type, to, tag, comm) : zn.Send(buf, n, type, to, tag, comm);
}

static int comm_recv(void *buf, int n, MPI_Datatype type, int from, int tag)
{
	return zworld.merged ? zip_Recv(buf, n, type, from, tag, comm, MPI_STATUS_IGNORE)
			     : zn.Recv(buf, n, type, from, tag, comm, MPI_STATUS_IGNORE);
}

static int check_file(const char *path, struct zerr *err)
{
	struct zgraph_writer *w;
	struct stat st;
	int rc;

	if (stat(path, &st) == 0) {
		rc = S_ISREG(st.st_mode) ? zgraph_scan_probe(path, err) : 0;
		if (rc < 0)
			return rc;
		if (rc == 0)
			return zerr_set(err, -EEXIST, "%s exists and is no recorded graph; it is left alone", path);
	}
	rc = zgraph_writer_open(&w, path, 1, 0, "", true, err);
	if (rc)
		return rc;
	zgraph_writer_abandon(w);
	if (unlink(path) != 0 && errno != ENOENT)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

/* Makes the path absolute now: the program may change its directory before the file is written. */
static int keep_name(const char *path, struct zerr *err)
{
	char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);

	if (path[0] != '/' && !here)
		return zerr_set(err, -errno, "%s: the current directory: %s", path, strerror(errno));
	int n = asprintf(&file, "%s%s%s", here ? here : "", here ? "/" : "", path);
	free(here);
	if (n >= 0)
		return 0;
	file = NULL;
	return zerr_set(err, -ENOMEM, "out of memory");
}

/* Without a job nobody has compared the variables of the ranks, and a rank that does not record never comes. */
static int meet_natively(struct zerr *err)
{
	MPI_Request request;
	int rc = zn.Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS ? zpatience_wait(&request, COME_MS) : -EIO;

	if (rc == -ETIMEDOUT)
		return zerr_set(err, rc,
			"some ranks of this job do not record, or did not come within %d seconds: set it for all ranks",
			COME_MS / 1000);
	return rc ? zerr_set(err, rc, "cannot meet the other ranks") : 0;
}

int zrecord_file_open(const char *path, struct zerr *err)
{
	zn.Comm_rank(MPI_COMM_WORLD, &rank);
	zn.Comm_size(MPI_COMM_WORLD, &size);
	if (zworld.merged) {
		rank = zworld.vrank;
		size = zworld.nranks;
	}
	/* Before the others can leave MPI_Init: a rank that dies early must not find the old graph still there, nor
	 * end rank 0 while rank 0 tries the name. The others wait in the calls below. */
	int rc = rank == 0 ? check_file(path, err) : 0;
	if (rc == 0 && rank == 0)
		rc = keep_name(path, err);
	if (rc == 0 && !zworld.merged && size > 1)
		rc = meet_natively(err);
	if (rc)
		return rc;
	rc = zworld.merged ? zip_Comm_dup(MPI_COMM_WORLD, &comm) : zn.Comm_dup(MPI_COMM_WORLD, &comm);
	return rc == MPI_SUCCESS ? 0 : zerr_set(err, -ENOMEM, "cannot make a communicator for it");
}

int zrecord_file_rank(void)
{
	return rank;
}

/* Answers rank 0. A length of UINT64_MAX says that there is no row. */
static int send_row(const uint8_t *row, size_t len)
{
	uint64_t n = row || len == 0 ? len : UINT64_MAX;
	int rc = comm_recv(NULL, 0, MPI_BYTE, 0, TAG_ASK);

	if (rc == MPI_SUCCESS)
		rc = comm_send(&n, 1, MPI_UINT64_T, 0, TAG_LENGTH);
	if (rc == MPI_SUCCESS && n > 0 && n != UINT64_MAX)
		rc = comm_send(row, (int)n, MPI_BYTE, 0, TAG_ROW);
	return rc;
}

/* Rank 0 reads every rank that it has asked, also when the file has failed: these ranks wait for it. */
static int collect(struct zgraph_writer *w, const uint8_t *own, size_t own_len, int failed, struct zerr *err)
{
	int asked = 1, rc = failed;

	if (!rc)
		rc = zgraph_writer_row(w, own, own_len, err);
	for (int r = 1; r < size; r++) {
		uint64_t len = 0;
		uint8_t *row = NULL;

		for (; asked < size && asked < r + AHEAD; asked++)
			if (comm_send(NULL, 0, MPI_BYTE, asked, TAG_ASK) != MPI_SUCCESS)
				return zerr_set(err, -EIO, "cannot reach rank %d", asked);
		if (comm_recv(&len, 1, MPI_UINT64_T, r, TAG_LENGTH) != MPI_SUCCESS)
			return zerr_set(err, -EIO, "cannot reach rank %d", r);
		if (len == UINT64_MAX) {
			rc = rc ? rc : zerr_set(err, -ENOMEM, "rank %d is out of memory", r);
			continue;
		}
		if (len > ROW_BYTES_MAX || (len > 0 && !(row = malloc(len))))
			return zerr_set(err, -ENOMEM, "out of memory for the row of rank %d", r);
		if (len > 0 && comm_recv(row, (int)len, MPI_BYTE, r, TAG_ROW) != MPI_SUCCESS) {
			free(row);
			return zerr_set(err, -EIO, "cannot reach rank %d", r);
		}
		if (!rc)
			rc = zgraph_writer_row(w, row, len, err);
		free(row);
	}
	return rc;
}

/* Rank 0 may run on any host. Returns rc, with the host in front of its text. */
static int name_host(int rc, struct zerr *err)
{
	char host[256];

	if (!rc || gethostname(host, sizeof(host)) != 0)
		return rc;
	host[sizeof(host) - 1] = '\0';
	return zerr_prefix(err, rc, "on host %s", host);
}

int zrecord_file_write(const uint8_t *row, size_t len, struct zerr *err)
{
	struct zgraph_writer *w = NULL;
	int rc = 0;

	if (rank != 0) {
		if (send_row(row, len) != MPI_SUCCESS)
			rc = zerr_set(err, -EIO, "cannot reach rank 0");
	} else {
		rc = !row && len > 0 ? zerr_set(err, -ENOMEM, "out of memory")
				     : zgraph_writer_open(&w, file, (uint32_t)size, ZGRAPH_MODEL,
					       program_invocation_short_name, true, err);
		rc = collect(w, row, len, rc, err);
		if (w && rc)
			zgraph_writer_abandon(w);
		else if (w)
			rc = zgraph_writer_close(w, err);
		rc = name_host(rc, err);
	}
	if (zworld.merged)
		zip_Comm_free(&comm);
	else
		zn.Comm_free(&comm);
	free(file);
	file = NULL;
	return rc;
}
