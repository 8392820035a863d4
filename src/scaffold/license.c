/* SPDX-License-Identifier: Apache-2.0 */
/*
 * license.c: what stands at the top of a project's sources: a license that is known, or the text of
 * a file. It is kept in hack/boilerplate.txt, from which later commands, and `make generate`, take
 * it. It has to be a comment, or nothing would compile.
 */
#include "scaffold/license.h"

#include "scaffold/files.h"

/* All of it one comment, or comments line by line. */
static bool is_comment(kc_str text)
{
    text = kc_str_trim(text);
    if (kc_str_starts(text, KC_STR("/*"))) {
        const char *end = memmem(text.p, text.n, "*/", 2);
        const kc_str rest =
            end ? kc_str_sub(text, (size_t)(end - text.p) + 2, text.n) : KC_STR("?");
        return is_comment(rest);
    }
    if (!kc_str_starts(text, KC_STR("//")))
        return text.n == 0;
    kc_str_cut(&text, '\n');
    return is_comment(text);
}

static int read_license(const char *path, kc_buf *out, kc_error *err)
{
    const bool absolute = path[0] == '/';
    const int there = kc__file_read(absolute ? "" : ".", path, out, err);
    if (there < 0)
        return kc_error_wrap(err, "--license-file");
    if (there == 0)
        return kc_error_set(err, KC_NOT_FOUND, "--license-file: there is no file %s", path);
    if (!is_comment(kc_buf_str(out)))
        return kc_error_set(err, KC_INVALID,
                            "--license-file: %s is no comment of C: it begins with /* and ends "
                            "with */",
                            path);
    if (out->n && out->p[out->n - 1] != '\n')
        kc_buf_putc(out, '\n');
    return 0;
}

int kc__license_text(const kc__license_opts *opts, kc_buf *out, kc_error *err)
{
    const char *license = opts->license ? opts->license : "apache2";
    if (opts->file)
        return read_license(opts->file, out, err);
    if (strcmp(license, "apache2") != 0 && strcmp(license, "none") != 0)
        return kc_error_set(err, KC_INVALID,
                            "--license: there is no '%s': it is apache2 or none; --license-file "
                            "takes any other",
                            license);
    if (!strcmp(license, "apache2"))
        kc_buf_puts(out, "/* SPDX-License-Identifier: Apache-2.0 */\n");
    if (opts->owner && opts->year)
        kc_buf_printf(out, "/* Copyright %d %s */\n", opts->year, opts->owner);
    else if (opts->owner)
        kc_buf_printf(out, "/* Copyright %s */\n", opts->owner);
    return 0;
}
