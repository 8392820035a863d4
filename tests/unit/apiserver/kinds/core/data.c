/* SPDX-License-Identifier: Apache-2.0 */
/* data.c: ConfigMaps and Secrets. */
#include "api_testing.h"

#define MAPS      "/api/v1/namespaces/default/configmaps"
#define SECRETS   "/api/v1/namespaces/default/secrets"
#define IMMUTABLE "Forbidden: field is immutable when `immutable` is set"

static void string_data_of_a_secret_is_merged_into_data(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, SECRETS,
                              "{'metadata':{'name':'s'},'data':{'a':'YQ=='},"
                              "'stringData':{'a':'b','c':'d'}}");
    assert_at(r, "data", "{\"a\":\"Yg==\",\"c\":\"ZA==\"}");
    assert_at(r, "stringData", "");
    assert_at(r, "type", "Opaque");
    r = api_patch(a, SECRETS "/s", "{'stringData':{'e':'f'}}");
    assert_at(r, "data.e", "Zg==");
    assert_at(r, "stringData", "");
}

static void type_of_a_secret_is_immutable(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, SECRETS, "{'metadata':{'name':'s'},'type':'x'}");
    assert_status(api_put(a, SECRETS "/s", "{'metadata':{'name':'s'}}"), 422, "Invalid",
                  "Secret \"s\" is invalid: type: Invalid value: \"Opaque\": field is immutable");
    assert_code(api_put(a, SECRETS "/s", "{'metadata':{'name':'s'},'type':'x'}"), 200);
}

static void secret_without_keys_of_its_type_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_post(a, SECRETS, "{'metadata':{'name':'s'},'type':'kubernetes.io/tls'}"), 422,
        "Invalid",
        "Secret \"s\" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required "
        "value]");
    assert_code(api_post(a, SECRETS,
                         "{'metadata':{'name':'s'},'type':'kubernetes.io/basic-auth',"
                         "'data':{'username':'YQ=='}}"),
                201);
}

static void immutable_config_map_cannot_be_changed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'},'immutable':true}");
    assert_status(api_put(a, MAPS "/a", "{'metadata':{'name':'a'},'data':{'k':'v'}}"), 422,
                  "Invalid", "ConfigMap \"a\" is invalid: immutable: " IMMUTABLE);
    assert_status(api_patch(a, MAPS "/a", "{'data':{'k':'w'}}"), 422, "Invalid",
                  "ConfigMap \"a\" is invalid: data: " IMMUTABLE);
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'labels':{'l':'1'}}}"), 200);
    assert_code(api_delete(a, MAPS "/a", NULL), 200);
}

static void data_keys_must_be_valid_file_names(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const keys[] = {"", "a b", "a/b", "..", "..a"};
    for (size_t i = 0; i < KC_COUNT(keys); i++)
        assert_code(
            api_post(a, MAPS, text(a, "{'metadata':{'name':'a'},'data':{'%s':'v'}}", keys[i])),
            422);
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'.a-b_c.D1':'v'}}"), 201);
}

static void key_in_data_and_binary_data_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(
        api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'},'binaryData':{'k':'YQ=='}}"),
        422);
}

static void config_map_above_one_mebibyte_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, "{'metadata':{'name':'a'},'data':{'k':'");
    for (size_t i = 0; i < (1 << 20) + 1; i++)
        kc_buf_putc(&body, 'x');
    kc_buf_puts(&body, "'}}");
    const reply *r = api_post(a, MAPS, kc_buf_cstr(&body));
    assert_code(r, 422);
    assert_at(r, "details.causes[0].reason", "FieldValueTooLong");
}

TESTS(string_data_of_a_secret_is_merged_into_data, type_of_a_secret_is_immutable,
      secret_without_keys_of_its_type_is_invalid, immutable_config_map_cannot_be_changed,
      data_keys_must_be_valid_file_names, key_in_data_and_binary_data_is_invalid,
      config_map_above_one_mebibyte_is_invalid)
