/* SPDX-License-Identifier: BSD-3-Clause */
/* zipperd, the forwarder on zipper nodes: starts its modules in order and stops them in reverse. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/base/installed.h"
#include "common/base/log.h"
#include "common/base/stdfds.h"
#include "common/config/conf_print.h"
#include "common/transport/base/inherited.h"
#include "common/transport/transports.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/daemon.h"
#include "zipperd/conn/dial.h"
#include "zipperd/conn/listener.h"
#include "zipperd/conn/munger.h"
#include "zipperd/conn/quota.h"
#include "zipperd/control/hear.h"
#include "zipperd/control/loop.h"
#include "zipperd/control/notify.h"
#include "zipperd/control/reload.h"
#include "zipperd/control/watchdog.h"
#include "zipperd/job/job_past.h"
#include "zipperd/main/cpus.h"
#include "zipperd/main/keytool.h"
#include "zipperd/main/node.h"
#include "zipperd/main/options.h"
#include "zipperd/settings/keys.h"
#include "zipperd/settings/settings.h"

static int fail(const struct zerr *err)
{
	zlog_init("zipperd", ZLOG_ERROR);
	zlog(ZLOG_ERROR, "%s", err->text);
	return EXIT_FAILURE;
}

static int configure(struct daemon *d, const struct options *o, struct zerr *err)
{
	static char path[PATH_MAX + sizeof(OPTIONS_CONF)]; /* read again on SIGHUP */
	struct settings_source *from = &d->source;
	*from = (struct settings_source){.path = o->config, .set = o->set, .nset = o->nset, .keyed = o->node};
	if (!o->config && o->nset == 0) {
		zinstalled_find(path, (const void *)configure, SBINDIR, CONFDIR, OPTIONS_CONF);
		from->path = strcat(path, "/" OPTIONS_CONF);
	}
	return settings_load(&d->settings, from, err);
}

/* Reads configuration and keys, and checks all that can be wrong before anything is started. */
static int prepare(struct daemon *d, const struct options *o, struct zerr *err)
{
	int rc = configure(d, o, err);
	if (rc != 0)
		return rc;
	rc = o->node ? node_key_read(&d->node, err) : 0;
	if (rc != 0)
		return rc;
	rc = keys_load(&d->keys, d->settings.key_file, err);
	if (rc != 0)
		return zerr_prefix(err, rc, "%s: key_file", d->settings.key_file_at);
	const struct zmunge_ops *ops;
	if (o->test && d->settings.munge && (rc = zmunge_load(&ops, d->settings.module_dir, err)) != 0)
		return zerr_prefix(err, rc, "munge");
	return o->test ? listener_check_all(&d->settings, err) : 0;
}

static int change_keys(struct daemon *d, const struct options *o, struct zerr *err)
{
	int rc = configure(d, o, err);
	if (rc == 0 && (!d->settings.key_file || !*d->settings.key_file))
		rc = zerr_set(err, -EINVAL, "no key_file: there is no file for keys");
	if (rc != 0)
		return rc;
	return o->drop_key ? keytool_drop(d->settings.key_file, o->drop_key, err)
			   : keytool_put(d->settings.key_file, stdin, err);
}

static int tie_to_parent(const struct options *o, struct zerr *err)
{
	pid_t parent = getppid();
	if (!o->die_with_parent)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
		return zerr_set(err, -errno, "--die-with-parent: %s", strerror(errno));
	if (getppid() != parent)
		return zerr_set(err, -ESRCH, "--die-with-parent: the parent has gone already");
	return 0;
}

static void note_device(const char *text)
{
	zlog(ZLOG_INFO, "%s", text);
}

static void warn_of_device(const char *text)
{
	zlog(ZLOG_WARN, "%s", text);
}

static int serve(struct daemon *d, const struct options *o)
{
	struct zerr err = {.text = ""};
	int status = EXIT_FAILURE;
	zlog_init("zipperd", (enum zlog_level)d->settings.log_level);
	const int inherited = zinherited_init();
	if (inherited > 0)
		zlog(ZLOG_INFO, "%d sockets come from the service manager", inherited);
	reload_init(d);
	d->for_job = o->die_with_parent || o->node;
	if (d->for_job && d->settings.workers == SETTINGS_WORKERS_AUTO)
		d->settings.workers = 1; /* the ranks are on this host, and need the cores */
	capacity_init(d);
	d->settings.verbs.note = note_device;
	d->settings.verbs.warn = warn_of_device;
	d->settings.verbs.patient = !d->for_job; /* the launcher wants to know at once */
	ztransports_configure(d->settings.module_dir, &d->settings.verbs);
	d->budget.limit = (uint64_t)d->settings.memory;
	if (quota_init(&d->quotas, &err) != 0) {
		fail(&err);
		goto out;
	}
	quota_configure(d->quotas, &d->settings, d->for_job || (keys_count(d->keys) == 1 && !d->settings.munge));
	if ((d->settings.cpus && cpus_bind(d->settings.cpus, &err) != 0) || tie_to_parent(o, &err) != 0 ||
		loop_init(d, &err) != 0) {
		fail(&err);
		goto out;
	}
	if (crew_create(d, &err) != 0) {
		fail(&err);
		goto out_loop;
	}
	if (dial_init(d, &err) != 0) {
		fail(&err);
		goto out_crew;
	}
	int rc = munger_init(d, &err);
	if (rc == 0)
		rc = listener_open_all(d, hear_ready, &err);
	if (rc != 0) {
		if (!(o->node && rc == -EADDRINUSE)) /* another rank of the node has started one */
			fail(&err);
		goto out_crew;
	}
	if (o->ready_fd >= 0 && notify_ready_fd(d, o->ready_fd, &err) != 0) {
		fail(&err);
		goto out_listeners;
	}
	notify_state("READY=1");
	watchdog_init(d);
	for (int i = 0; i < d->nlisteners; i++)
		zlog(ZLOG_INFO, "listening on %s", d->listeners[i].text);
	capacity_log(d);
	loop_run(d);
	status = EXIT_SUCCESS;

out_listeners:
	listener_close_all(d);
out_crew:
	munger_fini(d);
	dial_fini(d);
	if (!list_empty(&d->all_jobs) || d->ntrunks > 0) { /* a device may still write to the workers' memory */
		zlog(ZLOG_WARN, "not all transfers have ended: their memory is left to the system");
		_exit(status);
	}
	crew_destroy(d);
out_loop:
	loop_fini(d);
out:
	job_past_free(d);
	quota_fini(d->quotas);
	reload_fini(d);
	return status;
}

/* Checks that standard output has been written. */
static int finish_output(struct zerr *err)
{
	errno = EIO; /* in case it failed earlier */
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_SUCCESS;
	zerr_set(err, -errno, "standard output: %s", strerror(errno));
	return fail(err);
}

int main(int argc, char **argv)
{
	static struct daemon d;
	struct options o;
	struct zerr err = {.text = ""};
	int status = EXIT_SUCCESS;
	zstdfds_take();
	if (!options_read(&o, argc, argv, &status))
		return status;
	if (o.node)
		node_detach();
	if (o.mdoc) {
		zconf_print_mdoc(settings_rows, stdout);
	} else if (o.print_config) {
		if (configure(&d, &o, &err) != 0)
			status = fail(&err);
		else
			settings_print(&d.settings, stdout);
	} else if (o.make_key) {
		if (keytool_make(o.make_key, o.until, stdout, &err) != 0)
			status = fail(&err);
	} else if (o.put_keys || o.drop_key) {
		if (change_keys(&d, &o, &err) != 0)
			status = fail(&err);
	} else if (prepare(&d, &o, &err) != 0) {
		status = fail(&err);
	} else if (o.test) {
		printf("%s: ok\n", d.source.path ? d.source.path : "options");
	} else {
		status = serve(&d, &o);
	}
	if (status == EXIT_SUCCESS)
		status = finish_output(&err);
	keys_free(d.keys);
	settings_fini(&d.settings);
	return status;
}
