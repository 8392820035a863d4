/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_warnings.c: warnings about pods and pod templates, with Kubernetes' messages and in its
 * order: deprecated labels, annotations and volumes, duplicates, values without effect. Warnings of
 * AppArmor annotations are added where their fields are set, for pods
 * (admission/plugins/app_armor_fields.c).
 *
 * A response carries a few warnings only; MAX_WARNINGS bounds the work. Overlapping paths of
 * volumes are in volume_warnings.c.
 */
#include "apiserver/kinds/core/pod_warnings.h"

#include "apiserver/kinds/location.h"
#include "kc/mem.h"
#include "kc/quantity.h"

#define SECCOMP_POD       "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/"
#define APP_ARMOR         "container.apparmor.security.beta.kubernetes.io/"
#define NULL_SELECTOR     "a null labelSelector results in matching no pod"

enum { MAX_WARNINGS = 128 };

/* A pod, or a template of pods. */
typedef struct warned_pod {
    const kc__location *root; /* Has metadata and spec. */
    kc__location metadata, annotations, spec;
    bool is_template;
    kc_paths *warnings;
} warned_pod;

static bool has_room(const warned_pod *pod)
{
    return pod->warnings->n < MAX_WARNINGS;
}

static void warn_about(const warned_pod *pod, const kc__location *location, const char *fmt, ...)
    KC_PRINTF(3, 4);

static void warn_about(const warned_pod *pod, const kc__location *location, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    if (!has_room(pod))
        return;
    kc_buf_printf(&text, "%s: ", kc__location_path(location));
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_vec_push(pod->warnings, kc_str_dup(kc_buf_str(&text)));
}

/* ---- node labels ---- */

static const struct {
    const char *label, *message;
} deprecated_labels[] = {
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

/* NULL: the label is not deprecated. */
static const char *deprecation_of_label(kc_str label)
{
    for (size_t i = 0; i < KC_COUNT(deprecated_labels); i++)
        if (kc_str_is(label, deprecated_labels[i].label))
            return deprecated_labels[i].message;
    return NULL;
}

static void warn_node_selector(const warned_pod *pod)
{
    const kc__location selector = kc__location_member(&pod->spec, "nodeSelector");
    kc_value_each_member (selector.value, key, value) {
        const kc__location entry = kc__location_entry(&selector, key, value);
        const char *message = deprecation_of_label(key);
        if (message)
            warn_about(pod, &entry, "%s", message);
    }
}

static void warn_label_values(const warned_pod *pod, const kc__location *expression)
{
    const kc__location values = kc__location_member(expression, "values");
    size_t i = 0;
    kc_value_each_item (values.value, value) {
        const kc__location item = kc__location_item(&values, value, i++);
        const char *messages[KC_NAME_MESSAGES];
        const size_t n = kc_name_check(KC_NAME_LABEL_VALUE, kc_value_as_str(value), messages);
        for (size_t m = 0; m < n; m++)
            warn_about(pod, &item, "%.*s is invalid, %s", KC_ARG(kc_value_as_str(value)),
                       messages[m]);
    }
}

static void warn_selector_term(const warned_pod *pod, const kc__location *term, bool values)
{
    const kc__location expressions = kc__location_member(term, "matchExpressions");
    size_t i = 0;
    kc_value_each_item (expressions.value, value) {
        const kc__location expression = kc__location_item(&expressions, value, i++),
                           key = kc__location_member(&expression, "key");
        const char *message = deprecation_of_label(kc__location_text(&key));
        if (message)
            warn_about(pod, &key, "%.*s is %s", KC_ARG(kc__location_text(&key)), message);
        if (values)
            warn_label_values(pod, &expression);
    }
}

static void warn_node_affinity(const warned_pod *pod)
{
    const kc__location affinity = kc__location_member(&pod->spec, "affinity"),
                       node = kc__location_member(&affinity, "nodeAffinity");
    const kc__location required = kc__location_member(
                           &node, "requiredDuringSchedulingIgnoredDuringExecution"),
                       terms = kc__location_member(&required, "nodeSelectorTerms"),
                       preferred = kc__location_member(
                           &node, "preferredDuringSchedulingIgnoredDuringExecution");
    size_t i = 0;
    kc_value_each_item (terms.value, value) {
        const kc__location term = kc__location_item(&terms, value, i++);
        warn_selector_term(pod, &term, false);
    }
    i = 0;
    kc_value_each_item (preferred.value, value) {
        const kc__location item = kc__location_item(&preferred, value, i++),
                           term = kc__location_member(&item, "preference");
        warn_selector_term(pod, &term, true);
    }
}

static void warn_spread(const warned_pod *pod)
{
    const kc__location constraints = kc__location_member(&pod->spec, "topologySpreadConstraints");
    size_t i = 0;
    kc_value_each_item (constraints.value, value) {
        const kc__location item = kc__location_item(&constraints, value, i++),
                           key = kc__location_member(&item, "topologyKey"),
                           selector = kc__location_member(&item, "labelSelector");
        const char *message = deprecation_of_label(kc__location_text(&key));
        if (message)
            warn_about(pod, &key, "%.*s is %s", KC_ARG(kc__location_text(&key)), message);
        if (!selector.value)
            warn_about(pod, &selector, NULL_SELECTOR);
    }
}

/* ---- annotations ---- */

static void warn_annotation(const warned_pod *pod, const char *key, const char *message)
{
    const kc_value *value = kc_value_get(pod->annotations.value, key);
    const kc__location entry = kc__location_entry(&pod->annotations, kc_cstr(key), value);
    if (value)
        warn_about(pod, &entry, "%s", message);
}

static void warn_annotations(const warned_pod *pod)
{
    warn_annotation(pod, "scheduler.alpha.kubernetes.io/critical-pod",
                    "non-functional in v1.16+; use the \"priorityClassName\" field instead");
    warn_annotation(pod, "security.alpha.kubernetes.io/sysctls",
                    "non-functional in v1.11+; use the \"sysctls\" field instead");
    warn_annotation(pod, "security.alpha.kubernetes.io/unsafe-sysctls",
                    "non-functional in v1.11+; use the \"sysctls\" field instead");
}

/* The field of a security context; NULL if it is absent. */
static const kc_value *profile_in(const kc_value *owner, const char *field)
{
    return kc_value_get(kc_value_get(owner, "securityContext"), field);
}

/* Whether the profile of the pod is that of an annotation. */
static bool is_profile_of_pod(const warned_pod *pod, kc_str annotation)
{
    const kc_value *profile = profile_in(pod->spec.value, "appArmorProfile");
    const kc_str type = kc_value_as_str(kc_value_get(profile, "type")),
                 file = kc_value_as_str(kc_value_get(profile, "localhostProfile"));
    if (kc_str_is(type, "Localhost"))
        return file.n && annotation.n == strlen("localhost/") + file.n &&
               kc_str_starts(annotation, KC_STR("localhost/")) && kc_str_ends(annotation, file);
    return (kc_str_is(type, "Unconfined") && kc_str_is(annotation, "unconfined")) ||
           (kc_str_is(type, "RuntimeDefault") && kc_str_is(annotation, "runtime/default"));
}

static void warn_profiles(const warned_pod *pod, const kc__location *container)
{
    const kc_str name = kc__location_member_text(container, "name");
    kc_arena *arena = &pod->root->errors->arena;
    const char *seccomp = kc_arena_printf(arena, SECCOMP_CONTAINER "%.*s", KC_ARG(name)),
               *armor = kc_arena_printf(arena, APP_ARMOR "%.*s", KC_ARG(name));
    if (!profile_in(container->value, "seccompProfile"))
        warn_annotation(pod, seccomp,
                        "non-functional in v1.27+; use the \"seccompProfile\" field instead");
    if (pod->is_template && !profile_in(container->value, "appArmorProfile") &&
        !is_profile_of_pod(pod, kc_value_as_str(kc_value_get(pod->annotations.value, armor))))
        warn_annotation(pod, armor,
                        "deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

/* ---- volumes ---- */

static const struct {
    const char *source, *shown, *message;
} deprecated_volumes[] = {
    {"photonPersistentDisk", NULL, "deprecated in v1.11, non-functional in v1.16+"},
    {"gitRepo", NULL, "deprecated in v1.11, and disabled by default in v1.33+"},
    {"scaleIO", NULL, "deprecated in v1.16, non-functional in v1.22+"},
    {"flocker", NULL, "deprecated in v1.22, non-functional in v1.25+"},
    {"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
    {"quobyte", NULL, "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", NULL, "deprecated in v1.25, non-functional in v1.26+"},
    {"cephfs", NULL, "deprecated in v1.28, non-functional in v1.31+"},
    {"rbd", NULL, "deprecated in v1.28, non-functional in v1.31+"},
};

/* A quantity of bytes that is no integer. */
static void warn_fraction(const warned_pod *pod, const kc__location *amounts, const char *name)
{
    const kc_value *value = kc_value_get(amounts->value, name);
    const kc__location entry = kc__location_entry(amounts, kc_cstr(name), value);
    char text[KC_QUANTITY_MAX];
    kc_quantity q;
    if (value && kc_quantity_from(value, &q, NULL) == 0 && kc_quantity_milli_value(q) % 1000)
        warn_about(pod, &entry, "fractional byte value \"%.*s\" is invalid, must be an integer",
                   KC_ARG(kc_quantity_print(q, text)));
}

static void warn_claim_template(const warned_pod *pod, const kc__location *volume)
{
    const kc__location ephemeral = kc__location_member(volume, "ephemeral"),
                       template = kc__location_member(&ephemeral, "volumeClaimTemplate"),
                       spec = kc__location_member(&template, "spec"),
                       resources = kc__location_member(&spec, "resources"),
                       requests = kc__location_member(&resources, "requests"),
                       limits = kc__location_member(&resources, "limits");
    warn_fraction(pod, &requests, "storage");
    warn_fraction(pod, &limits, "storage");
}

static void warn_volumes(const warned_pod *pod)
{
    const kc__location volumes = kc__location_member(&pod->spec, "volumes");
    size_t i = 0;
    kc_value_each_item (volumes.value, value) {
        kc__location volume = kc__location_item(&volumes, value, i++);
        for (size_t d = 0; d < KC_COUNT(deprecated_volumes); d++) {
            const char *shown = deprecated_volumes[d].shown;
            kc__location source = kc__location_member(&volume, deprecated_volumes[d].source);
            if (!source.value)
                continue;
            source.name = shown ? shown : source.name;
            warn_about(pod, &source, "%s", deprecated_volumes[d].message);
        }
        warn_claim_template(pod, &volume);
    }
}

/* ---- duplicates ---- */

/* Items of a list that have the same text in a member. */
static void warn_duplicates(const warned_pod *pod, const char *list, const char *member)
{
    const kc__location all = kc__location_member(&pod->spec, list);
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (all.value, value) {
        const kc__location item = kc__location_item(&all, value, i++),
                           at = kc__location_member(&item, member);
        const kc_str text = kc__location_text(&at);
        if (kc_map_put(&seen, text, (void *)value))
            warn_about(pod, &at, "duplicate %s \"%.*s\"", member, KC_ARG(text));
    }
}

static void warn_nameless_secrets(const warned_pod *pod)
{
    const kc__location secrets = kc__location_member(&pod->spec, "imagePullSecrets");
    size_t i = 0;
    kc_value_each_item (secrets.value, value) {
        const kc__location secret = kc__location_item(&secrets, value, i++),
                           name = kc__location_member(&secret, "name");
        if (!kc__location_is_set(&name))
            warn_about(pod, &name, "invalid empty name \"\"");
    }
}

/* Of two variables with the same name the later one wins, unless it extends the earlier one. */
static void warn_env(const warned_pod *pod, const kc__location *container)
{
    const kc__location env = kc__location_member(container, "env");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (env.value, variable) {
        const kc__location item = kc__location_item(&env, variable, i++);
        const kc_str name = kc__location_member_text(&item, "name"),
                     value = kc__location_member_text(&item, "value");
        const char *reference = kc_arena_printf(&item.errors->arena, "$(%.*s)", KC_ARG(name));
        if (kc_map_put(&seen, name, (void *)variable) &&
            (kc_value_get(variable, "valueFrom") || kc_str_is(value, reference) ||
             !kc_str_contains(value, kc_cstr(reference))))
            warn_about(pod, &item,
                       "hides previous definition of \"%.*s\", which may be dropped when using "
                       "apply",
                       KC_ARG(name));
    }
}

static void warn_container(const warned_pod *pod, const kc__location *container)
{
    const kc__location resources = kc__location_member(container, "resources"),
                       limits = kc__location_member(&resources, "limits"),
                       requests = kc__location_member(&resources, "requests");
    warn_profiles(pod, container);
    warn_fraction(pod, &limits, "memory");
    warn_fraction(pod, &requests, "memory");
    warn_fraction(pod, &limits, "ephemeral-storage");
    warn_fraction(pod, &requests, "ephemeral-storage");
    warn_env(pod, container);
}

/* ---- ports ---- */

typedef struct warned_port {
    const char *path;
    kc_str host_ip;
    int64_t host_port;
    struct warned_port *next; /* Of the same port and protocol, earlier in the pod. */
} warned_port;

static void warn_port_pair(const warned_pod *pod, const kc__location *at, const warned_port *port,
                           const warned_port *other)
{
    const bool same_ip = kc_str_eq(port->host_ip, other->host_ip),
               same_port = port->host_port == other->host_port;
    if (same_ip && same_port)
        warn_about(pod, at, "duplicate port definition with %s", other->path);
    else if (!port->host_port || !other->host_port)
        warn_about(pod, at, "overlapping port definition with %s", other->path);
    else if (same_port && !port->host_ip.n != !other->host_ip.n)
        warn_about(pod, at, "dangerously ambiguous port definition with %s", other->path);
}

/* The list of earlier ports is in reverse order: warnings are in the order of the pod. */
static void warn_earlier_ports(const warned_pod *pod, const kc__location *at,
                               const warned_port *port, const warned_port *other)
{
    KC_VEC(const warned_port *) earlier = {0};
    for (; other && earlier.n < MAX_WARNINGS; other = other->next)
        kc_vec_push(&earlier, other);
    for (size_t i = earlier.n; i > 0; i--)
        warn_port_pair(pod, at, port, earlier.items[i - 1]);
    kc_vec_done(&earlier);
}

static void warn_port(const warned_pod *pod, const kc__location *at, kc_map *seen)
{
    kc_arena *arena = &at->errors->arena;
    const kc__location number = kc__location_member(at, "containerPort"),
                       host = kc__location_member(at, "hostPort");
    const kc_str protocol = kc__location_member_text(at, "protocol");
    warned_port *port = kc_arena_new(arena, warned_port);
    *port = (warned_port){.path = kc__location_path(at),
                          .host_ip = kc__location_member_text(at, "hostIP"),
                          .host_port = kc__location_number(&host)};
    if (port->host_ip.n && !port->host_port)
        warn_about(pod, at,
                   "hostIP set without hostPort: {Name:%.*s HostPort:0 ContainerPort:%lld "
                   "Protocol:%.*s HostIP:%.*s}",
                   KC_ARG(kc__location_member_text(at, "name")),
                   (long long)kc__location_number(&number), KC_ARG(protocol),
                   KC_ARG(port->host_ip));
    const kc_str key = kc_cstr(kc_arena_printf(
        arena, "%lld/%.*s", (long long)kc__location_number(&number), KC_ARG(protocol)));
    port->next = kc_map_get(seen, key);
    warn_earlier_ports(pod, at, port, port->next);
    kc_map_put(seen, key, port);
}

static void warn_port_name(const warned_pod *pod, const kc__location *at, kc_map *seen)
{
    const kc_str name = kc__location_member_text(at, "name");
    const char *first = name.n ? kc_map_get(seen, name) : NULL;
    if (first)
        warn_about(pod, at,
                   "duplicate port name \"%.*s\" with %s, services and probes that select ports by "
                   "name will use %s",
                   KC_ARG(name), first, first);
    else if (name.n)
        kc_map_put(seen, name, (void *)kc__location_path(at));
}

typedef void warn_port_fn(const warned_pod *pod, const kc__location *port, kc_map *seen);

/* ---- all containers ---- */

static const char *const container_lists[] = {"initContainers", "containers",
                                              "ephemeralContainers"};

static void each_container(const warned_pod *pod)
{
    for (size_t l = 0; l < KC_COUNT(container_lists); l++) {
        const kc__location list = kc__location_member(&pod->spec, container_lists[l]);
        size_t i = 0;
        kc_value_each_item (list.value, value) {
            const kc__location container = kc__location_item(&list, value, i++);
            warn_container(pod, &container);
        }
    }
}

/* Calls a function for each port of the pod, with one map. */
static void each_port(const warned_pod *pod, warn_port_fn *warn)
{
    kc_scoped(kc_map) seen = {0};
    for (size_t l = 0; l < KC_COUNT(container_lists); l++) {
        const kc__location list = kc__location_member(&pod->spec, container_lists[l]);
        size_t c = 0;
        kc_value_each_item (list.value, value) {
            const kc__location container = kc__location_item(&list, value, c++),
                               ports = kc__location_member(&container, "ports");
            size_t p = 0;
            kc_value_each_item (ports.value, one) {
                const kc__location port = kc__location_item(&ports, one, p++);
                if (has_room(pod))
                    warn(pod, &port, &seen);
            }
        }
    }
}

/* ---- affinity between pods ---- */

static void warn_null_selectors(const warned_pod *pod, const kc__location *affinity)
{
    const kc__location required = kc__location_member(
                           affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
                       preferred = kc__location_member(
                           affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    size_t i = 0;
    kc_value_each_item (required.value, value) {
        const kc__location term = kc__location_item(&required, value, i++),
                           selector = kc__location_member(&term, "labelSelector");
        if (!selector.value)
            warn_about(pod, &selector, NULL_SELECTOR);
    }
    i = 0;
    kc_value_each_item (preferred.value, value) {
        const kc__location item = kc__location_item(&preferred, value, i++),
                           term = kc__location_member(&item, "podAffinityTerm"),
                           selector = kc__location_member(&term, "labelSelector");
        if (!selector.value)
            warn_about(pod, &selector, NULL_SELECTOR);
    }
}

/* ---- pods and templates ---- */

static void warn_spec_values(const warned_pod *pod)
{
    const kc__location overhead = kc__location_member(&pod->spec, "overhead");
    warn_fraction(pod, &overhead, "memory");
    warn_fraction(pod, &overhead, "ephemeral-storage");
    if (!profile_in(pod->spec.value, "seccompProfile"))
        warn_annotation(pod, SECCOMP_POD,
                        "non-functional in v1.27+; use the \"seccompProfile\" field instead");
}

static void warn_grace(const warned_pod *pod)
{
    const kc__location grace = kc__location_member(&pod->spec, "terminationGracePeriodSeconds");
    if (kc__location_number(&grace) < 0)
        warn_about(pod, &grace,
                   "must be >= 0; negative values are invalid and will be treated as 1");
}

static void warn_pod(const kc__location *root, bool is_template, kc_paths *warnings)
{
    warned_pod pod = {.root = root, .is_template = is_template, .warnings = warnings};
    pod.metadata = kc__location_member(root, "metadata");
    pod.annotations = kc__location_member(&pod.metadata, "annotations");
    pod.spec = kc__location_member(root, "spec");
    const kc__location affinity = kc__location_member(&pod.spec, "affinity"),
                       near = kc__location_member(&affinity, "podAffinity"),
                       far = kc__location_member(&affinity, "podAntiAffinity");
    warn_node_selector(&pod);
    warn_node_affinity(&pod);
    warn_spread(&pod);
    warn_annotations(&pod);
    warn_volumes(&pod);
    kc__warnings_volume_paths(kc_value_get(pod.spec.value, "volumes"), MAX_WARNINGS, warnings);
    warn_duplicates(&pod, "hostAliases", "ip");
    warn_duplicates(&pod, "imagePullSecrets", "name");
    warn_nameless_secrets(&pod);
    warn_spec_values(&pod);
    each_container(&pod);
    each_port(&pod, warn_port);
    each_port(&pod, warn_port_name);
    warn_grace(&pod);
    warn_null_selectors(&pod, &near);
    warn_null_selectors(&pod, &far);
}

void kc__warnings_pod(const kc_value *pod, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    const kc__location root = kc__location_root(pod, &paths);
    warn_pod(&root, false, warnings);
}

/* The template of an object or of a spec. */
static void warn_template(const kc__location *owner, kc_paths *warnings)
{
    const kc__location template = kc__location_member(owner, "template");
    if (template.value)
        warn_pod(&template, true, warnings);
}

void kc__warnings_pod_template(const kc_value *object, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    const kc__location root = kc__location_root(object, &paths),
                       spec = kc__location_member(&root, "spec");
    warn_template(&spec, warnings);
}

void kc__warnings_bare_template(const kc_value *object, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    const kc__location root = kc__location_root(object, &paths);
    warn_template(&root, warnings);
}

static void warn_job_spec(const kc__location *spec, kc_paths *warnings)
{
    const kc__location completions = kc__location_member(spec, "completions"),
                       parallelism = kc__location_member(spec, "parallelism");
    if (kc_str_is(kc__location_member_text(spec, "completionMode"), "Indexed") &&
        kc__location_number(&completions) > 100000 && kc__location_number(&parallelism) > 10000)
        kc_vec_push(warnings,
                    kc_asprintf("%s: In Indexed Jobs with a number of completions higher than 10^5 "
                                "and a parallelism higher than 10^4, Kubernetes might not be able "
                                "to track completedIndexes when a big number of indexes fail",
                                kc__location_path(spec)));
    warn_template(spec, warnings);
}

void kc__warnings_job(const kc_value *job, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    const kc__location root = kc__location_root(job, &paths),
                       spec = kc__location_member(&root, "spec");
    warn_job_spec(&spec, warnings);
}

void kc__warnings_cron_job(const kc_value *job, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    const kc__location root = kc__location_root(job, &paths),
                       own = kc__location_member(&root, "spec"),
                       template = kc__location_member(&own, "jobTemplate"),
                       spec = kc__location_member(&template, "spec");
    warn_job_spec(&spec, warnings);
}
