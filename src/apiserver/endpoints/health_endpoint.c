/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_endpoint.c: /healthz, /livez and /readyz: a table of checks, each with the endpoints that
 * run it.
 *
 *     GET /readyz?verbose            GET /livez/ping            GET /healthz?exclude=storage
 */
#include "apiserver/endpoints/endpoints.h"
#include "apiserver/governor/governor.h"
#include "apiserver/storage/encryption/encryption.h"

enum { HEALTHZ = 1, LIVEZ = 2, READYZ = 4 };

typedef struct health_check {
    const char *name;
    unsigned on;
    bool (*passes)(kc__rest_api *api);
    const char *(*note)(kc__rest_api *api); /* Text after the check's ok; NULL: none. */
    bool (*exists)(kc__rest_api *api);      /* NULL: always. */
} health_check;

static bool always(kc__rest_api *api)
{
    (void)api;
    return true;
}

static bool storage_works(kc__rest_api *api)
{
    return kc__store_health(api->store, NULL) == 0;
}

static bool is_staying(kc__rest_api *api)
{
    return !atomic_load(&api->leaving) && !atomic_load(&api->draining);
}

static bool memory_suffices(kc__rest_api *api)
{
    return kc__governor_level(api->governor) < KC__MEMORY_HARD;
}

/* Above the soft limit the server is ready, and reports what it rejects. */
static const char *memory_note(kc__rest_api *api)
{
    return kc__governor_level(api->governor) == KC__MEMORY_SOFT
               ? ": above the soft limit, large requests are refused"
               : "";
}

/* A changed file that is invalid does not make the server unready: the previous configuration
 * works. */
static const char *encryption_note(kc__rest_api *api)
{
    return api->encryption && !kc__encryption_is_healthy(api->encryption)
               ? ": the changed file is invalid, the previous configuration is in use"
               : "";
}

/* kube-apiserver has this check when it reads the encryption configuration again; without KMS
 * plugins it always passes. */
static bool reloads_encryption(kc__rest_api *api)
{
    return api->encryption && kc__encryption_reloads(api->encryption);
}

static const health_check checks[] = {
    {"ping", HEALTHZ | LIVEZ | READYZ, always},
    {"storage", HEALTHZ | READYZ, storage_works},
    {"encryption-provider-config", READYZ, always, encryption_note},
    {"kms-providers", HEALTHZ | READYZ, always, .exists = reloads_encryption},
    {"memory", READYZ, memory_suffices, memory_note},
    {"shutdown", READYZ, is_staying},
};

static bool is_check(kc__rest_call *call, const health_check *check, unsigned on)
{
    return (check->on & on) && (!check->exists || check->exists(call->api));
}

static bool is_excluded(kc__rest_call *call, const char *name)
{
    kc_str value;
    for (size_t at = 0; kc__query_next(&call->query, KC_STR("exclude"), &at, &value);)
        if (kc_str_is(value, name))
            return true;
    return false;
}

/* Appends a line for each check; true if all pass. */
static bool run_checks(kc__rest_call *call, unsigned on, kc_buf *out)
{
    bool fine = true;
    for (size_t i = 0; i < KC_COUNT(checks); i++) {
        if (!is_check(call, &checks[i], on))
            continue;
        if (is_excluded(call, checks[i].name)) {
            kc_buf_printf(out, "[+]%s excluded: ok\n", checks[i].name);
        } else if (checks[i].passes(call->api)) {
            kc_buf_printf(out, "[+]%s ok%s\n", checks[i].name,
                          checks[i].note ? checks[i].note(call->api) : "");
        } else {
            kc_buf_printf(out, "[-]%s failed: reason withheld\n", checks[i].name);
            fine = false;
        }
    }
    return fine;
}

static kc__rest_verdict respond_health_plain(kc__rest_call *call, int status, kc_str text)
{
    return kc__rest_respond_bytes(
        call, &(kc__http_response){.status = status,
                                   .type = KC_STR("text/plain; charset=utf-8"),
                                   .headers = &(kc__http_header){KC_STR("X-Content-Type-Options"),
                                                                 KC_STR("nosniff")},
                                   .n_headers = 1,
                                   .body = text});
}

static kc__rest_verdict answer_one(kc__rest_call *call, unsigned on, kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(checks); i++) {
        if (!is_check(call, &checks[i], on) || !kc_str_is(name, checks[i].name))
            continue;
        if (checks[i].passes(call->api))
            return kc__rest_respond_text(call, 200, KC_STR("text/plain; charset=utf-8"),
                                         KC_STR("ok"));
        return respond_health_plain(call, 500, KC_STR("internal server error: reason withheld\n"));
    }
    return kc__rest_respond_page_not_found(call);
}

kc__rest_verdict kc__rest_endpoint_health(kc__rest_call *call)
{
    const kc__target *target = &call->x->request.target;
    kc_str name = kc__target_segment(target, 0);
    unsigned on = kc_str_is(name, "healthz") ? HEALTHZ : kc_str_is(name, "livez") ? LIVEZ : READYZ;
    if (target->trailing_slash)
        return kc__rest_respond_page_not_found(call);
    if (target->n_segments > 1)
        return answer_one(call, on, kc__target_segment(target, 1));
    kc_scoped(kc_buf) out = {0};
    if (!run_checks(call, on, &out)) {
        kc_buf_printf(&out, "%.*s check failed\n", KC_ARG(name));
        return respond_health_plain(call, 500, kc_buf_str(&out));
    }
    if (!kc__query_has(&call->query, KC_STR("verbose")))
        return respond_health_plain(call, 200, KC_STR("ok"));
    kc_buf_printf(&out, "%.*s check passed\n", KC_ARG(name));
    return respond_health_plain(call, 200, kc_buf_str(&out));
}
