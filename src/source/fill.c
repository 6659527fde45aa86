/* SPDX-License-Identifier: MIT */
#include "source/fill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/size.h"

static int read_file(struct fill *fill, const char *path, struct err *err)
{
	FILE *f = fopen(path, "rb");
	int rc = 0;

	if (!f)
		return err_sys(err, errno, "--fill %s (a file; or pattern, zero, random)", path);
	fill->file = malloc(SIZE_MAX_PAYLOAD);
	if (!fill->file)
		rc = err_sys(err, ENOMEM, "--fill %s", path);
	errno = 0;
	if (!rc)
		fill->size = fread(fill->file, 1, SIZE_MAX_PAYLOAD, f);
	if (!rc && ferror(f))
		rc = err_sys(err, errno ? errno : EIO, "--fill %s", path);
	else if (!rc && !fill->size)
		rc = err_say(err, EINVAL, "--fill %s: the file is empty", path);
	fclose(f);
	return rc;
}

int fill_open(struct fill *fill, const char *text, struct err *err)
{
	static const char *const names[] = { [FILL_PATTERN] = "pattern", [FILL_ZERO] = "zero", [FILL_RANDOM] = "random" };

	*fill = (struct fill){ .kind = FILL_FILE };
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i]))
			fill->kind = (enum fill_kind)i;
	return fill->kind == FILL_FILE ? read_file(fill, text, err) : 0;
}

void fill_write(const struct fill *fill, struct random *r, unsigned char *to, size_t size)
{
	switch (fill->kind) {
	case FILL_PATTERN:
		for (size_t k = 0; k < size; k++)
			to[k] = (unsigned char)k;
		break;
	case FILL_ZERO:
		memset(to, 0, size);
		break;
	case FILL_RANDOM:
		random_fill(r, to, size);
		break;
	case FILL_FILE:
		for (size_t k = 0; k < size; k += fill->size)
			memcpy(to + k, fill->file, MIN(fill->size, size - k));
		break;
	}
}

void fill_free(struct fill *fill)
{
	free(fill->file);
	*fill = (struct fill){ 0 };
}
