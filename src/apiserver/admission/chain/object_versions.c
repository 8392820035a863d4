/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_versions.c: keeps the conversions by webhook that a phase of admission has waited for.
 *
 * At most one conversion is in progress. Its entry holds the object until the result is there,
 * because kc__rest_convert_to_served recognizes objects by their address. A failure is kept as
 * well: a policy that ignores failures must not convert again.
 */
#include "apiserver/admission/chain/object_versions.h"

#include "apiserver/call/call_conversion.h"

enum { MAX_BYTES = 64 << 20 }; /* Of all objects that are kept for a request, in all versions. */

typedef struct kc__admission_version {
    struct kc__admission_version *next;
    kc_object *object;
    const kc__resource *as;
    bool done;
    kc_object *result; /* NULL: failed. */
    kc_error error;
} kc__admission_version;

/* In the arena of the call. */
typedef struct kc__admission_versions {
    kc__admission_version *first; /* The last one that was added; only it may be in progress. */
    size_t bytes;
} kc__admission_versions;

static kc__admission_versions *request_versions(kc__rest_call *call)
{
    if (!call->versions)
        call->versions = kc_arena_new(call->arena, kc__admission_versions);
    return call->versions;
}

static kc__admission_version *find_version(const kc__rest_call *call, const kc_object *object,
                                           const kc__resource *as)
{
    for (kc__admission_version *at = call->versions ? call->versions->first : NULL; at;
         at = at->next)
        if (at->as == as && kc_str_eq(kc_object_json(at->object), kc_object_json(object)))
            return at;
    return NULL;
}

static kc__admission_version *add_version(kc__rest_call *call, const kc_object *object,
                                          const kc__resource *as)
{
    kc__admission_versions *versions = request_versions(call);
    kc__admission_version *version = kc_arena_new(call->arena, kc__admission_version);
    *version =
        (kc__admission_version){.next = versions->first, .object = kc_object_ref(object), .as = as};
    versions->first = version;
    versions->bytes += kc_object_json(object).n;
    return version;
}

/* The request continues without a conversion that failed, if policies may be ignored. */
static void take_failure(kc__rest_call *call, kc__admission_version *version)
{
    kc_error_set(&version->error, call->error.reason, "%s", kc_error_text(&call->error));
    kc__rest_conversion_forgive(call);
}

/* KC__REST_NEXT: done, or failed. */
static kc__rest_verdict continue_version(kc__rest_call *call, kc__admission_version *version)
{
    const kc__rest_verdict verdict =
        kc__rest_convert_to_served(call, version->as, version->object, &version->result);
    if (verdict == KC__REST_PENDING || verdict == KC__REST_ON_LOOP)
        return verdict;
    version->done = true;
    if (verdict == KC__REST_FAIL)
        take_failure(call, version);
    else
        call->versions->bytes += kc_object_json(version->result).n;
    return KC__REST_NEXT;
}

kc__rest_verdict kc__admission_versions_await(kc__rest_call *call)
{
    kc__admission_version *last = call->versions ? call->versions->first : NULL;
    if (last && !last->done)
        return continue_version(call, last);
    return kc__rest_conversion_is_running(call) ? kc__rest_convert_job(call, NULL) : KC__REST_NEXT;
}

static kc__rest_verdict use_version(const kc__admission_attributes *about,
                                    const kc__admission_version *version, kc_object **ret,
                                    kc_error *err)
{
    if (version->result) {
        *ret = kc_object_ref(version->result);
        return KC__REST_NEXT;
    }
    if (!strcmp(about->operation, "DELETE")) {
        *ret = kc_object_ref(version->object);
        return KC__REST_NEXT;
    }
    kc_error_set(err, version->error.reason, "%s", kc_error_text(&version->error));
    return KC__REST_FAIL;
}

kc__rest_verdict kc__admission_versions_get(kc__rest_call *call,
                                            const kc__admission_attributes *about,
                                            const kc_object *object, const kc__resource *as,
                                            kc_object **ret, kc_error *err)
{
    if (!kc__admission_is_remote(about, object, as))
        return kc__admission_convert(about, object, as, ret, err) < 0 ? KC__REST_FAIL
                                                                      : KC__REST_NEXT;
    kc__admission_version *version = find_version(call, object, as);
    if (!version && request_versions(call)->bytes > MAX_BYTES) {
        kc_error_set(err, KC_TOO_LARGE, "the versions of the object take more than %d MiB",
                     MAX_BYTES >> 20);
        return KC__REST_FAIL;
    }
    if (!version)
        version = add_version(call, object, as);
    if (!version->done) {
        const kc__rest_verdict verdict = continue_version(call, version);
        if (verdict != KC__REST_NEXT)
            return verdict;
    }
    return use_version(about, version, ret, err);
}

void kc__admission_versions_release(kc__rest_call *call)
{
    if (!call->versions)
        return;
    for (kc__admission_version *at = call->versions->first; at; at = at->next) {
        kc_object_unref(at->object);
        kc_object_unref(at->result);
        kc_error_done(&at->error);
    }
    call->versions = NULL;
}
