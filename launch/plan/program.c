/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the files of the programs. See program.h. */
#include "launch/plan/program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch/base/binary.h"
#include "launch/base/environ.h"
#include "launch/plan/standard.h"

#define SCRIPT_BYTES 256 /* the kernel reads so much of the line */
#define ABI "libzipper.so is for MPICH and libraries with its binary interface (libmpich.so.12, libmpi.so.12)"

struct program {
	const char *word; /* as the user wrote it */
	const char *dir;  /* working directory; NULL: ours */
	const char *path; /* the variable PATH; NULL: there is none */
	bool here;	  /* ranks run it on this machine */
	bool preloaded;
	bool recorded;	       /* preloaded for that alone */
	bool standard;	       /* it is linked with the standard ABI */
	const char *libraries; /* the variable LD_LIBRARY_PATH, or NULL */
	char *runtimes;	       /* of sanitizers, see options.h; owned */
	enum zmpi mpi;	       /* that it is linked with */
	char file[PATH_MAX];   /* where it was found */
	char shown[PATH_MAX];  /* for messages: the word, and where it was found */
};

/* --- finding the file --- */

/* Puts a file name into place as seen from the working directory of the ranks. */
static void place(const struct program *p, char out[PATH_MAX], const char *folder, size_t len, const char *name)
{
	const bool absolute = len > 0 ? folder[0] == '/' : name[0] == '/';
	const char *dir = p->dir && !absolute ? p->dir : "";
	int n = snprintf(out, PATH_MAX, "%s%s%.*s%s%s", dir, *dir ? "/" : "", (int)len, folder, len ? "/" : "", name);
	if (n >= PATH_MAX)
		out[0] = '\0';
}

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* As execvp(3) does: the first file in PATH that may be executed, else any file of that name. 0, or -ENOENT. */
static int search(struct program *p)
{
	char candidate[PATH_MAX];
	const char *list = p->path ? p->path : "/bin:/usr/bin";
	int rc = -ENOENT;
	for (const char *next = list; next; next = strchr(next, ':') ? strchr(next, ':') + 1 : NULL) {
		place(p, candidate, next, strcspn(next, ":"), p->word);
		if (!is_file(candidate))
			continue;
		const bool runs = faccessat(AT_FDCWD, candidate, X_OK, AT_EACCESS) == 0;
		if (runs || rc != 0)
			strcpy(p->file, candidate);
		rc = 0;
		if (runs)
			break;
	}
	return rc;
}

static int find_file(struct program *p, struct zerr *err)
{
	struct stat st;
	snprintf(p->shown, sizeof(p->shown), "%s", p->word);
	if (!strchr(p->word, '/')) {
		if (search(p) != 0)
			return zerr_set(err, -ENOENT, "%s: no such program in PATH", p->word);
		snprintf(p->shown, sizeof(p->shown), "%.1024s (%.2048s)", p->word, p->file);
	} else {
		place(p, p->file, "", 0, p->word);
	}
	if (stat(p->file, &st) != 0)
		return zerr_set(err, -errno, "%s: %s", p->shown, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return zerr_set(err, -EISDIR, "%s is a directory", p->shown);
	if (!S_ISREG(st.st_mode))
		return zerr_set(err, -EACCES, "%s is no regular file", p->shown);
	if (faccessat(AT_FDCWD, p->file, X_OK, AT_EACCESS) != 0)
		return zerr_set(err, -EACCES, "%s is not executable", p->shown);
	return 0;
}

/* --- scripts --- */

static int check_interpreter(const struct program *p, const char *name, const char *what, struct zerr *err)
{
	char path[PATH_MAX], printable[SCRIPT_BYTES];
	struct stat st;
	size_t n = 0;
	place(p, path, "", 0, name);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
		return 0;
	const char *why = stat(path, &st) != 0 ? strerror(errno) : "it is not executable";
	for (; n < sizeof(printable) - 1 && name[n]; n++)
		printable[n] = isprint((unsigned char)name[n]) ? name[n] : '?';
	printable[n] = '\0';
	return zerr_set(err, -ENOEXEC, "%s: its %s %s: %s%s", p->shown, what, printable, why,
		n > 0 && name[n - 1] == '\r' ? " (its lines end as those of Windows)" : "");
}

/* Files without "#!" are scripts for sh, as execvp(3) has it. */
static int check_script(const struct program *p, int fd, struct zerr *err)
{
	char line[SCRIPT_BYTES + 1];
	ssize_t n = pread(fd, line, SCRIPT_BYTES, 0);
	if (n == 0)
		return zerr_set(err, -ENOEXEC, "%s is empty", p->shown);
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	char *name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t")] = '\0';
	if (*name == '\0')
		return zerr_set(err, -ENOEXEC, "%s names no interpreter in its first line", p->shown);
	return p->here ? check_interpreter(p, name, "interpreter", err) : 0;
}

/* --- binaries --- */

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The MPI implementation to which a library of this name belongs, if it is not one of the MPICH ABI; else NULL. */
static const char *find_other_mpi(const struct zbinary *b, const char *library)
{
	static const char *const open_mpi[] = {"libmpi.so.0", "libmpi.so.1", "libmpi.so.20", "libmpi.so.40",
		"libmpi_mpifh.so.", "libmpi_usempi", "libmpi_f77.so.", "libmpi_f90.so.", "libmpi_cxx.so.",
		"libmpi_java.so.", "libopen-rte.so.", "libopen-pal.so.", "liboshmem.so."};
	if (starts(library, "libmpi") && strstr(library, "_abi.so"))
		return "the MPI standard ABI";
	if (starts(library, "libmpi_ibm.so"))
		return "IBM Spectrum MPI";
	for (size_t i = 0; i < sizeof(open_mpi) / sizeof(open_mpi[0]); i++) {
		const size_t len = strlen(open_mpi[i]);
		const bool whole = isdigit((unsigned char)open_mpi[i][len - 1]);
		if (whole ? strcmp(library, open_mpi[i]) == 0 : starts(library, open_mpi[i]))
			return "Open MPI";
	}
	/* Open MPI 1.10 has the soname of MPICH. */
	if (starts(library, "libmpi.so") &&
		(zbinary_has_name(b, "ompi_mpi_comm_world") || zbinary_has_name(b, "ompi_mpi_comm_null")))
		return "Open MPI";
	if (starts(library, "libmpich.so.") && strcmp(library, "libmpich.so.12") != 0)
		return "an MPICH with another binary interface";
	if (starts(library, "libmpi.so.") && strcmp(library, "libmpi.so.12") != 0)
		return "another MPI";
	return NULL;
}

/* The family to which a library belongs. other: the name of find_other_mpi. */
static enum zmpi find_mpi(const char *library, const char *other)
{
	if (other && strcmp(other, "Open MPI") == 0)
		return zmpi_is_built(ZMPI_OPEN) && strstr(library, ".so.40") ? ZMPI_OPEN : ZMPI_UNKNOWN;
	return !other && starts(library, "libmpi") && strstr(library, ".so.12") ? ZMPI_MPICH : ZMPI_UNKNOWN;
}

/* A library of the standard ABI. Which MPI's it is shows when the program starts. */
static int take_standard(struct program *p, const struct zbinary *b, const char *library, enum zmpi *mpi,
	struct zerr *err)
{
	p->standard = true;
	*mpi = zstandard_find(b->linker, p->file, p->libraries);
	return zmpi_is_built(*mpi) ? 0
				   : zerr_set(err, -EOPNOTSUPP, "%s uses %s (%.64s): zmpirun was built without it",
					     p->shown, zmpi_name(*mpi), library);
}

static int check_libraries(struct program *p, const struct zbinary *b, struct zerr *err)
{
	const char *native = NULL; /* a library with another ABI than the standard one */
	for (size_t i = 0; i < b->nneeded; i++) {
		const char *library = zbinary_library(b, i), *other = find_other_mpi(b, library);
		enum zmpi mpi = find_mpi(library, other);
		if (zmpi_has_standard() && zstandard_is(library)) {
			int rc = take_standard(p, b, library, &mpi, err);
			if (rc < 0)
				return rc;
			other = NULL;
		} else if (mpi != ZMPI_UNKNOWN)
			native = library;
		if (native && p->standard)
			return zerr_set(err, -ELIBACC, "%s uses both the MPI standard ABI and %.64s", p->shown, native);
		if (mpi != ZMPI_UNKNOWN && p->mpi != ZMPI_UNKNOWN && mpi != p->mpi)
			return zerr_set(err, -ELIBACC, "%s uses both %s and %s", p->shown, zmpi_name(p->mpi),
				zmpi_name(mpi));
		if (mpi != ZMPI_UNKNOWN)
			p->mpi = mpi;
		else if (other)
			return zerr_set(err, -ELIBACC, "%s uses %s (%.64s): " ABI, p->shown, other, library);
	}
	return 0;
}

/* The kernel gives such a program more rights than its user has, and the dynamic linker then preloads nothing. */
static int check_rights(const struct program *p, int fd, struct zerr *err)
{
	struct stat st;
	const char *what = NULL;
	if (fstat(fd, &st) != 0)
		return 0;
	if (st.st_mode & S_ISUID)
		what = "setuid";
	else if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP)) /* without x it means locking */
		what = "setgid";
	else if (fgetxattr(fd, "security.capability", NULL, 0) > 0 && geteuid() != 0)
		what = "a program with capabilities";
	return what ? zerr_set(err, -EPERM, "%s is %s: the dynamic linker does not load libzipper.so into it", p->shown,
			      what)
		    : 0;
}

static int check_binary(struct program *p, const struct zbinary *b, int fd, struct zerr *err)
{
	static const char *const wrong[] = {
		[ZBINARY_DAMAGED] = "is damaged: its headers do not fit its size",
		[ZBINARY_NARROW] = "is for another word size than zmpirun: libzipper.so cannot be loaded into it",
		[ZBINARY_FOREIGN] = "is for another kind of machine: libzipper.so cannot be loaded into it",
		[ZBINARY_OBJECT] = "is no program, but an object file",
		[ZBINARY_LIBRARY] = "is no program, but a shared library",
		[ZBINARY_STATIC] = "is statically linked: libzipper.so cannot be loaded into it (link it dynamically)",
		[ZBINARY_DYNAMIC] = NULL,
	};
	if (!p->here && (b->kind == ZBINARY_NARROW || b->kind == ZBINARY_FOREIGN))
		return 0; /* those hosts may have their own */
	if (wrong[b->kind])
		return zerr_set(err, -ENOEXEC, "%s %s", p->shown, wrong[b->kind]);
	int rc = check_rights(p, fd, err);
	if (rc == 0 && p->here && b->kind == ZBINARY_DYNAMIC)
		rc = check_interpreter(p, b->linker, "dynamic linker", err);
	return rc == 0 ? check_libraries(p, b, err) : rc;
}

/* Notes the sanitizers' runtimes among the libraries of the program: AddressSanitizer ends a program at once if any
 * other library is loaded before its runtime. */
static int note_runtimes(struct program *p, const struct zbinary *b, struct zerr *err)
{
	static const char *const names[] = {"libasan.so.", "libhwasan.so.", "libtsan.so.", "liblsan.so.",
		"libubsan.so.", "libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.tsan",
		"libclang_rt.ubsan_standalone"};
	for (size_t i = 0; i < b->nneeded; i++) {
		const char *library = zbinary_library(b, i);
		size_t k = 0;
		while (k < sizeof(names) / sizeof(names[0]) && !starts(library, names[k]))
			k++;
		if (k == sizeof(names) / sizeof(names[0]) || strpbrk(library, ": "))
			continue;
		char *old = p->runtimes;
		if (asprintf(&p->runtimes, "%s%s%s", old ? old : "", old ? ":" : "", library) < 0) {
			p->runtimes = old;
			return zerr_set(err, -ENOMEM, "out of memory");
		}
		free(old);
	}
	return 0;
}

/* --- all of it --- */

/* A variable that the user has forgotten may ask for the recording. */
static void tell_why_preloaded(struct zerr *err, int rc)
{
	struct zerr why = *err;
	zerr_set(err, rc,
		"%.800s; on one cluster only a recorded run needs libzipper.so: leave out " ZENVIRON_PROFILE
		" (or --profile)",
		why.text);
}

static int check_content(struct program *p, struct zerr *err)
{
	struct zbinary b;
	int fd = open(p->file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* a program may be executable and not readable */
	int rc = zbinary_read(&b, fd);
	if (rc < 0)
		zerr_set(err, rc, "%s: %s", p->shown, strerror(-rc));
	else if (b.kind == ZBINARY_NONE)
		rc = check_script(p, fd, err);
	else if (p->preloaded && (rc = check_binary(p, &b, fd, err)) == 0)
		rc = note_runtimes(p, &b, err);
	else if (!p->preloaded)
		check_libraries(p, &b, NULL); /* any MPI will do, and has its launcher */
	else if (rc < 0 && p->recorded)
		tell_why_preloaded(err, rc);
	zbinary_free(&b);
	close(fd);
	return rc;
}

static int check_program(struct program *p, struct zerr *err)
{
	struct stat st;
	if (p->here && p->dir && stat(p->dir, &st) != 0)
		return zerr_set(err, -errno, "-wdir %s: %s", p->dir, strerror(errno));
	if (p->here && p->dir && !S_ISDIR(st.st_mode))
		return zerr_set(err, -ENOTDIR, "-wdir %s: %s", p->dir, strerror(ENOTDIR));
	int rc = find_file(p, p->here ? err : NULL);
	if (rc == 0)
		rc = check_content(p, err);
	else if (!p->here)
		rc = 0; /* those hosts may have it */
	return rc;
}

/* Does mpiexec start this host's ranks on this machine? */
static bool is_here(const struct zplan_part *part, const struct zplan_host *host)
{
	char own[HOST_NAME_MAX + 1] = "";
	const struct zcluster *cluster = part->cluster;
	if (cluster->launcher && strcmp(cluster->launcher, "fork") == 0)
		return true;
	if (cluster->localhost && strcasecmp(cluster->localhost, host->name) == 0)
		return true;
	gethostname(own, sizeof(own) - 1);
	return strcasecmp(host->name, own) == 0 || strcasecmp(host->name, "localhost") == 0 ||
	       starts(host->name, "127.") || strcmp(host->name, "::1") == 0;
}

/* Does a rank of this section run in a part that has hosts on this machine? */
static bool runs_here(const struct zplan *plan, const struct zoptions *o, int section)
{
	for (int i = 0; i < plan->nparts; i++) {
		const struct zplan_part *part = &plan->parts[i];
		bool here = !part->cluster;
		for (int h = 0; !here && h < part->nhosts; h++)
			here = is_here(part, &part->hosts[h]);
		for (int l = 0; here && l < part->nranks; l++)
			if (zoptions_find_section(o, zplan_vrank(part, l)) == section)
				return true;
	}
	return false;
}

int zprogram_check(const struct zplan *plan, struct zoptions *o, bool preloaded, struct zerr *err)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < o->nsections; i++) {
		struct zsection *section = &o->sections[i];
		if (section->argc == 0) /* --check */
			continue;
		const char *path = zenviron_find_local(&section->locals, "-env", "PATH");
		const char *libraries = zenviron_find_local(&section->locals, "-env", "LD_LIBRARY_PATH");
		struct program p = {.word = section->argv[0],
			.dir = zenviron_find_local(&section->locals, "-wdir", NULL),
			.path = path ? path : zenviron_find(&o->globals, "PATH"),
			.libraries = libraries ? libraries : zenviron_find(&o->globals, "LD_LIBRARY_PATH"),
			.here = runs_here(plan, o, i),
			.preloaded = preloaded,
			.recorded = preloaded && plan->nparts == 1};
		rc = check_program(&p, err);
		section->runtimes = p.runtimes;
		section->mpi = p.mpi;
		section->standard = p.standard;
	}
	return rc;
}
