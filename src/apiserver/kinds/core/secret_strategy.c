/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_strategy.c: the strategy of Secrets. Text that a client sends in stringData is stored in
 * data as base64. The type defaults to Opaque and is immutable.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/strategy_internal.h"
#include "kc/base64.h"

static void merge_string_data(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit), *text = kc_node_get(root, KC_STR("stringData"));
    if (kc_node_len(text) > 0) {
        kc_node *data = kc_node_ensure_object(edit, root, KC_STR("data"));
        kc_node_each_member (text, name, value) {
            kc_scoped(kc_buf) encoded = {0};
            kc_base64_write(&encoded, kc_node_as_str(value), KC_BASE64);
            kc_node_set(edit, data, name, kc_node_str(edit, kc_buf_str(&encoded)));
        }
    }
    kc_node_remove(root, KC_STR("stringData"));
}

/* Runs during defaulting, so that webhooks see the data that will be stored. */
static void complete_secret(kc_edit *edit, kc_node *secret)
{
    merge_string_data(edit);
    if (kc_str_empty(kc__defaults_node_text(secret, "type")))
        kc_node_set(edit, secret, KC_STR("type"), kc_node_str(edit, KC_STR("Opaque")));
}

static const kc__defaults defaults = {.code = complete_secret};

/* The keys that each Secret type requires. */
static const struct {
    const char *type, *field;
    const char *keys[2];
    bool any; /* One of the keys is enough. */
} promises[] = {
    {"kubernetes.io/tls", "data", {"tls.crt", "tls.key"}, false},
    {"kubernetes.io/basic-auth", "data", {"username", "password"}, true},
    {"kubernetes.io/ssh-auth", "data", {"ssh-privatekey"}, false},
    {"kubernetes.io/dockercfg", "data", {".dockercfg"}, false},
    {"kubernetes.io/dockerconfigjson", "data", {".dockerconfigjson"}, false},
    {"kubernetes.io/service-account-token",
     "metadata.annotations",
     {"kubernetes.io/service-account.name"},
     false},
};

static void require_keys(const kc_value *object, size_t promise, kc_field_errors *errors)
{
    const char *const *keys = promises[promise].keys;
    const kc_value *map = strcmp(promises[promise].field, "data") == 0
                              ? kc_value_get(object, "data")
                              : kc_value_get(kc_value_get(object, "metadata"), "annotations");
    bool some = false;
    for (size_t i = 0; i < KC_COUNT(promises[0].keys) && keys[i]; i++)
        some = some || kc_value_get(map, keys[i]);
    for (size_t i = 0; i < KC_COUNT(promises[0].keys) && keys[i]; i++)
        if (!kc_value_get(map, keys[i]) && !(some && promises[promise].any))
            kc_field_errors_add(
                errors, KC_FIELD_REQUIRED,
                kc_arena_printf(&errors->arena, "%s[%s]", promises[promise].field, keys[i]),
                (kc_str){0}, "%s", "");
}

/* Registry credentials must be JSON; the error must not show them. */
static void check_json(const kc_value *object, const char *type, const char *key,
                       kc_field_errors *errors)
{
    kc_str text = kc_value_as_str(kc_value_get(kc_value_get(object, "data"), key)), start;
    kc_scoped(kc_buf) decoded = {0};
    if (!kc_str_is(kc_value_as_str(kc_value_get(object, "type")), type) || !text.n ||
        !kc_base64_read(&decoded, text, KC_BASE64))
        return;
    kc_auto(kc_object) *parsed = kc_object_parse(kc_buf_str(&decoded), NULL, NULL);
    start = kc_str_trim(kc_buf_str(&decoded));
    if (parsed)
        return;
    bool odd = start.n && !strchr("{[\"-0123456789tfn", start.p[0]);
    const char *why =
        odd ? kc_arena_printf(&errors->arena,
                              "invalid character '%c' looking for beginning of value", start.p[0])
            : "unexpected end of JSON input";
    kc_field_errors_add(errors, KC_FIELD_INVALID, kc_arena_printf(&errors->arena, "data[%s]", key),
                        KC_STR("\"<secret contents redacted>\""), "%s", why);
}

static void check_private_key(const kc_value *object, kc_field_errors *errors)
{
    const kc_value *key = kc_value_get(kc_value_get(object, "data"), "ssh-privatekey");
    if (kc_str_is(kc_value_as_str(kc_value_get(object, "type")), "kubernetes.io/ssh-auth") && key &&
        !kc_value_as_str(key).n)
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, "data[ssh-privatekey]", (kc_str){0}, "%s",
                            "");
}

static void validate_secret(const kc_value *object, kc_field_errors *errors)
{
    if (kc__validate_data_keys(kc_value_get(object, "data"), "data", NULL, errors) >
        KC__STRATEGY_MAX_DATA)
        kc_field_errors_add(errors, KC_FIELD_TOO_LONG, "data", (kc_str){0},
                            "may not be more than %d bytes", KC__STRATEGY_MAX_DATA);
    for (size_t i = 0; i < KC_COUNT(promises); i++)
        if (kc_str_is(kc_value_as_str(kc_value_get(object, "type")), promises[i].type))
            require_keys(object, i, errors);
    check_json(object, "kubernetes.io/dockercfg", ".dockercfg", errors);
    check_json(object, "kubernetes.io/dockerconfigjson", ".dockerconfigjson", errors);
    check_private_key(object, errors);
}

static void validate_secret_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    static const char *const fixed[] = {"data"};
    const kc_value *type = kc_value_get(object, "type");
    if (!kc_str_eq(kc_value_as_str(type), kc_value_as_str(kc_value_get(old, "type"))))
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "type", type, "field is immutable");
    kc__validate_immutable(object, old, fixed, KC_COUNT(fixed), errors);
    kc__validate_metadata_again(object, errors);
    validate_secret(object, errors);
}

static const kc_field_def selectable[] = {{.field = "type"}};

const kc__strategy kc__strategy_secret = {
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .validate = validate_secret,
    .validate_update = validate_secret_update,
};
