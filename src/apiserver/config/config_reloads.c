/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_reloads.c: counts reloads of a configuration file and shows the hash of the configuration
 * in effect. The label apiserver_id_hash is empty: a store has one server.
 */
#include "apiserver/config/config_reloads.h"

#include "kc/clock.h"

#include <openssl/sha.h>
#include <stdio.h>

/* Distinct hashes that the metric accepts: the last one, and the one before until it is removed. */
enum { MAX_HASHES = 2, MAX_NAME = 128 };

void kc__config_hash(kc_str text, char out[KC__CONFIG_HASH])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    size_t n = (size_t)snprintf(out, KC__CONFIG_HASH, "sha256:");
    SHA256((const unsigned char *)text.p, text.n, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        n += (size_t)snprintf(out + n, KC__CONFIG_HASH - n, "%02x", digest[i]);
}

/* apiserver_KIND_config_controller_METRIC */
static const char *name_reload_metric(char out[MAX_NAME], const char *kind, const char *metric)
{
    snprintf(out, MAX_NAME, "apiserver_%s_config_controller_%s", kind, metric);
    return out;
}

static int init_reload_counts(kc__config_reloads *r, kc_metrics *registry, const char *kind,
                              kc_error *err)
{
    char name[MAX_NAME];
    const kc_metric_label status = {"status", KC_LABEL_VALUES("success", "failure")},
                          server = {"apiserver_id_hash", .max_values = 1};
    kc_autofree char *total = kc_asprintf("Total number of automatic reloads of %s configuration "
                                          "split by status and apiserver identity.",
                                          kind),
                     *last = kc_asprintf("Timestamp of the last automatic reload of %s "
                                         "configuration split by status and apiserver identity.",
                                         kind);
    r->reloads = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = name_reload_metric(name, kind, "automatic_reloads_total"),
                          .help = total,
                          .labels = {status, server}},
        err);
    r->reloaded_at = kc_metrics_gauge(
        registry,
        &(kc_metric_opts){
            .name = name_reload_metric(name, kind, "automatic_reload_last_timestamp_seconds"),
            .help = last,
            .labels = {status, server}},
        err);
    return r->reloads && r->reloaded_at ? 0 : kc_error_result(err);
}

int kc__config_reloads_init(kc__config_reloads *ret, kc_metrics *registry, const char *kind,
                            kc_error *err)
{
    char name[MAX_NAME];
    kc_autofree char *help = kc_asprintf("Information about the last applied %s configuration with "
                                         "hash as label, split by apiserver identity.",
                                         kind);
    if (!registry)
        return 0;
    ret->info = kc_metrics_gauge(
        registry,
        &(kc_metric_opts){
            .name = name_reload_metric(name, kind, "last_config_info"),
            .help = help,
            .labels = {{"apiserver_id_hash", .max_values = 1}, {"hash", .max_values = MAX_HASHES}}},
        err);
    if (!ret->info)
        return kc_error_result(err);
    return init_reload_counts(ret, registry, kind, err);
}

static void show_hash(kc__config_reloads *r, const char *hash)
{
    if (r->hash[0])
        kc_metric_delete_label(r->info, "hash", kc_cstr(r->hash));
    memcpy(r->hash, hash, KC__CONFIG_HASH);
    kc_gauge_set(kc_metric_gauge(r->info, KC_STR(""), kc_cstr(r->hash)), 1);
}

void kc__config_reloads_start(kc__config_reloads *r, kc_str text)
{
    kc__config_hash(text, r->tried);
    show_hash(r, r->tried);
}

static void count_reload(const kc__config_reloads *r, bool failed)
{
    const kc_str status = kc_cstr(failed ? "failure" : "success"), server = KC_STR("");
    kc_counter_inc(kc_metric_counter(r->reloads, status, server));
    kc_gauge_set(kc_metric_gauge(r->reloaded_at, status, server),
                 (double)kc_clock_wall(kc_clock_real()) / (double)KC_SECOND);
}

void kc__config_reloads_count(kc__config_reloads *r, kc_str text, kc__config_reload result)
{
    char hash[KC__CONFIG_HASH];
    kc__config_hash(text, hash);
    const bool known = !strcmp(hash, r->tried);
    memcpy(r->tried, hash, sizeof(hash));
    if (result == KC__CONFIG_RELOAD_SAME || (result == KC__CONFIG_RELOAD_FAILED && known))
        return;
    count_reload(r, result == KC__CONFIG_RELOAD_FAILED);
    if (result == KC__CONFIG_RELOAD_APPLIED)
        show_hash(r, hash);
}
