/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warnings.c: what is odd about objects of built-in kinds, and yet no error: fields that are
 * ignored, that hide others, or whose time is over. kubectl shows each as a line "Warning: …".
 *
 * Pods are looked at when they are created, templates of pods also when they change: who changes
 * something else does not want to hear it again.
 *
 * To add one for a kind: a function, and a line in the table at the end.
 */
#include "apiserver/kinds/warnings.h"

#include "kc/diff.h"
#include "kc/map.h"

enum { MOST_WARNINGS = 100 };

/* Where a walk is: warnings begin with this. */
typedef struct notes {
    const char *base; /* "spec.template." */
    kc_paths *list;
} notes;

KC_PRINTF(2, 3)
static void note(const notes *n, const char *format, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    if (n->list->n >= MOST_WARNINGS)
        return;
    kc_buf_puts(&text, n->base);
    va_start(args, format);
    kc_buf_vprintf(&text, format, args);
    va_end(args);
    kc_vec_push(n->list, kc_buf_take(&text));
}

/* ---- pods ---- */

typedef struct word {
    const char *name, *text;
} word;

static const char *look_up(const word *words, size_t n, kc_str name)
{
    for (size_t i = 0; i < n; i++)
        if (kc_str_is(name, words[i].name))
            return words[i].text;
    return NULL;
}

static const char *old_label(kc_str label)
{
    static const word labels[] = {
        {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
        {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
        {"failure-domain.beta.kubernetes.io/region",
         "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
        {"failure-domain.beta.kubernetes.io/zone",
         "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
        {"beta.kubernetes.io/instance-type",
         "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
        {"app.kubernetes.io/created-by", "deprecated since v1.9"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods",
         "deprecated since v1.22; use Taints and Tolerations instead"},
        {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
    };
    return look_up(labels, KC_COUNT(labels), label);
}

static void check_placement(const notes *n, const kc_value *spec)
{
    size_t i = 0;
    kc_members (kc_get(spec, "nodeSelector"), label, value)
        if (value && old_label(label))
            note(n, "spec.nodeSelector[%.*s]: %s", KC_ARG(label), old_label(label));
    kc_items (kc_get(spec, "topologySpreadConstraints"), constraint) {
        kc_str key = kc_as_str(kc_get(constraint, "topologyKey"));
        if (old_label(key))
            note(n, "spec.topologySpreadConstraints[%zu].topologyKey: %.*s is %s", i, KC_ARG(key),
                 old_label(key));
        if (!kc_get(constraint, "labelSelector"))
            note(n,
                 "spec.topologySpreadConstraints[%zu].labelSelector: a null labelSelector results "
                 "in matching no pod",
                 i);
        i++;
    }
}

static void check_annotations(const notes *n, const kc_value *metadata)
{
    static const word annotations[] = {
        {"scheduler.alpha.kubernetes.io/critical-pod",
         "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
        {"security.alpha.kubernetes.io/sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
        {"security.alpha.kubernetes.io/unsafe-sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
    };
    const kc_value *given = kc_get(metadata, "annotations");
    for (size_t i = 0; i < KC_COUNT(annotations); i++)
        if (kc_get(given, annotations[i].name))
            note(n, "metadata.annotations[%s]: %s", annotations[i].name, annotations[i].text);
}

static void check_volumes(const notes *n, const kc_value *spec)
{
    static const word sources[] = {
        {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
        {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
        {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
        {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
        {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
        {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
        {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
        {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
        {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
    };
    size_t i = 0;
    kc_items (kc_get(spec, "volumes"), volume) {
        for (size_t s = 0; s < KC_COUNT(sources); s++)
            if (kc_get(volume, sources[s].name))
                note(n, "spec.volumes[%zu].%s: %s", i, sources[s].name, sources[s].text);
        i++;
    }
}

/* Items of a list that name the same thing. */
static void check_repeated(const notes *n, const kc_value *spec, const char *list,
                           const char *member)
{
    size_t i = 0;
    kc_scoped(kc_map) seen = {0};
    kc_items (kc_get(spec, list), item) {
        kc_str name = kc_as_str(kc_get(item, member));
        if (kc_map_put(&seen, name, &seen))
            note(n, "spec.%s[%zu].%s: duplicate %s \"%.*s\"", list, i, member, member,
                 KC_ARG(name));
        i++;
    }
}

static void check_pull_secrets(const notes *n, const kc_value *spec)
{
    size_t i = 0;
    check_repeated(n, spec, "imagePullSecrets", "name");
    kc_items (kc_get(spec, "imagePullSecrets"), secret) {
        if (!kc_as_str(kc_get(secret, "name")).n)
            note(n, "spec.imagePullSecrets[%zu].name: invalid empty name \"\"", i);
        i++;
    }
}

/* A variable that stands twice may build on its former value, or hides it. */
static bool hides(const kc_value *variable)
{
    kc_str name = kc_as_str(kc_get(variable, "name"));
    kc_str value = kc_as_str(kc_get(variable, "value"));
    kc_scoped(kc_buf) former = {0};
    kc_buf_printf(&former, "$(%.*s)", KC_ARG(name));
    return kc_get(variable, "valueFrom") || kc_str_eq(value, kc_buf_str(&former)) || !value.n ||
           !memmem(value.p, value.n, former.p, former.n);
}

static void check_environment(const notes *n, const char *list, size_t at,
                              const kc_value *container)
{
    size_t i = 0;
    kc_scoped(kc_map) seen = {0};
    kc_items (kc_get(container, "env"), variable) {
        kc_str name = kc_as_str(kc_get(variable, "name"));
        if (kc_map_put(&seen, name, &seen) && hides(variable))
            note(n,
                 "spec.%s[%zu].env[%zu]: hides previous definition of \"%.*s\", which may be "
                 "dropped when using apply",
                 list, at, i, KC_ARG(name));
        i++;
    }
}

static void check_containers(const notes *n, const kc_value *spec)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        size_t i = 0;
        kc_items (kc_get(spec, lists[l]), container)
            check_environment(n, lists[l], i++, container);
    }
}

/* A pod, or a template of pods. */
static void check_pod(const notes *n, const kc_value *pod)
{
    const kc_value *spec = kc_get(pod, "spec");
    check_placement(n, spec);
    check_annotations(n, kc_get(pod, "metadata"));
    check_volumes(n, spec);
    check_repeated(n, spec, "hostAliases", "ip");
    check_pull_secrets(n, spec);
    check_containers(n, spec);
    if (kc_as_i64_or(kc_get(spec, "terminationGracePeriodSeconds"), 0) < 0)
        note(n, "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and "
                "will be treated as 1");
}

static void warn_pod(const kc_value *object, const kc_value *old, kc_paths *warnings)
{
    if (!old)
        check_pod(&(notes){"", warnings}, object);
}

static void warn_template(const kc_value *object, const kc_value *old, kc_paths *warnings)
{
    const kc_value *template = kc_get(kc_get(object, "spec"), "template");
    if (!old || !kc_value_equal(template, kc_get(kc_get(old, "spec"), "template"), NULL))
        check_pod(&(notes){"spec.template.", warnings}, template);
}

static void warn_cron_job(const kc_value *object, const kc_value *old, kc_paths *warnings)
{
    const kc_value *job = kc_get(kc_get(kc_get(object, "spec"), "jobTemplate"), "spec");
    const kc_value *old_job = kc_get(kc_get(kc_get(old, "spec"), "jobTemplate"), "spec");
    const kc_value *template = kc_get(job, "template");
    if (!old || !kc_value_equal(template, kc_get(old_job, "template"), NULL))
        check_pod(&(notes){"spec.jobTemplate.spec.template.", warnings}, template);
}

/* ---- services ---- */

static void warn_headless(const notes *n, const kc_value *spec)
{
    if (kc_as_str(kc_get(spec, "loadBalancerIP")).n)
        note(n, "spec.loadBalancerIP is ignored for headless services");
    if (kc_len(kc_get(spec, "externalIPs")))
        note(n, "spec.externalIPs is ignored for headless services");
    if (kc_as_str(kc_get(spec, "sessionAffinity")).n)
        note(n, "spec.SessionAffinity is ignored for headless services");
}

static void warn_service(const kc_value *object, const kc_value *old, kc_paths *warnings)
{
    notes n = {"", warnings};
    const kc_value *spec = kc_get(object, "spec");
    kc_str type = kc_as_str(kc_get(spec, "type"));
    bool external = kc_str_is(type, "ExternalName");
    (void)old;
    if (kc_get(kc_get(kc_get(object, "metadata"), "annotations"),
               "service.kubernetes.io/topology-aware-hints"))
        note(&n, "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
                 "service.kubernetes.io/topology-mode instead");
    if (kc_str_is(type, "ClusterIP") && kc_str_is(kc_as_str(kc_get(spec, "clusterIP")), "None"))
        warn_headless(&n, spec);
    if (external && kc_len(kc_get(spec, "externalIPs")))
        note(&n, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!external && kc_as_str(kc_get(spec, "externalName")).n)
        note(&n, "spec.externalName is ignored when spec.type is not \"ExternalName\"");
}

/* ---- all kinds ---- */

static const struct {
    const char *storage;
    void (*warn)(const kc_value *object, const kc_value *old, kc_paths *warnings);
} kinds[] = {
    {"apps/daemonsets", warn_template},
    {"apps/deployments", warn_template},
    {"apps/replicasets", warn_template},
    {"apps/statefulsets", warn_template},
    {"batch/cronjobs", warn_cron_job},
    {"batch/jobs", warn_template},
    {"core/pods", warn_pod},
    {"core/replicationcontrollers", warn_template},
    {"core/services", warn_service},
};

static size_t find(const kc__resource *resource)
{
    size_t i = 0;
    while (i < KC_COUNT(kinds) &&
           (!resource->storage || strcmp(kinds[i].storage, resource->storage) != 0))
        i++;
    return i;
}

bool kc__kind_warns(const kc__resource *resource)
{
    return !resource->custom && find(resource) < KC_COUNT(kinds);
}

void kc__kind_warnings(const kc__resource *resource, const kc_value *object, const kc_value *old,
                       kc_paths *warnings)
{
    size_t i = find(resource);
    if (i < KC_COUNT(kinds))
        kinds[i].warn(object, old, warnings);
}
