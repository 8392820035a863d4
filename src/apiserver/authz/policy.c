/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c: the bindings that every cluster has, the roles of system namespaces, and the text form
 * of rules and subjects.
 */
#include "apiserver/authz/policy.h"

#include "kc/json.h"

/* ---- roles of namespaces ---- */

#define EVENTS "create patch update | core events.k8s.io | events\n"
#define LOCKING(name)                                               \
    "watch | core | configmaps\n"                                   \
    "get update | core | configmaps | " name "\n"                   \
    "create get list update watch | coordination.k8s.io | leases\n" \
    "create get list update watch | coordination.k8s.io | leasecandidates\n"

const kc__policy_role kc__policy_namespace_roles[] = {
    {"extension-apiserver-authentication-reader", .ns = "kube-system",
     .rules = "get list watch | core | configmaps | extension-apiserver-authentication\n"},
    {"system:controller:bootstrap-signer", .ns = "kube-system",
     .rules = "get list watch | core | secrets\n"},
    {"system:controller:cloud-provider", .ns = "kube-system",
     .rules = "create get list watch | core | configmaps\n"},
    {"system:controller:token-cleaner", .ns = "kube-system",
     .rules = "delete get list watch | core | secrets\n" EVENTS},
    {"system::leader-locking-kube-controller-manager", .ns = "kube-system",
     .rules = LOCKING("kube-controller-manager")},
    {"system::leader-locking-kube-scheduler", .ns = "kube-system",
     .rules = LOCKING("kube-scheduler")},
    {"system:controller:bootstrap-signer", .ns = "kube-public",
     .rules = "get list watch | core | configmaps\n"
              "update | core | configmaps | cluster-info\n" EVENTS},
    {0},
};

/* ---- roles of this project ---- */

/* What the reconcilers of the framework may do (kc up). It aggregates: a ClusterRole with the label
 * rbac.authorization.k8s.io/aggregate-to-hub: "true" adds to it, for the reconcilers of a plugin.
 * The cache reads with the permissions of system:kube-controller-manager. */
const kc__policy_role kc__policy_own_roles[] = {
    {"system:kubecontroller:hub", .aggregates = "hub", .own = true},
    {"system:kubecontroller:aggregate-to-hub", .aggregate_to = "hub", .own = true,
     .rules = "create delete get list patch update watch | apps.example.io "
              "database.cloud.tencent.com demo.wukong.com platform.kubecontroller.io "
              "robot.llleon.io samplecrd.k8s.io | *\n"
              "create patch update | core events.k8s.io | events\n"
              "create get list patch update watch | coordination.k8s.io | leases\n"
              "create delete get list patch update watch | core | configmaps pods services\n"
              "patch update | core | pods/status\n"
              "get list watch | core | secrets\n"
              "create delete get list patch update watch | apps | deployments\n"
              "get list watch | apps | daemonsets replicasets statefulsets\n"
              "get list watch | batch | cronjobs jobs\n"
              "create get list patch update watch | admissionregistration.k8s.io | "
              "mutatingwebhookconfigurations validatingwebhookconfigurations\n"
              "get list patch watch | apiextensions.k8s.io | customresourcedefinitions\n"
              "create | authentication.k8s.io | tokenreviews\n"
              "create | authorization.k8s.io | subjectaccessreviews\n"},
    /* Controllers that use another verb than those of Kubernetes. */
    {"system:kubecontroller:replicaset-controller", .own = true,
     .rules = "patch | apps | replicasets/status\n"},
    {"system:kubecontroller:pod-garbage-collector", .own = true,
     .rules = "update | core | pods/status\n"},
    {"system:kubecontroller:pvc-protection-controller", .own = true,
     .rules = "patch | core | persistentvolumeclaims\n"},
    {"system:kubecontroller:pv-protection-controller", .own = true,
     .rules = "patch | core | persistentvolumes\n"},
    {"system:kubecontroller:volumeattributesclass-protection-controller", .own = true,
     .rules = "patch | storage.k8s.io | volumeattributesclasses\n"},
    {0},
};

/* ---- bindings ---- */

const kc__policy_binding kc__policy_bindings[] = {
    {"cluster-admin", .subjects = "G:system:masters"},
    {"system:basic-user", .subjects = "G:system:authenticated"},
    {"system:discovery", .subjects = "G:system:authenticated"},
    {"system:kube-controller-manager", .subjects = "U:system:kube-controller-manager"},
    {"system:kube-dns", .subjects = "S:kube-system:kube-dns"},
    {"system:kube-scheduler", .subjects = "U:system:kube-scheduler"},
    {"system:monitoring", .subjects = "G:system:monitoring"},
    {"system:node", .subjects = ""},
    {"system:node-proxier", .subjects = "U:system:kube-proxy"},
    {"system:public-info-viewer", .subjects = "G:system:authenticated G:system:unauthenticated"},
    {"system:service-account-issuer-discovery", .subjects = "G:system:serviceaccounts"},
    {"system:volume-scheduler", .subjects = "U:system:kube-scheduler"},
    {"system::extension-apiserver-authentication-reader",
     "extension-apiserver-authentication-reader",
     "U:system:kube-controller-manager U:system:kube-scheduler", "kube-system"},
    {"system::leader-locking-kube-controller-manager",
     .subjects = "U:system:kube-controller-manager S:kube-system:kube-controller-manager "
                 "S:kube-system:leader-election-controller",
     .ns = "kube-system"},
    {"system::leader-locking-kube-scheduler",
     .subjects = "U:system:kube-scheduler S:kube-system:kube-scheduler", .ns = "kube-system"},
    {"system:controller:bootstrap-signer", .subjects = "S:kube-system:bootstrap-signer",
     .ns = "kube-system"},
    {"system:controller:cloud-provider", .subjects = "S:kube-system:cloud-provider",
     .ns = "kube-system"},
    {"system:controller:token-cleaner", .subjects = "S:kube-system:token-cleaner",
     .ns = "kube-system"},
    {"system:controller:bootstrap-signer", .subjects = "S:kube-system:bootstrap-signer",
     .ns = "kube-public"},
    {"system:kubecontroller:hub", .subjects = "U:system:kubecontroller:hub", .own = true},
    {"system:kubecontroller:replicaset-controller",
     .subjects = "S:kube-system:replicaset-controller", .own = true},
    {"system:kubecontroller:pod-garbage-collector",
     .subjects = "S:kube-system:pod-garbage-collector", .own = true},
    {"system:kubecontroller:pvc-protection-controller",
     .subjects = "S:kube-system:pvc-protection-controller", .own = true},
    {"system:kubecontroller:pv-protection-controller",
     .subjects = "S:kube-system:pv-protection-controller", .own = true},
    {"system:kubecontroller:volumeattributesclass-protection-controller",
     .subjects = "S:kube-system:volumeattributesclass-protection-controller", .own = true},
    {0},
};

/* ---- text to JSON ---- */

/* Appends a list of words as a member. */
static void write_words(kc_buf *out, const char *member, kc_str words)
{
    bool first = true;
    kc_buf_printf(out, "%s\"%s\":[", out->p[out->n - 1] == '{' ? "" : ",", member);
    words = kc_str_trim(words);
    while (words.n) {
        const kc_str word = kc_str_cut(&words, ' ');
        if (!first)
            kc_buf_putc(out, ',');
        kc_json_quote(out, kc_str_is(word, "core") ? KC_STR("") : word);
        first = false;
    }
    kc_buf_putc(out, ']');
}

/* Kubernetes writes verbs first, and orders the words of each list. */
static void write_rule(kc_buf *out, kc_str line)
{
    const kc_str verbs = kc_str_cut(&line, '|'), second = kc_str_cut(&line, '|');
    kc_buf_putc(out, '{');
    write_words(out, "verbs", verbs);
    if (kc_str_starts(kc_str_trim(second), KC_STR("/")) || !line.n) {
        write_words(out, "nonResourceURLs", second);
    } else {
        write_words(out, "apiGroups", second);
        write_words(out, "resources", kc_str_cut(&line, '|'));
        if (line.n)
            write_words(out, "resourceNames", line);
    }
    kc_buf_putc(out, '}');
}

void kc__policy_rules_write(kc_buf *out, const char *rules)
{
    kc_str rest = kc_cstr(rules);
    kc_buf_putc(out, '[');
    for (bool first = true; rest.n; first = false) {
        if (!first)
            kc_buf_putc(out, ',');
        write_rule(out, kc_str_cut(&rest, '\n'));
    }
    kc_buf_putc(out, ']');
}

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void write_subject(kc_buf *out, kc_str word)
{
    const kc_str type = kc_str_cut(&word, ':');
    if (kc_str_is(type, "S")) {
        const kc_str ns = kc_str_cut(&word, ':');
        kc_buf_printf(out, "{\"kind\":\"ServiceAccount\",\"name\":\"%.*s\",\"namespace\":\"%.*s\"}",
                      KC_ARG(word), KC_ARG(ns));
        return;
    }
    kc_buf_printf(out, "{\"kind\":\"%s\",\"apiGroup\":\"" RBAC_GROUP "\",\"name\":\"%.*s\"}",
                  kc_str_is(type, "G") ? "Group" : "User", KC_ARG(word));
}

void kc__policy_subjects_write(kc_buf *out, const char *subjects)
{
    kc_str rest = kc_cstr(subjects);
    kc_buf_putc(out, '[');
    for (bool first = true; rest.n; first = false) {
        if (!first)
            kc_buf_putc(out, ',');
        write_subject(out, kc_str_cut(&rest, ' '));
    }
    kc_buf_putc(out, ']');
}
