/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_config.c: reads an EncryptionConfiguration.
 *
 * Keys exist in three places while the file is read: the text, the decoded document and the locked
 * memory of libsodium (mlock, MADV_DONTDUMP, guard pages). Only the last remains: the text is
 * wiped, and so are the strings of the document before it is freed. Copies that the YAML reader
 * itself makes while it parses are freed, not wiped.
 *
 * One rule per resource: a resource in several entries has the providers of all of them, in order,
 * as in kube-apiserver. An entry that an earlier wildcard hides is an error.
 */
#include "apiserver/storage/encryption/encryption_config.h"

#include "apiserver/config/config_errors.h"
#include "apiserver/config/strict_config.h"
#include "kc/base64.h"
#include "kc/file.h"

#include <sodium.h>

#define MAX_ENCRYPTION_CONFIG ((size_t)1 << 20)

/* ---- the type ---- */

static const kc__config_member key_members[] = {
    {"name", KC__CONFIG_STRING, NULL}, {"secret", KC__CONFIG_STRING, NULL}, {0}};
static const kc__config_member keys_members[] = {{"keys", KC__CONFIG_OBJECTS, key_members}, {0}};
static const kc__config_member no_members[] = {{0}};
static const kc__config_member kms_members[] = {
    {"apiVersion", KC__CONFIG_STRING, NULL}, {"name", KC__CONFIG_STRING, NULL},
    {"cachesize", KC__CONFIG_INTEGER, NULL}, {"endpoint", KC__CONFIG_STRING, NULL},
    {"timeout", KC__CONFIG_STRING, NULL},    {0}};
static const kc__config_member provider_members[] = {
    {"aesgcm", KC__CONFIG_OBJECT, keys_members},    {"aescbc", KC__CONFIG_OBJECT, keys_members},
    {"secretbox", KC__CONFIG_OBJECT, keys_members}, {"identity", KC__CONFIG_OBJECT, no_members},
    {"kms", KC__CONFIG_OBJECT, kms_members},        {0}};
static const kc__config_member entry_members[] = {
    {"resources", KC__CONFIG_STRINGS, NULL},
    {"providers", KC__CONFIG_OBJECTS, provider_members},
    {0}};
static const kc__config_member root_members[] = {{"resources", KC__CONFIG_OBJECTS, entry_members},
                                                 {0}};
static const char *const versions[] = {"apiserver.config.k8s.io/v1", NULL};
static const kc__config_type config_type = {versions, "EncryptionConfiguration", root_members};

/* ---- resources and rules ---- */

kc__encryption_resource kc__encryption_resource_parse(kc_str text)
{
    const ptrdiff_t dot = kc_str_find(text, '.');
    if (dot < 0)
        return (kc__encryption_resource){.name = text};
    return (kc__encryption_resource){.name = kc_str_sub(text, 0, (size_t)dot),
                                     .group = kc_str_sub(text, (size_t)dot + 1, text.n)};
}

static kc__encryption_rule *rule_of(const kc__encryption_config *config, kc_str group, kc_str name)
{
    kc_vec_each (&config->rules, rule)
        if (kc_str_eq(rule->resource.group, group) && kc_str_eq(rule->resource.name, name))
            return rule;
    return NULL;
}

const kc__encryption_rule *kc__encryption_config_find(const kc__encryption_config *config,
                                                      kc__encryption_resource resource)
{
    const kc_str star = KC_STR("*");
    const kc__encryption_rule *rule = rule_of(config, resource.group, resource.name);
    rule = rule ? rule : rule_of(config, resource.group, star);
    return rule ? rule : rule_of(config, star, star);
}

static void write_resource(kc_buf *out, kc__encryption_resource r)
{
    const bool all_of_core = !r.group.n && kc_str_is(r.name, "*");
    kc_buf_printf(out, "%.*s%s%.*s", KC_ARG(r.name), r.group.n || all_of_core ? "." : "",
                  KC_ARG(r.group));
}

static int masked(kc__encryption_resource resource, kc__encryption_resource by, kc_error *err)
{
    kc_scoped(kc_buf) own = {0};
    kc_scoped(kc_buf) other = {0};
    write_resource(&own, resource);
    write_resource(&other, by);
    return kc_error_set(err, KC_INVALID,
                        "error while building transformers: resource \"%s\" is masked by earlier "
                        "rule \"%s\"",
                        kc_buf_cstr(&own), kc_buf_cstr(&other));
}

static int add_rule(kc__encryption_config *config, kc_str text,
                    const kc__encryption_provider *providers, size_t n_providers, kc_error *err)
{
    const kc__encryption_resource r =
        kc__encryption_resource_parse(kc_arena_str(&config->arena, text));
    const kc__encryption_rule *group = rule_of(config, r.group, KC_STR("*")),
                              *all = rule_of(config, KC_STR("*"), KC_STR("*"));
    if (group || all)
        return masked(r, (group ? group : all)->resource, err);
    kc__encryption_rule *rule = rule_of(config, r.group, r.name);
    if (!rule) {
        rule = kc_vec_add(&config->rules);
        rule->resource = r;
    }
    for (size_t i = 0; i < n_providers; i++)
        kc_vec_push(&rule->providers, &providers[i]);
    return 0;
}

/* ---- providers and keys ---- */

static const kc__encryption_cipher *cipher_of(const kc_value *provider, const kc_value **ret_keys)
{
    kc_value_each_member (provider, name, value) {
        const kc__encryption_cipher *cipher = kc__encryption_cipher_named(name);
        if (!cipher || kc_value_type(value) == KC_JSON_NULL)
            continue;
        *ret_keys = kc_value_get(value, "keys");
        return cipher;
    }
    return NULL;
}

/* Decodes a validated secret into the locked memory. Returns its size. */
static size_t decode_secret(kc_str text, unsigned char *to)
{
    kc_scoped(kc_buf) bytes = {0};
    if (!kc_base64_read(&bytes, text, KC_BASE64) || bytes.n > KC__ENCRYPTION_MAX_KEY)
        return 0;
    memcpy(to, bytes.p, bytes.n);
    sodium_memzero(bytes.p, bytes.n);
    return bytes.n;
}

static void read_provider(kc__encryption_config *config, const kc_value *value,
                          unsigned char **next, kc__encryption_provider *ret)
{
    const kc_value *keys = NULL;
    ret->cipher = cipher_of(value, &keys);
    ret->keys = kc_arena_calloc(&config->arena, kc_value_len(keys) + 1, sizeof(*ret->keys));
    kc_value_each_item (keys, key) {
        kc__encryption_key *k = &ret->keys[ret->n_keys++];
        const kc_str name = kc_value_as_str(kc_value_get(key, "name"));
        k->prefix = kc_cstr(kc_arena_printf(&config->arena, "%.*s:", KC_ARG(name)));
        k->name = kc_str_sub(k->prefix, 0, name.n);
        k->secret.bytes = *next;
        k->secret.n = decode_secret(kc_value_as_str(kc_value_get(key, "secret")), *next);
        *next += KC__ENCRYPTION_MAX_KEY;
    }
}

static size_t count_keys(const kc_value *root)
{
    size_t n = 0;
    kc_value_each_item (kc_value_get(root, "resources"), entry)
        kc_value_each_item (kc_value_get(entry, "providers"), provider) {
            const kc_value *keys = NULL;
            cipher_of(provider, &keys);
            n += kc_value_len(keys);
        }
    return n;
}

static int read_resource_entry(kc__encryption_config *config, const kc_value *entry,
                               unsigned char **next, kc_error *err)
{
    const kc_value *list = kc_value_get(entry, "providers");
    kc__encryption_provider *providers =
        kc_arena_calloc(&config->arena, kc_value_len(list) + 1, sizeof(*providers));
    size_t n = 0;
    kc_value_each_item (list, provider)
        read_provider(config, provider, next, &providers[n++]);
    kc_value_each_item (kc_value_get(entry, "resources"), resource)
        if (add_rule(config, kc_value_as_str(resource), providers, n, err) < 0)
            return kc_error_result(err);
    return 0;
}

static int build_rules(kc__encryption_config *config, const kc_value *root, kc_error *err)
{
    const size_t n = count_keys(root);
    if (sodium_init() < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot initialize libsodium");
    config->secrets = sodium_malloc(KC_MAX(n, (size_t)1) * KC__ENCRYPTION_MAX_KEY);
    if (!config->secrets)
        return kc_error_set(err, KC_INTERNAL, "cannot allocate memory for encryption keys");
    unsigned char *next = config->secrets;
    kc_value_each_item (kc_value_get(root, "resources"), entry)
        if (read_resource_entry(config, entry, &next, err) < 0)
            return kc_error_result(err);
    sodium_mprotect_readonly(config->secrets);
    return 0;
}

/* ---- reading ---- */

/* The strings of a view are its own memory. */
static void wipe_secrets(const kc_value *root)
{
    kc_value_each_item (kc_value_get(root, "resources"), entry)
        kc_value_each_item (kc_value_get(entry, "providers"), provider)
            kc_value_each_member (provider, name, value) {
                (void)name;
                kc_value_each_item (kc_value_get(value, "keys"), key) {
                    const kc_str secret = kc_value_as_str(kc_value_get(key, "secret"));
                    if (secret.n)
                        sodium_memzero((void *)(uintptr_t)secret.p, secret.n);
                }
            }
}

static kc__encryption_config *config_of(const kc_value *root, kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc__encryption_validate(root, &errors);
    if (kc__config_errors(&errors, err) < 0) {
        kc_error_wrap(err, "error while parsing file");
        return NULL;
    }
    kc_auto(kc__encryption_config) *config = kc_new(kc__encryption_config);
    kc_ref_init(&config->refs);
    return build_rules(config, root, err) < 0 ? NULL : kc_take(config);
}

kc__encryption_config *kc__encryption_config_parse(kc_buf *text, const char *path, kc_error *err)
{
    char hash[KC__CONFIG_HASH];
    if (!text->n) {
        kc_error_set(err, KC_INVALID, "encryption provider configuration file \"%s\" is empty",
                     path);
        return NULL;
    }
    kc__config_hash(kc_buf_str(text), hash);
    kc_auto(kc_view) *view = kc__config_parse(kc_buf_str(text), &config_type, err);
    sodium_memzero(text->p, text->cap);
    kc_buf_clear(text);
    if (!view) {
        kc_error_wrap(err,
                      "error while parsing file: error decoding encryption provider configuration "
                      "file \"%s\"",
                      path);
        return NULL;
    }
    kc__encryption_config *config = config_of(kc_view_root(view), err);
    wipe_secrets(kc_view_root(view));
    if (config)
        memcpy(config->hash, hash, sizeof(hash));
    return config;
}

kc__encryption_config *kc__encryption_config_read(const char *path, const char *known,
                                                  kc_error *err)
{
    char hash[KC__CONFIG_HASH];
    kc_scoped(kc_buf) text = {0};
    /* Reserved at once: a buffer that grows would leave copies of the keys behind. */
    if (!kc_buf_reserve(&text, MAX_ENCRYPTION_CONFIG) ||
        kc_file_read(path, MAX_ENCRYPTION_CONFIG, &text, err) < 0) {
        kc_error_wrap(err, "error while parsing file: error while loading file");
        return NULL;
    }
    kc__config_hash(kc_buf_str(&text), hash);
    if (known && !strcmp(hash, known)) {
        kc_buf_wipe(&text);
        return NULL;
    }
    return kc__encryption_config_parse(&text, path, err);
}

kc__encryption_config *kc__encryption_config_ref(kc__encryption_config *config)
{
    kc_ref_add(&config->refs);
    return config;
}

kc__encryption_config *kc__encryption_config_unref(kc__encryption_config *config)
{
    if (!config || !kc_ref_drop(&config->refs))
        return NULL;
    kc_vec_each (&config->rules, rule)
        kc_vec_done(&rule->providers);
    kc_vec_done(&config->rules);
    sodium_free(config->secrets); /* Wipes. */
    kc_arena_done(&config->arena);
    free(config);
    return NULL;
}
