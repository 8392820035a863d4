/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text exceeds the limits or is a list of parameters, which parses to the same list when it is
 * written with every byte encoded; the getters accept any value.
 */
#include "fuzzing.h"

#include "http/message/query.h"
#include "kc/buf.h"

static void put_encoded(kc_buf *out, kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        kc_buf_printf(out, "%%%02X", (unsigned char)text.p[i]);
}

static void check_again(const kc__query *query, kc_arena *arena)
{
    kc_scoped(kc_buf) text = {0};
    kc__query again;
    const kc__query_opts opts = {.max_bytes = SIZE_MAX};
    for (size_t i = 0; i < query->n; i++) {
        put_encoded(&text, query->params[i].name);
        kc_buf_putc(&text, '=');
        put_encoded(&text, query->params[i].value);
        kc_buf_putc(&text, '&');
    }
    assert(kc__query_parse(kc_buf_str(&text), &opts, arena, &again, NULL) == 0);
    assert(again.n == query->n && again.n_skipped == 0);
    for (size_t i = 0; i < query->n; i++) {
        assert(kc_str_eq(again.params[i].name, query->params[i].name));
        assert(kc_str_eq(again.params[i].value, query->params[i].value));
    }
}

static void check_getters(const kc__query *query, kc_str name)
{
    kc_scoped(kc_error) err = {0};
    kc_str value;
    bool yes;
    int64_t number;
    assert(kc__query_get(query, name, &value));
    bool flag = kc__query_flag(query, name);
    if (kc__query_bool(query, name, false, &yes, &err) == 0 && !yes)
        assert(flag == (kc_str_is(value, "f") || kc_str_is(value, "F")));
    if (kc__query_i64(query, name, 0, &number, &err) == 0 && number)
        assert(flag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_arena) arena = {0};
    kc__query query;
    if (kc__query_parse(kc_str_of((const char *)data, size), NULL, &arena, &query, NULL) < 0)
        return 0;
    check_again(&query, &arena);
    for (size_t i = 0; i < query.n && i < 16; i++)
        check_getters(&query, query.params[i].name);
    return 0;
}
