/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c: runs cases of the merge engine: one line of JSON on standard input is a case
 * (fields_cases.h), one line on standard output its result. scripts/compare-fields runs it beside
 * upstream's code.
 */
#include "fields_cases.h"

#include "kc/json.h"

#include <stdio.h>

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&line, &size, stdin)) > 0) {
        kc_scoped(kc_buf) out = {0};
        kc_auto(kc_view) *view = kc_view_parse(kc_str_of(line, (size_t)n), NULL, NULL);
        if (view)
            fields_case_run(&out, kc_view_root(view));
        printf("%s\n", kc_buf_cstr(&out));
    }
    free(line);
    return 0;
}
