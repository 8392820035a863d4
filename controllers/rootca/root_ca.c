/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_ca.c: publishes the server's CA certificate in the ConfigMap kube-root-ca.crt of every
 * namespace; pods verify the server with it. The controller restores a changed ConfigMap: its data
 * is the certificate and nothing else; an existing description, labels and other annotations stay.
 *
 * Without a CA certificate (a server without TLS) it publishes nothing.
 */
#include "internal.h"

#include "common/per_namespace.h"

#include "kc/kinds.h"
#include "kc/log.h"

#include <stdio.h>

#define DESCRIPTION "kubernetes.io/description"

typedef struct publisher {
    char *pem;
    kc_metric *total, *duration;
} publisher;

static bool is_described(const kc_edit *edit)
{
    const kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    const kc_node *annotations = kc_node_get(metadata, KC_STR("annotations"));
    return kc_node_as_str(kc_node_get(annotations, KC_STR(DESCRIPTION))).n > 0;
}

static int rootca_fill(kc_edit *edit, void *user, kc_error *err)
{
    static const kc_str text = KC_STR_INIT(
        "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
        "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
        "guaranteed across distributions of Kubernetes clusters.");
    const publisher *p = user;
    (void)err;
    kc_node *data = kc_node_object(edit);
    kc_node_add(edit, data, KC_STR("ca.crt"), kc_node_str(edit, kc_cstr(p->pem)));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("data"), data);
    if (!is_described(edit))
        kc_edit_set_annotation(edit, KC_STR(DESCRIPTION), text);
    return 0;
}

/* ---- metrics ---- */

static void rootca_count(void *user, int64_t took, const kc_error *err)
{
    const publisher *p = user;
    char code[16];
    snprintf(code, sizeof(code), "%d", !err->reason ? 200 : err->code ? err->code : 500);
    kc_counter_inc(kc_metric_counter(p->total, kc_cstr(code)));
    kc_histogram_observe_duration(kc_metric_histogram(p->duration, kc_cstr(code)), took);
}

static int rootca_register_metrics(publisher *p, kc_metrics *metrics, kc_error *err)
{
    static const char help[] = "Number of namespace syncs happened in root ca cert publisher.";
    const kc_metric_label code = {"code", .max_values = 64};
    double buckets[15];
    kc_buckets_exponential(0.001, 2, KC_COUNT(buckets), buckets);
    p->total = kc_metrics_counter(metrics,
                                  &(kc_metric_opts){.name = "root_ca_cert_publisher_sync_total",
                                                    .help = help,
                                                    .labels = {code}},
                                  err);
    p->duration = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "root_ca_cert_publisher_sync_duration_seconds",
                          .help = help,
                          .labels = {code},
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    return p->total && p->duration ? 0 : kc_error_result(err);
}

/* ---- setup ---- */

static void publisher_free(void *state)
{
    publisher *p = state;
    free(p->pem);
    free(p);
}

int kc__rootca_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    if (!opts->root_ca || !*opts->root_ca) {
        kc_log_info(kc_manager_log(manager),
                    "server has no TLS certificate authority; not publishing ConfigMap "
                    "kube-root-ca.crt");
        return 0;
    }
    publisher *p = kc_new(publisher);
    kc_manager_defer(manager, p, publisher_free);
    p->pem = kc_strdup(opts->root_ca);
    if (rootca_register_metrics(p, kc_manager_metrics(manager), err) < 0)
        return kc_error_result(err);
    const kc__common_per_namespace what = {.controller = "root_ca_cert_publisher",
                                           .identity = KC__COMMON_ROOT_CA,
                                           .kind = &kc_kind_config_map,
                                           .name = "kube-root-ca.crt",
                                           .fill = rootca_fill,
                                           .user = p,
                                           .synced = rootca_count};
    return kc__common_per_namespace_setup(manager, &what, opts, err);
}
