/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c: what an error of etcd means to a caller.
 *
 * gRPC's status codes are too coarse: OUT_OF_RANGE is a compacted or a future revision,
 * RESOURCE_EXHAUSTED a full database or too many requests. The text of the status tells; etcd
 * keeps these texts as a part of its API (rpctypes). A cancelled watch has such a text, too,
 * sometimes within a longer one. Errors with other texts get a code by their status.
 *
 * To add one: a row in `texts`, and where callers must tell it from others, one in KC__ETCD_CODES.
 */
#include "etcd/etcd_internal.h"

static const struct {
    const char *text;
    kc__etcd_code code;
} texts[] = {
    {"mvcc: required revision has been compacted", KC__ETCD_COMPACTED},
    {"mvcc: required revision is a future revision", KC__ETCD_FUTURE_REVISION},
    {"mvcc: database space exceeded", KC__ETCD_NO_SPACE},
    {"etcdserver: requested lease not found", KC__ETCD_LEASE_NOT_FOUND},
    {"etcdserver: no leader", KC__ETCD_NO_LEADER},
    {"etcdserver: too many requests", KC__ETCD_TOO_MANY_REQUESTS},
    {"etcdserver: request is too large", KC__ETCD_TOO_LARGE},
    {"etcdserver: invalid auth token", KC__ETCD_INVALID_TOKEN},
    {"etcdserver: revision of auth store is old", KC__ETCD_INVALID_TOKEN},
    {"etcdserver: authentication failed", KC__ETCD_AUTH_FAILED},
    {"etcdserver: user name is empty", KC__ETCD_INVALID_TOKEN},
    {"etcdserver: authentication is not enabled", KC__ETCD_AUTH_NOT_ENABLED},
    {"etcdserver: permission denied", KC__ETCD_PERMISSION_DENIED},
};

static const kc__etcd_code by_status[] = {
    [KC__GRPC_OK] = KC__ETCD_OK,
    [KC__GRPC_CANCELLED] = KC__ETCD_CANCELLED,
    [KC__GRPC_UNKNOWN] = KC__ETCD_INTERNAL,
    [KC__GRPC_INVALID_ARGUMENT] = KC__ETCD_INVALID,
    [KC__GRPC_DEADLINE_EXCEEDED] = KC__ETCD_TIMEOUT,
    [KC__GRPC_NOT_FOUND] = KC__ETCD_INVALID,
    [KC__GRPC_ALREADY_EXISTS] = KC__ETCD_INVALID,
    [KC__GRPC_PERMISSION_DENIED] = KC__ETCD_PERMISSION_DENIED,
    [KC__GRPC_RESOURCE_EXHAUSTED] = KC__ETCD_TOO_LARGE,
    [KC__GRPC_FAILED_PRECONDITION] = KC__ETCD_INVALID,
    [KC__GRPC_ABORTED] = KC__ETCD_INTERNAL,
    [KC__GRPC_OUT_OF_RANGE] = KC__ETCD_INVALID,
    [KC__GRPC_UNIMPLEMENTED] = KC__ETCD_INVALID,
    [KC__GRPC_INTERNAL] = KC__ETCD_INTERNAL,
    [KC__GRPC_UNAVAILABLE] = KC__ETCD_UNAVAILABLE,
    [KC__GRPC_DATA_LOSS] = KC__ETCD_INTERNAL,
    [KC__GRPC_UNAUTHENTICATED] = KC__ETCD_AUTH_FAILED,
};

kc__etcd_code kc__etcd_code_of(kc__grpc_code code, kc_str message)
{
    if (code == KC__GRPC_OK)
        return KC__ETCD_OK;
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        if (kc_str_contains(message, kc_cstr(texts[i].text)))
            return texts[i].code;
    return (size_t)code < KC_COUNT(by_status) ? by_status[code] : KC__ETCD_INTERNAL;
}

static const struct {
    const char *text;
    kc_reason reason;
} codes[] = {
#define CODE(name, text, reason) [KC__ETCD_##name] = {text, KC_##reason},
    KC__ETCD_CODES(CODE)
#undef CODE
};

const char *kc__etcd_code_text(kc__etcd_code code)
{
    return codes[code].text;
}

kc_reason kc__etcd_code_reason(kc__etcd_code code)
{
    return codes[code].reason;
}

/* Other codes are answers of a server that has refused the request. */
bool kc__etcd_outcome_is_unknown(const kc__grpc_status *status, kc__etcd_code code)
{
    return !status->unsent && (code == KC__ETCD_TIMEOUT || code == KC__ETCD_CANCELLED ||
                               code == KC__ETCD_UNAVAILABLE || code == KC__ETCD_INTERNAL);
}
