/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_options.c: the flags of the backend etcd, with the names and defaults of kube-apiserver.
 */
#include "etcd_options.h"

#include "etcd_overrides.h"

#include "apiserver/storage/etcd/etcd_backend.h"
#include "kc/arena.h"

#include <stddef.h>

#define FIELD(name) .offset = offsetof(kc__cli_etcd_options, name)
#define ETCD        "etcd"

static const kc__cli_flag flags[] = {
    {"etcd-servers", .argument = "URL[,URL...]", .group = ETCD, FIELD(servers),
     .parse = kc__cli_flag_words, .values = "URL[,URL...]",
     .help = "members of the etcd cluster: http://HOST:PORT or https://HOST:PORT",
     .details = "Needs --backend=etcd. Requests are spread over the members that answer."},
    {"etcd-servers-overrides", .argument = "OVERRIDES", .group = ETCD, FIELD(overrides),
     .parse = kc__cli_flag_words,
     .help = "comma-separated list of resources that are stored in another etcd, each "
             "GROUP/RESOURCE#URL[;URL...], such as /events#http://10.0.0.7:2379",
     .details = "For built-in resources, Events above all. The flags of TLS and the prefix apply "
                "to these servers, too. Such objects are not charged to quotas when they are "
                "written, and their resource versions are those of the other etcd."},
    {"etcd-prefix", .argument = "PATH", .initial = "/registry", .group = ETCD, FIELD(prefix),
     .parse = kc__cli_flag_text, .values = "PATH",
     .help = "prefix of all keys in etcd; servers of one control plane have the same"},
    {"etcd-cafile", .argument = "FILE", .group = ETCD, FIELD(ca_file), .parse = kc__cli_flag_text,
     .values = "FILE", .help = "CA bundle (PEM) that verifies the servers of etcd"},
    {"etcd-certfile", .argument = "FILE", .group = ETCD, FIELD(cert_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "client certificate (PEM) for etcd; needs --etcd-keyfile"},
    {"etcd-keyfile", .argument = "FILE", .group = ETCD, FIELD(key_file), .parse = kc__cli_flag_text,
     .values = "FILE", .help = "key (PEM) of --etcd-certfile"},
    {"etcd-compaction-interval", .argument = "DURATION", .initial = "5m", .group = ETCD,
     FIELD(compaction_interval), .parse = kc__cli_flag_interval,
     .help = "interval at which one of the servers drops old revisions from etcd; 0 disables it",
     .details = "Clients can resume a watch, and continue a list, for one to two intervals."},
};

const kc__cli_flag_set kc__cli_etcd_flags = {KC__CLI_FLAGS(flags),
                                             .size = sizeof(kc__cli_etcd_options)};

static bool is_etcd(const kc__storage_backend *backend)
{
    return backend == &kc__storage_etcd_backend;
}

bool kc__cli_etcd_is_url(kc_str text)
{
    const kc_str schemes[] = {KC_STR("http://"), KC_STR("https://")};
    for (size_t i = 0; i < KC_COUNT(schemes); i++)
        if (kc_str_starts(text, schemes[i]) && text.n > schemes[i].n)
            return true;
    return false;
}

int kc__cli_etcd_options_check(const kc__cli_etcd_options *o, const kc__storage_backend *backend,
                               kc_error *err)
{
    if (is_etcd(backend) && !o->servers.n)
        return kc_error_set(err, KC_INVALID,
                            "--backend=etcd needs --etcd-servers, such as "
                            "--etcd-servers=http://127.0.0.1:2379");
    if (!is_etcd(backend) && o->servers.n)
        return kc_error_set(err, KC_INVALID, "--etcd-servers needs --backend=etcd");
    if (!is_etcd(backend) && o->overrides.n)
        return kc_error_set(err, KC_INVALID, "--etcd-servers-overrides needs --backend=etcd");
    if (!o->cert_file != !o->key_file)
        return kc_error_set(err, KC_INVALID,
                            "--etcd-certfile and --etcd-keyfile must be set together");
    for (size_t i = 0; i < o->servers.n; i++)
        if (!kc__cli_etcd_is_url(o->servers.items[i]))
            return kc_error_set(err, KC_INVALID,
                                "invalid value \"%.*s\" of --etcd-servers: must be "
                                "http://HOST:PORT or https://HOST:PORT",
                                KC_ARG(o->servers.items[i]));
    return kc__cli_etcd_overrides_check(o, err);
}

int kc__cli_etcd_open(const kc__cli_etcd_options *o, const kc__storage_backend *backend,
                      const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err)
{
    kc__storage_opts with = *opts;
    kc_scoped(kc_arena) arena = {0};
    const char *urls[KC__CLI_FLAG_LIST_MAX];
    for (size_t i = 0; i < o->servers.n; i++)
        urls[i] = kc_arena_printf(&arena, "%.*s", KC_ARG(o->servers.items[i]));
    const kc__storage_etcd_opts etcd = {.endpoints = urls,
                                        .n_endpoints = o->servers.n,
                                        .prefix = o->prefix,
                                        .ca_file = o->ca_file,
                                        .cert_file = o->cert_file,
                                        .key_file = o->key_file,
                                        .compaction_interval = o->compaction_interval};
    if (is_etcd(backend))
        with.etcd = &etcd;
    if (kc__storage_open(backend, &with, ret_storage, err) == 0)
        return 0;
    return is_etcd(backend) ? kc_error_wrap(err, "--etcd-servers") : kc_error_result(err);
}
