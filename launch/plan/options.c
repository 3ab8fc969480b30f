/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line by a table with one row per option. Options have one or two dashes in front, as in mpiexec. */
#include "launch/plan/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/control/ctl.h"
#include "launch/base/environ.h"
#include "launch/plan/advice.h"
#include "launch/plan/binding.h"
#include "launch/plan/configfile.h"
#include "launch/plan/site.h"
#include "common/config/nearest.h"

#define LIFETIME_DEFAULT_DAYS 7
#define LIFETIME_MAX_DAYS 366
#define INIT_TIMEOUT_DEFAULT_S 60
#define INIT_TIMEOUT_MAX_S 86400
#define TIMEOUT_MAX_S 31536000 /* a year */
#define PPN_MAX 65536

struct row {
	const char *names; /* separated by blanks; the first one is the proper name */
	int nargs;
	const char *args; /* for --help; two arguments may also be one with '=' between them */
	int (*set)(struct zoptions *, const struct row *, char **args, struct zerr *);
	const char *help;
	bool local; /* is also allowed behind ':' */
};

int zoptions_parse_count(int *count, const char *text, int max)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value < 1 || value > max)
		return -EINVAL;
	*count = (int)value;
	return 0;
}

/* "-n" of "n np". */
static int first_name(const struct row *row)
{
	return (int)strcspn(row->names, " ");
}

static int set_number(int *field, const struct row *row, const char *text, int max, struct zerr *err)
{
	if (zoptions_parse_count(field, text, max) < 0)
		return zerr_set(err, -EINVAL, "-%.*s: '%.64s' is not a number from 1 to %d", first_name(row),
			row->names, text, max);
	return 0;
}

static struct zsection *current(struct zoptions *o)
{
	return &o->sections[o->nsections - 1];
}

static int set_n(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&current(o)->nranks, row, args[0], ZCTL_RANKS_MAX, err);
}

static int set_ppn(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&o->ppn, row, args[0], PPN_MAX, err);
}

static int set_rails(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&o->rails, row, args[0], ZCTL_RAILS_MAX, err);
}

static int set_usize(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&o->universe, row, args[0], INT32_MAX, err);
}

static int set_init_timeout(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&o->init_timeout_s, row, args[0], INIT_TIMEOUT_MAX_S, err);
}

static int set_timeout(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&o->timeout_s, row, args[0], TIMEOUT_MAX_S, err);
}

static int set_lifetime(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	return set_number(&o->lifetime_days, row, args[0], LIFETIME_MAX_DAYS, err);
}

/* LD_PRELOAD is set by zmpirun too. The user's libraries go in front of libzipper.so. */
static int add_preload(struct zoptions *o, const char *libraries, struct zerr *err)
{
	char *old = o->preload, *both = NULL;
	if (*libraries == '\0')
		return 0;
	if (asprintf(&both, "%s%s%s", old ? old : "", old ? ":" : "", libraries) < 0)
		return zerr_set(err, -ENOMEM, "out of memory");
	free(old);
	o->preload = both;
	return 0;
}

static int set_variable(struct zoptions *o, struct zargv *list, const char *option, char **args, struct zerr *err)
{
	if (*args[0] == '\0')
		return zerr_set(err, -EINVAL, "%s: the name is empty", option);
	if (strcmp(args[0], "LD_PRELOAD") == 0)
		return add_preload(o, args[1], err);
	if (zenviron_is_ours(args[0]))
		return zerr_set(err, -EINVAL, "%s %s: zmpirun sets this variable itself", option, args[0]);
	zargv_add(list, option);
	zargv_add_all(list, args, 2);
	return 0;
}

/* Takes two words, or one with '=' in it, as mpiexec does. */
static int take_variable(struct zoptions *o, struct zargv *list, const char *option, char **args, struct zerr *err)
{
	char *equals = strchr(args[0], '=');
	if (!equals)
		return set_variable(o, list, option, args, err);
	char *name = strndup(args[0], (size_t)(equals - args[0]));
	if (!name)
		return zerr_set(err, -ENOMEM, "out of memory");
	int rc = set_variable(o, list, option, (char *[]){name, equals + 1}, err);
	free(name);
	return rc;
}

static int set_genv(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	(void)row;
	return take_variable(o, &o->globals, "-genv", args, err);
}

static int set_env(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	(void)row;
	return take_variable(o, &current(o)->locals, "-env", args, err);
}

/* As mpirun of Open MPI: NAME is passed on with the value that it has here. A variable that is not set stays so. */
static int set_exported(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	const char *value = getenv(args[0]);
	(void)row;
	if (strchr(args[0], '='))
		return take_variable(o, &o->globals, "-genv", args, err);
	return value ? set_variable(o, &o->globals, "-genv", (char *[]){args[0], (char *)(uintptr_t)value}, err) : 0;
}

/* As -genv ZIPPER_PROFILE, with the name seen from here: the ranks may have another working directory. */
static int set_profile(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	char *here = args[0][0] == '/' ? NULL : getcwd(NULL, 0), *path = NULL;
	(void)row;
	if (*args[0] == '\0') {
		free(here);
		return zerr_set(err, -EINVAL, "-profile: the name of the file is empty");
	}
	int n = asprintf(&path, "%s%s%s", here ? here : "", here ? "/" : "", args[0]);
	free(here);
	if (n < 0)
		return zerr_set(err, -ENOMEM, "out of memory");
	int rc = set_variable(o, &o->globals, "-genv", (char *[]){ZENVIRON_PROFILE, path}, err);
	free(path);
	o->profile = true;
	return rc;
}

/* mpiexec must still pass on the variables that libzipper.so needs. */
static int set_envlist(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	bool global = row->names[0] == 'g';
	struct zargv *list = global ? &o->globals : &current(o)->locals;
	(void)err;
	zargv_add(list, global ? "-genvlist" : "-envlist");
	if (row->nargs == 1)
		zargv_addf(list, "%s,%s", args[0], zenviron_names());
	else
		zargv_add(list, zenviron_names());
	return 0;
}

static int set_envall(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	(void)args;
	(void)err;
	zargv_addf(row->names[0] == 'g' ? &o->globals : &current(o)->locals, "-%s", row->names);
	return 0;
}

static int set_wdir(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	(void)row;
	(void)err;
	zargv_add(&current(o)->locals, "-wdir");
	zargv_add(&current(o)->locals, args[0]);
	return 0;
}

/* Passes on an option that mpiexec understands and zmpirun does not use. */
static int set_passed(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	bool binds = row->names[0] != 'm' || row->names[1] == 'a'; /* -bind-to and -map-by, not -membind */
	int rc = binds ? zbinding_check(row->names, args[0], err) : 0;
	if (rc < 0)
		return rc;
	o->binds |= binds;
	zargv_addf(&o->globals, "-%s", row->names);
	zargv_add(&o->globals, args[0]);
	return 0;
}

#define TEXT_OPTION(field)                                                                                             \
	static int set_##field(struct zoptions *o, const struct row *row, char **args, struct zerr *err)               \
	{                                                                                                              \
		if (o->field)                                                                                          \
			return zerr_set(err, -EINVAL, "-%.*s is given twice", first_name(row), row->names);            \
		o->field = args[0];                                                                                    \
		return 0;                                                                                              \
	}
#define FLAG_OPTION(field)                                                                                             \
	static int set_##field(struct zoptions *o, const struct row *row, char **args, struct zerr *err)               \
	{                                                                                                              \
		(void)row;                                                                                             \
		(void)args;                                                                                            \
		(void)err;                                                                                             \
		o->field = true;                                                                                       \
		return 0;                                                                                              \
	}
TEXT_OPTION(hostfile)
TEXT_OPTION(clusters)
TEXT_OPTION(map)
TEXT_OPTION(zipperd)
TEXT_OPTION(mpi)
TEXT_OPTION(launcher)
TEXT_OPTION(launcher_exec)
TEXT_OPTION(iface)
TEXT_OPTION(credential)
TEXT_OPTION(reconnect)
TEXT_OPTION(hosts)
TEXT_OPTION(configfile)
FLAG_OPTION(label)
FLAG_OPTION(check)
FLAG_OPTION(oversubscribe)
FLAG_OPTION(stats)
FLAG_OPTION(progress)
FLAG_OPTION(verbose)
FLAG_OPTION(no_mpi)
FLAG_OPTION(help)
FLAG_OPTION(version)
FLAG_OPTION(info)

/* zmpirun makes a file for each rank, and the numbers of ranks are those of the whole world: so it knows %r alone. */
static int check_pattern(const struct row *row, const char *pattern, struct zerr *err)
{
	bool has_rank = false;
	for (const char *p = strchr(pattern, '%'); p; p = strchr(p + 2, '%')) {
		if (p[1] != 'r' && p[1] != '%')
			return zerr_set(err, -EINVAL, "-%s: '%.64s': only %%r (the rank) and %%%% have a meaning",
				row->names, pattern);
		has_rank |= p[1] == 'r';
	}
	return has_rank ? 0
			: zerr_set(err, -EINVAL, "-%s: '%.64s' has no %%r, the rank: all ranks would be the same",
				  row->names, pattern);
}

static int set_pattern(struct zoptions *o, const struct row *row, char **args, struct zerr *err)
{
	const char **field = row->names[0] == 'o' ? &o->outfile : row->names[0] == 'e' ? &o->errfile : &o->prepend;
	if (*field)
		return zerr_set(err, -EINVAL, "-%s is given twice", row->names);
	*field = args[0];
	o->label |= field == &o->prepend;
	return check_pattern(row, args[0], err);
}

static const struct row rows[] = {
	{"n np", 1, "N", set_n, "number of ranks, over all clusters (default: all slots)", true},
	{"f hostfile machinefile", 1, "FILE", set_hostfile, "zipper hostfile, see zipper.hosts(5)", false},
	{"clusters", 1, "N | N,N,...", set_clusters,
		"N clusters on this machine, or clusters with these many ranks; no hostfile", false},
	{"hosts host H", 1, "NAME,...", set_hosts, "only these hosts of the hostfile; NAME:N gives one N slots", false},
	{"ppn perhost", 1, "N", set_ppn, "ranks per host, whatever slots the hostfile says", false},
	{"map", 1, "FILE", set_map, "placement map: which rank runs where, see zipper.map(5)", false},
	{"rails", 1, "N", set_rails, "zippers that carry the job (default: all, or 1 with --clusters)", false},
	{"usize", 1, "N", set_usize, "size of the universe: processes that may run, with those to be spawned", false},
	{"oversubscribe", 0, "", set_oversubscribe, "the map may put more ranks on a node than it has slots", false},
	{"genv", 2, "NAME VALUE | NAME=VALUE", set_genv, "environment variable for all ranks", false},
	{"env", 2, "NAME VALUE | NAME=VALUE", set_env, "environment variable for the ranks of this section", true},
	{"x", 1, "NAME | NAME=VALUE", set_exported, "the same; without a value that of this shell", false},
	{"genvlist", 1, "NAME,...", set_envlist, "pass these variables on", false},
	{"envlist", 1, "NAME,...", set_envlist, "the same for this section", true},
	{"genvnone", 0, "", set_envlist, "pass no variables on", false},
	{"envnone", 0, "", set_envlist, "the same for this section", true},
	{"genvall", 0, "", set_envall, "pass all variables on (default)", false},
	{"envall", 0, "", set_envall, "the same for this section", true},
	{"wdir wd", 1, "DIR", set_wdir, "working directory", true},
	{"l prepend-rank label", 0, "", set_label, "put the rank in front of every line of output", false},
	{"prepend-pattern", 1, "TEXT", set_pattern, "put TEXT in front of every line; %r is the rank", false},
	{"outfile-pattern", 1, "FILE", set_pattern, "output of each rank to a file; %r is the rank", false},
	{"errfile-pattern", 1, "FILE", set_pattern, "the same for standard error", false},
	{"configfile", 1, "FILE", set_configfile, "the programs and their options, a line each", false},
	{"profile", 1, "FILE", set_profile, "record which rank sends how much to which, for zipmap", false},
	{"stats", 0, "", set_stats, "print the traffic over the bridge at the end", false},
	{"progress", 0, "", set_progress, "tell once a second what crosses the bridge", false},
	{"timeout", 1, "SECONDS", set_timeout, "end the job after that time (default: never)", false},
	{"init-timeout", 1, "SECONDS", set_init_timeout, "time for all ranks to call MPI_Init (default: 60)", false},
	{"reconnect", 1, "TIME", set_reconnect, "wait so long for the last zipper to come back (default: 60s)", false},
	{"lifetime", 1, "DAYS", set_lifetime, "how long the ranks' credential is good (default: 7)", false},
	{"credential", 1, "JOB", set_credential, "print a credential for a start by hand; no program", false},
	{"no-mpi", 0, "", set_no_mpi, "the program does not use MPI: no rank is expected to report", false},
	{"mpi", 1, "NAME | NAME,...", set_mpi,
		"mpich or openmpi, with -abi for the standard ABI (default: what the program is linked with)", false},
	{"zipperd", 1, "PATH", set_zipperd, "the zipperd to start, where one is started", false},
	{"launcher bootstrap", 1, "NAME", set_launcher, "how mpiexec starts its proxies on other hosts", false},
	{"launcher-exec bootstrap-exec", 1, "PATH", set_launcher_exec, "the program that mpiexec starts them with",
		false},
	{"iface", 1, "NAME", set_iface, "network interface that mpiexec uses", false},
	{"bind-to", 1, "WHAT", set_passed, "bind ranks: none, core, socket, numa, core:2, ...", false},
	{"map-by", 1, "WHAT", set_passed, "in which order ranks take cores: core, socket, numa, ...", false},
	{"membind", 1, "WHAT", set_passed, "memory binding, see mpiexec", false},
	{"check", 0, "", set_check, "try all that this command line needs, and start no program", false},
	{"v verbose", 0, "", set_verbose, "tell each step", false},
	{"info", 0, "", set_info, "print the version and the programs that zmpirun starts", false},
	{"V version", 0, "", set_version, "print the version", false},
	{"h help", 0, "", set_help, "print this text", false},
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

/* Finds the row with this name; NULL: there is none. */
static const struct row *find_row(const char *name, size_t len)
{
	for (size_t i = 0; i < NROWS; i++)
		for (const char *p = rows[i].names; *p; p += strspn(p, " ")) {
			size_t plen = strcspn(p, " ");
			if (plen == len && strncmp(p, name, len) == 0)
				return &rows[i];
			p += plen;
		}
	return NULL;
}

static int refuse_option(const char *word, const char *name, struct zerr *err)
{
	char all[NROWS][64], hint[96], typed[64], *rest;
	struct znearest near;
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(name, "="), name);
	const struct zadvice *advice = zadvice_find(typed);
	if (advice)
		return zerr_set(err, -EINVAL, "%.*s is an option of %s: %s", (int)strcspn(word, "="), word,
			advice->owner, advice->text);
	znearest_init(&near, typed);
	for (size_t i = 0; i < NROWS; i++) {
		snprintf(all[i], sizeof(all[i]), "%s", rows[i].names);
		for (char *p = strtok_r(all[i], " ", &rest); p; p = strtok_r(NULL, " ", &rest))
			znearest_add(&near, p);
	}
	return zerr_set(err, -EINVAL, "unknown option %.64s%s", word, znearest_format(&near, hint, sizeof(hint)));
}

/* "-n4" and "-np4": the number. NULL: it is something else. */
static char *find_attached_count(char *name)
{
	size_t len = strncmp(name, "np", 2) == 0 ? 2 : name[0] == 'n' ? 1 : 0;
	return len && name[len] && strspn(name + len, "0123456789") == strlen(name + len) ? name + len : NULL;
}

/* The number of these words that are arguments. */
static int count_arguments(const struct row *row, char **words, int left)
{
	return row->nargs == 2 && left > 0 && strchr(words[0], '=') ? 1 : row->nargs;
}

/* Parses one option at words[0]. Returns the number of words it took, or a negative errno. */
static int parse_option(struct zoptions *o, char **words, int left, struct zerr *err)
{
	const char *word = words[0];
	char *name = words[0] + (word[1] == '-' ? 2 : 1), *attached = find_attached_count(name);
	size_t len = strcspn(name, "=");
	const struct row *row = attached ? find_row("n", 1) : find_row(name, len);
	if (!row)
		return refuse_option(word, name, err);
	if (o->nsections > 1 && !row->local)
		return zerr_set(err, -EINVAL, "%.64s must stand before the first program, it holds for all", word);
	if (name[len] == '=')
		attached = name + len + 1;
	if (attached && row->nargs != 1)
		return zerr_set(err, -EINVAL, "%.64s: this option takes %s", word,
			row->nargs ? "two arguments behind it" : "no argument");
	int nargs = count_arguments(row, words + 1, left - 1);
	if (!attached && left - 1 < nargs)
		return zerr_set(err, -EINVAL, "%.64s: argument missing: %s", word, row->args);
	int rc = row->set(o, row, attached ? &attached : words + 1, err);
	return rc < 0 ? rc : attached ? 1 : 1 + nargs;
}

static int add_section(struct zoptions *o, struct zerr *err)
{
	struct zsection *more = realloc(o->sections, ((size_t)o->nsections + 1) * sizeof(*more));
	if (!more)
		return zerr_set(err, -ENOMEM, "out of memory");
	o->sections = more;
	memset(&more[o->nsections++], 0, sizeof(*more));
	return 0;
}

/* Parses options, program and arguments up to ':' or the end. Returns the number of words it took, without ':'. */
static int parse_section(struct zoptions *o, char **words, int left, struct zerr *err)
{
	int i = 0, rc = add_section(o, err);
	if (rc < 0)
		return rc;
	while (i < left && words[i][0] == '-' && words[i][1]) {
		if (strcmp(words[i], "--") == 0) {
			i++;
			break;
		}
		rc = parse_option(o, words + i, left - i, err);
		if (rc < 0)
			return rc;
		i += rc;
	}
	if (o->help || o->version || o->info || o->credential)
		return left;
	if (o->configfile)
		return i;
	struct zsection *section = current(o);
	section->argv = words + i;
	while (i < left && strcmp(words[i], ":") != 0) {
		section->argc++;
		i++;
	}
	if (section->argc == 0 && o->check && o->nsections == 1)
		return i;
	if (section->argc == 0)
		return zerr_set(err, -EINVAL, "no program given");
	const char *program = section->argv[0];
	if (*program == '\0')
		return zerr_set(err, -EINVAL, "the name of the program is empty");
	if (*program == '-') /* such a name can stand behind "--", which mpiexec does not have */
		return zerr_set(err, -EINVAL, "%.64s: mpiexec takes it for an option: write ./%.64s", program, program);
	return i;
}

int zoptions_need_hosts(struct zerr *err)
{
	return zerr_set(err, -EINVAL, "no clusters: give a zipper hostfile (-f FILE) or --clusters N for this machine");
}

static int check(const struct zoptions *o, struct zerr *err)
{
	if (o->hostfile && o->clusters)
		return zerr_set(err, -EINVAL, "give either a hostfile or --clusters");
	/* in an allocation the hosts are known */
	if (!o->hostfile && !o->clusters && !getenv("SLURM_JOB_ID") && !zsite_find_hostfile())
		return zoptions_need_hosts(err);
	if (o->clusters && o->hosts)
		return zerr_set(err, -EINVAL, "-hosts needs a hostfile: it names hosts of it");
	if (o->map && o->hosts)
		return zerr_set(err, -EINVAL, "-hosts and --map both say which hosts are used");
	if (o->label && (o->outfile || o->errfile))
		return zerr_set(err, -EINVAL,
			"-l and -%s-pattern: each file has the output of one rank, so leave out -l",
			o->outfile ? "outfile" : "errfile");
	if (o->clusters && o->ppn)
		return zerr_set(err, -EINVAL, "-ppn needs a hostfile");
	if (o->map && o->ppn)
		return zerr_set(err, -EINVAL, "-ppn and --map both say how many ranks a host gets");
	if (o->oversubscribe && !o->map)
		return zerr_set(err, -EINVAL,
			"--oversubscribe needs --map: without one ranks go round all hosts anyway");
	if (o->profile && o->no_mpi)
		return zerr_set(err, -EINVAL, "--profile records calls of MPI, and --no-mpi says that there are none");
	bool failed = o->globals.failed;
	for (int i = 0; i < o->nsections; i++)
		failed |= o->sections[i].locals.failed;
	return failed ? zerr_set(err, -ENOMEM, "out of memory") : 0;
}

/* Parses the sections of words that begin at `from`. */
static int parse_sections(struct zoptions *o, int argc, char **argv, int from, struct zerr *err)
{
	for (int i = from; i == from || i < argc; i++) { /* steps over ':' */
		int n = parse_section(o, argv + i, argc - i, err);
		if (n < 0)
			return n;
		i += n;
		if (o->configfile && i < argc)
			return zerr_set(err, -EINVAL, "%.64s: the programs are in the file of -configfile", argv[i]);
		if (i == argc - 1)
			return zerr_set(err, -EINVAL, "no program given behind the last ':'");
	}
	return 0;
}

/* The first line of the file goes on where the options of the command line end: they are parsed once more, with it. */
static int parse_configfile(struct zoptions *o, int argc, char **argv, struct zerr *err)
{
	const char *path = o->configfile;
	struct zargv words = {0}, lines = {0};
	int rc = zconfigfile_read(&lines, path, err);
	zoptions_free(o);
	o->words = words;
	for (int i = 0; rc == 0 && i < argc; i++) {
		const char *name = argv[i][0] == '-' ? argv[i] + strspn(argv[i], "-") : "";
		if (strcmp(name, "configfile") == 0)
			i++;
		else if (strncmp(name, "configfile=", 11) != 0)
			zargv_add(&o->words, argv[i]);
	}
	if (rc == 0 && lines.count > 0)
		zargv_add_all(&o->words, lines.words, lines.count);
	zargv_free(&lines);
	if (rc == 0 && o->words.failed)
		rc = zerr_set(err, -ENOMEM, "out of memory");
	rc = rc == 0 ? parse_sections(o, (int)o->words.count, o->words.words, 1, err) : rc;
	if (rc == 0 && o->configfile)
		rc = zerr_set(err, -EINVAL, "%s: -configfile cannot stand in such a file", path);
	return rc;
}

int zoptions_take_environment(struct zoptions *o, struct zerr *err)
{
	const char *text = getenv("MPIEXEC_TIMEOUT");
	if (!text || o->timeout_s || zoptions_parse_count(&o->timeout_s, text, TIMEOUT_MAX_S) == 0)
		return 0;
	return zerr_set(err, -EINVAL, "MPIEXEC_TIMEOUT: '%.64s' is not a number from 1 to %d", text, TIMEOUT_MAX_S);
}

int zoptions_parse(struct zoptions *o, int argc, char **argv, struct zerr *err)
{
	memset(o, 0, sizeof(*o));
	int rc = parse_sections(o, argc, argv, 1, err);
	if (rc == 0 && o->configfile && !o->help && !o->version && !o->info)
		rc = parse_configfile(o, argc, argv, err);
	if (rc < 0)
		return rc;
	if (o->lifetime_days == 0)
		o->lifetime_days = LIFETIME_DEFAULT_DAYS;
	if (o->help || o->version || o->info || o->credential)
		return 0;
	if (o->init_timeout_s == 0)
		o->init_timeout_s = INIT_TIMEOUT_DEFAULT_S;
	return check(o, err);
}

int zoptions_count_ranks(const struct zoptions *o, int *nranks, struct zerr *err)
{
	long sum = 0;
	for (int i = 0; i < o->nsections; i++) {
		if (o->nsections > 1 && o->sections[i].nranks == 0)
			return zerr_set(err, -EINVAL, "with several programs each needs its -n");
		sum += o->sections[i].nranks;
	}
	if (sum > (long)ZCTL_RANKS_MAX)
		return zerr_set(err, -EINVAL, "-n: more than %u ranks", ZCTL_RANKS_MAX);
	*nranks = (int)sum;
	return 0;
}

void zoptions_free(struct zoptions *o)
{
	for (int i = 0; i < o->nsections; i++) {
		zargv_free(&o->sections[i].locals);
		free(o->sections[i].runtimes);
	}
	zargv_free(&o->globals);
	zargv_free(&o->words);
	free(o->sections);
	free(o->preload);
	memset(o, 0, sizeof(*o));
}

void zoptions_print_help(FILE *out)
{
	fputs("Usage: zmpirun [options] [--] program [arguments] [: [options] program [arguments]] ...\n"
	      "Runs one MPI program over several clusters that zipper nodes connect. See zmpirun(1).\n\n",
		out);
	for (size_t i = 0; i < NROWS; i++) {
		char left[128];
		int len = 0;
		for (const char *p = rows[i].names; *p; p += strspn(p, " ")) {
			int plen = (int)strcspn(p, " ");
			len += snprintf(left + len, sizeof(left) - (size_t)len, "%s%s%.*s", len ? ", " : "",
				plen > 2 ? "--" : "-", plen, p);
			p += plen;
		}
		snprintf(left + len, sizeof(left) - (size_t)len, " %s", rows[i].args);
		fprintf(out, "  %-38s  %s\n", left, rows[i].help);
	}
}

int zoptions_find_section(const struct zoptions *o, int vrank)
{
	int i = 0;
	for (int first = 0; i < o->nsections - 1; i++) {
		first += o->sections[i].nranks;
		if (vrank < first)
			break;
	}
	return i;
}
