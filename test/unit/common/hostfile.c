/* SPDX-License-Identifier: BSD-3-Clause */
/* The zipper hostfile: its contents, and every error with its file, line and words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/common/corpus.h"
#include "common/hosts/hostfile.h"
#include "common/hosts/hostfile_find.h"

static int parse(struct zhostfile *file, const char *text, size_t len, struct zerr *err)
{
	FILE *in = len ? fmemopen((void *)(uintptr_t)text, len, "r") : fopen("/dev/null", "r");
	assert_non_null(in);
	int rc = zhostfile_parse(file, in, "hosts", err);
	fclose(in);
	return rc;
}

static void reads_everything(void **state)
{
	static const char text[] =
		"# two clusters\n"
		"#ZIP cluster lgm launcher=ssh launcher-exec=/opt/bin/ssh iface=ib0 localhost=fe n=12 "
		"device=mlx5_0:2 mpiexec=/opt/mpich/bin/mpiexec\n"
		"node001:8\n"
		"  node002:8   user=me binding=core  # a comment\r\n"
		"\n"
		"\t#ZIP cluster das4 # another one\n"
		"node101.das4.example.org\n"
		"#ZIPPER is no directive, and neither is\n"
		"# zip codes\n"
		"#ZIP zipper zip01 lgm=tcp:10.1.0.1 das4=tcp:10.2.0.1:7000 # there\n"
		"zip01:4\n"
		"#ZIP zipper zip02 das4=shm:/run/z lgm=shm";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, strlen(text), &err), 0);
	assert_string_equal(f.path, "hosts");
	assert_int_equal(f.nclusters, 2);
	struct zcluster *lgm = &f.clusters[0], *das4 = &f.clusters[1];
	assert_string_equal(lgm->name, "lgm");
	assert_string_equal(lgm->launcher, "ssh");
	assert_string_equal(lgm->launcher_exec, "/opt/bin/ssh");
	assert_string_equal(lgm->iface, "ib0");
	assert_string_equal(lgm->localhost, "fe");
	assert_string_equal(lgm->device, "mlx5_0:2");
	assert_string_equal(lgm->mpiexec, "/opt/mpich/bin/mpiexec");
	assert_int_equal(lgm->nranks, 12);
	assert_int_equal(lgm->line, 2);
	assert_int_equal(lgm->nhosts, 2);
	assert_int_equal(lgm->slots, 16);
	assert_string_equal(lgm->hosts[0].name, "node001");
	assert_null(lgm->hosts[0].rest);
	assert_int_equal(lgm->hosts[1].slots, 8);
	assert_int_equal(lgm->hosts[1].line, 4);
	assert_string_equal(lgm->hosts[1].rest, "user=me binding=core");
	assert_string_equal(das4->name, "das4");
	assert_null(das4->launcher);
	assert_int_equal(das4->nranks, 0);
	assert_int_equal(das4->slots, 5);
	assert_string_equal(das4->hosts[1].name, "zip01");
	assert_int_equal(f.nzippers, 2);
	assert_string_equal(f.zippers[0].host, "zip01");
	assert_int_equal(f.zippers[0].nports, 2);
	assert_int_equal(f.zippers[0].line, 10);
	assert_string_equal(f.zippers[0].ports[0].fabric, "lgm");
	assert_int_equal(f.zippers[0].ports[0].addr.kind, ZADDR_TCP);
	assert_int_equal(f.zippers[0].ports[0].addr.port, ZADDR_DEFAULT_PORT);
	assert_false(f.zippers[0].ports[0].fixed);
	assert_int_equal(f.zippers[0].ports[1].addr.port, 7000);
	assert_true(f.zippers[0].ports[1].fixed);
	assert_true(f.zippers[1].ports[0].fixed);
	assert_false(f.zippers[1].ports[1].fixed);
	assert_int_equal(zhostfile_find_cluster(&f, "das4"), 1);
	assert_int_equal(zhostfile_find_cluster(&f, "das"), -ENOENT);
	zhostfile_free(&f);
}

static void reads_plain_hydra_file(void **state)
{
	static const char text[] = "a:2\n b\n";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, strlen(text), &err), 0);
	assert_int_equal(f.nclusters, 1);
	assert_string_equal(f.clusters[0].name, "default");
	assert_int_equal(f.clusters[0].slots, 3);
	assert_int_equal(f.nzippers, 0);
	zhostfile_free(&f);
}

/* Batch systems write a line for each slot. Another host between two such lines makes two entries, as for Hydra. */
static void joins_lines_of_a_host(void **state)
{
	static const char text[] = "a\na user=me\na:2 binding=core\nb\na\n#ZIP cluster x\nc\n";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, strlen(text), &err), 0);
	const struct zcluster *first = &f.clusters[0];
	assert_int_equal(first->nhosts, 3);
	assert_int_equal(first->slots, 6);
	assert_int_equal(first->hosts[0].slots, 4);
	assert_int_equal(first->hosts[0].line, 1);
	assert_string_equal(first->hosts[0].rest, "user=me binding=core");
	assert_string_equal(first->hosts[2].name, "a");
	assert_int_equal(first->hosts[2].slots, 1);
	assert_null(first->hosts[2].rest);
	zhostfile_free(&f);
}

static void reads_node_lines(void **state)
{
	static const char text[] = "#ZIP node n[008-010],z speed=1.5 cores=16 gpu=4 bigmem # before its hosts\n"
				   "#ZIP cluster a\nn008\nn009:2\nn010\nn011\nn008:3\n#ZIP cluster b\nz\n"
				   "#ZIP node n011 topology=pack:2,core:4,pu:2 reserve=0 hca=mlx4_0\n";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, strlen(text), &err), 0);
	assert_int_equal(f.nnodes, 2);
	for (int h = 0; h < 3; h++)
		assert_int_equal(f.clusters[0].hosts[h].node, 0);
	assert_int_equal(f.clusters[0].hosts[4].node, 0);
	assert_int_equal(f.clusters[0].hosts[3].node, 1);
	assert_int_equal(f.clusters[1].hosts[0].node, 0);
	const struct znode *first = &f.nodes[0], *second = &f.nodes[1];
	assert_true(first->speed > 1.49 && first->speed < 1.51);
	assert_int_equal(first->cores, 16);
	assert_int_equal(first->reserve, -1);
	assert_int_equal(first->nfeatures, 2);
	assert_string_equal(first->features[0].name, "gpu");
	assert_int_equal(first->features[0].count, 4);
	assert_string_equal(first->features[1].name, "bigmem");
	assert_int_equal(first->features[1].count, -1);
	assert_true(second->speed > 0.99 && second->speed < 1.01);
	assert_int_equal(second->reserve, 0);
	assert_string_equal(second->topology, "pack:2,core:4,pu:2");
	assert_string_equal(second->hca, "mlx4_0");
	zhostfile_free(&f);
}

static void finds_the_zipper_of_a_job(void **state)
{
	static const char text[] =
		"#ZIP cluster a\nh1\n#ZIP cluster b\nh2\n#ZIP cluster c\nh3\n#ZIP cluster d\nh4\n"
		"#ZIP zipper y b=tcp:10.1.0.2 c=tcp:10.1.0.3\n#ZIP zipper x a=tcp:10.1.0.1 b=tcp:10.1.0.2\n"
		"#ZIP zipper z c=tcp:10.1.0.3 a=tcp:10.1.0.1 b=tcp:10.1.0.2\n";
	static const int first[16] = {0, 1, 0, 1, 0, 2, 0, 2}; /* by clusters; d is behind no zipper */
	struct zhostfile file;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&file, text, strlen(text), &err), 0);
	assert_int_equal(zhostfile_find_clusters(&file, 0), 6);
	assert_int_equal(zhostfile_find_clusters(&file, 2), 7);
	for (uint64_t clusters = 0; clusters < 16; clusters++)
		assert_int_equal(zhostfile_find_joining(&file, clusters, 0), clusters < 8 ? first[clusters] : -ENOENT);
	assert_int_equal(zhostfile_find_joining(&file, 3, 2), 2);
	assert_int_equal(zhostfile_find_joining(&file, 3, 3), -ENOENT);
	assert_int_equal(zhostfile_find_joining(&file, 6, 1), 2);
	zhostfile_free(&file);
}

static void takes_transit_fabrics(void **state)
{
	static const char text[] = "#ZIP cluster a\nh1\n#ZIP cluster b\nh2\n"
				   "#ZIP zipper y a=shm wan=tcp:10.0.0.1\n#ZIP zipper z wan=tcp:10.0.0.2:99 b=shm\n";
	struct zhostfile file;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&file, text, strlen(text), &err), 0);
	assert_int_equal(file.nclusters, 2);
	assert_int_equal(zhostfile_find_cluster(&file, "wan"), -ENOENT);
	assert_int_equal(zhostfile_find_clusters(&file, 0), 1);
	assert_int_equal(zhostfile_find_clusters(&file, 1), 2);
	assert_int_equal(zhostfile_find_joining(&file, 3, 0), -ENOENT);
	assert_int_equal(zhostfile_find_port(&file, 1, "wan")->addr.port, 99);
	assert_null(zhostfile_find_port(&file, 1, "a"));
	zhostfile_free(&file);
}

static void finds_hosts(void **state)
{
	static const char text[] = "#ZIP cluster a\nn1.a.org\nn2\n10.1.0.2\nx.a.org\n"
				   "#ZIP cluster b\nn1.b.org\nn3.b.org\n10.2.0.2\nx.b.org\n";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, strlen(text), &err), 0);
	assert_int_equal(zhostfile_find_host(&f, "n1.a.org"), 0);
	assert_int_equal(zhostfile_find_host(&f, "N1.B.org"), 1);
	assert_int_equal(zhostfile_find_host(&f, "n2.a.org"), 0);
	assert_int_equal(zhostfile_find_host(&f, "n3"), 1);
	assert_int_equal(zhostfile_find_host(&f, "10.2.0.2"), 1);
	assert_int_equal(zhostfile_find_host(&f, "10.3.0.2"), -ENOENT);
	assert_int_equal(zhostfile_find_host(&f, "n1.c.org"), -ENOENT); /* another domain */
	assert_int_equal(zhostfile_find_host(&f, "x"), -ENOENT);	/* of which cluster? */
	assert_int_equal(zhostfile_find_host(&f, "n"), -ENOENT);
	zhostfile_free(&f);
}

#define TWO "#ZIP cluster a\nh1\n#ZIP cluster b\nh2\n"

static void reads_lists_of_hosts(void **state)
{
	static const char text[] = "#ZIP cluster a\nn[08-11,2]:4 user=me\nr[1-2]n[1,03]-ib\n"
				   "#ZIP cluster b\nm[7]\n"
				   "#ZIP node n[08-09,2],m7 gpu\n";
	static const char *const names[] = {"n08", "n09", "n10", "n11", "n2", "r1n1-ib", "r1n03-ib", "r2n1-ib",
		"r2n03-ib"};
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	if (zhostfile_parse(&f, in, "hosts", &err) < 0)
		fail_msg("%s", err.text);
	fclose(in);
	assert_int_equal(f.clusters[0].nhosts, 9);
	assert_int_equal(f.clusters[0].slots, 24);
	for (int h = 0; h < 9; h++) {
		const struct zhost *host = &f.clusters[0].hosts[h];
		assert_string_equal(host->name, names[h]);
		assert_int_equal(host->slots, h < 5 ? 4 : 1);
		assert_int_equal(host->line, h < 5 ? 2 : 3);
		assert_int_equal(host->node, h < 2 || h == 4 ? 0 : -1);
		if (h < 5)
			assert_string_equal(host->rest, "user=me");
	}
	assert_string_equal(f.clusters[1].hosts[0].name, "m7");
	assert_int_equal(f.clusters[1].hosts[0].node, 0);
	zhostfile_free(&f);
}

#define LIST(text) "hosts:5: '" text "' is no list of hosts: NAME[FIRST-LAST], as node[01-04,7]"
static const struct {
	const char *text, *error;
} bad[] = {
	{"", "hosts: no host in it"},
	{"# only this\n", "hosts: no host in it"},
	{"#ZIP\n", "hosts:1: #ZIP without a directive: cluster, zipper or node"},
	{"a\n#ZIP clutser x\n", "hosts:2: unknown directive #ZIP clutser (did you mean cluster?)"},
	{"#ZIP nothing\n", "hosts:1: unknown directive #ZIP nothing"},
	{"#zip cluster x\n", "hosts:1: a comment that looks like a directive: write #ZIP, in capitals"},
	{"# ZIP zipper x\n", "hosts:1: a comment that looks like a directive: write #ZIP, in capitals"},
	{TWO "# zip node h1 gpu\n", "hosts:5: a comment that looks like a directive: write #ZIP, in capitals"},
	{"#ZIPcluster x\nh\n", "hosts:1: a comment that looks like a directive: write #ZIP, in capitals"},
	{"#ZIP cluster\n", "hosts:1: #ZIP cluster: the name is missing"},
	{"#ZIP cluster # x\n", "hosts:1: #ZIP cluster: the name is missing"},
	{"#ZIP cluster a,b\n", "hosts:1: cluster name 'a,b': only letters, digits, and _.- behind the first"},
	{"#ZIP cluster -a\n", "hosts:1: cluster name '-a': only letters, digits, and _.- behind the first"},
	{"#ZIP cluster "
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
		"hosts:1: cluster name must have 1 to 64 characters"},
	{"#ZIP cluster a\nh\n#ZIP cluster a\ng\n", "hosts:3: cluster a was already begun in line 1"},
	{"h\n#ZIP cluster default\ng\n", "hosts:2: cluster default was already begun in line 1"},
	{"#ZIP cluster a lancher=ssh\nh\n", "hosts:1: unknown cluster option 'lancher' (did you mean launcher?)"},
	{"#ZIP cluster a launcher\nh\n", "hosts:1: 'launcher' is not of the form NAME=VALUE"},
	{"#ZIP cluster a launcher=\nh\n", "hosts:1: 'launcher=' is not of the form NAME=VALUE"},
	{"#ZIP cluster a =ssh\nh\n", "hosts:1: '=ssh' is not of the form NAME=VALUE"},
	{"#ZIP cluster a iface=x iface=y\nh\n", "hosts:1: option iface is given twice"},
	{"#ZIP cluster a device=mlx5_0:1 device=mlx5_0:1\nh\n", "hosts:1: option device is given twice"},
	{"#ZIP cluster a device=mlx5_0\nh\n", "hosts:1: device: 'mlx5_0' is not of the form DEVICE:PORT"},
	{"#ZIP cluster a device=mlx5_0:1@there\nh\n",
		"hosts:1: device: 'mlx5_0:1@there' is not of the form DEVICE:PORT"},
	{"#ZIP cluster a device=tcp:there\nh\n", "hosts:1: device: 'tcp:there' is not of the form DEVICE:PORT"},
	{"#ZIP cluster a n=1 n=1\nh\n", "hosts:1: option n is given twice"},
	{"#ZIP cluster a n=0\nh\n", "hosts:1: n: '0' is not a number from 1 to 1048576"},
	{"#ZIP cluster a n=two\nh\n", "hosts:1: n: 'two' is not a number from 1 to 1048576"},
	{"\n\n#ZIP cluster a\n#ZIP cluster b\nh\n", "hosts:3: cluster a has no host"},
	{"#ZIP cluster a\nh\n#ZIP cluster b\n", "hosts:3: cluster b has no host"},
	{"h:0\n", "hosts:1: slots: '0' is not a number from 1 to 1048576"},
	{"h:\n", "hosts:1: slots: '' is not a number from 1 to 1048576"},
	{"h:-1\n", "hosts:1: slots: '-1' is not a number from 1 to 1048576"},
	{"h:+1\n", "hosts:1: slots: '+1' is not a number from 1 to 1048576"},
	{"h:8x\n", "hosts:1: slots: '8x' is not a number from 1 to 1048576"},
	{"h:8:8\n", "hosts:1: slots: '8:8' is not a number from 1 to 1048576"},
	{"h:99999999999999999999\n", "hosts:1: slots: '99999999999999999999' is not a number from 1 to 1048576"},
	{"h:1048576\ng\n", "hosts:2: cluster default has more than 1048576 slots"},
	{"h slots=8\n", "hosts:1: 'slots=8': slots are written h:NUMBER"},
	{"h:2 user=me max-slots=8 # x\n", "hosts:1: 'max-slots=8': slots are written h:NUMBER"},
	{"h 8\n", "hosts:1: '8' behind the host is not of the form NAME=VALUE"},
	{"h user= binding=core\n", "hosts:1: 'user=' behind the host is not of the form NAME=VALUE"},
	{":8\n", "hosts:1: a host name must have 1 to 253 characters"},
	{"h1,h2\n", "hosts:1: 'h1,h2' is not a host name"},
	{"#ZIP cluster a\nh\n#ZIP cluster b\ng\nH:2\n", "hosts:5: host H belongs to cluster a already (line 2)"},
	{TWO "#ZIP zipper\n", "hosts:5: #ZIP zipper: the host is missing"},
	{TWO "#ZIP zipper a=shm b=shm\n", "hosts:5: #ZIP zipper: the host is missing before 'a=shm'"},
	{TWO "#ZIP zipper z!\n", "hosts:5: 'z!' is not a host name"},
	{TWO "#ZIP zipper z\n", "hosts:5: zipper z needs two fabrics or more"},
	{TWO "#ZIP zipper z a=shm\n", "hosts:5: zipper z needs two fabrics or more"},
	{TWO "#ZIP zipper z a=shm b\n", "hosts:5: 'b' is not of the form NAME=VALUE"},
	{TWO "#ZIP zipper z a=shm a=shm\n", "hosts:5: fabric a is given twice"},
	{TWO "#ZIP zipper z a=shm c/d=shm\n", "hosts:5: fabric 'c/d': only letters, digits, and _.- behind the first"},
	{TWO "#ZIP zipper z a=shm b=tpc\n", "hosts:5: address of fabric b: bad address \"tpc\": expected "
					    "tcp:HOST[:PORT], shm[:PATH] or DEVICE:PORT"},
	{TWO "#ZIP zipper z a=shm lab=shm\n", "hosts:5: fabric lab: there is no cluster of that name, and no other "
					      "zipper on it"},
	{TWO "#ZIP zipper y a=shm lab=shm\n#ZIP zipper z b=shm lap=shm\n",
		"hosts:5: fabric lab: there is no cluster of that name, and no other zipper on it"},
	{TWO "#ZIP node\n", "hosts:5: #ZIP node: the host is missing"},
	{TWO "#ZIP node h1\n", "hosts:5: #ZIP node: nothing is said about h1"},
	{TWO "#ZIP node h3 gpu\n", "hosts:5: node h3: there is no host of that name"},
	{TWO "#ZIP node h[1-3] gpu\n", "hosts:5: node h3: there is no host of that name"},
	{TWO "#ZIP node h[3-1] gpu\n", LIST("h[3-1]")},
	{TWO "#ZIP node h[1-99999999] gpu\n", "hosts:5: 'h[1-99999999]' are more than 65536 hosts"},
	{TWO "h[1-3\n", LIST("h[1-3")},
	{TWO "h1-3]\n", LIST("h1-3]")},
	{TWO "h[]\n", LIST("h[]")},
	{TWO "h[1-]\n", LIST("h[1-]")},
	{TWO "h[1,]\n", LIST("h[1,]")},
	{TWO "h[-1]\n", LIST("h[-1]")},
	{TWO "h[1 2]\n", LIST("h[1")},
	{TWO "h[1-2[3]]\n", LIST("h[1-2[3]]")},
	{TWO "h[1-3:2]\n", "hosts:5: slots: '2]' is not a number from 1 to 1048576"},
	{TWO "h[4-5]\n#ZIP cluster c\nh[5-6]\n", "hosts:7: host h5 belongs to cluster b already (line 5)"},
	{TWO "#ZIP node h1 gpu\n#ZIP node h2,h1 gpu\n", "hosts:6: node h1 has its line already (line 5)"},
	{TWO "#ZIP node h1 gpu=0\n", "hosts:5: gpu: '0' is not a number from 1 to 1048576"},
	{TWO "#ZIP node h1 features=gpu\n",
		"hosts:5: features=gpu: a feature is a word of its own, as gpu, or gpu=4 if 4 ranks may use it"},
	{TWO "#ZIP node h1 gpu=-1\n",
		"hosts:5: gpu=-1: a feature is a word of its own, as gpu, or gpu=4 if 4 ranks may use it"},
	{TWO "#ZIP node h1 gpu=1 GPU\n", "hosts:5: GPU is given twice"},
	{TWO "#ZIP node h1 speed\n", "hosts:5: speed without a value"},
	{TWO "#ZIP node h1 speed=\n", "hosts:5: speed= without a value"},
	{TWO "#ZIP node h1 speed=-1\n", "hosts:5: speed: '-1' is not a positive number"},
	{TWO "#ZIP node h1 speed=2 speed=2\n", "hosts:5: speed is given twice"},
	{TWO "#ZIP node h1 cores=x\n", "hosts:5: cores: 'x' is not a number from 1 to 1048576"},
	{TWO "#ZIP node h1 g/u\n", "hosts:5: 'g/u' is neither an option nor the name of a feature"},
	{"#ZIP cluster leiden\nh1\n#ZIP cluster das\nh2\n#ZIP zipper z leidn=shm das=shm\n",
		"hosts:5: fabric leidn: there is no cluster of that name (did you mean leiden?), and no other zipper "
		"on "
		"it"},
};

static void tells_file_line_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zhostfile f;
		struct zerr err = {{0}};
		int rc = parse(&f, bad[i].text, strlen(bad[i].text), &err);
		if (rc >= 0)
			fail_msg("accepted: %s", bad[i].text);
		assert_string_equal(err.text, bad[i].error);
		assert_null(f.clusters); /* on error nothing is owned */
	}
}

static void refuses_zero_byte(void **state)
{
	static const char text[] = "h1\nh\0h\n";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, sizeof(text) - 1, &err), -EINVAL);
	assert_string_equal(err.text, "hosts:2: zero byte in the line");
}

/* Some editors begin files with a byte order mark; elsewhere it is a character as others. */
static void skips_byte_order_mark(void **state)
{
	static const char text[] = "\xef\xbb\xbf#ZIP cluster a\nh\n", middle[] = "h1\n\xef\xbb\xbfh2\n";
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&f, text, sizeof(text) - 1, &err), 0);
	assert_string_equal(f.clusters[0].name, "a");
	assert_int_equal(f.clusters[0].line, 1);
	zhostfile_free(&f);
	assert_int_equal(parse(&f, middle, sizeof(middle) - 1, &err), -EINVAL);
	assert_non_null(strstr(err.text, "hosts:2: "));
}

static void refuses_too_many_clusters(void **state)
{
	char text[65 * 32], *p = text;
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	for (int i = 0; i < 65; i++)
		p += sprintf(p, "#ZIP cluster c%d\nh%d\n", i, i);
	assert_int_equal(parse(&f, text, strlen(text), &err), -E2BIG);
	assert_string_equal(err.text, "hosts:129: more than 64 clusters");
}

static void tells_that_file_is_missing(void **state)
{
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(zhostfile_read(&f, "/nonexistent/hosts", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/hosts: No such file or directory");
}

static void tells_a_reason_behind_a_long_path(void **state)
{
	char path[800], expected[900];
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = i % 100 ? 'x' : '/';
	path[sizeof(path) - 1] = '\0';
	snprintf(expected, sizeof(expected), "%s: No such file or directory", path);
	assert_int_equal(zhostfile_read(&f, path, &err), -ENOENT);
	assert_string_equal(err.text, expected);
}

static void tells_that_it_is_no_file(void **state)
{
	struct zhostfile f;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(zhostfile_read(&f, "/", &err), -EISDIR);
	assert_string_equal(err.text, "/: Is a directory");
}

static void feed(const char *text, size_t len)
{
	struct zhostfile f;
	struct zerr err = {{0}};
	int rc = parse(&f, text, len, &err);
	if (rc == 0) {
		assert_true(f.nclusters > 0 && f.clusters[0].nhosts > 0);
		zhostfile_find_host(&f, "node001");
		zhostfile_free(&f);
	} else {
		assert_int_equal(strncmp(err.text, "hosts:", 6), 0);
		assert_null(strchr(err.text, '\n'));
		assert_null(f.clusters);
	}
}

static void survives_corpus(void **state)
{
	(void)state;
	assert_true(corpus_replay("hostfile", feed) >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_everything),
		cmocka_unit_test(reads_plain_hydra_file),
		cmocka_unit_test(joins_lines_of_a_host),
		cmocka_unit_test(reads_node_lines),
		cmocka_unit_test(finds_the_zipper_of_a_job),
		cmocka_unit_test(takes_transit_fabrics),
		cmocka_unit_test(finds_hosts),
		cmocka_unit_test(reads_lists_of_hosts),
		cmocka_unit_test(tells_file_line_and_reason),
		cmocka_unit_test(refuses_zero_byte),
		cmocka_unit_test(skips_byte_order_mark),
		cmocka_unit_test(refuses_too_many_clusters),
		cmocka_unit_test(tells_that_file_is_missing),
		cmocka_unit_test(tells_a_reason_behind_a_long_path),
		cmocka_unit_test(tells_that_it_is_no_file),
		cmocka_unit_test(survives_corpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
