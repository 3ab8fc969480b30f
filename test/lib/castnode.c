/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node of zipcast as a program of its own, as a user of libzipcast would write it, with the public header alone.
 * Arguments: folder in which the nodes leave their addresses, this node's number, number of nodes, address to listen
 * on, algorithm, bytes of a message, number of messages (0: for ever). Node 0 sends. Status 0: all messages came,
 * undamaged; 3: the group failed, and the suspected member is named. CAST_LISTEN overrides the address. With
 * CAST_FABRIC, nodes of other fabrics are reached through the zipperd at CAST_ZIPPER, where CAST_USER has CAST_KEY
 * (hexadecimal), and each fabric is a site.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zipcast.h>

#define NODES_MAX 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long complete, damaged;
static char why[ZIPCAST_WHY_BYTES];
static unsigned char *memory;
static int me;
static struct zipcast_group *group;
static uint32_t suspect;

static unsigned char byte_at(unsigned long message, size_t i)
{
	return (unsigned char)(message * 37 + i % 253);
}

static void fill(unsigned char *data, size_t bytes, unsigned long message)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = byte_at(message, i);
}

static void *on_incoming(void *arg, uint64_t bytes)
{
	(void)arg;
	(void)bytes; /* all messages have one size */
	return memory;
}

static void on_complete(void *arg, void *data, uint64_t bytes)
{
	const unsigned char *at = data;
	(void)arg;
	pthread_mutex_lock(&lock);
	for (uint64_t i = 0; me > 0 && i < bytes; i++)
		damaged += at[i] != byte_at(complete, i);
	memset(data, 0, bytes);
	if (++complete == 1)
		printf("node %d: under way\n", me);
	fflush(stdout);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void on_failed(void *arg, const char *text)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	snprintf(why, sizeof(why), "%s", text);
	suspect = zipcast_group_suspect(group);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static int refuse(const char *what)
{
	printf("node %d: %s: %s\n", me, what, why);
	return 2;
}

static void leave_address(const char *dir, const char *address)
{
	char path[512], temporary[520];
	snprintf(path, sizeof(path), "%s/address%d", dir, me);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	FILE *f = fopen(temporary, "w");
	if (!f || fprintf(f, "%s", address) < 0 || fclose(f) != 0 || rename(temporary, path) != 0)
		exit(refuse(path));
}

static void find_address(const char *dir, int node, char *out, size_t size)
{
	char path[512];
	FILE *f;
	snprintf(path, sizeof(path), "%s/address%d", dir, node);
	while (!(f = fopen(path, "r")))
		usleep(10000);
	if (!fgets(out, (int)size, f))
		exit(refuse(path));
	fclose(f);
}

static void read_key(const char *hex, unsigned char key[ZIPCAST_KEY_BYTES])
{
	for (int i = 0; i < ZIPCAST_KEY_BYTES; i++)
		if (!hex || sscanf(hex + 2 * i, "%2hhx", &key[i]) != 1)
			exit(refuse("CAST_KEY"));
}

int main(int argc, char **argv)
{
	static char address[NODES_MAX][320];
	const char *list[NODES_MAX];
	uint32_t members[NODES_MAX], site[NODES_MAX];
	unsigned char user_key[ZIPCAST_KEY_BYTES];
	static const unsigned char key[ZIPCAST_KEY_BYTES] = "as secret as a test needs it....";
	struct zipcast *zc;
	if (argc != 8)
		return 2;
	me = atoi(argv[2]);
	const int n = atoi(argv[3]) < NODES_MAX ? atoi(argv[3]) : NODES_MAX;
	const size_t bytes = strtoul(argv[6], NULL, 10);
	const unsigned long messages = strtoul(argv[7], NULL, 10);
	struct zipcast_config config = {.me = (uint32_t)me,
		.listen = getenv("CAST_LISTEN") ? getenv("CAST_LISTEN") : argv[4],
		.session = "castnode",
		.key = key,
		.timeout_ms = 120000};
	if (getenv("CAST_FABRIC")) {
		read_key(getenv("CAST_KEY"), user_key);
		config.fabric = getenv("CAST_FABRIC");
		config.zipper = getenv("CAST_ZIPPER");
		config.user = getenv("CAST_USER");
		config.user_key = user_key;
	}
	memory = malloc(bytes);
	if (!memory || zipcast_open(&zc, &config, why) != 0)
		return refuse("cannot open");
	leave_address(argv[1], zipcast_address(zc));
	for (int i = 0; i < n; i++) {
		find_address(argv[1], i, address[i], sizeof(address[i]));
		list[i] = address[i];
		members[i] = (uint32_t)i;
		site[i] = (uint32_t)address[i][0]; /* the first letter of the fabric's name */
	}
	const struct zipcast_group_config gc = {.number = 1,
		.nmembers = (uint32_t)n,
		.members = members,
		.algorithm = argv[5],
		.site = config.fabric ? site : NULL,
		.block_bytes = 65536};
	const struct zipcast_events events = {on_incoming, on_complete, on_failed, NULL};
	if (zipcast_meet(zc, list, (uint32_t)n, why) != 0)
		return refuse("cannot meet");
	if (zipcast_group_create(&group, zc, &gc, &events, why) != 0)
		return refuse("cannot make the group");
	pthread_mutex_lock(&lock);
	for (unsigned long i = 0; (messages == 0 || i < messages) && !why[0]; i++) {
		if (me == 0) {
			fill(memory, bytes, i);
			pthread_mutex_unlock(&lock);
			zipcast_send(group, memory, bytes); /* the callback hears of a failure */
			pthread_mutex_lock(&lock);
		}
		while (complete <= i && !why[0])
			pthread_cond_wait(&changed, &lock);
	}
	const int all = messages && complete == messages;
	printf("node %d: %lu messages, %lu bytes damaged\n", me, complete, damaged);
	if (!all)
		printf("node %d: failed: %s\nnode %d: suspects member %d\n", me, why, me, (int)suspect);
	pthread_mutex_unlock(&lock);
	zipcast_group_destroy(group);
	zipcast_close(zc);
	free(memory);
	return damaged ? 1 : all ? 0 : 3;
}
