/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused as an encryption configuration, or yields rules that all have a provider,
 * with keys of a size that the cipher accepts. An error never shows a long word of the text: it
 * could be a key.
 */
#include "fuzzing.h"

#include "apiserver/storage/encryption/encryption_config.h"

static void check_key(const kc__encryption_cipher *cipher, const kc__encryption_key *key)
{
    bool fits = false;
    for (size_t i = 0; cipher->key_sizes[i]; i++)
        fits = fits || cipher->key_sizes[i] == key->secret.n;
    assert(fits && key->name.n && kc_str_ends(key->prefix, KC_STR(":")));
}

static void check_rule(const kc__encryption_config *config, const kc__encryption_rule *rule)
{
    assert(rule->providers.n && kc__encryption_config_find(config, rule->resource) == rule);
    kc_vec_each (&rule->providers, it) {
        const kc__encryption_provider *provider = *it;
        assert(!provider->cipher == !provider->n_keys);
        for (size_t i = 0; i < provider->n_keys; i++)
            check_key(provider->cipher, &provider->keys[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, kc_str_of((const char *)data, size));
    kc_auto(kc__encryption_config) *config = kc__encryption_config_parse(&text, "fuzz", &err);
    assert(text.n == 0 && !config == !!err.reason);
    if (config)
        kc_vec_each (&config->rules, rule)
            check_rule(config, rule);
    return 0;
}
