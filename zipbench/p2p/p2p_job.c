/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a job and reads its lines; see p2p_job.h. */
#include "zipbench/p2p/p2p_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 16
#define STATS "zmpirun: directly:"

/* Replaces the child by the job: the words of the way, the program, its options. */
static void run_child(const struct p2p_way *w, const char *program, const struct p2p_bench *b, const struct p2p_plan *p)
{
	char *argv[P2P_WORDS_MAX + ARGUMENTS_MAX], sizes[P2P_SIZES_MAX * 12] = "", number[4][16];
	char iterations[] = "--iterations", warmup[] = "--warmup", validate[] = "--validate";
	unsigned n = 0;
	for (; w->word[n]; n++)
		argv[n] = w->word[n];
	for (unsigned i = 0; i < p->nsizes; i++)
		snprintf(sizes + strlen(sizes), sizeof(sizes) - strlen(sizes), "%s%llu", i ? "," : "",
			(unsigned long long)p->size[i]);
	snprintf(number[0], sizeof(number[0]), "%u", p->window);
	snprintf(number[1], sizeof(number[1]), "%u", p->pairs);
	snprintf(number[2], sizeof(number[2]), "%u", p->iterations);
	snprintf(number[3], sizeof(number[3]), "%u", p->warmup);
	char *rest[] = {(char *)(size_t)program, (char *)(size_t)b->name, (char[]){"--sizes"}, sizes,
		(char[]){"--window"}, number[0], (char[]){"--pairs"}, number[1]};
	memcpy(&argv[n], rest, sizeof(rest));
	n += sizeof(rest) / sizeof(*rest);
	if (p->iterations) {
		argv[n++] = iterations;
		argv[n++] = number[2];
	}
	if (p->warmup <= P2P_COUNT_MAX) {
		argv[n++] = warmup;
		argv[n++] = number[3];
	}
	if (p->validate)
		argv[n++] = validate;
	argv[n] = NULL;
	if (w->bridged)
		setenv("ZIPPER_DIRECT", "no", 1);
	if (w->direct)
		unsetenv("ZIPPER_DIRECT");
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Reads "BYTES VALUE ...". False: it is another line. */
static bool read_values(const char *text, const struct p2p_bench *b, uint64_t *bytes, double *value)
{
	char *end;
	*bytes = strtoull(text, &end, 10);
	if (end == text || *text < '0' || *text > '9')
		return false;
	for (unsigned i = 0; i < b->nquantities; i++) {
		const char *at = end;
		value[i] = strtod(at, &end);
		if (end == at)
			return false;
	}
	return *end == '\n' || *end == 0;
}

static int read_lines(FILE *out, FILE *said, const struct p2p_bench *b, p2p_line *line, void *ctx)
{
	char text[1024];
	double value[P2P_QUANTITIES_MAX];
	uint64_t bytes;
	int n = 0;
	while (fgets(text, sizeof(text), out))
		if (read_values(text, b, &bytes, value)) {
			line(ctx, bytes, value);
			n++;
		} else if (text[0] != '#') {
			fputs(text, said);
		}
	return n;
}

/* Looks through what the job said on stderr: whether messages went directly, and the line that tells why it failed.
 * That is the first one of our programs, or else the last one. */
static bool read_said(FILE *said, char *why, size_t cap)
{
	char text[1024];
	bool directly = false, ours = false;
	why[0] = 0;
	rewind(said);
	while (fgets(text, sizeof(text), said)) {
		directly |= strncmp(text, STATS, strlen(STATS)) == 0;
		if (!ours && text[0] != '\n' && text[0] != '=')
			snprintf(why, cap, "%.*s", (int)strcspn(text, "\n"), text);
		ours |= strncmp(text, "zipbench", 8) == 0;
	}
	return directly;
}

/* Hands on what a job that went well said, except its statistics. */
static void pass_on(FILE *said, bool has_stats)
{
	char text[1024];
	rewind(said);
	while (fgets(text, sizeof(text), said))
		if (!has_stats || strncmp(text, "zmpirun:", 8) != 0)
			fputs(text, stderr);
}

static int judge(const struct p2p_way *w, int status, int lines, FILE *said, struct zerr *err)
{
	char why[200];
	const bool directly = read_said(said, why, sizeof(why));
	if (!WIFEXITED(status))
		return zerr_set(err, -EIO, "%s: signal %d: %s", w->name, WTERMSIG(status), why);
	if (WEXITSTATUS(status) != 0)
		return zerr_set(err, -EIO, "%s: status %d: %s", w->name, WEXITSTATUS(status), why);
	if (lines == 0)
		return zerr_set(err, -ENODATA, "%s: %s has measured nothing", w->name, w->word[0]);
	if (w->direct && !directly)
		return zerr_set(err, -ENOENT, "%s is left out: no message went directly", w->name);
	pass_on(said, w->direct);
	return 0;
}

/* What a job reads and writes. All is opened before the job starts, so that nothing can fail behind that. */
struct streams {
	int null, to_us; /* the job's standard input and output; -1: closed */
	FILE *out;	 /* our end of its output */
	FILE *said;	 /* its standard error */
	FILE *besides;	 /* into other: what it prints that is no line of the table */
	char *other;
	size_t other_bytes;
};

static void close_streams(struct streams *s)
{
	if (s->null >= 0)
		close(s->null);
	if (s->to_us >= 0)
		close(s->to_us);
	if (s->out)
		fclose(s->out);
	if (s->said)
		fclose(s->said);
	if (s->besides)
		fclose(s->besides);
	free(s->other);
}

/* Returns 0 or a negative errno; then close_streams is still to be called. */
static int open_streams(struct streams *s)
{
	int pipe_fd[2];
	*s = (struct streams){.null = open("/dev/null", O_RDONLY | O_CLOEXEC), .to_us = -1};
	if (s->null < 0 || !(s->said = tmpfile()) || pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -errno;
	s->to_us = pipe_fd[1];
	s->out = fdopen(pipe_fd[0], "r");
	if (!s->out) {
		const int rc = -errno;
		close(pipe_fd[0]);
		return rc;
	}
	s->besides = open_memstream(&s->other, &s->other_bytes);
	return s->besides ? 0 : -errno;
}

int p2p_job_run(const struct p2p_way *w, const char *program, const struct p2p_bench *b, const struct p2p_plan *p,
	p2p_line *line, void *ctx, struct zerr *err)
{
	struct streams s;
	int status = 0, rc = open_streams(&s);
	fflush(NULL);
	const pid_t pid = rc == 0 ? fork() : -1;
	if (pid == 0) {
		dup2(s.null, STDIN_FILENO);
		dup2(s.to_us, STDOUT_FILENO);
		dup2(fileno(s.said), STDERR_FILENO);
		run_child(w, program, b, p);
	}
	if (pid < 0) {
		rc = rc ? rc : -errno;
		close_streams(&s);
		return zerr_set(err, rc, "%s: cannot start a job: %s", w->name, strerror(-rc));
	}
	close(s.to_us);
	s.to_us = -1;
	const int lines = read_lines(s.out, s.besides, b, line, ctx);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* The child wrote at the end of the same file: what stdout had besides is kept until the job is over. */
	fflush(s.besides);
	fseek(s.said, 0, SEEK_END);
	fputs(s.other ? s.other : "", s.said);
	rc = judge(w, status, lines, s.said, err);
	close_streams(&s);
	return rc;
}
