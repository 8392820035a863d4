/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused as a token file, with a line, or gives the same tokens when its records are
 * written again with every field quoted.
 */
#include "fuzzing.h"

#include "apiserver/access/csv.h"
#include "apiserver/access/token_file.h"
#include "kc/buf.h"

static void put_quoted(kc_buf *out, kc_str value)
{
    kc_buf_putc(out, '"');
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '"')
            kc_buf_putc(out, '"');
        kc_buf_putc(out, value.p[i]);
    }
    kc_buf_putc(out, '"');
}

/* All records, quoted; each token is then known to `file`. */
static void rewrite(kc__csv csv, const kc__token_file *file, kc_buf *out)
{
    kc__csv_record record;
    for (size_t line = 0; kc__csv_next(&csv, &record, NULL) > 0; line = record.line) {
        assert(record.line > line && record.n >= 3);
        if (!kc_str_empty(record.fields[0]))
            assert(kc__token_file_find(file, record.fields[0]));
        for (size_t i = 0; i < record.n && i < 4; i++) {
            if (i)
                kc_buf_putc(out, ',');
            put_quoted(out, record.fields[i]);
        }
        kc_buf_putc(out, '\n');
    }
    assert(csv.at == csv.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *text = kc_alloc(size + 1);
    kc_autofree char *copy = kc_alloc(size + 1);
    if (size) {
        memcpy(text, data, size);
        memcpy(copy, data, size);
    }
    kc_auto(kc__token_file) *file = kc__token_file_parse("fuzz", text, size, NULL, &err);
    if (!file) {
        assert(err.reason == KC_INVALID && strstr(kc_error_text(&err), "line "));
        return 0;
    }
    assert(!kc__token_file_find(file, (kc_str){0}));
    rewrite((kc__csv){.at = copy, .end = copy + size}, file, &out);
    const size_t n = out.n;
    kc_auto(kc__token_file) *again =
        kc__token_file_parse("again", out.p ? out.p : copy, n, NULL, NULL);
    assert(again && kc__token_file_count(again) == kc__token_file_count(file));
    return 0;
}
