/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "etcd/etcd_internal.h"

static void assert_code(kc__grpc_code status, const char *message, kc__etcd_code expected)
{
    assert_int_equal(kc__etcd_code_of(status, kc_cstr(message)), expected);
}

static void texts_of_etcd_select_the_code(void **state)
{
    (void)state;
    assert_code(KC__GRPC_OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted",
                KC__ETCD_COMPACTED);
    assert_code(KC__GRPC_OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision",
                KC__ETCD_FUTURE_REVISION);
    assert_code(KC__GRPC_NOT_FOUND, "etcdserver: requested lease not found",
                KC__ETCD_LEASE_NOT_FOUND);
    assert_code(KC__GRPC_RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded",
                KC__ETCD_NO_SPACE);
    assert_code(KC__GRPC_RESOURCE_EXHAUSTED, "etcdserver: too many requests",
                KC__ETCD_TOO_MANY_REQUESTS);
    assert_code(KC__GRPC_UNAVAILABLE, "etcdserver: no leader", KC__ETCD_NO_LEADER);
    assert_code(KC__GRPC_UNAUTHENTICATED, "etcdserver: invalid auth token", KC__ETCD_INVALID_TOKEN);
    assert_code(KC__GRPC_INVALID_ARGUMENT, "etcdserver: revision of auth store is old",
                KC__ETCD_INVALID_TOKEN);
}

static void text_within_another_selects_the_code(void **state)
{
    (void)state;
    assert_code(KC__GRPC_UNKNOWN,
                "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
                KC__ETCD_PERMISSION_DENIED);
}

static void other_texts_have_the_code_of_their_status(void **state)
{
    (void)state;
    assert_code(KC__GRPC_UNAVAILABLE, "etcdserver: leader changed", KC__ETCD_UNAVAILABLE);
    assert_code(KC__GRPC_DEADLINE_EXCEEDED, "", KC__ETCD_TIMEOUT);
    assert_code(KC__GRPC_CANCELLED, "", KC__ETCD_CANCELLED);
    assert_code((kc__grpc_code)99, "", KC__ETCD_INTERNAL);
    assert_code(KC__GRPC_OK, "etcdserver: no leader", KC__ETCD_OK);
}

static bool is_unknown(kc__grpc_code code, bool unsent, const char *message)
{
    const kc__grpc_status status = {.code = code, .unsent = unsent};
    return kc__etcd_outcome_is_unknown(&status, kc__etcd_code_of(code, kc_cstr(message)));
}

static void outcome_is_known_if_the_server_refused_or_got_nothing(void **state)
{
    (void)state;
    assert_true(is_unknown(KC__GRPC_UNAVAILABLE, false, "connection lost"));
    assert_true(is_unknown(KC__GRPC_UNAVAILABLE, false, "etcdserver: request timed out"));
    assert_true(is_unknown(KC__GRPC_DEADLINE_EXCEEDED, false, ""));
    assert_false(is_unknown(KC__GRPC_DEADLINE_EXCEEDED, true, ""));
    assert_false(is_unknown(KC__GRPC_UNAVAILABLE, false, "etcdserver: no leader"));
    assert_false(is_unknown(KC__GRPC_RESOURCE_EXHAUSTED, false, "etcdserver: too many requests"));
    assert_false(is_unknown(KC__GRPC_INVALID_ARGUMENT, false, "etcdserver: key is not provided"));
}

static void codes_have_reasons(void **state)
{
    (void)state;
    assert_int_equal(kc__etcd_code_reason(KC__ETCD_COMPACTED), KC_EXPIRED);
    assert_int_equal(kc__etcd_code_reason(KC__ETCD_TOO_MANY_REQUESTS), KC_TOO_MANY_REQUESTS);
    assert_string_equal(kc__etcd_code_text(KC__ETCD_NO_LEADER), "no_leader");
}

TESTS(texts_of_etcd_select_the_code, text_within_another_selects_the_code,
      other_texts_have_the_code_of_their_status,
      outcome_is_known_if_the_server_refused_or_got_nothing, codes_have_reasons)
