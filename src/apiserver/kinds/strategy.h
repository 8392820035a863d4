/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy.h: what is special about a kind: which names it takes, what the server fills in, what it
 * checks. A const table each; the zero value is an ordinary kind.
 *
 * Order on create: defaults, prepare, validate. On update: defaults, keep what a client may not
 * change, prepare_update, validate_update (of the subresource status: validate_status). To add one:
 * a file strategy_KIND.c with its table, and a line in strategies.c.
 */
#ifndef KC_APISERVER_STRATEGY_H
#define KC_APISERVER_STRATEGY_H

#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/resource.h"
#include "apiserver/kinds/rules.h"
#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/field_selector.h"
#include "kc/json.h"
#include "kc/names.h"
#include "kc/time.h"

struct kc__strategy {
    kc_name_rule names; /* Defaults to DNS subdomains. */
    bool generation;    /* metadata.generation counts changes of what is not metadata or status. */
    bool annotated;     /* Changes of annotations count for it, too. */
    bool conditional;   /* An update must name the version it replaces. */
    bool upserts;       /* PUT of an absent object creates it. */
    bool shows_deleted; /* DELETE answers with the object rather than with a Status. */
    bool keeps_status;  /* A new one brings its status along. */
    bool orphans;      /* Dependents stay when the object goes, unless the client says otherwise. */
    bool owns_nothing; /* It has no dependents: what is to become of them is not asked. */

    /* Fields selectors may name, besides name and namespace. */
    const kc_field_def *selectable;
    size_t n_selectable;

    /* What fields are when the client does not say; filled in before everything else. */
    const kc__defaults *defaults;

    /* Fill in what the server decides (a new one has its name and uid by then); `object` is the
     * root. Given a change of a subresource, `subresource` is its name, else NULL. */
    void (*prepare)(kc_edit *edit);
    void (*prepare_update)(kc_edit *edit, const kc_value *old, const char *subresource);

    /* What its members must be, new or changed; checked before the functions that follow. */
    const kc__rules *rules;
    /* Add what is wrong beyond types and metadata. */
    void (*validate)(const kc_value *object, kc_field_errors *errors);
    void (*validate_update)(const kc_value *object, const kc_value *old, kc_field_errors *errors);
    /* The same of what is changed through a subresource. */
    void (*validate_status)(const kc_value *object, const kc_value *old, kc_field_errors *errors);
    void (*validate_finalize)(const kc_value *object, const kc_value *old, kc_field_errors *errors);
    /* Of any other subresource, by its name. */
    void (*validate_part)(const kc_value *object, const kc_value *old, const char *subresource,
                          kc_field_errors *errors);

    /* Add what one should know about one that is right. NULL: nothing. */
    void (*warn)(const kc_value *object, kc_paths *warnings);

    /* Whether one that is being deleted and has no finalizers may go now. NULL: it may. */
    bool (*may_go)(const kc_value *object);
    /* How many seconds one that is deleted has left, when the client asks for so many (NULL: does
     * not say). 0: none. NULL: it has none. */
    int64_t (*grace)(const kc_value *object, const int64_t *asked);
    /* What changes, at `now`, in one that has to stay for a while. NULL: only its metadata. */
    void (*begin_deletion)(kc_edit *edit, kc_time now);
};

/* The strategy of a resource by its group and storage ("core/configmaps"); never NULL. */
const kc__strategy *kc__strategy_find(kc_str group, kc_str storage);

extern const kc__strategy kc__strategy_configmap, kc__strategy_namespace, kc__strategy_secret;
/* strategy_access.c */
extern const kc__strategy kc__strategy_role, kc__strategy_cluster_role, kc__strategy_role_binding,
    kc__strategy_cluster_role_binding;
extern const kc__strategy kc__strategy_autoscaler; /* strategy_autoscaler.c */
/* strategy_deployment.c */
extern const kc__strategy kc__strategy_deployment, kc__strategy_replica_set,
    kc__strategy_replication_controller;
/* strategy_event.c */
extern const kc__strategy kc__strategy_event, kc__strategy_new_event, kc__strategy_lease;
extern const kc__strategy kc__strategy_job, kc__strategy_cron_job;          /* strategy_job.c */
extern const kc__strategy kc__strategy_ingress, kc__strategy_ingress_class; /* strategy_ingress.c */
extern const kc__strategy kc__strategy_endpoint_slice, kc__strategy_endpoints; /* strategy_network.c
                                                                                */
extern const kc__strategy kc__strategy_network_policy;
extern const kc__strategy kc__strategy_node;                                /* strategy_node.c */
extern const kc__strategy kc__strategy_pod, kc__strategy_pod_template;      /* strategy_pod.c */
extern const kc__strategy kc__strategy_quota, kc__strategy_limit_range;     /* strategy_limits.c */
extern const kc__strategy kc__strategy_budget, kc__strategy_priority_class; /* strategy_policy.c */
extern const kc__strategy kc__strategy_service;                             /* strategy_service.c */
extern const kc__strategy kc__strategy_stateful_set, kc__strategy_daemon_set; /* strategy_sets.c */
extern const kc__strategy kc__strategy_claim, kc__strategy_volume; /* strategy_storage.c */
extern const kc__strategy kc__strategy_storage_class;
/* strategy_csi.c */
extern const kc__strategy kc__strategy_csi_driver, kc__strategy_csi_node,
    kc__strategy_volume_attachment;
extern const kc__strategy kc__strategy_runtime_class;
/* strategy_webhook.c */
extern const kc__strategy kc__strategy_mutating_webhooks, kc__strategy_validating_webhooks;

#endif
