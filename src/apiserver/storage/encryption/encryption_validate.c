/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_validate.c: validates an EncryptionConfiguration with the messages of kube-apiserver.
 * Values of secrets never appear in a message.
 *
 * The provider kms is not supported: envelope encryption needs a plugin process and its gRPC
 * protocol. The error says so instead of storing plain values.
 *
 * To add a check of resources: a row of `name_checks`.
 */
#include "apiserver/storage/encryption/encryption_config.h"

#include "kc/base64.h"

/* ---- resources ---- */

static bool is_everything(kc__encryption_resource r)
{
    return kc_str_is(r.group, "*") && kc_str_is(r.name, "*");
}

static bool has_capital(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= 'A' && text.p[i] <= 'Z')
            return true;
    return false;
}

static bool is_star(kc_str text)
{
    return kc_str_is(text, "*");
}

static bool has_no_api(kc_str text)
{
    static const char *const names[] = {"apiserveripinfo", "serviceipallocations",
                                        "servicenodeportallocations", NULL};
    return kc_str_is_any(text, names);
}

static bool is_of_events_group(kc_str text)
{
    return kc_str_is(kc__encryption_resource_parse(text).group, "events.k8s.io");
}

static bool is_of_extensions(kc_str text)
{
    return kc_str_is(kc__encryption_resource_parse(text).group, "extensions");
}

static bool is_across_groups(kc_str text)
{
    const kc__encryption_resource r = kc__encryption_resource_parse(text);
    return kc_str_is(r.group, "*") && !kc_str_is(r.name, "*");
}

static const struct {
    bool (*wrong)(kc_str text);
    const char *message;
} name_checks[] = {
    {has_capital, "resource name should not contain capital letters"},
    {is_star, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all "
              "resources"},
    {has_no_api, "resources which do not have REST API/s cannot be encrypted"},
    {is_of_events_group, "'*.events.k8s.io' objects are stored using the 'events' API group in "
                         "etcd. Use 'events' instead in the config file"},
    {is_of_extensions, "'extensions' group has been removed and cannot be used for encryption"},
    {is_across_groups, "encrypting the same resource across groups is not supported"},
};

static void check_resource_name(const kc_value *name, const char *field, kc_field_errors *errors)
{
    for (size_t i = 0; i < KC_COUNT(name_checks); i++)
        if (name_checks[i].wrong(kc_value_as_str(name))) {
            kc_field_errors_add_value(errors, KC_FIELD_INVALID, field, name, "%s",
                                      name_checks[i].message);
            return;
        }
}

/* Whether a rule for `a` hides one for `b`, or the other way round. */
static bool resources_overlap(kc__encryption_resource a, kc__encryption_resource b)
{
    if (is_everything(a))
        return true;
    return kc_str_eq(a.group, b.group) && (kc_str_is(a.name, "*") || kc_str_is(b.name, "*"));
}

/* Quadratic in the resources of one list; a configuration has at most 1 MiB and is the
 * operator's. */
static void check_overlap(const kc_value *list, const char *field, kc_field_errors *errors)
{
    bool overlap = false, duplicate = false;
    size_t i = 0;
    kc_value_each_item (list, first) {
        const kc__encryption_resource a = kc__encryption_resource_parse(kc_value_as_str(first));
        size_t j = 0;
        kc_value_each_item (list, second) {
            const kc__encryption_resource b =
                kc__encryption_resource_parse(kc_value_as_str(second));
            if (i == j++)
                continue;
            if (kc_str_eq(a.group, b.group) && kc_str_eq(a.name, b.name) && !duplicate)
                duplicate = true;
            else
                overlap = overlap || resources_overlap(a, b);
        }
        i++;
    }
    if (duplicate)
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, field, list,
                                  "the same resource cannot be specified multiple times");
    if (overlap)
        kc_field_errors_add_value(
            errors, KC_FIELD_INVALID, field, list,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is "
            "not allowed as they will be masked");
}

static void check_resources(const kc_value *list, const char *field, kc_field_errors *errors)
{
    size_t i = 0;
    if (!kc_value_len(list))
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, field, (kc_str){0},
                            "at least one %s is required", field);
    check_overlap(list, field, errors);
    kc_value_each_item (list, name) {
        kc_autofree char *item = kc_asprintf("%s[%zu]", field, i++);
        check_resource_name(name, item, errors);
    }
}

/* ---- keys ---- */

static bool size_fits(const kc__encryption_cipher *cipher, size_t n)
{
    for (size_t i = 0; cipher->key_sizes[i]; i++)
        if (cipher->key_sizes[i] == n)
            return true;
    return false;
}

static void check_secret(kc_str text, const kc__encryption_cipher *cipher, const char *field,
                         kc_field_errors *errors)
{
    kc_scoped(kc_buf) bytes = {0};
    if (!text.n)
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, field, (kc_str){0},
                            "secret is a mandatory field for a key");
    else if (!kc_base64_read(&bytes, text, KC_BASE64))
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, KC_STR("\"REDACTED\""),
                            "secrets must be base64 encoded");
    else if (!size_fits(cipher, bytes.n))
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, KC_STR("\"REDACTED\""),
                            "secret is not of the expected length, got %zu, expected one of %s",
                            bytes.n, cipher->key_text);
    kc_buf_wipe(&bytes);
}

static void check_keys(const kc_value *keys, const kc__encryption_cipher *cipher, const char *field,
                       kc_field_errors *errors)
{
    size_t i = 0;
    if (!kc_value_len(keys))
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, field, (kc_str){0},
                            "at least one keys is required");
    kc_value_each_item (keys, key) {
        kc_autofree char *name = kc_asprintf("%s[%zu].name", field, i);
        kc_autofree char *secret = kc_asprintf("%s[%zu].secret", field, i++);
        if (!kc_value_as_str(kc_value_get(key, "name")).n)
            kc_field_errors_add(errors, KC_FIELD_REQUIRED, name, (kc_str){0},
                                "name is a mandatory field for a key");
        check_secret(kc_value_as_str(kc_value_get(key, "secret")), cipher, secret, errors);
    }
}

/* ---- providers ---- */

static bool is_set(const kc_value *object, const char *name)
{
    const kc_value *value = kc_value_get(object, name);
    return value && kc_value_type(value) != KC_JSON_NULL;
}

/* The provider as kube-apiserver prints it: the members of its internal type. */
static void write_provider(const kc_value *provider, kc_buf *out)
{
    static const char *const members[][2] = {{"AESGCM", "aesgcm"},
                                             {"AESCBC", "aescbc"},
                                             {"Secretbox", "secretbox"},
                                             {"Identity", "identity"},
                                             {"KMS", "kms"}};
    for (size_t i = 0; i < KC_COUNT(members); i++)
        kc_buf_printf(out, "%s\"%s\":%s", i ? "," : "{", members[i][0],
                      is_set(provider, members[i][1]) ? "\"REDACTED\"" : "null");
    kc_buf_putc(out, '}');
}

static void check_provider(const kc_value *provider, const char *field, kc_field_errors *errors)
{
    static const char *const names[] = {"kms", "aesgcm", "aescbc", "secretbox", "identity"};
    kc_scoped(kc_buf) shown = {0};
    size_t found = 0;
    const char *only = NULL;
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (is_set(provider, names[i])) {
            only = only ? only : names[i];
            found++;
        }
    write_provider(provider, &shown);
    if (found != 1)
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_buf_str(&shown), "%s",
                            found ? "more than one provider specified in a single element, should "
                                    "split into different list elements"
                                  : "provider does not contain any of the expected providers: "
                                    "KMS, AESGCM, AESCBC, Secretbox, Identity");
    if (!only)
        return;
    kc_autofree char *inner = kc_asprintf("%s.%s", field, only);
    kc_autofree char *keys_field = kc_asprintf("%s.keys", inner);
    const kc__encryption_cipher *cipher = kc__encryption_cipher_named(kc_cstr(only));
    if (cipher)
        check_keys(kc_value_get(kc_value_get(provider, only), "keys"), cipher, keys_field, errors);
    else if (!strcmp(only, "kms"))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, inner, (kc_str){0},
                            "the provider kms (v1 and v2) is not supported; use aesgcm, aescbc or "
                            "secretbox with keys in this file");
}

static void check_entry(const kc_value *entry, size_t i, kc_field_errors *errors)
{
    kc_autofree char *resources = kc_asprintf("resources[%zu].resources", i);
    kc_autofree char *providers = kc_asprintf("resources[%zu].providers", i);
    const kc_value *list = kc_value_get(entry, "providers");
    size_t j = 0;
    check_resources(kc_value_get(entry, "resources"), resources, errors);
    if (!kc_value_len(list))
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, providers, (kc_str){0},
                            "at least one %s is required", providers);
    kc_value_each_item (list, provider) {
        kc_autofree char *field = kc_asprintf("%s[%zu]", providers, j++);
        check_provider(provider, field, errors);
    }
}

void kc__encryption_validate(const kc_value *root, kc_field_errors *errors)
{
    const kc_value *entries = kc_value_get(root, "resources");
    size_t i = 0;
    if (!kc_value_len(entries))
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, "resources", (kc_str){0},
                            "at least one resources is required");
    kc_value_each_item (entries, entry)
        check_entry(entry, i++, errors);
}
