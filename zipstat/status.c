/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of zippers, see status.h. */
#include "zipstat/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zipstat/status_json.h"
#include "zipstat/status_table.h"
#include "zipstat/traffic.h"
#include "zipstat/zippers.h"

#define RATES_MS 500		     /* between the two questions that rates are made of */
#define CLEAR_SCREEN "\033[H\033[2J" /* of a terminal: ECMA-48 CUP and ED */

static void sleep_ms(unsigned ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	nanosleep(&t, NULL);
}

/* An old zipperd tells traffic alone. */
static void print_one(struct zipper *z, const struct status_options *o, FILE *out)
{
	if (z->rc == 0 && o->json)
		status_json_print(&z->snapshot, z->as.address, out);
	else if (z->rc == 0)
		status_table_print(&z->snapshot, z->as.address, out);
	else if (o->json)
		status_json_print_error(z->as.address, z->err.text, out);
	else if (z->rc == -EPROTONOSUPPORT && z->session &&
		 (z->rc = traffic_print(z->session, false, out, &z->err)) == 0)
		return;
	else if (o->interval_s > 0 || o->naddresses > 1)
		fprintf(out, "%s\n", z->err.text);
}

static void print_all(struct zippers *z, const struct status_options *o, FILE *out)
{
	if (o->json)
		fputs("{\"zippers\":[", out);
	for (int i = 0; i < z->count; i++) {
		if (i > 0)
			fputc(o->json ? ',' : '\n', out);
		print_one(&z->zipper[i], o, out);
	}
	if (o->json)
		fputs("]}\n", out);
}

/* Writes a whole screen at once, so that it does not flicker. */
static int print_again(struct zippers *z, const struct status_options *o, FILE *out, struct zerr *err)
{
	char *text = NULL;
	size_t len;
	FILE *screen = open_memstream(&text, &len);
	if (!screen)
		return zerr_set(err, -ENOMEM, "out of memory");
	if (!o->json && isatty(fileno(out)))
		fputs(CLEAR_SCREEN, screen);
	print_all(z, o, screen);
	if (!o->json)
		fputc('\n', screen);
	fclose(screen);
	errno = EIO;
	int rc = fwrite(text, 1, len, out) == len && fflush(out) == 0 ? 0 : -errno;
	free(text);
	return rc == 0 ? 0 : zerr_set(err, rc, "standard output: %s", strerror(-rc));
}

static int watch(struct zippers *z, const struct status_options *o, FILE *out, struct zerr *err)
{
	int rc = 0;
	for (unsigned ms = RATES_MS; rc == 0; ms = o->interval_s * 1000) {
		sleep_ms(ms);
		zippers_ask(z);
		rc = print_again(z, o, out, err);
	}
	return rc;
}

static int print_once(struct zippers *z, const struct status_options *o, FILE *out, struct zerr *err)
{
	int rc = 0;
	bool any = false;
	for (int i = 0; i < z->count; i++)
		any |= z->zipper[i].snapshot.now.njobs > 0;
	if (any && !o->json) {
		sleep_ms(RATES_MS);
		zippers_ask(z);
	}
	print_all(z, o, out);
	for (int i = 0; i < z->count && rc == 0; i++) {
		rc = z->zipper[i].rc;
		*err = z->zipper[i].err;
	}
	return rc;
}

static int print_csv(const struct status_options *o, FILE *out, struct zerr *err)
{
	const struct ask_options as = {.address = o->address[0], .user = o->user, .job = o->job};
	struct zsession *s;
	int rc = ask_open(&s, &as, err);
	if (rc == 0)
		rc = traffic_print(s, true, out, err);
	zsession_close(s);
	return rc;
}

int status_print(const struct status_options *o, FILE *out, struct zerr *err)
{
	const struct ask_options as = {.user = o->user, .job = o->job};
	struct zippers z;
	if (o->csv)
		return print_csv(o, out, err);
	int rc = zippers_init(&z, o->address, o->naddresses, &as, err);
	if (rc < 0)
		return rc;
	zippers_ask(&z);
	rc = o->interval_s > 0 ? watch(&z, o, out, err) : print_once(&z, o, out, err);
	zippers_fini(&z);
	return rc;
}
