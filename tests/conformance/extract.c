/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.c: extracts what managers applied. The argument is a file with an OpenAPI document. One
 * line of JSON on standard input is a case: an object, a manager, a subresource. One line on
 * standard output is the extracted configuration, or an object with the member `error`.
 * scripts/compare-extract runs it beside upstream's code.
 */
#include "kc/extract_applied.h"
#include "kc/file.h"
#include "kc/json.h"
#include "kc/view.h"

#include <stdio.h>

enum { MAX_SCHEMA = 64 << 20 };

static kc_merge_schema *schema_of_file(const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read(path, MAX_SCHEMA, &text, err) < 0)
        return NULL;
    return kc_merge_schema_parse(kc_buf_str(&text), err);
}

static kc_object *run_case(const kc_merge_schema *schema, const kc_value *test, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, kc_value_get(test, "object"));
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&text), NULL, err);
    if (!object)
        return NULL;
    const kc_extract_opts opts = {
        .field_manager = kc_value_as_cstr(kc_value_get(test, "manager"), ""),
        .subresource = kc_value_as_cstr(kc_value_get(test, "subresource"), ""),
        .schema = schema};
    return kc_extract_applied(NULL, object, &opts, err);
}

static void print_case(const kc_merge_schema *schema, kc_str line)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = kc_view_parse(line, NULL, &err);
    kc_auto(kc_object) *got = view ? run_case(schema, kc_view_root(view), &err) : NULL;
    if (!got) {
        kc_buf_puts(&out, "{\"error\":");
        kc_json_quote(&out, kc_cstr(kc_error_text(&err)));
        kc_buf_putc(&out, '}');
    }
    printf("%.*s\n", KC_ARG(got ? kc_object_json(got) : kc_buf_str(&out)));
}

int main(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_merge_schema) *schema = argc == 2 ? schema_of_file(argv[1], &err) : NULL;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    if (!schema) {
        fprintf(stderr, "usage: kc_extract_runner OPENAPI < CASES: %s\n", kc_error_text(&err));
        return 2;
    }
    while ((n = getline(&line, &size, stdin)) > 0)
        print_case(schema, kc_str_of(line, (size_t)n));
    free(line);
    return 0;
}
