/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets of the type kubernetes.io/service-account-token. */
#include "scenario_testing.h"

#include "kc/base64.h"
#include "kc/view.h"

static int sign_in_words(const kc_account_token *about, kc_buf *out, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    kc_buf_printf(out, "token of %.*s/%.*s in %.*s", KC_ARG(about->ns), KC_ARG(about->account),
                  KC_ARG(about->secret));
    return 0;
}

static void make_account_and_secrets(kc_testenv *env)
{
    kc_auto(kc_object) *account =
        make(env, "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'web',"
                  "'namespace':'default'},'secrets':[{'name':'s'},{'name':'other'}]}");
    kc_auto(kc_object) *secret =
        make(env, "{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/service-account-token',"
                  "'metadata':{'name':'s','namespace':'default','annotations':"
                  "{'kubernetes.io/service-account.name':'web'}}}");
    kc_auto(kc_object) *orphan =
        make(env, "{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/service-account-token',"
                  "'metadata':{'name':'orphan','namespace':'default','annotations':"
                  "{'kubernetes.io/service-account.name':'gone'}}}");
    kc_auto(kc_object) *plain =
        make(env, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'plain','namespace':"
                  "'default','annotations':{'kubernetes.io/service-account.name':'web'}}}");
}

static void assert_data(const kc_object *secret, const char *key, const char *expected)
{
    kc_scoped(kc_buf) bytes = {0};
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    assert_true(kc_base64_read(&bytes, kc_value_as_str(kc_value_get(data, key)), KC_BASE64));
    assert_str(kc_buf_str(&bytes), expected);
}

static void assert_filled(kc_testenv *env)
{
    kc_auto(kc_object) *secret = look_up(env, &kc_kind_secret, "s");
    kc_auto(kc_object) *orphan = look_up(env, &kc_kind_secret, "orphan");
    kc_auto(kc_object) *plain = look_up(env, &kc_kind_secret, "plain");
    kc_auto(kc_object) *account = look_up(env, &kc_kind_service_account, "web");
    assert_non_null(secret);
    assert_data(secret, "token", "token of default/web in s");
    assert_data(secret, "namespace", "default");
    assert_data(secret, "ca.crt", "PEM");
    assert_true(kc_object_annotation_is(secret, KC_STR("kubernetes.io/service-account.uid"),
                                        kc_object_uid(account)));
    assert_null(orphan);
    kc_auto(kc_view) *view = kc_view_of(plain);
    assert_null(kc_value_get(kc_view_root(view), "data"));
}

static const scenario token_secrets = {
    .controllers = {.names = "serviceaccount-token",
                    .workers = 2,
                    .root_ca = "PEM",
                    .sign_account_token = sign_in_words},
    .event = make_account_and_secrets,
    .takes = 20 * KC_SECOND,
    .end = assert_filled,
};

static void secret_of_existing_account_is_filled_and_others_are_deleted(void **state)
{
    (void)state;
    scenario_converges(&token_secrets);
}

static void deletion_of_account_deletes_its_secret(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&token_secrets, 1);
    make_account_and_secrets(env);
    settle(env);
    assert_filled(env);
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_service_account,
                                      KC_KEY("default", "web"), NULL, NULL),
                     0);
    settle(env);
    kc_auto(kc_object) *secret = look_up(env, &kc_kind_secret, "s");
    assert_null(secret);
}

static void deleted_secret_is_removed_from_its_account(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&token_secrets, 1);
    make_account_and_secrets(env);
    settle(env);
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_secret,
                                      KC_KEY("default", "s"), NULL, NULL),
                     0);
    settle(env);
    kc_auto(kc_object) *account = look_up(env, &kc_kind_service_account, "web");
    kc_auto(kc_view) *view = kc_view_of(account);
    assert_value_json(kc_value_get(kc_view_root(view), "secrets"), "[{\"name\":\"other\"}]");
}

static void existing_token_is_kept_and_ca_restored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&token_secrets, 1);
    make_account_and_secrets(env);
    settle(env);
    kc_auto(kc_object) *patched = kc_client_patch(
        kc_testenv_client(env), &kc_kind_secret, KC_KEY("default", "s"), KC_PATCH_MERGE,
        KC_STR("{\"data\":{\"token\":\"a2VwdA==\",\"ca.crt\":\"eA==\"}}"), NULL, NULL);
    assert_non_null(patched);
    settle(env);
    kc_auto(kc_object) *secret = look_up(env, &kc_kind_secret, "s");
    assert_data(secret, "token", "kept");
    assert_data(secret, "ca.crt", "PEM");
}

TESTS(secret_of_existing_account_is_filled_and_others_are_deleted,
      deletion_of_account_deletes_its_secret, deleted_secret_is_removed_from_its_account,
      existing_token_is_kept_and_ca_restored)
