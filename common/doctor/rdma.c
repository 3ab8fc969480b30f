/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the kernel's files about RDMA ports, see rdma.h and Documentation/ABI/stable/sysfs-class-infiniband. */
#include "common/doctor/rdma.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROCE_HEADERS 96 /* bytes of a packet that are no payload (iboe_get_mtu in the kernel) */

/* Reads the first line of a file. False, and an empty text, if there is none. */
static bool read_line(char *text, size_t cap, const char *dir, const char *name)
{
	char path[2048];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "re");
	text[0] = '\0';
	bool has_line = file && fgets(text, (int)cap, file);
	text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return has_line;
}

/* The entries of a folder but "." and "..", sorted. Returns their number; free with free_list. */
static int list(struct dirent ***entries, const char *dir, const char *name)
{
	char path[2048];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int n = scandir(path, entries, NULL, alphasort), kept = 0;
	for (int i = 0; i < n; i++)
		if ((*entries)[i]->d_name[0] == '.')
			free((*entries)[i]);
		else
			(*entries)[kept++] = (*entries)[i];
	if (n < 0)
		*entries = NULL;
	return kept;
}

static void free_list(struct dirent **entries, int n)
{
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

/* Partition keys of 0 are empty places of the table. */
static void read_keys(struct zrdma_port *p, const char *dir)
{
	struct dirent **entries;
	char key[32];
	size_t len = 0;
	int n = list(&entries, dir, "pkeys");
	char keys[1100];
	snprintf(keys, sizeof(keys), "%s/pkeys", dir);
	for (int i = 0; i < n; i++)
		if (read_line(key, sizeof(key), keys, entries[i]->d_name) && strtol(key, NULL, 16) != 0 &&
			len + strlen(key) + 2 < sizeof(p->keys))
			len += (size_t)sprintf(p->keys + len, "%s%s", len ? " " : "", key);
	free_list(entries, n);
}

static void read_mtu(struct zrdma_port *p, const char *device)
{
	struct dirent **entries;
	char name[512], text[32];
	int n = list(&entries, device, "device/net");
	for (int i = 0; i < n && p->mtu == 0; i++) {
		snprintf(name, sizeof(name), "device/net/%s/mtu", entries[i]->d_name);
		if (read_line(text, sizeof(text), device, name))
			p->mtu = atoi(text);
	}
	free_list(entries, n);
}

static void read_port(struct zrdma_port *p, const char *device, const char *name)
{
	char dir[1024], text[64];
	snprintf(dir, sizeof(dir), "%s/ports/%s", device, name);
	p->port = atoi(name);
	read_line(text, sizeof(text), dir, "state"); /* "4: ACTIVE" */
	const char *state = strchr(text, ' ');
	snprintf(p->state, sizeof(p->state), "%.31s", state ? state + 1 : text);
	p->active = strcmp(p->state, "ACTIVE") == 0;
	read_line(p->rate, sizeof(p->rate), dir, "rate");
	p->ethernet = read_line(text, sizeof(text), dir, "link_layer") && strcmp(text, "Ethernet") == 0;
	read_keys(p, dir);
	read_mtu(p, device);
}

int zrdma_visit(const char *sysfs, void (*visit)(void *ctx, const struct zrdma_port *), void *ctx)
{
	struct dirent **devices, **ports;
	char device[512];
	int n = list(&devices, sysfs, ""), found = 0;
	for (int i = 0; i < n; i++) {
		snprintf(device, sizeof(device), "%s/%s", sysfs, devices[i]->d_name);
		int nports = list(&ports, device, "ports");
		for (int k = 0; k < nports; k++) {
			struct zrdma_port p = {.port = 0};
			snprintf(p.device, sizeof(p.device), "%.63s", devices[i]->d_name);
			read_port(&p, device, ports[k]->d_name);
			visit(ctx, &p);
			found++;
		}
		free_list(ports, nports);
	}
	free_list(devices, n);
	return found;
}

int zrdma_roce_mtu(int mtu)
{
	for (int roce = 4096; roce >= 256; roce /= 2)
		if (mtu >= roce + ROCE_HEADERS)
			return roce;
	return 0;
}
