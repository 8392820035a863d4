/* SPDX-License-Identifier: Apache-2.0 */
/*
 * license.c: the license header of a project's sources: a known license, or the text of a file. It
 * is stored in hack/boilerplate.txt, where later commands and `make generate` read it. It must be a
 * comment, so that the sources compile.
 */
#include "scaffold/license.h"

#include "scaffold/files.h"

/* Cuts a leading comment off; false if there is none. */
static bool cut_comment(kc_str *text)
{
    const bool line = kc_str_starts(*text, KC_STR("//"));
    if (!line && !kc_str_starts(*text, KC_STR("/*")))
        return false;
    const char *end = memmem(text->p + 2, text->n - 2, line ? "\n" : "*/", line ? 1 : 2);
    if (!end && !line)
        return false;
    const size_t n = end ? (size_t)(end - text->p) + (line ? 1 : 2) : text->n;
    *text = kc_str_trim(kc_str_sub(*text, n, text->n));
    return true;
}

/* Only comments. */
static bool is_comment(kc_str text)
{
    text = kc_str_trim(text);
    while (text.n && cut_comment(&text))
        ;
    return text.n == 0;
}

static int read_license(const char *path, kc_buf *out, kc_error *err)
{
    const bool absolute = path[0] == '/';
    const int there = kc__scaffold_dir_read(absolute ? "" : ".", path, out, err);
    if (there < 0)
        return kc_error_wrap(err, "--license-file");
    if (there == 0)
        return kc_error_set(err, KC_NOT_FOUND, "--license-file: file %s not found", path);
    if (!is_comment(kc_buf_str(out)))
        return kc_error_set(err, KC_INVALID,
                            "--license-file: %s is not a C comment: it must start with /* and "
                            "end with */",
                            path);
    if (out->n && out->p[out->n - 1] != '\n')
        kc_buf_putc(out, '\n');
    return 0;
}

int kc__scaffold_license_text(const kc__scaffold_license_opts *opts, kc_buf *out, kc_error *err)
{
    const char *license = opts->license ? opts->license : "apache2";
    if (opts->file)
        return read_license(opts->file, out, err);
    if (strcmp(license, "apache2") != 0 && strcmp(license, "none") != 0)
        return kc_error_set(err, KC_INVALID,
                            "--license: unknown license '%s'; values: apache2, none; for others "
                            "use --license-file",
                            license);
    if (!strcmp(license, "apache2"))
        kc_buf_puts(out, "/* SPDX-License-Identifier: Apache-2.0 */\n");
    if (opts->owner && opts->year)
        kc_buf_printf(out, "/* Copyright %d %s */\n", opts->year, opts->owner);
    else if (opts->owner)
        kc_buf_printf(out, "/* Copyright %s */\n", opts->owner);
    return 0;
}
