/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin of qemu (-plugin FILE,name=NAME,state=FOLDER): counts how often each translated block of an emulated machine
 * is executed. When the file FOLDER/dump.K appears, K = 1, 2, ..., it writes FOLDER/NAME.K: a line "ADDRESS
 * INSTRUCTIONS TIMES" (hexadecimal, decimal, decimal) for each block so far. bench/count evaluates them.
 *
 * Debian packages no header of the interface, so its functions are declared here.
 * Source: "QEMU TCG Plugins" of the documentation of qemu 7.2, interface version 1.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUCKETS 65536
#define LOOK_US 20000

struct qemu_plugin_tb;
typedef void (*translated)(uint64_t id, struct qemu_plugin_tb *);
enum inline_op { INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum inline_op, void *at, uint64_t by);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

/* Never freed: translated code adds to the count as long as the machine runs. */
struct block {
	uint64_t address, instructions, times;
	struct block *next;
};

static struct block *bucket[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[64], state[256];

/* A block that is translated again keeps its count. */
static struct block *find(uint64_t address, uint64_t instructions)
{
	struct block **first = &bucket[(address ^ address >> 16 ^ instructions) % BUCKETS], *b = *first;
	while (b && (b->address != address || b->instructions != instructions))
		b = b->next;
	if (!b && (b = calloc(1, sizeof(*b)))) {
		b->address = address;
		b->instructions = instructions;
		b->next = *first;
		*first = b;
	}
	return b;
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	pthread_mutex_lock(&lock);
	struct block *b = find(qemu_plugin_tb_vaddr(tb), qemu_plugin_tb_n_insns(tb));
	pthread_mutex_unlock(&lock);
	if (b)
		qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &b->times, 1);
}

/* The rename shows the file to the reader when it is complete. */
static void dump(int k)
{
	char made[400], done[400];
	snprintf(made, sizeof(made), "%s/%s.%d.part", state, name, k);
	snprintf(done, sizeof(done), "%s/%s.%d", state, name, k);
	FILE *out = fopen(made, "w");
	if (!out) {
		perror(made);
		return;
	}
	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUCKETS; i++)
		for (const struct block *b = bucket[i]; b; b = b->next)
			fprintf(out, "%llx %llu %llu\n", (unsigned long long)b->address,
				(unsigned long long)b->instructions, (unsigned long long)b->times);
	pthread_mutex_unlock(&lock);
	if (fclose(out) != 0 || rename(made, done) != 0)
		perror(made);
}

static void *watch(void *unused)
{
	(void)unused;
	for (int k = 1;; k++) {
		char asked[300];
		snprintf(asked, sizeof(asked), "%s/dump.%d", state, k);
		while (access(asked, F_OK) != 0)
			usleep(LOOK_US);
		dump(k);
	}
	return NULL;
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	pthread_t thread;
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "name=", 5) == 0)
			snprintf(name, sizeof(name), "%s", argv[i] + 5);
		else if (strncmp(argv[i], "state=", 6) == 0)
			snprintf(state, sizeof(state), "%s", argv[i] + 6);
	}
	if (!name[0] || !state[0])
		fprintf(stderr, "count_plugin: name= and state= are needed\n");
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return name[0] && state[0] && pthread_create(&thread, NULL, watch, NULL) == 0 ? 0 : -1;
}
