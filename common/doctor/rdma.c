/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the kernel's files about RDMA ports, see rdma.h and Documentation/ABI/stable/sysfs-class-infiniband. */
#include "common/doctor/rdma.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 16	/* "0xffff" and more */
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

/* Partition keys of 0 are empty places of the table. The text is the caller's to free; NULL: out of memory. */
static char *read_keys(const char *dir)
{
	struct dirent **entries;
	char folder[1100], key[KEY_BYTES];
	int n = list(&entries, dir, "pkeys");
	char *keys = calloc((size_t)n + 1, KEY_BYTES + 1), *end = keys;
	snprintf(folder, sizeof(folder), "%s/pkeys", dir);
	for (int i = 0; keys && i < n; i++)
		if (read_line(key, sizeof(key), folder, entries[i]->d_name) && strtol(key, NULL, 16) != 0)
			end += sprintf(end, "%s%s", end > keys ? " " : "", key);
	free_list(entries, n);
	return keys;
}

/* The interface of the port's first GID (RoCE), by the port's folder. False: the kernel does not tell. */
static bool find_interface(char *interface, size_t cap, const char *port)
{
	struct dirent **entries;
	char folder[1100];
	int n = list(&entries, port, "gid_attrs/ndevs");
	bool found = false;
	snprintf(folder, sizeof(folder), "%s/gid_attrs/ndevs", port);
	for (int i = 0; i < n && !found; i++) /* those of empty places cannot be read */
		found = read_line(interface, cap, folder, entries[i]->d_name) && *interface;
	free_list(entries, n);
	return found;
}

/* Is this interface of the device that of the port? Drivers count their ports from 0. */
static bool is_of_port(const char *device, const char *interface, int port)
{
	char name[512], text[32];
	snprintf(name, sizeof(name), "device/net/%s/dev_port", interface);
	return read_line(text, sizeof(text), device, name) && atoi(text) == port - 1;
}

/* The device may have several ports, and an interface for each. */
static int read_mtu(const char *sysfs, const char *device, const char *dir, int port)
{
	struct dirent **entries;
	char name[512], text[32] = "", interface[64];
	if (find_interface(interface, sizeof(interface), dir)) { /* it may be a bond, not one of the device's own */
		snprintf(name, sizeof(name), "../net/%s/mtu", interface);
		if (read_line(text, sizeof(text), sysfs, name))
			return atoi(text);
	}
	int n = list(&entries, device, "device/net");
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "device/net/%s/mtu", entries[i]->d_name);
		if ((n == 1 || is_of_port(device, entries[i]->d_name, port)) &&
			read_line(text, sizeof(text), device, name))
			break;
	}
	free_list(entries, n);
	return atoi(text);
}

/* Returns its keys, to be freed after the visit. */
static char *read_port(struct zrdma_port *p, const char *sysfs, const char *device, const char *name)
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
	p->mtu = read_mtu(sysfs, device, dir, p->port);
	char *keys = read_keys(dir);
	p->keys = keys ? keys : "";
	return keys;
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
			char *keys = read_port(&p, sysfs, device, ports[k]->d_name);
			visit(ctx, &p);
			free(keys);
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
