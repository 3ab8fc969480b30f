/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the output of ibnetdiscover, see ib_file.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "mapper/netfile/ib_file.h"

#define NAME_SIZE 19 /* S-0123456789abcdef */

/* The state of reading a file. */
struct reading {
	struct ib_fabric *fabric;
	uint32_t own;	/* the device of the block, or NAMES_NONE before the first one */
	uint32_t ports; /* that it has */
};

static const struct {
	enum ib_kind kind;
	char letter;
	const char *block, *port; /* first word of a block; of a line of ibnetdiscover -p */
} kinds[] = {{IB_SWITCH, 'S', "Switch", "SW"}, {IB_ADAPTER, 'H', "Ca", "CA"}, {IB_ROUTER, 'R', "Rt", "RT"}};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- parts of lines --- */

static void blanks_skip(char **at)
{
	*at += strspn(*at, " \t\r\n");
}

/* Is this the next word? If so, goes behind it. */
static bool word_skip(char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0 || ((*at)[len] && !isspace((unsigned char)(*at)[len])))
		return false;
	*at += len;
	blanks_skip(at);
	return true;
}

/* Reads a decimal number of at most max, and goes behind it. */
static int number_read(char **at, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	v = strtoul(*at, &end, 10);
	if (v > max)
		return -EINVAL;
	*out = (uint32_t)v;
	*at = end;
	return 0;
}

/* Reads "[17]", and what may stand behind it: "[ext 3]", the name of the port on the outside of a chassis, and
 * "(2c9030005f1d5)", its GUID. */
static int port_read(char **at, uint32_t *port)
{
	if (**at != '[')
		return -EINVAL;
	++*at;
	if (number_read(at, IB_PORT_MAX, port) || **at != ']')
		return -EINVAL;
	++*at;
	if (!strncmp(*at, "[ext ", 5)) {
		*at += strcspn(*at, "]");
		*at += **at == ']';
	}
	if (**at == '(') {
		*at += strcspn(*at, ")");
		*at += **at == ')';
	}
	blanks_skip(at);
	return 0;
}

/* Reads "S-0002c902400f2c80" in quotation marks: finds or adds the device. */
static int device_read(struct reading *r, char **at, uint32_t *device, struct zerr *err)
{
	char *name = *at + 1, *end = **at == '"' ? strchr(name, '"') : NULL;

	if (!end || end == name)
		return zerr_set(err, -EINVAL, "no \"S-GUID\" where a switch or an adapter is to be named");
	*end = '\0';
	*at = end + 1;
	for (size_t k = 0; k < KINDS; k++)
		if (name[0] == kinds[k].letter && name[1] == '-' && strlen(name) < NAME_SIZE &&
			strspn(name + 2, "0123456789abcdef") == strlen(name + 2))
			return ib_fabric_device(r->fabric, name, kinds[k].kind, device, err);
	return zerr_set(err, -EINVAL, "\"%.32s\" is not S-GUID, H-GUID or R-GUID", name);
}

/* Finds "4xHDR" in the comment of a port, behind the description. */
static double speed_find(char *comment)
{
	char *quote = strrchr(comment, '"'), *save = NULL;

	for (char *word = strtok_r(quote ? quote + 1 : comment, " \t\r\n", &save); word;
		word = strtok_r(NULL, " \t\r\n", &save)) {
		size_t digits = strspn(word, "0123456789");
		char width[4];

		if (!digits || digits > 2 || word[digits] != 'x' || !word[digits + 1])
			continue;
		memcpy(width, word, digits + 1);
		width[digits + 1] = '\0';
		return ib_fabric_bandwidth(width, word + digits + 1);
	}
	return IB_UNKNOWN;
}

/* --- blocks --- */

/* Switch 36 "S-0002c902400f2c80"	# "a description" base port 0 lid 3 lmc 0 */
static int block_begin(struct reading *r, char *at, enum ib_kind kind, unsigned line, struct zerr *err)
{
	char *first, *last;
	uint32_t device;
	int rc;

	if (number_read(&at, IB_PORT_MAX, &r->ports))
		return zerr_set(err, -EINVAL, "no number of ports up to %u", IB_PORT_MAX);
	blanks_skip(&at);
	rc = device_read(r, &at, &device, err);
	if (rc)
		return rc;
	if (r->fabric->device[device].kind != kind)
		return zerr_set(err, -EINVAL, "%s does not begin with the letter of its kind",
			r->fabric->names.name[device]);
	if (r->fabric->device[device].line)
		return zerr_set(err, -EINVAL, "%s stands in line %u already", r->fabric->names.name[device],
			r->fabric->device[device].line);
	first = strchr(at, '"');
	last = strrchr(at, '"');
	if (first == last)
		first = last = at + strlen(at); /* no description */
	else
		*last = '\0';
	r->own = device;
	return ib_fabric_describe(r->fabric, device, *first ? first + 1 : first, line, err);
}

/* [1]	"H-0002c9030005f1d4"[1](2c9030005f1d5) 		# "node01 HCA-1" lid 7 4xQDR */
static int block_port(struct reading *r, char *at, unsigned line, struct zerr *err)
{
	struct ib_cable cable = {.line = line};
	int rc;

	if (r->own == NAMES_NONE)
		return zerr_set(err, -EINVAL, "a port before the first Switch or Ca");
	cable.end[0].device = r->own;
	if (port_read(&at, &cable.end[0].port) || !cable.end[0].port || cable.end[0].port > r->ports)
		return zerr_set(err, -EINVAL, "not a port from [1] to [%u]", r->ports);
	rc = device_read(r, &at, &cable.end[1].device, err);
	if (rc)
		return rc;
	if (port_read(&at, &cable.end[1].port) || !cable.end[1].port)
		return zerr_set(err, -EINVAL, "no port in brackets behind the other end of the cable");
	cable.bandwidth = speed_find(at);
	return ib_fabric_cable(r->fabric, &cable, err);
}

/* --- lists of ports --- */

/* SW 3 1 0x0002c902400f2c80: kind, LID, port, GUID. -EINVAL without text if it is none. */
static int end_read(struct reading *r, char **at, struct ib_end *end, struct zerr *err)
{
	char name[NAME_SIZE + 2], *stop;
	uint32_t lid;
	uint64_t guid;
	size_t k = 0;

	while (k < KINDS && !word_skip(at, kinds[k].port))
		k++;
	if (k == KINDS || number_read(at, 0xffff, &lid))
		return -EINVAL;
	blanks_skip(at);
	if (number_read(at, IB_PORT_MAX, &end->port) || !end->port)
		return -EINVAL;
	blanks_skip(at);
	if (strncmp(*at, "0x", 2) != 0 || !isxdigit((unsigned char)(*at)[2]))
		return -EINVAL;
	guid = strtoull(*at, &stop, 16);
	if (*stop && !isspace((unsigned char)*stop))
		return -EINVAL;
	*at = stop;
	blanks_skip(at);
	snprintf(name, sizeof(name), "%c-%016" PRIx64, kinds[k].letter, guid);
	return ib_fabric_device(r->fabric, name, kinds[k].kind, &end->device, err);
}

/* Cuts out the descriptions of "( 'own' - 'other' )", or of "'own'" alone. */
static int own_description(char *at, bool both, char **own)
{
	char *end;

	if (both && word_skip(&at, "(")) {
		end = strstr(at, "' - '");
		if (!end || !strrchr(end, ')'))
			return -EINVAL;
	} else {
		end = strrchr(at, '\'');
	}
	if (*at != '\'' || !end || end <= at)
		return -EINVAL;
	*end = '\0';
	*own = at + 1;
	return 0;
}

/* SW 3 1 0x0002c902400f2c80 4x HDR - CA 7 1 0x0002c9030005f1d5 ( 'leaf 0' - 'node01 HCA-1' ); without a cable, only
 * 'leaf 0' stands behind the speed */
static int port_line(struct reading *r, char *at, unsigned line, struct zerr *err)
{
	struct ib_cable cable = {.line = line};
	char *width, *speed, *description;
	bool both;
	int rc = end_read(r, &at, &cable.end[0], err);

	width = at;
	at += strcspn(at, " \t");
	if (*at)
		*at++ = '\0';
	blanks_skip(&at);
	speed = at;
	at += strcspn(at, " \t");
	if (*at)
		*at++ = '\0';
	blanks_skip(&at);
	both = word_skip(&at, "-");
	if (!rc && both)
		rc = end_read(r, &at, &cable.end[1], err);
	if (!rc)
		rc = own_description(at, both, &description);
	if (rc)
		return *err->text ? rc : zerr_set(err, rc, "not a line of ibnetdiscover -p");
	rc = ib_fabric_describe(r->fabric, cable.end[0].device, description, line, err);
	if (rc || !both)
		return rc;
	cable.bandwidth = ib_fabric_bandwidth(width, speed);
	return ib_fabric_cable(r->fabric, &cable, err);
}

/* --- lines --- */

/* Does the line say nothing about cables? */
static bool is_aside(const char *at)
{
	static const char *const begin[] = {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=",
		"Chassis ", "Non-Chassis Nodes", "Hostname:"};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (!strncmp(at, begin[i], strlen(begin[i])))
			return true;
	return !*at || *at == '#';
}

static int line_read(void *arg, char *line, int number, struct zerr *err)
{
	struct reading *r = arg;
	char *at = line;

	blanks_skip(&at);
	if (is_aside(at))
		return 0;
	if (*at == '[')
		return block_port(r, at, (unsigned)number, err);
	for (size_t k = 0; k < KINDS; k++) {
		if (word_skip(&at, kinds[k].block))
			return block_begin(r, at, kinds[k].kind, (unsigned)number, err);
		if (!strncmp(at, kinds[k].port, 2) && isspace((unsigned char)at[2]))
			return port_line(r, at, (unsigned)number, err);
	}
	at[strcspn(at, "\r\n")] = '\0';
	return zerr_set(err, -EINVAL, "\"%.40s\" is no line of ibnetdiscover", at);
}

int ib_file_read(struct cabling *c, FILE *f, const char *path, const struct ib_wishes *wishes, struct zerr *err)
{
	struct ib_fabric fabric = {0};
	struct reading r = {.fabric = &fabric, .own = NAMES_NONE};
	int rc = zlines_read(f, path, line_read, &r, err);

	if (!rc)
		rc = ib_fabric_lay(&fabric, path, wishes, c, err);
	ib_fabric_free(&fabric);
	return rc;
}
