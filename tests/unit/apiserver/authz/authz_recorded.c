/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of files of --authorization-config equal those that kube-apiserver v1.34.1 gave
 * (scripts/record-authorization). */
#include "apiserver/authz/authz_config.h"
#include "kc/file.h"
#include "testing.h"

#include <stdio.h>

#define RECORDED "conformance/authorization-errors.jsonl"

/* The type ABAC does not exist here. */
static void drop_abac(kc_buf *expected)
{
    kc_scoped(kc_buf) text = {0};
    kc_str rest = kc_buf_str(expected);
    const kc_str abac = KC_STR("\"ABAC\", ");
    for (size_t i = 0; i < rest.n; i++) {
        const kc_str here = kc_str_sub(rest, i, rest.n);
        if (kc_str_starts(here, abac))
            i += abac.n - 1;
        else
            kc_buf_putc(&text, rest.p[i]);
    }
    kc_buf_clear(expected);
    kc_buf_append(expected, kc_buf_str(&text));
}

static void check_recorded(const kc_value *line, size_t *ret_wrong)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) expected = {0};
    kc_buf_append(&expected, kc_value_as_str(kc_value_get(line, "error")));
    drop_abac(&expected);
    kc_auto(kc__authz_config) *config =
        kc__authz_config_parse(kc_value_as_str(kc_value_get(line, "config")), 0, &err);
    const char *actual = config ? "(none)" : kc_error_text(&err);
    if (!strcmp(actual, kc_buf_cstr(&expected)))
        return;
    ++*ret_wrong;
    print_error("%.*s:\n  %s\n  expected: %s\n",
                KC_ARG(kc_value_as_str(kc_value_get(line, "name"))), actual,
                kc_buf_cstr(&expected));
}

static void errors_equal_those_of_kube_apiserver(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    size_t lines = 0, wrong = 0;
    if (kc_file_read(RECORDED, KC_FILE_MAX, &text, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    for (kc_str rest = kc_buf_str(&text); rest.n;) {
        const kc_str line = kc_str_cut(&rest, '\n');
        kc_auto(kc_view) *view = kc_view_parse(line, NULL, NULL);
        assert_non_null(view);
        check_recorded(kc_view_root(view), &wrong);
        lines++;
    }
    assert_true(lines > 40);
    assert_int_equal(wrong, 0);
}

TESTS(errors_equal_those_of_kube_apiserver)
