/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_endpoint.c: /healthz, /livez and /readyz: a table of checks, each with the endpoints it
 * belongs to.
 *
 *     GET /readyz?verbose            GET /livez/ping            GET /healthz?exclude=storage
 */
#include "apiserver/rest/endpoints.h"

enum { HEALTHZ = 1, LIVEZ = 2, READYZ = 4 };

typedef struct check {
    const char *name;
    unsigned on;
    bool (*passes)(kc__api *api);
} check;

static bool always(kc__api *api)
{
    (void)api;
    return true;
}

static bool storage_works(kc__api *api)
{
    return kc__store_health(api->store, NULL) == 0;
}

static bool is_staying(kc__api *api)
{
    return !atomic_load(&api->draining);
}

static const check checks[] = {
    {"ping", HEALTHZ | LIVEZ | READYZ, always},
    {"storage", HEALTHZ | READYZ, storage_works},
    {"shutdown", READYZ, is_staying},
};

static bool is_excluded(kc__call *call, const char *name)
{
    kc_str value;
    for (size_t at = 0; kc__query_next(&call->query, KC_STR("exclude"), &at, &value);)
        if (kc_str_is(value, name))
            return true;
    return false;
}

/* Appends a line for each check; true when all pass. */
static bool run_checks(kc__call *call, unsigned on, kc_buf *out)
{
    bool fine = true;
    for (size_t i = 0; i < KC_COUNT(checks); i++) {
        if (!(checks[i].on & on))
            continue;
        if (is_excluded(call, checks[i].name)) {
            kc_buf_printf(out, "[+]%s excluded: ok\n", checks[i].name);
        } else if (checks[i].passes(call->api)) {
            kc_buf_printf(out, "[+]%s ok\n", checks[i].name);
        } else {
            kc_buf_printf(out, "[-]%s failed: reason withheld\n", checks[i].name);
            fine = false;
        }
    }
    return fine;
}

static kc__verdict answer_plain(kc__call *call, int status, kc_str text)
{
    return kc__answer_bytes(
        call,
        &(kc__answer){.status = status,
                      .type = KC_STR("text/plain; charset=utf-8"),
                      .headers = &(kc__header){KC_STR("X-Content-Type-Options"), KC_STR("nosniff")},
                      .n_headers = 1,
                      .body = text});
}

static kc__verdict answer_one(kc__call *call, unsigned on, kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(checks); i++) {
        if (!(checks[i].on & on) || !kc_str_is(name, checks[i].name))
            continue;
        if (checks[i].passes(call->api))
            return kc__answer_text(call, 200, KC_STR("text/plain; charset=utf-8"), KC_STR("ok"));
        return answer_plain(call, 500, KC_STR("internal server error: reason withheld\n"));
    }
    return kc__answer_no_page(call);
}

kc__verdict kc__endpoint_health(kc__call *call)
{
    const kc__target *target = &call->x->request.target;
    kc_str name = kc__target_segment(target, 0);
    unsigned on = kc_str_is(name, "healthz") ? HEALTHZ : kc_str_is(name, "livez") ? LIVEZ : READYZ;
    if (target->trailing_slash)
        return kc__answer_no_page(call);
    if (target->n_segments > 1)
        return answer_one(call, on, kc__target_segment(target, 1));
    kc_scoped(kc_buf) out = {0};
    if (!run_checks(call, on, &out)) {
        kc_buf_printf(&out, "%.*s check failed\n", KC_ARG(name));
        return answer_plain(call, 500, kc_buf_str(&out));
    }
    if (!kc__query_has(&call->query, KC_STR("verbose")))
        return answer_plain(call, 200, KC_STR("ok"));
    kc_buf_printf(&out, "%.*s check passed\n", KC_ARG(name));
    return answer_plain(call, 200, kc_buf_str(&out));
}
