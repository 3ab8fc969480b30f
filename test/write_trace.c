/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes an OTF2 trace by the library's own writer, for trace.py. Reads lines from stdin:
 *
 *   ranks N                        first; rank r is location 10 * r + 3, and location 10 * r + 4 is another thread of
 * it comm NAME RANK ...             a communicator; "world" is there already, and "self" inter NAME RANK ... / RANK ...
 * a communicator between two groups win NAME COMM                  a window send RANK COMM PEER BYTES      all others
 * are events, in order; isend, put RANK WIN PEER BYTES, get thread RANK COMM PEER BYTES    a send by the other thread
 *   coll RANK OP COMM ROOT SENT RECEIVED    OP and ROOT: numbers of OTF2; icoll: non-blocking
 *   ibegin RANK REQUEST            a non-blocking collective begins; icoll with REQUEST at the end: it is complete
 *   fence RANK WIN                 cancelled RANK REQUEST
 *   isend RANK COMM PEER BYTES REQUEST      sent RANK REQUEST: it is complete
 *   recv RANK COMM PEER BYTES
 *   irecv RANK REQUEST                      received RANK COMM PEER BYTES REQUEST: it is complete
 *   enter RANK TICK FUNCTION       leave RANK TICK FUNCTION
 *   tenter, tleave                 the same by the other thread
 *   global                         ranks in events are those of the world
 *   phase FUNCTION                 that function is a phase
 *   local                          each location has numbers of its own for communicators: the reader must map them
 *
 * Usage: write_trace FOLDER NAME. The trace is FOLDER/NAME.otf2.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256
#define FUNCTIONS 64
#define TICKS 1000 /* a second */

static struct {
	char name[32];
	uint64_t member[2][MOST];
	uint32_t n[2];
} comms[MOST];
static struct {
	char name[32];
	uint32_t comm;
} windows[MOST];
static char functions[FUNCTIONS][64];
static int phases[FUNCTIONS];
static uint32_t ranks, ncomms, nwindows, nfunctions, nstrings = 1;
static int local, global;
static OTF2_Archive *archive;

static void die(const char *why)
{
	fprintf(stderr, "write_trace: %s\n", why);
	exit(1);
}

static void must(int code)
{
	if (code != OTF2_SUCCESS)
		die("OTF2");
}

static uint64_t location_of(uint32_t rank, int thread)
{
	return 10 * (uint64_t)rank + 3 + (uint64_t)thread;
}

static uint32_t comm_find(const char *name)
{
	for (uint32_t i = 0; i < ncomms; i++)
		if (!strcmp(comms[i].name, name))
			return i;
	die(name);
	return 0;
}

static uint32_t window_find(const char *name)
{
	for (uint32_t i = 0; i < nwindows; i++)
		if (!strcmp(windows[i].name, name))
			return i;
	die(name);
	return 0;
}

static uint32_t function_find(const char *name)
{
	for (uint32_t i = 0; i < nfunctions; i++)
		if (!strcmp(functions[i], name))
			return i;
	if (nfunctions == FUNCTIONS)
		die("too many functions");
	snprintf(functions[nfunctions], sizeof(functions[0]), "%s", name);
	return nfunctions++;
}

/* --- files --- */

static OTF2_FlushType flush_before(void *arg, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	(void)arg;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static OTF2_TimeStamp flush_after(void *arg, OTF2_FileType type, OTF2_LocationRef location)
{
	(void)arg;
	(void)type;
	(void)location;
	return 1000000;
}

static OTF2_FlushCallbacks flushing = {flush_before, flush_after};

static OTF2_EvtWriter *writer_of(uint32_t rank, int thread)
{
	return OTF2_Archive_GetEvtWriter(archive, location_of(rank, thread));
}

/* The number of a communicator in events: turned round where each location has numbers of its own. */
static uint32_t comm_number(uint32_t comm)
{
	return local ? ncomms - 1 - comm : comm;
}

static uint32_t string_write(OTF2_GlobalDefWriter *w, const char *text)
{
	must(OTF2_GlobalDefWriter_WriteString(w, nstrings, text));
	return nstrings++;
}

static void group_write(OTF2_GlobalDefWriter *w, uint32_t group, OTF2_GroupType type, uint32_t n,
	const uint64_t *members)
{
	must(OTF2_GlobalDefWriter_WriteGroup(w, group, 0, type, OTF2_PARADIGM_MPI,
		global ? OTF2_GROUP_FLAG_GLOBAL_MEMBERS : OTF2_GROUP_FLAG_NONE, n, members));
}

static void definitions_write(OTF2_GlobalDefWriter *w)
{
	uint64_t all[MOST];

	must(OTF2_GlobalDefWriter_WriteClockProperties(w, TICKS, 0, 1000000, OTF2_UNDEFINED_TIMESTAMP));
	must(OTF2_GlobalDefWriter_WriteString(w, 0, ""));
	must(OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, string_write(w, "machine"), string_write(w, "node"),
		OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint32_t r = 0; r < ranks; r++) {
		must(OTF2_GlobalDefWriter_WriteLocationGroup(w, r, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
			OTF2_UNDEFINED_LOCATION_GROUP));
		for (int thread = 0; thread < 2; thread++)
			must(OTF2_GlobalDefWriter_WriteLocation(w, location_of(r, thread), 0,
				OTF2_LOCATION_TYPE_CPU_THREAD, 0, r));
		all[r] = location_of(r, 0);
	}
	for (uint32_t i = 0; i < nfunctions; i++)
		must(OTF2_GlobalDefWriter_WriteRegion(w, i, string_write(w, functions[i]), 0, 0,
			OTF2_REGION_ROLE_FUNCTION,
			strncmp(functions[i], "MPI_", 4) ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI,
			phases[i] ? OTF2_REGION_FLAG_PHASE : OTF2_REGION_FLAG_NONE, 0, 0, 0));
	/* group 0: all; 1: self; 2 * i + 2 and the next one: those of communicator i */
	group_write(w, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, ranks, all);
	group_write(w, 1, OTF2_GROUP_TYPE_COMM_SELF, 0, NULL);
	for (uint32_t i = 0; i < ncomms; i++) {
		for (uint32_t g = 0; g < 2; g++)
			group_write(w, 2 * i + 2 + g, OTF2_GROUP_TYPE_COMM_GROUP, comms[i].n[g], comms[i].member[g]);
		if (comms[i].n[1])
			must(OTF2_GlobalDefWriter_WriteInterComm(w, i, 0, 2 * i + 2, 2 * i + 3, OTF2_UNDEFINED_COMM,
				OTF2_COMM_FLAG_NONE));
		else
			must(OTF2_GlobalDefWriter_WriteComm(w, i, 0, i == 1 ? 1 : 2 * i + 2, OTF2_UNDEFINED_COMM,
				OTF2_COMM_FLAG_NONE));
	}
	for (uint32_t i = 0; i < nwindows; i++)
		must(OTF2_GlobalDefWriter_WriteRmaWin(w, i, 0, windows[i].comm, OTF2_RMA_WIN_FLAG_NONE));
}

/* Each location gets a file of definitions; with a table of communicators, if they have numbers of their own. */
static void tables_write(void)
{
	uint64_t number[MOST];

	for (uint32_t i = 0; i < ncomms; i++)
		number[comm_number(i)] = i;
	must(OTF2_Archive_OpenDefFiles(archive));
	for (uint32_t r = 0; r < 2 * ranks; r++) {
		OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(archive, location_of(r / 2, r % 2));
		OTF2_IdMap *map = OTF2_IdMap_CreateFromUint64Array(ncomms, number, false);

		if (local)
			must(OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_COMM, map));
		OTF2_IdMap_Free(map);
		must(OTF2_Archive_CloseDefWriter(archive, w));
	}
	must(OTF2_Archive_CloseDefFiles(archive));
}

/* --- lines --- */

static void comm_read(char *words)
{
	char *save = NULL, *name = strtok_r(words, " \n", &save);
	int g = 0;

	snprintf(comms[ncomms].name, sizeof(comms[0].name), "%s", name);
	for (char *word = strtok_r(NULL, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (*word == '/')
			g = 1;
		else
			comms[ncomms].member[g][comms[ncomms].n[g]++] = strtoull(word, NULL, 10);
	}
	ncomms++;
}

static void event_write(const char *kind, char *words)
{
	char a[64] = "", b[64] = "", c[64] = "", d[64] = "", e[64] = "", f[64] = "";
	uint32_t rank;
	static uint64_t now = 1, request = 1;

	if (sscanf(words, "%u %63s %63s %63s %63s %63s %63s", &rank, a, b, c, d, e, f) < 2)
		die(kind);
	if (!strcmp(kind, "send") || !strcmp(kind, "thread"))
		must(OTF2_EvtWriter_MpiSend(writer_of(rank, *kind == 't'), NULL, now++, (uint32_t)atoi(b),
			comm_number(comm_find(a)), 0, strtoull(c, NULL, 10)));
	else if (!strcmp(kind, "isend"))
		must(OTF2_EvtWriter_MpiIsend(writer_of(rank, 0), NULL, now++, (uint32_t)atoi(b),
			comm_number(comm_find(a)), 0, strtoull(c, NULL, 10), *d ? strtoull(d, NULL, 10) : request++));
	else if (!strcmp(kind, "sent"))
		must(OTF2_EvtWriter_MpiIsendComplete(writer_of(rank, 0), NULL, now++, strtoull(a, NULL, 10)));
	else if (!strcmp(kind, "recv"))
		must(OTF2_EvtWriter_MpiRecv(writer_of(rank, 0), NULL, now++, (uint32_t)atoi(b),
			comm_number(comm_find(a)), 0, strtoull(c, NULL, 10)));
	else if (!strcmp(kind, "irecv"))
		must(OTF2_EvtWriter_MpiIrecvRequest(writer_of(rank, 0), NULL, now++, strtoull(a, NULL, 10)));
	else if (!strcmp(kind, "received"))
		must(OTF2_EvtWriter_MpiIrecv(writer_of(rank, 0), NULL, now++, (uint32_t)atoi(b),
			comm_number(comm_find(a)), 0, strtoull(c, NULL, 10), strtoull(d, NULL, 10)));
	else if (!strcmp(kind, "put"))
		must(OTF2_EvtWriter_RmaPut(writer_of(rank, 0), NULL, now++, window_find(a), (uint32_t)atoi(b),
			strtoull(c, NULL, 10), request++));
	else if (!strcmp(kind, "get"))
		must(OTF2_EvtWriter_RmaGet(writer_of(rank, 0), NULL, now++, window_find(a), (uint32_t)atoi(b),
			strtoull(c, NULL, 10), request++));
	else if (!strcmp(kind, "coll"))
		must(OTF2_EvtWriter_MpiCollectiveEnd(writer_of(rank, 0), NULL, now++, (OTF2_CollectiveOp)atoi(a),
			comm_number(comm_find(b)), (uint32_t)strtoul(c, NULL, 10), strtoull(d, NULL, 10),
			strtoull(e, NULL, 10)));
	else if (!strcmp(kind, "icoll"))
		must(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer_of(rank, 0), NULL, now++,
			(OTF2_CollectiveOp)atoi(a), comm_number(comm_find(b)), (uint32_t)strtoul(c, NULL, 10),
			strtoull(d, NULL, 10), strtoull(e, NULL, 10), *f ? strtoull(f, NULL, 10) : request++));
	else if (!strcmp(kind, "ibegin"))
		must(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_of(rank, 0), NULL, now++,
			strtoull(a, NULL, 10)));
	else if (!strcmp(kind, "cancelled"))
		must(OTF2_EvtWriter_MpiRequestCancelled(writer_of(rank, 0), NULL, now++, strtoull(a, NULL, 10)));
	else if (!strcmp(kind, "fence"))
		must(OTF2_EvtWriter_RmaCollectiveEnd(writer_of(rank, 0), NULL, now++, OTF2_COLLECTIVE_OP_BARRIER,
			OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, window_find(a), 0, 0, 0));
	else if (!strcmp(kind, "enter") || !strcmp(kind, "tenter"))
		must(OTF2_EvtWriter_Enter(writer_of(rank, *kind == 't'), NULL, now = strtoull(a, NULL, 10),
			function_find(b)));
	else if (!strcmp(kind, "leave") || !strcmp(kind, "tleave"))
		must(OTF2_EvtWriter_Leave(writer_of(rank, *kind == 't'), NULL, now = strtoull(a, NULL, 10),
			function_find(b)));
	else
		die(kind);
}

static void world_make(void)
{
	char world[] = "world", self[] = "self";

	comm_read(world);
	for (comms[0].n[0] = 0; comms[0].n[0] < ranks; comms[0].n[0]++)
		comms[0].member[0][comms[0].n[0]] = comms[0].n[0];
	comm_read(self);
}

int main(int argc, char **argv)
{
	char line[4096];

	if (argc != 3)
		die("usage: write_trace FOLDER NAME");
	archive = OTF2_Archive_Open(argv[1], argv[2], OTF2_FILEMODE_WRITE, 1024 * 1024, 4 * 1024 * 1024,
		OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!archive)
		die("the trace cannot be created");
	must(OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL));
	must(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
	must(OTF2_Archive_OpenEvtFiles(archive));
	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line + strcspn(line, " \n");
		char *words = *rest ? rest + 1 : rest;

		*rest = '\0';
		if (!strcmp(line, "ranks")) {
			ranks = (uint32_t)atoi(words);
			world_make();
		} else if (!strcmp(line, "comm") || !strcmp(line, "inter")) {
			comm_read(words);
		} else if (!strcmp(line, "win")) {
			char comm[32] = "";

			if (sscanf(words, "%31s %31s", windows[nwindows].name, comm) != 2)
				die(line);
			windows[nwindows++].comm = comm_find(comm);
		} else if (!strcmp(line, "phase")) {
			words[strcspn(words, "\n")] = '\0';
			phases[function_find(words)] = 1;
		} else if (!strcmp(line, "local")) {
			local = 1;
		} else if (!strcmp(line, "global")) {
			global = 1;
		} else {
			event_write(line, words);
		}
	}
	for (uint32_t r = 0; r < 2 * ranks; r++)
		must(OTF2_Archive_CloseEvtWriter(archive, writer_of(r / 2, r % 2)));
	must(OTF2_Archive_CloseEvtFiles(archive));
	tables_write();
	definitions_write(OTF2_Archive_GetGlobalDefWriter(archive));
	must(OTF2_Archive_Close(archive));
	return 0;
}
