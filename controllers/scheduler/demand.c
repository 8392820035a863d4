/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.c: from a pod to what a scheduler knows of it; see demand.h.
 *
 * A part of a pod that cannot be read (a selector with an operator that is none: the server lets no
 * such pod in) makes the whole pod unreadable, and it is left alone. The exception are terms of
 * node affinity, which then match no node, as upstream.
 */
#include "scheduler/demand.h"

#include "scheduler/texts.h"

/* ---- ports ---- */

static char *dup_or(const char *text, const char *otherwise)
{
    return kc_strdup(text && *text ? text : otherwise);
}

static void read_ports(kc__demand *d, const kc_container *c)
{
    for (size_t i = 0; i < c->n_ports; i++)
        if (c->ports[i].host_port > 0)
            kc_vec_push(&d->ports,
                        (kc__port){dup_or(c->ports[i].host_ip, "0.0.0.0"),
                                   dup_or(c->ports[i].protocol, "TCP"), c->ports[i].host_port});
}

static void read_all_ports(kc__demand *d, const kc_pod_spec *spec)
{
    for (size_t i = 0; i < spec->n_containers; i++)
        read_ports(d, &spec->containers[i]);
    for (size_t i = 0; i < spec->n_init_containers; i++)
        if (kc__is_sidecar(&spec->init_containers[i]))
            read_ports(d, &spec->init_containers[i]);
}

/* ---- what it wants of other pods ---- */

static int add_rule(kc__demand *d, kc__terms *terms, const kc_pod *pod, kc__rule_kind kind,
                    const kc_pod_affinity_term *from, int32_t weight, kc_error *err)
{
    kc__term *term = kc__term_of_affinity(terms, pod, from, err);
    if (!term)
        return -1;
    kc_vec_push(&d->rules, (kc__rule){kind, term, weight});
    return 0;
}

/* `sign` is -1 for anti-affinity. */
static int read_affinity(kc__demand *d, kc__terms *terms, const kc_pod *pod,
                         const kc_pod_affinity *from, int sign, kc_error *err)
{
    if (!from)
        return 0;
    const kc__rule_kind kind = sign > 0 ? KC__REQUIRE : KC__FORBID;
    for (size_t i = 0; i < from->n_required; i++)
        if (add_rule(d, terms, pod, kind, &from->required[i], 0, err) < 0)
            return -1;
    for (size_t i = 0; i < from->n_preferred; i++)
        if (add_rule(d, terms, pod, KC__PREFER, &from->preferred[i].pod_affinity_term,
                     sign * from->preferred[i].weight, err) < 0)
            return -1;
    return 0;
}

/* ---- what it wants of nodes ---- */

static kc__node_term compile_node_term(const kc_node_selector_term *from, int32_t weight)
{
    kc__node_term term = {
        .fields = from->match_fields, .n_fields = from->n_match_fields, .weight = weight};
    if (from->n_match_expressions) {
        term.labels =
            kc__selector_of_rules(from->match_expressions, from->n_match_expressions, NULL);
        term.never = !term.labels;
    } else {
        term.never = !from->n_match_fields;
    }
    return term;
}

static void read_node_affinity(kc__wants *w, const kc_node_affinity *from)
{
    if (!from)
        return;
    w->restricted = from->required;
    for (size_t i = 0; from->required && i < from->required->n_node_selector_terms; i++)
        kc_vec_push(&w->required, compile_node_term(&from->required->node_selector_terms[i], 0));
    for (size_t i = 0; i < from->n_preferred; i++)
        if (from->preferred[i].weight)
            kc_vec_push(&w->preferred, compile_node_term(&from->preferred[i].preference,
                                                         from->preferred[i].weight));
}

static int read_node_selector(kc__wants *w, const kc_string_map *from, kc_error *err)
{
    if (!from->n)
        return 0;
    const kc_label_selector as_labels = {.match_labels = *from};
    w->node_selector = kc__selector_of(&as_labels, NULL, 0, err);
    return w->node_selector ? 0 : -1;
}

static kc__labelled labelled(const kc__demand *d)
{
    return (kc__labelled){.pod = d->object, .owner = d->owner};
}

static int read_spread(kc__demand *d, kc__terms *terms, const kc_topology_spread *from,
                       kc_error *err)
{
    kc__term *term = kc__term_of_spread(terms, d->wants->pod, from, err);
    if (!term)
        return -1;
    const kc__labelled self = labelled(d);
    kc_vec_push(&d->wants->spreads,
                (kc__spread){.term = term,
                             .max_skew = from->max_skew,
                             .min_domains = from->min_domains ? *from->min_domains : 1,
                             .hard = kc__says(from->when_unsatisfiable, "DoNotSchedule"),
                             .ignore_affinity = kc__says(from->node_affinity_policy, "Ignore"),
                             .honor_taints = kc__says(from->node_taints_policy, "Honor"),
                             .counts_itself = kc__term_matches(term, &self)});
    return 0;
}

/* Pods of one owner are spread over nodes and zones though nobody asked for it, as upstream. */
static void spread_by_default(kc__demand *d, kc__terms *terms)
{
    static const struct {
        const char *key;
        int32_t max_skew;
    } defaults[] = {{"kubernetes.io/hostname", 3}, {"topology.kubernetes.io/zone", 5}};
    for (size_t i = 0; i < KC_COUNT(defaults); i++)
        kc_vec_push(
            &d->wants->spreads,
            (kc__spread){.term = kc__term_of_owner(terms, d->key.ns, d->owner, defaults[i].key),
                         .max_skew = defaults[i].max_skew,
                         .min_domains = 1,
                         .counts_itself = true});
    d->wants->default_spread = true;
}

static int read_wants(kc__demand *d, kc__terms *terms, kc_error *err)
{
    kc__wants *w = d->wants;
    const kc_pod_spec *spec = &w->pod->spec;
    w->n_gates = spec->n_scheduling_gates;
    w->never_preempts = kc__says(spec->preemption_policy, "Never");
    if (w->pod->status.nominated_node_name && *w->pod->status.nominated_node_name)
        w->nominated = kc_strdup(w->pod->status.nominated_node_name);
    read_node_affinity(w, spec->affinity ? spec->affinity->node_affinity : NULL);
    for (size_t i = 0; i < spec->n_topology_spread_constraints; i++)
        if (read_spread(d, terms, &spec->topology_spread_constraints[i], err) < 0)
            return -1;
    if (!spec->n_topology_spread_constraints && d->owner.n)
        spread_by_default(d, terms);
    return read_node_selector(w, &spec->node_selector, err);
}

/* ---- all of it ---- */

static bool was_preempted(const kc_pod_status *status)
{
    for (size_t i = 0; i < status->n_conditions; i++)
        if (kc__says(status->conditions[i].type, "DisruptionTarget"))
            return kc__says(status->conditions[i].status, "True") &&
                   kc__says(status->conditions[i].reason, "PreemptionByScheduler");
    return false;
}

static kc_str owner_of(const kc_object *object)
{
    kc_scoped(kc_arena) arena = {0};
    kc_owner owner;
    return kc_object_controller(object, &arena, &owner) ? owner.uid : (kc_str){0};
}

static void read_facts(kc__demand *d, const kc_pod *pod)
{
    const char *phase = pod->status.phase, *scheduler = pod->spec.scheduler_name;
    d->priority = pod->spec.priority ? *pod->spec.priority : 0;
    d->created = pod->metadata.creation_timestamp.at;
    d->started = pod->status.start_time.at;
    d->leaving = pod->metadata.deletion_timestamp.at != 0;
    d->preempted = d->leaving && was_preempted(&pod->status);
    d->finished = kc__says(phase, "Succeeded") || kc__says(phase, "Failed");
    d->ours = !scheduler || !*scheduler || kc__says(scheduler, KC__SCHEDULER_NAME);
    if (pod->spec.node_name && *pod->spec.node_name)
        d->node = kc_strdup(pod->spec.node_name);
    kc_scoped(kc__resources) assumed = {0};
    kc__resources_of_pod(&pod->spec, true, &assumed);
    d->assumed_cpu = assumed.cpu;
    d->assumed_memory = assumed.memory;
    kc__resources_of_pod(&pod->spec, false, &d->requests);
    read_all_ports(d, &pod->spec);
}

kc__demand *kc__demand_of(const kc_object *object, kc__terms *terms, kc_error *err)
{
    kc_auto(kc_pod) *pod = kc_pod_of(object, err);
    if (!pod)
        return NULL;
    kc_auto(kc__demand) *d = kc_new(kc__demand);
    d->object = kc_object_ref(object);
    d->key = kc_object_key(object);
    d->uid = kc_object_uid(object);
    d->owner = owner_of(object);
    read_facts(d, pod);
    const kc_affinity *a = pod->spec.affinity;
    if (a && (read_affinity(d, terms, pod, a->pod_affinity, 1, err) < 0 ||
              read_affinity(d, terms, pod, a->pod_anti_affinity, -1, err) < 0))
        return NULL;
    if (!d->node) {
        d->wants = kc_new(kc__wants);
        d->wants->pod = kc_take(pod);
        if (read_wants(d, terms, err) < 0)
            return NULL;
    }
    return kc_take(d);
}

static void wants_free(kc__wants *w)
{
    if (!w)
        return;
    kc_vec_each (&w->required, t)
        kc_selector_free(t->labels);
    kc_vec_each (&w->preferred, t)
        kc_selector_free(t->labels);
    kc_vec_each (&w->spreads, s)
        kc__term_unref(s->term);
    kc_vec_done(&w->required);
    kc_vec_done(&w->preferred);
    kc_vec_done(&w->spreads);
    kc_selector_free(w->node_selector);
    kc_pod_free(w->pod);
    free(w->nominated);
    free(w);
}

kc__demand *kc__demand_free(kc__demand *d)
{
    if (!d)
        return NULL;
    wants_free(d->wants);
    kc_vec_each (&d->rules, r)
        kc__term_unref(r->term);
    kc_vec_done(&d->rules);
    kc_vec_each (&d->ports, p) {
        free(p->ip);
        free(p->protocol);
    }
    kc_vec_done(&d->ports);
    kc__resources_done(&d->requests);
    kc_object_unref(d->object);
    free(d->node);
    free(d);
    return NULL;
}

/* ---- nodes it wants ---- */

/* The one field there is: metadata.name. */
static bool field_matches(const kc_selector_requirement *rule, const kc_object *node)
{
    if (!kc__says(rule->key, "metadata.name") || rule->n_values != 1)
        return false;
    const bool same = kc_str_is(kc_object_name(node), rule->values[0]);
    return kc__says(rule->operator, "In") ? same : kc__says(rule->operator, "NotIn") && !same;
}

bool kc__node_term_matches(const kc__node_term *term, const kc_object *node)
{
    if (term->never || (term->labels && !kc_selector_match(term->labels, node)))
        return false;
    for (size_t i = 0; i < term->n_fields; i++)
        if (!field_matches(&term->fields[i], node))
            return false;
    return true;
}

bool kc__wants_node(const kc__wants *wants, const kc_object *node)
{
    if (wants->node_selector && !kc_selector_match(wants->node_selector, node))
        return false;
    if (!wants->restricted)
        return true;
    kc_vec_each (&wants->required, term)
        if (kc__node_term_matches(term, node))
            return true;
    return false;
}
