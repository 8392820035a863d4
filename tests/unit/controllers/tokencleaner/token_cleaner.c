/* SPDX-License-Identifier: Apache-2.0 */
/* Bootstrap tokens that expire. */
#include "scenario_testing.h"

#include "kc/base64.h"
#include "kc/time.h"
#include "kc/view.h"

static const scenario cleaning = {.controllers = {.names = "token-cleaner", .workers = 2},
                                  .takes = 20 * KC_SECOND};

static void make_token(kc_testenv *env, const char *ns, const char *name, const char *type,
                       const char *expiration)
{
    kc_scoped(kc_buf) encoded = {0};
    kc_base64_write(&encoded, kc_cstr(expiration), KC_BASE64);
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Secret','type':'%s','metadata':{'name':'%s',"
                    "'namespace':'%s'},'data':{'expiration':'%s'}}",
                    type, name, ns, kc_buf_cstr(&encoded));
    kc_auto(kc_object) *made = make(env, json);
    assert_non_null(made);
}

static bool exists(kc_testenv *env, const char *ns, const char *name)
{
    kc_auto(kc_object) *found = kc_client_get(kc_testenv_client(env), &kc_kind_secret,
                                              (kc_key){kc_cstr(ns), kc_cstr(name)}, NULL, NULL);
    return found;
}

#define TOKEN "bootstrap.kubernetes.io/token"

static void expired_token_is_deleted_and_others_are_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&cleaning, 1);
    make_token(env, "kube-system", "old", TOKEN, "2001-01-01T00:00:00Z");
    make_token(env, "kube-system", "broken", TOKEN, "soon");
    make_token(env, "kube-system", "far", TOKEN, "2999-01-01T00:00:00Z");
    make_token(env, "kube-system", "endless", TOKEN, "");
    make_token(env, "kube-system", "plain", "Opaque", "2001-01-01T00:00:00Z");
    make_token(env, "default", "elsewhere", TOKEN, "2001-01-01T00:00:00Z");
    settle(env);
    assert_false(exists(env, "kube-system", "old"));
    assert_false(exists(env, "kube-system", "broken"));
    assert_true(exists(env, "kube-system", "far"));
    assert_true(exists(env, "kube-system", "endless"));
    assert_true(exists(env, "kube-system", "plain"));
    assert_true(exists(env, "default", "elsewhere"));
}

static void token_is_deleted_when_its_time_comes(void **state)
{
    (void)state;
    char when[KC_TIME_TEXT];
    kc_auto(kc_testenv) *env = scenario_begin(&cleaning, 1);
    kc_time_print(kc_clock_wall(kc_testenv_clock(env)) + KC_HOUR, when);
    make_token(env, "kube-system", "hour", TOKEN, when);
    settle(env);
    assert_true(exists(env, "kube-system", "hour"));
    kc_testenv_advance(env, KC_HOUR + KC_MINUTE);
    settle(env);
    assert_false(exists(env, "kube-system", "hour"));
}

TESTS(expired_token_is_deleted_and_others_are_kept, token_is_deleted_when_its_time_comes)
