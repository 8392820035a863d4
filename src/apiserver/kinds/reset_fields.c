/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reset_fields.c: the fields that a request cannot change in a kind, and so cannot own.
 *
 * The strategies of Kubernetes reset such fields to their stored values. Nearly all kinds follow
 * one rule: a kind with the subresource status resets the status, and its subresource status resets
 * the spec. The table has the exceptions, also those that Kubernetes has by mistake: the fields of
 * a ServiceCIDR are listed there under a group that does not exist, and those of the subresources
 * ephemeralcontainers and resize of Pods in functions that nothing calls, so none are reset.
 */
#include "apiserver/kinds/topology.h"

#include "apiserver/kinds/registry.h"

enum { MAX_PATHS = 4 };

typedef struct reset_rule {
    const char *group, *kind;
    const char *subresource;      /* NULL: the object itself. */
    const char *paths[MAX_PATHS]; /* Names joined by dots; ended by NULL. */
} reset_rule;

static const reset_rule rules[] = {
    {"", "Namespace", "finalize", .paths = {"status"}},
    {"", "Pod", "status",
     .paths = {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"}},
    {"apps", "Deployment", "status", .paths = {"spec", "metadata.labels"}},
    {"networking.k8s.io", "ServiceCIDR", NULL, .paths = {NULL}},
    {"networking.k8s.io", "ServiceCIDR", "status", .paths = {NULL}},
    {"certificates.k8s.io", "CertificateSigningRequest", NULL, .paths = {"spec", "status"}},
    {"certificates.k8s.io", "CertificateSigningRequest", "status",
     .paths = {"spec", "status.conditions"}},
    {"certificates.k8s.io", "CertificateSigningRequest", "approval",
     .paths = {"spec", "status.certificate"}},
    {"storage.k8s.io", "VolumeAttachment", "status", .paths = {"metadata", "spec"}},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", "status", .paths = {"metadata", "spec"}},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "status",
     .paths = {"metadata", "spec"}},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "status",
     .paths = {"metadata", "spec"}},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "status", .paths = {"metadata", "spec"}},
    {"apiregistration.k8s.io", "APIService", "status", .paths = {"metadata", "spec"}},
};

static bool is_subresource(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* The rule of a request. `usual` is storage for one that follows from the kind. */
static const reset_rule *reset_rule_of(const kc__resource *r, const char *subresource,
                                       reset_rule *usual)
{
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (is_subresource(rules[i].subresource, subresource) &&
            !strcmp(rules[i].group, r->group) && !strcmp(rules[i].kind, r->kind))
            return &rules[i];
    bool has_status = kc__resource_find_subresource(r, KC_STR("status")) != NULL;
    *usual = (reset_rule){0};
    if (subresource && !strcmp(subresource, "status"))
        usual->paths[0] = "spec";
    else if (!subresource && has_status)
        usual->paths[0] = "status";
    return usual;
}

static const kc__fields_set *set_of_paths(const char *const *paths, kc_arena *arena)
{
    const kc__fields_set *set = NULL;
    for (size_t i = 0; i < MAX_PATHS && paths[i]; i++) {
        kc__fields_element elements[MAX_PATHS];
        size_t n = 0;
        for (kc_str rest = kc_cstr(paths[i]); rest.p && n < MAX_PATHS;)
            elements[n++] = kc__fields_name(kc_str_cut(&rest, '.'));
        set = kc__fields_set_union(arena, set, kc__fields_set_of_path(arena, elements, n));
    }
    return set;
}

bool kc__resource_reset_fields(const kc__resource *resource, const char *subresource,
                               kc_str version, kc_arena *arena, kc__fields_ignored *ret)
{
    reset_rule usual;
    const reset_rule *rule = reset_rule_of(resource, subresource, &usual);
    *ret = (kc__fields_ignored){.version = version};
    ret->set = set_of_paths(rule->paths, arena);
    return !kc__fields_set_empty(ret->set);
}
