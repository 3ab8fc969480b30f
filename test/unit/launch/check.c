/* SPDX-License-Identifier: BSD-3-Clause */
/* zmpirun --check: lines of a probe, what they mean for a rank, RDMA ports in a folder like the kernel's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/doctor/limits.h"
#include "common/doctor/rdma.h"
#include "launch/check/facts.h"
#include "launch/check/resources.h"

static void reads_facts(void **state)
{
	char text[] = "[mpiexec@n1] zipprobe: host n1\nsome other line\nzipprobe: files 1024 4096\nzipprobe: bare\n";
	struct zfacts f;
	(void)state;
	zfacts_read(&f, text);
	assert_int_equal(f.n, 3);
	assert_string_equal(zfacts_find(&f, "host"), "n1");
	assert_string_equal(zfacts_find(&f, "files"), "1024 4096");
	assert_string_equal(zfacts_find(&f, "bare"), "");
	assert_null(zfacts_find(&f, "some"));
}

/* --- what the facts mean --- */

static char told[2048];
static int nbad, nwarn;

static void take(void *ctx, enum zreport_level level, const char *advice, const char *text)
{
	(void)ctx;
	assert_non_null(advice);
	nbad += level == ZREPORT_BAD;
	nwarn += level == ZREPORT_WARN;
	strcat(told, text);
	strcat(told, "\n");
}

/* Judges a host of part a, which reaches the zipper at this address. */
static void judge(const char *address, const char *device, const char *lines)
{
	static struct zplan plan;
	static struct zrailset rails;
	static struct zroute route;
	char text[2048], name[] = "a", dev[64];
	struct zcluster cluster = {.name = name};
	struct zfacts f;
	struct zerr err;
	snprintf(dev, sizeof(dev), "%s", device ? device : "");
	cluster.device = device ? dev : NULL;
	plan.nparts = 2;
	strcpy(plan.parts[0].name, "a");
	plan.parts[0].cluster = &cluster;
	route.nports = 1;
	route.port[0].fabric = name;
	assert_int_equal(zaddr_parse(&route.port[0].addr, address, &err), 0);
	rails.n = 1;
	rails.used[0] = &route;
	told[0] = '\0';
	nbad = nwarn = 0;
	snprintf(text, sizeof(text), "%s", lines);
	zfacts_read(&f, text);
	const struct zresources r = {.plan = &plan, .rails = &rails, .begin_ms = 100000, .end_ms = 101000, .say = take};
	zresources_judge(&r, &f);
}

#define WELL                                                                                                           \
	"zipprobe: files 1024 4096\nzipprobe: locked 18446744073709551615 18446744073709551615\n"                      \
	"zipprobe: clock 100500\nzipprobe: port mlx5_0:1 1 0 0 0xffff 0x8005|ACTIVE|100 Gb/sec\n"
#define RDMA "mlx5_0:1@10.1.0.1:7474"

static void judges_resources(void **state)
{
	(void)state;
	judge("tcp:10.1.0.1:7474", NULL, WELL);
	assert_string_equal(told, "");
	judge(RDMA, NULL, WELL);
	assert_string_equal(told, "");
	judge(RDMA, "mlx5_0:1", WELL);
	assert_string_equal(told, "");
	judge("tcp:10.1.0.1:7474", NULL, "zipprobe: files 20 4096\nzipprobe: locked 65536 65536\n");
	assert_int_equal(nbad, 1);
	assert_non_null(strstr(told, "ulimit -n is 20, and a rank needs 68"));
	judge(RDMA, NULL, WELL "zipprobe: files 1 1\n"); /* the first one counts */
	assert_string_equal(told, "");
	judge("tcp:10.1.0.1:7474", NULL, "zipprobe: clock 90500\n");
	assert_int_equal(nwarn, 1);
	assert_string_equal(told, "its clock is 9.5 s behind that of this machine\n");
	judge("tcp:10.1.0.1:7474", NULL, "zipprobe: clock 104000\n");
	assert_string_equal(told, "its clock is 3.0 s ahead of that of this machine\n");
}

static void judges_rdma(void **state)
{
	(void)state;
	judge(RDMA, NULL, "zipprobe: locked 65536 65536\nzipprobe: port mlx5_0:1 1 0 0 0xffff|ACTIVE|100\n");
	assert_int_equal(nwarn, 1);
	assert_non_null(strstr(told, "ulimit -l is 64 KiB"));
	judge(RDMA, NULL, "zipprobe: files 1024 4096\n");
	assert_string_equal(told, "no RDMA port is active: it has none\n");
	judge(RDMA, NULL, "zipprobe: port mlx5_0:1 0 0 0 0xffff|DOWN|100\n");
	assert_string_equal(told, "no RDMA port is active: mlx5_0:1 is DOWN\n");
	judge(RDMA, "mlx5_1:1", WELL);
	assert_int_equal(nbad, 1);
	assert_non_null(strstr(told, "no RDMA port mlx5_1:1 is active"));
	judge("mlx5_0:1/partition=0x8005@10.1.0.1:7474", NULL, WELL);
	assert_string_equal(told, "");
	judge("mlx5_0:1/partition=0x8006@10.1.0.1:7474", NULL, WELL);
	assert_string_equal(told, "RDMA port mlx5_0:1 is not in partition 0x8006\n");
	char many[1200] = "zipprobe: port mlx5_0:1 1 0 0 0xffff"; /* a table of 128 partitions, all in use */
	for (int i = 1; i < 128; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), " 0x%04x", 0x8000 + i);
	strcat(many, "|ACTIVE|100\n");
	judge("mlx5_0:1/partition=0x807f@10.1.0.1:7474", NULL, many);
	assert_string_equal(told, "");
	judge("mlx5_0:1/partition=0x8080@10.1.0.1:7474", NULL, many);
	assert_string_equal(told, "RDMA port mlx5_0:1 is not in partition 0x8080\n");
	judge(RDMA, NULL, "zipprobe: port rxe0:1 1 1 1000 0xffff|ACTIVE|100\n");
	assert_int_equal(nwarn, 1);
	assert_string_equal(told, "RDMA port rxe0:1: its MTU of 1000 leaves RoCE 512 bytes\n");
}

/* --- the kernel's files --- */

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static struct zrdma_port ports[6];
static char keys[6][1024];

static void keep(void *count, const struct zrdma_port *p)
{
	int *n = count;
	assert_true(*n < 6);
	snprintf(keys[*n], sizeof(keys[*n]), "%s", p->keys);
	ports[(*n)++] = *p;
}

static void finds_rdma_ports(void **state)
{
	char class[] = "/tmp/zip-rdma.XXXXXX", dir[64], command[64];
	int n = 0;
	(void)state;
	assert_non_null(mkdtemp(class));
	snprintf(dir, sizeof(dir), "%s/infiniband", class);
	assert_int_equal(zrdma_visit("/nonexistent", keep, &n), 0);
	write_file(dir, "mlx5_0/ports/1/state", "4: ACTIVE\n");
	write_file(dir, "mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	write_file(dir, "mlx5_0/ports/1/link_layer", "InfiniBand\n");
	write_file(dir, "mlx5_0/ports/1/pkeys/0", "0x7fff\n");
	write_file(dir, "mlx5_0/ports/1/pkeys/1", "0x0000\n");
	write_file(dir, "mlx5_0/ports/1/pkeys/2", "0x8005\n");
	write_file(dir, "mlx5_0/ports/2/state", "1: DOWN\n");
	write_file(dir, "rxe0/ports/1/state", "4: ACTIVE\n");
	write_file(dir, "rxe0/ports/1/link_layer", "Ethernet\n");
	write_file(dir, "rxe0/device/net/eth0/mtu", "4200\n");
	assert_int_equal(zrdma_visit(dir, keep, &n), 3);
	assert_string_equal(ports[0].device, "mlx5_0");
	assert_int_equal(ports[0].port, 1);
	assert_true(ports[0].active);
	assert_false(ports[0].ethernet);
	assert_string_equal(ports[0].rate, "100 Gb/sec (4X EDR)");
	assert_string_equal(keys[0], "0x7fff 0x8005");
	assert_false(ports[1].active);
	assert_string_equal(ports[1].state, "DOWN");
	assert_true(ports[2].ethernet);
	assert_int_equal(ports[2].mtu, 4200);
	snprintf(command, sizeof(command), "rm -r %s", class);
	assert_int_equal(system(command), 0);
}

static void reads_all_keys(void **state)
{
	char dir[] = "/tmp/zip-rdma.XXXXXX", name[64], key[16], command[64];
	int n = 0;
	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 128; i++) {
		snprintf(name, sizeof(name), "mlx5_0/ports/1/pkeys/%d", i);
		snprintf(key, sizeof(key), "0x%04x\n", 0xffff - i);
		write_file(dir, name, key);
	}
	assert_int_equal(zrdma_visit(dir, keep, &n), 1);
	assert_int_equal(strlen(keys[0]), 128 * 7 - 1);
	assert_non_null(strstr(keys[0], "0xff80"));
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* A device with two ports, and an interface for each. */
static void tells_mtu_of_each_port(void **state)
{
	char class[] = "/tmp/zip-rdma.XXXXXX", dir[64], command[160];
	int n = 0;
	(void)state;
	assert_non_null(mkdtemp(class));
	snprintf(dir, sizeof(dir), "%s/infiniband", class);
	write_file(dir, "mlx4_0/ports/1/state", "4: ACTIVE\n");
	write_file(dir, "mlx4_0/ports/2/state", "4: ACTIVE\n");
	write_file(dir, "mlx4_0/device/net/eth0/mtu", "1000\n");
	write_file(dir, "mlx4_0/device/net/eth0/dev_port", "0\n");
	write_file(dir, "mlx4_0/device/net/eth1/mtu", "9000\n");
	write_file(dir, "mlx4_0/device/net/eth1/dev_port", "1\n");
	assert_int_equal(zrdma_visit(dir, keep, &n), 2);
	assert_int_equal(ports[0].mtu, 1000);
	assert_int_equal(ports[1].mtu, 9000);
	/* the second port is in a bond, and the kernel names its interface */
	write_file(dir, "mlx4_0/ports/2/gid_attrs/ndevs/0", "bond0\n");
	write_file(class, "net/bond0/mtu", "4200\n");
	n = 0;
	assert_int_equal(zrdma_visit(dir, keep, &n), 2);
	assert_int_equal(ports[0].mtu, 1000);
	assert_int_equal(ports[1].mtu, 4200);
	/* an old kernel does not tell which interface is whose: then the MTU is not known */
	snprintf(command, sizeof(command), "cd %s && rm -r */device/net/*/dev_port */ports/2/gid_attrs", dir);
	assert_int_equal(system(command), 0);
	n = 0;
	assert_int_equal(zrdma_visit(dir, keep, &n), 2);
	assert_int_equal(ports[0].mtu, 0);
	assert_int_equal(ports[1].mtu, 0);
	snprintf(command, sizeof(command), "rm -r %s", class);
	assert_int_equal(system(command), 0);
}

static void derives_roce_mtu(void **state)
{
	(void)state;
	assert_int_equal(zrdma_roce_mtu(4200), 4096);
	assert_int_equal(zrdma_roce_mtu(1500), 1024);
	assert_int_equal(zrdma_roce_mtu(100), 0);
}

static void formats_limits(void **state)
{
	char buf[32];
	struct zlimits l;
	(void)state;
	assert_string_equal(zlimits_format(buf, 65536, 1), "64 KiB");
	assert_string_equal(zlimits_format(buf, 65536, 0), "65536");
	assert_string_equal(zlimits_format(buf, ZLIMITS_NONE, 1), "unlimited");
	zlimits_own(&l);
	assert_true(l.files > 0 && l.files <= l.files_hard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_facts),
		cmocka_unit_test(judges_resources),
		cmocka_unit_test(judges_rdma),
		cmocka_unit_test(finds_rdma_ports),
		cmocka_unit_test(reads_all_keys),
		cmocka_unit_test(tells_mtu_of_each_port),
		cmocka_unit_test(derives_roce_mtu),
		cmocka_unit_test(formats_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
