/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_token.c: reads and writes continue tokens. A token comes from the client, so it is untrusted
 * input: it can name only a position within the list's own range, but any revision.
 */
#include "apiserver/request/page_token.h"

#include "apiserver/call/go_json.h"
#include "kc/ascii.h"
#include "kc/base64.h"
#include "kc/json.h"

enum { MAX_TOKEN = 16 * 1024 };

#define VERSION "meta.k8s.io/v1"

static int not_valid(kc_error *err, const char *why)
{
    return kc_error_set(err, KC_BAD_REQUEST, "invalid continue token: continue key is not valid%s",
                        why);
}

/* The offset at which Go's base64 decoder stops: at an invalid character, or at a leftover
 * digit. */
static int not_base64(kc_str text, kc_arena *arena, kc_error *err)
{
    size_t at = 0;
    while (at < text.n && (kc_is_alnum(text.p[at]) || text.p[at] == '-' || text.p[at] == '_'))
        at++;
    if (at == text.n && at) /* The last group of four has no digit to report. */
        at--;
    return not_valid(err, kc_arena_printf(arena, ": illegal base64 data at input byte %zu", at));
}

static int not_json(kc_str text, kc_arena *arena, kc_error *err)
{
    kc_scoped(kc_buf) why = {0};
    if (!kc__rest_go_json_error(text, &why))
        kc_buf_puts(&why, "unexpected end of JSON input");
    return not_valid(err, kc_arena_printf(arena, ": %s", kc_buf_cstr(&why)));
}

static int not_a_token(const kc_value *root, kc_arena *arena, kc_error *err)
{
    return not_valid(
        err, kc_arena_printf(
                 arena, ": json: cannot unmarshal %s into Go value of type storage.continueToken",
                 kc__rest_go_json_type(root)));
}

/* Whether the key stays below its prefix: no empty, "." or ".." segment. */
static bool is_clean(kc_str key)
{
    kc_str rest = kc_str_empty(key) || key.p[0] != '/' ? key : kc_str_sub(key, 1, key.n);
    while (rest.p) {
        kc_str part = kc_str_cut(&rest, '/');
        if (kc_str_empty(part) || kc_str_is(part, ".") || kc_str_is(part, ".."))
            return false;
    }
    return true;
}

static int read_fields(const kc_value *root, kc_arena *arena, kc__rest_page_token *ret,
                       kc_error *err)
{
    kc_str version = kc_value_as_str(kc_value_get(root, "v")),
           start = kc_value_as_str(kc_value_get(root, "start"));
    int64_t revision = kc_value_as_i64_or(kc_value_get(root, "rv"), 0);
    if (!kc_str_is(version, VERSION))
        return not_valid(
            err, kc_arena_printf(arena, ": server does not recognize this encoded version %.*s",
                                 KC_ARG(version)));
    if (revision == 0)
        return not_valid(err, ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
    if (kc_str_empty(start))
        return not_valid(err, ": encoded start key empty (version meta.k8s.io/v1)");
    if (!is_clean(start))
        return not_valid(err, kc_arena_printf(arena, ": %.*s", KC_ARG(start)));
    *ret = (kc__rest_page_token){.revision = KC_MAX(revision, KC__REST_PAGE_TOKEN_NOW),
                                 .start = kc_arena_str(arena, start)};
    return 0;
}

int kc__rest_page_token_parse(kc_str text, kc_arena *arena, kc__rest_page_token *ret, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    if (text.n > MAX_TOKEN || !kc_base64_read(&json, text, KC_BASE64_URL))
        return not_base64(text, arena, err);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    if (!view)
        return not_json(kc_buf_str(&json), arena, err);
    kc_json_type type = kc_value_type(kc_view_root(view));
    if (type != KC_JSON_OBJECT && type != KC_JSON_NULL)
        return not_a_token(kc_view_root(view), arena, err);
    return read_fields(kc_view_root(view), arena, ret, err);
}

kc_str kc__rest_page_token_from(kc_str start, int64_t revision, kc_arena *arena)
{
    kc_scoped(kc_buf) json = {0}, token = {0};
    kc_buf_printf(&json, "{\"v\":\"" VERSION "\",\"rv\":%lld,\"start\":", (long long)revision);
    kc_json_quote(&json, start);
    kc_buf_putc(&json, '}');
    kc_base64_write(&token, kc_buf_str(&json), KC_BASE64_URL);
    return kc_arena_str(arena, kc_buf_str(&token));
}

kc_str kc__rest_page_token_after(kc_str last, int64_t revision, kc_arena *arena)
{
    char *start = kc_arena_alloc(arena, last.n + 1);
    memcpy(start, last.p, last.n);
    start[last.n] = '\0';
    return kc__rest_page_token_from(kc_str_of(start, last.n + 1), revision, arena);
}
