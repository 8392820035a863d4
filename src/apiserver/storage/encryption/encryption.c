/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption.c: the stored form of values.
 *
 * Reading tries every provider whose prefix the value has, and in it every key whose name the value
 * has, in the order of the configuration; the first that succeeds wins. Names may repeat, within a
 * provider and across providers: while keys are rotated, two keys with the same name exist. The
 * identity provider reads what has no prefix of encrypted values. The errors are kube-apiserver's,
 * because clients see them.
 */
#include "apiserver/storage/encryption/encryption_internal.h"

#include <sodium.h>

#define ENCRYPTED "k8s:enc:"

/* ---- lifetime ---- */

static void start_config_metrics(const kc__encryption *e)
{
    if (e->metrics.info)
        kc_gauge_set(kc_metric_gauge(e->metrics.info, KC_STR(""), kc_cstr(e->current->hash)), 1);
}

kc__encryption *kc__encryption_new(const kc__encryption_opts *opts, kc_error *err)
{
    kc_auto(kc__encryption) *e = kc_new(kc__encryption);
    e->opts = *opts;
    e->opts.clock = opts->clock ? opts->clock : kc_clock_real();
    e->opts.interval = opts->interval ? opts->interval : KC_MINUTE;
    e->path = kc_strdup(opts->path);
    e->healthy = true;
    kc_mutex_init(&e->lock);
    kc_cond_init(&e->stop);
    e->current = kc__encryption_config_read(opts->path, NULL, err);
    if (!e->current || kc__encryption_metrics_init(&e->metrics, opts->metrics, err) < 0)
        return NULL;
    start_config_metrics(e);
    if (opts->reload)
        e->reloader = kc_thread_start("encryption", kc__encryption_reload_run, e, err);
    return opts->reload && !e->reloader ? NULL : kc_take(e);
}

kc__encryption *kc__encryption_free(kc__encryption *encryption)
{
    if (!encryption)
        return NULL;
    kc_locked (&encryption->lock) {
        encryption->stopping = true;
        kc_cond_signal(&encryption->stop);
    }
    if (encryption->reloader)
        kc_thread_join(encryption->reloader);
    kc__encryption_config_unref(encryption->current);
    kc_cond_done(&encryption->stop);
    kc_mutex_done(&encryption->lock);
    free(encryption->path);
    free(encryption);
    return NULL;
}

void kc__encryption_on_change(kc__encryption *encryption, kc__encryption_changed_fn *changed,
                              void *user)
{
    kc_locked (&encryption->lock) {
        encryption->changed = changed;
        encryption->user = user;
    }
}

kc__encryption_config *kc__encryption_current(kc__encryption *encryption)
{
    kc__encryption_config *config = NULL;
    kc_locked (&encryption->lock)
        config = kc__encryption_config_ref(encryption->current);
    return config;
}

bool kc__encryption_reloads(const kc__encryption *encryption)
{
    return encryption->opts.reload;
}

bool kc__encryption_is_healthy(kc__encryption *encryption)
{
    bool healthy = false;
    kc_locked (&encryption->lock)
        healthy = encryption->healthy;
    return healthy;
}

/* ---- writing ---- */

int kc__encryption_seal(kc__encryption *encryption, const kc__encryption_config *config,
                        kc__encryption_resource resource, kc_str key, kc_str plain, kc_buf *out,
                        kc_error *err)
{
    unsigned char nonce[KC__ENCRYPTION_MAX_NONCE];
    const int64_t started = kc_clock_now(encryption->opts.clock);
    const kc__encryption_rule *rule = kc__encryption_config_find(config, resource);
    const kc__encryption_provider *provider = rule ? rule->providers.items[0] : NULL;
    if (!provider || !provider->cipher) {
        kc_buf_append(out, plain);
        if (provider)
            kc__encryption_count(encryption, resource, "to_storage", KC_STR(""), started, false);
        return 0;
    }
    const kc__encryption_cipher *cipher = provider->cipher;
    const kc__encryption_key *with = &provider->keys[0];
    randombytes_buf(nonce, cipher->nonce);
    kc_buf_puts(out, cipher->prefix);
    kc_buf_append(out, with->prefix);
    const bool sealed = cipher->seal(with->secret, nonce, key, plain, out);
    kc__encryption_count(encryption, resource, "to_storage", with->prefix, started, !sealed);
    kc__encryption_count(encryption, resource, "to_storage", kc_cstr(cipher->prefix), started,
                         !sealed);
    return sealed ? 0 : kc_error_set(err, KC_INTERNAL, "failed to encrypt data");
}

bool kc__encryption_same_writer(const kc__encryption_config *a, const kc__encryption_config *b,
                                kc__encryption_resource resource)
{
    const kc__encryption_rule *x = kc__encryption_config_find(a, resource),
                              *y = kc__encryption_config_find(b, resource);
    const kc__encryption_provider *p = x ? x->providers.items[0] : NULL,
                                  *q = y ? y->providers.items[0] : NULL;
    const kc__encryption_cipher *c = p ? p->cipher : NULL, *d = q ? q->cipher : NULL;
    if (c != d || !c)
        return c == d;
    return kc_str_eq(p->keys[0].name, q->keys[0].name) &&
           p->keys[0].secret.n == q->keys[0].secret.n &&
           sodium_memcmp(p->keys[0].secret.bytes, q->keys[0].secret.bytes, p->keys[0].secret.n) ==
               0;
}

/* ---- reading ---- */

typedef struct unsealing {
    kc__encryption *encryption;
    kc__encryption_resource resource;
    kc_str key, stored;
    kc_buf *out;
    int64_t started;
    kc_buf errors; /* Joined by ", ". */
    size_t n_errors;
    bool stale;
} unsealing;

static void add_unseal_error(unsealing *u, const char *text)
{
    kc_buf_printf(&u->errors, "%s%s", u->n_errors++ ? ", " : "", text);
}

static void count_unseal(const unsealing *u, kc_str prefix, bool failed)
{
    kc__encryption_count(u->encryption, u->resource, "from_storage", prefix, u->started, failed);
}

/* Tries the keys of a provider. */
static bool try_keys(unsealing *u, const kc__encryption_provider *provider, kc_str rest)
{
    const char *error = provider->cipher->no_key;
    size_t tried = 0;
    for (size_t i = 0; i < provider->n_keys; i++) {
        const kc__encryption_key *key = &provider->keys[i];
        if (!kc_str_starts(rest, key->prefix))
            continue;
        error = provider->cipher->open(key->secret, kc_str_sub(rest, key->prefix.n, rest.n), u->key,
                                       u->out);
        count_unseal(u, key->prefix, error != NULL);
        u->stale = u->stale || i > 0;
        if (!error)
            return true;
        add_unseal_error(u, error);
        tried++;
    }
    if (!tried) {
        count_unseal(u, KC_STR("unknown"), true);
        add_unseal_error(u, error);
    }
    return false;
}

static bool try_provider(unsealing *u, const kc__encryption_provider *provider)
{
    const kc_str prefix = kc_cstr(provider->cipher->prefix);
    if (!kc_str_starts(u->stored, prefix))
        return false;
    const bool opened = try_keys(u, provider, kc_str_sub(u->stored, prefix.n, u->stored.n));
    count_unseal(u, prefix, !opened);
    return opened;
}

static int unseal_failed(unsealing *u, bool has_rule, kc_error *err)
{
    if (u->n_errors)
        return kc_error_set(err, KC_INTERNAL, "%s%s%s", u->n_errors > 1 ? "[" : "",
                            kc_buf_cstr(&u->errors), u->n_errors > 1 ? "]" : "");
    if (!has_rule)
        return kc_error_set(err, KC_INTERNAL, "identity transformer tried to read encrypted data");
    count_unseal(u, KC_STR("unknown"), true);
    return kc_error_set(err, KC_INTERNAL, "no matching prefix found");
}

int kc__encryption_unseal(kc__encryption *encryption, const kc__encryption_config *config,
                          kc__encryption_resource resource, kc_str key, kc_str stored, kc_buf *out,
                          kc_str *ret_plain, bool *ret_stale, kc_error *err)
{
    const kc__encryption_rule *rule = kc__encryption_config_find(config, resource);
    const bool encrypted = kc_str_starts(stored, KC_STR(ENCRYPTED));
    unsealing u = {.encryption = encryption,
                   .resource = resource,
                   .key = key,
                   .stored = stored,
                   .out = out,
                   .started = kc_clock_now(encryption->opts.clock)};
    const size_t before = out->n, n = rule ? rule->providers.n : 0;
    bool opened = !rule && !encrypted;
    kc_str plain = stored;
    for (size_t i = 0; i < n && !opened; i++) {
        const kc__encryption_provider *provider = rule->providers.items[i];
        u.stale = i > 0;
        opened = provider->cipher ? try_provider(&u, provider) : !encrypted;
        if (opened && provider->cipher)
            plain = kc_str_of(out->p + before, out->n - before);
        else if (opened)
            count_unseal(&u, KC_STR("identity"), false);
    }
    const int result = opened ? 0 : unseal_failed(&u, rule != NULL, err);
    kc_buf_done(&u.errors);
    if (opened) {
        *ret_plain = plain;
        *ret_stale = u.stale;
    }
    return result;
}
