/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy.h: the strategy of a kind: which names it allows, which fields the server sets, and what
 * validation checks. Each kind has a const table; the zero value is the strategy of an ordinary
 * kind.
 *
 * Order on create: defaults, mutating admission, prepare, validate. On update: defaults, mutating
 * admission, restoring the fields that a client may not change, prepare_update, validate_update
 * (for the status subresource: validate_status). Defaults, admission and prepare edit one tree
 * (draft.h). Its types are checked once, before validation: until then members may be in any order
 * and may be empty.
 *
 * To add a strategy: add a file GROUP/KIND_strategy.c with the table, declare the table below, and
 * add a row in strategy_table.c.
 */
#ifndef KC_APISERVER_STRATEGY_H
#define KC_APISERVER_STRATEGY_H

#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/resource.h"
#include "apiserver/kinds/validate_rules.h"
#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/field_selector.h"
#include "kc/json.h"
#include "kc/names.h"
#include "kc/time.h"

struct kc__strategy {
    kc_name_rule names; /* Defaults to DNS subdomains. */
    bool generation;    /* Changes outside metadata and status increment metadata.generation. */
    bool annotated;     /* Changes of annotations increment it, too. */
    bool labelled;      /* Changes of labels increment it, too. */
    bool stays_first;   /* metadata.generation stays 1. */
    bool conditional;   /* An update must carry the resourceVersion of the object it replaces. */
    bool upserts;       /* PUT of an absent object creates it. */
    bool shows_deleted; /* DELETE responds with the object instead of a Status. */
    bool keeps_status;  /* A created object keeps the status that the client sent. */
    bool writes_status; /* An update of the object writes status, too. */
    bool orphans; /* Dependents are orphaned on deletion unless the client requests otherwise. */
    bool owns_nothing;       /* The kind has no dependents; the propagation policy has no effect. */
    const char *status_part; /* A subresource that writes the status, besides "status". */
    bool validates_slowly;   /* Validation of an object (not of its status) runs on a worker. */

    /* Fields that field selectors may use, besides name and namespace. */
    const kc_field_def *selectable;
    size_t n_selectable;

    /* Defaults of absent fields. Defaulting runs before everything else. */
    const kc__defaults *defaults;

    /* Set the fields that the server controls. A new object has its name and uid by then.
     * `object` is the root. `subresource` is the name of the changed subresource; NULL: none. */
    void (*prepare)(kc_edit *edit);
    void (*prepare_update)(kc_edit *edit, const kc_value *old, const char *subresource);

    /* Rules for the members of new and changed objects. Checked before the functions below. */
    const kc__validate_rule_table *rules;
    /* Add the field errors that types and metadata checks do not cover. */
    void (*validate)(const kc_value *object, kc_field_errors *errors);
    void (*validate_update)(const kc_value *object, const kc_value *old, kc_field_errors *errors);
    /* The same for a change through the status subresource. */
    void (*validate_status)(const kc_value *object, const kc_value *old, kc_field_errors *errors);
    void (*validate_finalize)(const kc_value *object, const kc_value *old, kc_field_errors *errors);
    /* The same for any other subresource, by name. */
    void (*validate_part)(const kc_value *object, const kc_value *old, const char *subresource,
                          kc_field_errors *errors);

    /* Adds warnings about a valid object. NULL: no warnings. */
    void (*warn)(const kc_value *object, kc_paths *warnings);
    bool warns_new_only; /* `warn` is for new objects. */
    /* `warn` is for new objects, and for updates that change this value. NULL: for all. */
    const char *warns_if_changed;
    /* The name of a new object should be a DNS label: "this is used in …". NULL: any name. */
    const char *warns_of_name;
    /* The same for an object that replaces `old` (NULL: the object is new), valid or not. NULL:
     * no warnings. */
    void (*warn_change)(const kc_value *object, const kc_value *old, kc_paths *warnings);

    /* Whether an object that is being deleted and has no finalizers may be removed now. NULL:
     * yes. */
    bool (*may_go)(const kc_value *object);
    /* Returns the grace period in seconds of a deletion; `requested` is the client's
     * gracePeriodSeconds, or NULL. 0: delete at once. NULL: the kind has no grace period. */
    int64_t (*grace)(const kc_value *object, const int64_t *requested);
    /* Changes an object at `now`, when it is first marked for deletion but cannot be removed
     * yet. NULL: only metadata changes. */
    void (*begin_deletion)(kc_edit *edit, kc_time now);
};

/* Returns the strategy of a resource by its group and storage ("core/configmaps"). Never NULL. */
const kc__strategy *kc__strategy_find(kc_str group, kc_str storage);

extern const kc__strategy kc__strategy_configmap, kc__strategy_namespace, kc__strategy_secret;
extern const kc__strategy kc__strategy_api_service; /* api_service_strategy.c */
/* address_strategy.c */
extern const kc__strategy kc__strategy_ip_address, kc__strategy_service_cidr;
/* device_strategy.c */
extern const kc__strategy kc__strategy_device_class, kc__strategy_resource_claim,
    kc__strategy_resource_claim_template, kc__strategy_resource_slice;
/* rbac_strategy.c */
extern const kc__strategy kc__strategy_role, kc__strategy_cluster_role, kc__strategy_role_binding,
    kc__strategy_cluster_role_binding;
extern const kc__strategy kc__strategy_autoscaler; /* autoscaler_strategy.c */
/* deployment_strategy.c */
extern const kc__strategy kc__strategy_deployment, kc__strategy_replica_set,
    kc__strategy_replication_controller;
/* event_strategy.c */
extern const kc__strategy kc__strategy_event, kc__strategy_new_event, kc__strategy_lease;
extern const kc__strategy kc__strategy_job, kc__strategy_cron_job;          /* job_strategy.c */
extern const kc__strategy kc__strategy_ingress, kc__strategy_ingress_class; /* ingress_strategy.c */
extern const kc__strategy kc__strategy_endpoint_slice,
    kc__strategy_endpoints; /* endpoints_strategy.c
                             */
extern const kc__strategy kc__strategy_network_policy;
extern const kc__strategy kc__strategy_node;                                /* node_strategy.c */
extern const kc__strategy kc__strategy_pod, kc__strategy_pod_template;      /* pod_strategy.c */
extern const kc__strategy kc__strategy_quota, kc__strategy_limit_range;     /* limits_strategy.c */
extern const kc__strategy kc__strategy_budget, kc__strategy_priority_class; /* policy_strategy.c */
/* flow_strategy.c */
extern const kc__strategy kc__strategy_flow_schema, kc__strategy_priority_level;
extern const kc__strategy kc__strategy_service; /* service_strategy.c */
extern const kc__strategy kc__strategy_stateful_set, kc__strategy_daemon_set; /* sets_strategy.c */
extern const kc__strategy kc__strategy_claim, kc__strategy_volume; /* volume_strategy.c */
/* storage_class_strategy.c */
extern const kc__strategy kc__strategy_storage_class, kc__strategy_attributes_class;
/* csi_strategy.c */
extern const kc__strategy kc__strategy_csi_driver, kc__strategy_csi_node,
    kc__strategy_volume_attachment;
extern const kc__strategy kc__strategy_runtime_class;
extern const kc__strategy kc__strategy_signing_request; /* signing_request_strategy.c */
/* webhook_strategy.c */
extern const kc__strategy kc__strategy_mutating_webhooks, kc__strategy_validating_webhooks;
/* mutating_policy_strategy.c */
extern const kc__strategy kc__strategy_mutating_policy, kc__strategy_mutating_policy_binding;
/* validating_policy_strategy.c */
extern const kc__strategy kc__strategy_validating_policy, kc__strategy_validating_policy_binding;

#endif
