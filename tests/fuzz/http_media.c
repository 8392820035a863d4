/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a Content-Type is refused, or parses to the same value when it is written again with
 * every value quoted; as an Accept header, its clauses are within the limits and the chosen offer
 * matches; the small header grammars accept any text.
 */
#include "fuzzing.h"

#include "http/message/header.h"
#include "http/message/media.h"
#include "kc/buf.h"

static void put_quoted(kc_buf *out, kc_str value)
{
    kc_buf_putc(out, '"');
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '"' || value.p[i] == '\\')
            kc_buf_putc(out, '\\');
        kc_buf_putc(out, value.p[i]);
    }
    kc_buf_putc(out, '"');
}

static void check_type(kc_str text, kc_arena *arena)
{
    kc_scoped(kc_buf) out = {0};
    kc__media_type media, again;
    if (kc__media_type_parse(text, arena, &media, NULL) < 0)
        return;
    assert(kc__http_is_header_name(media.type) && kc__http_is_header_name(media.subtype));
    assert(media.n_params <= KC__MEDIA_MAX_PARAMS);
    kc_buf_printf(&out, "%.*s/%.*s", KC_ARG(media.type), KC_ARG(media.subtype));
    for (size_t i = 0; i < media.n_params; i++) {
        kc_buf_printf(&out, "; %.*s=", KC_ARG(media.params[i].name));
        put_quoted(&out, media.params[i].value);
    }
    assert(kc__media_type_parse(kc_buf_str(&out), arena, &again, NULL) == 0);
    assert(again.n_params == media.n_params);
    for (size_t i = 0; i < media.n_params; i++)
        assert(kc_str_eq(again.params[i].value, media.params[i].value));
}

static bool has_no_conversion(const kc__media_type *clause, const kc__media_offer *offer,
                              void *user)
{
    kc_str ignored;
    (void)offer;
    (void)user;
    return !kc__media_param_get(clause, KC_STR("as"), &ignored);
}

static void check_accept(kc_str text, kc_arena *arena)
{
    static const kc__media_offer offers[] = {
        {KC_STR_INIT("application"), KC_STR_INIT("json")},
        {KC_STR_INIT("application"), KC_STR_INIT("yaml")},
    };
    kc__media_accept accept;
    kc__media_choice any, plain;
    if (kc__media_accept_parse(text, arena, &accept, NULL) < 0)
        return;
    assert(accept.n <= KC__MEDIA_ACCEPT_MAX_CLAUSES && accept.absent == (text.n == 0));
    for (size_t i = 0; i < accept.n; i++) {
        assert(accept.clauses[i].q == accept.clauses[i].q);
        assert(accept.clauses[i].media.n_params <= KC__MEDIA_MAX_PARAMS);
    }
    bool found = kc__media_accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &any);
    bool strict =
        kc__media_accept_choose(&accept, offers, KC_COUNT(offers), has_no_conversion, NULL, &plain);
    assert(found || !strict);
    assert(!found || any.offer < KC_COUNT(offers));
    assert(!strict || !plain.clause || !any.clause || any.clause <= plain.clause);
}

static void check_values(kc_str text)
{
    kc_scoped(kc__http_headers) headers = {0};
    int seconds;
    bool added = kc__http_headers_add(&headers, KC_STR("x"), text, NULL) == 0;
    assert(!added || kc__http_is_header_value(text));
    kc__http_accepts_gzip(text);
    kc__http_etag_matches(text, KC_STR("\"a\""));
    if (kc__http_retry_after(text, &seconds))
        assert(seconds >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_arena) arena = {0};
    kc_str text = kc_str_of((const char *)data, size);
    check_type(text, &arena);
    check_accept(text, &arena);
    check_values(text);
    return 0;
}
