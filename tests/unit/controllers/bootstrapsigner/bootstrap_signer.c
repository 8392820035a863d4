/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of kube-public/cluster-info. The expected one was computed with Python's hmac. */
#include "scenario_testing.h"

#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/time.h"
#include "kc/view.h"

static const scenario signing = {.controllers = {.names = "bootstrap-signer"},
                                 .takes = 20 * KC_SECOND};

#define TYPE "bootstrap.kubernetes.io/token"

static void add_data(kc_buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    kc_buf_printf(out, "%s'%s':'", out->n ? "," : "", name);
    kc_base64_write(out, kc_cstr(value), KC_BASE64);
    kc_buf_putc(out, '\'');
}

/* NULL leaves a value out. */
static void make_token(kc_testenv *env, const char *name, const char *id, const char *usage,
                       const char *expiration)
{
    kc_scoped(kc_buf) data = {0};
    add_data(&data, "token-id", id);
    add_data(&data, "token-secret", "EFGHabcdefghijkl");
    add_data(&data, "usage-bootstrap-signing", usage);
    add_data(&data, "expiration", expiration);
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Secret','type':'" TYPE "','metadata':{'name':'%s',"
                    "'namespace':'kube-system'},'data':{%s}}",
                    name, kc_buf_cstr(&data));
    kc_auto(kc_object) *made = make(env, json);
    assert_non_null(made);
}

static void make_cluster_info(kc_testenv *env)
{
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cluster-info',"
                  "'namespace':'kube-public'},'data':{'kubeconfig':'payload','other':'stays',"
                  "'jws-kubeconfig-oldold':'x'}}");
    assert_non_null(made);
}

/* The value of a member; "": absent. */
static char *data_of(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *map = kc_client_get(kc_testenv_client(env), &kc_kind_config_map,
                                            KC_KEY("kube-public", "cluster-info"), NULL, NULL);
    assert_non_null(map);
    kc_auto(kc_view) *view = kc_view_of(map);
    return kc_str_dup(
        kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "data"), name)));
}

#define assert_data(env, name, expected)           \
    do {                                           \
        kc_autofree char *is = data_of(env, name); \
        assert_string_equal(is, expected);         \
    } while (0)

#define SIGNATURE \
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..8ApvgdKmNm3xNQ-ESN3WlsMjcsMYdRsoGnU5gjRy5XM"

static void each_signing_token_has_a_signature(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    make_cluster_info(env);
    make_token(env, "bootstrap-token-abcdef", "abcdef", "true", NULL);
    make_token(env, "bootstrap-token-second", "second", "true", "2999-01-01T00:00:00Z");
    settle(env);
    assert_data(env, "jws-kubeconfig-abcdef", SIGNATURE);
    kc_autofree char *second = data_of(env, "jws-kubeconfig-second");
    assert_non_null(strstr(second, ".."));
    assert_data(env, "jws-kubeconfig-oldold", "");
    assert_data(env, "other", "stays");
    assert_data(env, "kubeconfig", "payload");
}

static void other_tokens_do_not_sign(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    make_cluster_info(env);
    make_token(env, "bootstrap-token-nousag", "nousag", NULL, NULL);
    make_token(env, "bootstrap-token-denied", "denied", "false", NULL);
    make_token(env, "bootstrap-token-thatid", "otherx", "true", NULL);
    make_token(env, "bootstrap-token-toolong", "toolong", "true", NULL);
    make_token(env, "bootstrap-token-expire", "expire", "true", "2001-01-01T00:00:00Z");
    make_token(env, "bootstrap-token-broken", "broken", "true", "soon");
    make_token(env, "named-abcdef", "abcdef", "true", NULL);
    settle(env);
    static const char *const ids[] = {"nousag",  "denied", "thatid", "otherx",
                                      "toolong", "expire", "broken", "abcdef"};
    for (size_t i = 0; i < KC_COUNT(ids); i++) {
        kc_autofree char *name = kc_asprintf("jws-kubeconfig-%s", ids[i]);
        assert_data(env, name, "");
    }
}

static void signature_of_an_expired_token_is_removed(void **state)
{
    (void)state;
    char when[KC_TIME_TEXT];
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    kc_time_print(kc_clock_wall(kc_testenv_clock(env)) + KC_HOUR, when);
    make_cluster_info(env);
    make_token(env, "bootstrap-token-abcdef", "abcdef", "true", when);
    settle(env);
    assert_data(env, "jws-kubeconfig-abcdef", SIGNATURE);
    kc_testenv_advance(env, KC_HOUR + KC_MINUTE);
    settle(env);
    assert_data(env, "jws-kubeconfig-abcdef", "");
}

static void signature_of_a_deleted_token_is_removed(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    make_cluster_info(env);
    make_token(env, "bootstrap-token-abcdef", "abcdef", "true", NULL);
    settle(env);
    assert_data(env, "jws-kubeconfig-abcdef", SIGNATURE);
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_secret,
                        KC_KEY("kube-system", "bootstrap-token-abcdef"), NULL, &err),
       &err);
    settle(env);
    assert_data(env, "jws-kubeconfig-abcdef", "");
}

static void config_map_is_not_created(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    make_token(env, "bootstrap-token-abcdef", "abcdef", "true", NULL);
    settle(env);
    kc_auto(kc_object) *map = kc_client_get(kc_testenv_client(env), &kc_kind_config_map,
                                            KC_KEY("kube-public", "cluster-info"), NULL, NULL);
    assert_null(map);
}

TESTS(each_signing_token_has_a_signature, other_tokens_do_not_sign,
      signature_of_an_expired_token_is_removed, signature_of_a_deleted_token_is_removed,
      config_map_is_not_created)
