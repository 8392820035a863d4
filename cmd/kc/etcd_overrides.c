/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_overrides.c: resources that are stored in another etcd, as with kube-apiserver:
 *
 *     --etcd-servers-overrides=/events#http://10.0.0.7:2379;http://10.0.0.8:2379
 *                              GROUP/RESOURCE#SERVER[;SERVER…]; the core group is empty
 *
 * Resources with the same servers share a store (store/overrides.c). Resources that are stored in
 * one transaction with others cannot be stored apart.
 */
#include "etcd_overrides.h"

#include "apiserver/kinds/registry.h"
#include "apiserver/storage/etcd/etcd_backend.h"
#include "kc/arena.h"

#define FLAG "--etcd-servers-overrides"

/* Written together with Users, addresses or the objects that a quota counts, or read to find out
 * which resources there are. */
static const char *const kept_together[] = {"services",
                                            "ipaddresses",
                                            "servicecidrs",
                                            "resourcequotas",
                                            "secrets",
                                            "namespaces",
                                            "customresourcedefinitions"};

/* One value of the flag. */
typedef struct etcd_override {
    kc_str text, group, resource, servers, prefix;
} etcd_override;

static int refuse(const etcd_override *o, const char *why, kc_error *err)
{
    return kc_error_set(err, KC_INVALID,
                        "invalid value \"%.*s\" of " FLAG ": %s; must be "
                        "GROUP/RESOURCE#URL[;URL...], such as /events#http://127.0.0.1:2379",
                        KC_ARG(o->text), why);
}

static kc_str builtin_prefix(const etcd_override *o)
{
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (r->key_prefix && kc_str_is(o->resource, r->plural) && kc_str_is(o->group, r->group))
            return kc_cstr(r->key_prefix);
    }
    return (kc_str){0};
}

static int check_servers(const etcd_override *o, kc_error *err)
{
    kc_str rest = o->servers;
    do {
        if (!kc__cli_etcd_is_url(kc_str_cut(&rest, ';')))
            return refuse(o, "a server is not http://HOST:PORT or https://HOST:PORT", err);
    } while (rest.p);
    return 0;
}

static int parse_override(kc_str text, etcd_override *ret, kc_error *err)
{
    kc_str rest = text;
    *ret = (etcd_override){.text = text};
    kc_str name = kc_str_cut(&rest, '#');
    ret->servers = rest;
    ret->group = kc_str_cut(&name, '/');
    ret->resource = name;
    if (!rest.p || !name.p || !name.n)
        return refuse(ret, "it has not the form of an override", err);
    for (size_t i = 0; i < KC_COUNT(kept_together); i++)
        if (kc_str_is(ret->resource, kept_together[i]))
            return refuse(ret, "the resource cannot be stored apart from the others", err);
    ret->prefix = builtin_prefix(ret);
    if (!ret->prefix.n)
        return refuse(ret, "there is no such built-in resource", err);
    return check_servers(ret, err);
}

int kc__cli_etcd_overrides_check(const kc__cli_etcd_options *options, kc_error *err)
{
    etcd_override parsed[KC__CLI_FLAG_LIST_MAX];
    for (size_t i = 0; i < options->overrides.n; i++) {
        if (parse_override(options->overrides.items[i], &parsed[i], err) < 0)
            return kc_error_result(err);
        for (size_t j = 0; j < i; j++)
            if (kc_str_eq(parsed[j].prefix, parsed[i].prefix))
                return refuse(&parsed[i], "the resource has another override", err);
    }
    return 0;
}

/* ---- opening ---- */

static void add_override(kc__cli_etcd_overrides *all, const etcd_override *o)
{
    size_t i = 0;
    while (i < all->n && !kc_str_eq(all->servers[i], o->servers))
        i++;
    if (i == all->n) {
        all->servers[all->n++] = o->servers;
        all->items[i].prefixes = all->prefixes[i];
    }
    all->prefixes[i][all->items[i].n_prefixes++] = o->prefix;
}

static int open_override(const kc__cli_etcd_options *options, const kc__storage_opts *opts,
                         kc_str servers, kc__storage **ret, kc_error *err)
{
    kc__cli_etcd_options other = *options;
    other.servers = (kc__cli_flag_list){0};
    while (servers.p && other.servers.n < KC_COUNT(other.servers.items))
        other.servers.items[other.servers.n++] = kc_str_cut(&servers, ';');
    return kc__cli_etcd_open(&other, &kc__storage_etcd_backend, opts, ret, err);
}

int kc__cli_etcd_overrides_open(const kc__cli_etcd_options *options, const kc__storage_opts *opts,
                                kc__cli_etcd_overrides *ret, kc_error *err)
{
    kc__storage_opts silent = *opts;
    silent.metrics = NULL; /* Those of the first etcd have the names. */
    for (size_t i = 0; i < options->overrides.n; i++) {
        etcd_override parsed;
        if (parse_override(options->overrides.items[i], &parsed, err) < 0)
            return kc_error_result(err);
        add_override(ret, &parsed);
    }
    for (size_t i = 0; i < ret->n; i++)
        if (open_override(options, &silent, ret->servers[i], &ret->items[i].storage, err) < 0)
            return kc_error_wrap(err, FLAG);
    return 0;
}

void kc__cli_etcd_overrides_close(kc__cli_etcd_overrides *overrides)
{
    for (size_t i = 0; !overrides->taken && i < overrides->n; i++)
        overrides->items[i].storage = kc__storage_close(overrides->items[i].storage);
}
