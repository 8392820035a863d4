/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.c: extracts a pod's scheduling requirements; see demand.h.
 *
 * A pod with an invalid part (a selector with an unknown operator, which the server refuses) is
 * skipped as a whole. Node affinity terms are the exception: an invalid one matches no node, as in
 * kube-scheduler.
 */
#include "scheduler/demand.h"

#include "scheduler/texts.h"

/* ---- ports ---- */

static char *dup_or(const char *text, const char *fallback)
{
    return kc_strdup(text && *text ? text : fallback);
}

static void read_ports(kc__sched_demand *d, const kc_container *c)
{
    for (size_t i = 0; i < c->n_ports; i++)
        if (c->ports[i].host_port > 0)
            kc_vec_push(&d->ports, (kc__sched_port){dup_or(c->ports[i].host_ip, "0.0.0.0"),
                                                    dup_or(c->ports[i].protocol, "TCP"),
                                                    c->ports[i].host_port});
}

static void read_all_ports(kc__sched_demand *d, const kc_pod_spec *spec)
{
    for (size_t i = 0; i < spec->n_containers; i++)
        read_ports(d, &spec->containers[i]);
    for (size_t i = 0; i < spec->n_init_containers; i++)
        if (kc__common_is_sidecar(&spec->init_containers[i]))
            read_ports(d, &spec->init_containers[i]);
}

/* ---- pod affinity ---- */

static int add_rule(kc__sched_demand *d, kc__sched_terms *terms, const kc_pod *pod,
                    kc__sched_rule_kind kind, const kc_pod_affinity_term *from, int32_t weight,
                    kc_error *err)
{
    kc__sched_term *term = kc__sched_term_of_affinity(terms, pod, from, err);
    if (!term)
        return kc_error_result(err);
    kc_vec_push(&d->rules, (kc__sched_rule){kind, term, weight});
    return 0;
}

/* `sign` is -1 for anti-affinity. */
static int read_affinity(kc__sched_demand *d, kc__sched_terms *terms, const kc_pod *pod,
                         const kc_pod_affinity *from, int sign, kc_error *err)
{
    if (!from)
        return 0;
    const kc__sched_rule_kind kind = sign > 0 ? KC__SCHED_REQUIRE : KC__SCHED_FORBID;
    for (size_t i = 0; i < from->n_required; i++)
        if (add_rule(d, terms, pod, kind, &from->required[i], 0, err) < 0)
            return kc_error_result(err);
    for (size_t i = 0; i < from->n_preferred; i++)
        if (add_rule(d, terms, pod, KC__SCHED_PREFER, &from->preferred[i].pod_affinity_term,
                     sign * from->preferred[i].weight, err) < 0)
            return kc_error_result(err);
    return 0;
}

/* ---- node affinity and spread ---- */

static kc__sched_node_term compile_node_term(const kc_node_selector_term *from, int32_t weight)
{
    kc__sched_node_term term = {
        .fields = from->match_fields, .n_fields = from->n_match_fields, .weight = weight};
    if (from->n_match_expressions) {
        term.labels =
            kc__sched_selector_of_rules(from->match_expressions, from->n_match_expressions, NULL);
        term.never = !term.labels;
    } else {
        term.never = !from->n_match_fields;
    }
    return term;
}

static void read_node_affinity(kc__sched_wants *w, const kc_node_affinity *from)
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

static int read_node_selector(kc__sched_wants *w, const kc_string_map *from, kc_error *err)
{
    if (!from->n)
        return 0;
    const kc_label_selector as_labels = {.match_labels = *from};
    w->node_selector = kc__sched_selector_of(&as_labels, NULL, 0, err);
    return w->node_selector ? 0 : kc_error_result(err);
}

static kc__sched_labelled labelled(const kc__sched_demand *d)
{
    return (kc__sched_labelled){.pod = d->object, .owner = d->owner};
}

static int read_spread(kc__sched_demand *d, kc__sched_terms *terms, const kc_topology_spread *from,
                       kc_error *err)
{
    kc__sched_term *term = kc__sched_term_of_spread(terms, d->wants->pod, from, err);
    if (!term)
        return kc_error_result(err);
    const kc__sched_labelled self = labelled(d);
    kc_vec_push(&d->wants->spreads,
                (kc__sched_spread){
                    .term = term,
                    .max_skew = from->max_skew,
                    .min_domains = from->min_domains ? *from->min_domains : 1,
                    .hard = kc__sched_text_is(from->when_unsatisfiable, "DoNotSchedule"),
                    .ignore_affinity = kc__sched_text_is(from->node_affinity_policy, "Ignore"),
                    .honor_taints = kc__sched_text_is(from->node_taints_policy, "Honor"),
                    .counts_itself = kc__sched_term_matches(term, &self)});
    return 0;
}

/* Default constraints: pods of one owner are spread over nodes and zones, as in kube-scheduler. */
static void spread_by_default(kc__sched_demand *d, kc__sched_terms *terms)
{
    static const struct {
        const char *key;
        int32_t max_skew;
    } defaults[] = {{"kubernetes.io/hostname", 3}, {"topology.kubernetes.io/zone", 5}};
    for (size_t i = 0; i < KC_COUNT(defaults); i++)
        kc_vec_push(&d->wants->spreads,
                    (kc__sched_spread){.term = kc__sched_term_of_owner(terms, d->key.ns, d->owner,
                                                                       defaults[i].key),
                                       .max_skew = defaults[i].max_skew,
                                       .min_domains = 1,
                                       .counts_itself = true});
    d->wants->default_spread = true;
}

static int read_wants(kc__sched_demand *d, kc__sched_terms *terms, kc_error *err)
{
    kc__sched_wants *w = d->wants;
    const kc_pod_spec *spec = &w->pod->spec;
    w->n_gates = spec->n_scheduling_gates;
    w->never_preempts = kc__sched_text_is(spec->preemption_policy, "Never");
    if (w->pod->status.nominated_node_name && *w->pod->status.nominated_node_name)
        w->nominated = kc_strdup(w->pod->status.nominated_node_name);
    read_node_affinity(w, spec->affinity ? spec->affinity->node_affinity : NULL);
    for (size_t i = 0; i < spec->n_topology_spread_constraints; i++)
        if (read_spread(d, terms, &spec->topology_spread_constraints[i], err) < 0)
            return kc_error_result(err);
    if (!spec->n_topology_spread_constraints && d->owner.n)
        spread_by_default(d, terms);
    return read_node_selector(w, &spec->node_selector, err);
}

/* ---- demand ---- */

static bool was_preempted(const kc_pod_status *status)
{
    for (size_t i = 0; i < status->n_conditions; i++)
        if (kc__sched_text_is(status->conditions[i].type, "DisruptionTarget"))
            return kc__sched_text_is(status->conditions[i].status, "True") &&
                   kc__sched_text_is(status->conditions[i].reason, "PreemptionByScheduler");
    return false;
}

static kc_str owner_of(const kc_object *object)
{
    kc_scoped(kc_arena) arena = {0};
    kc_owner owner;
    return kc_object_controller(object, &arena, &owner) ? owner.uid : (kc_str){0};
}

static void read_facts(kc__sched_demand *d, const kc_pod *pod)
{
    const char *phase = pod->status.phase, *scheduler = pod->spec.scheduler_name;
    d->priority = pod->spec.priority ? *pod->spec.priority : 0;
    d->created = pod->metadata.creation_timestamp.at;
    d->started = pod->status.start_time.at;
    d->leaving = pod->metadata.deletion_timestamp.at != 0;
    d->preempted = d->leaving && was_preempted(&pod->status);
    d->finished = kc__sched_text_is(phase, "Succeeded") || kc__sched_text_is(phase, "Failed");
    d->ours = !scheduler || !*scheduler || kc__sched_text_is(scheduler, KC__SCHED_SCHEDULER_NAME);
    if (pod->spec.node_name && *pod->spec.node_name)
        d->node = kc_strdup(pod->spec.node_name);
    kc_scoped(kc__common_resources) assumed = {0};
    kc__common_resources_of_pod(&pod->spec, true, &assumed);
    d->assumed_cpu = assumed.cpu;
    d->assumed_memory = assumed.memory;
    kc__common_resources_of_pod(&pod->spec, false, &d->requests);
    read_all_ports(d, &pod->spec);
}

kc__sched_demand *kc__sched_demand_of(const kc_object *object, kc__sched_terms *terms,
                                      kc_error *err)
{
    kc_auto(kc_pod) *pod = kc_pod_of(object, err);
    if (!pod)
        return NULL;
    kc_auto(kc__sched_demand) *d = kc_new(kc__sched_demand);
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
        d->wants = kc_new(kc__sched_wants);
        d->wants->pod = kc_take(pod);
        if (read_wants(d, terms, err) < 0)
            return NULL;
    }
    return kc_take(d);
}

static void wants_free(kc__sched_wants *w)
{
    if (!w)
        return;
    kc_vec_each (&w->required, t)
        kc_selector_free(t->labels);
    kc_vec_each (&w->preferred, t)
        kc_selector_free(t->labels);
    kc_vec_each (&w->spreads, s)
        kc__sched_term_unref(s->term);
    kc_vec_done(&w->required);
    kc_vec_done(&w->preferred);
    kc_vec_done(&w->spreads);
    kc_selector_free(w->node_selector);
    kc_pod_free(w->pod);
    free(w->nominated);
    free(w);
}

kc__sched_demand *kc__sched_demand_free(kc__sched_demand *d)
{
    if (!d)
        return NULL;
    wants_free(d->wants);
    kc_vec_each (&d->rules, r)
        kc__sched_term_unref(r->term);
    kc_vec_done(&d->rules);
    kc_vec_each (&d->ports, p) {
        free(p->ip);
        free(p->protocol);
    }
    kc_vec_done(&d->ports);
    kc__common_resources_done(&d->requests);
    kc_object_unref(d->object);
    free(d->node);
    free(d);
    return NULL;
}

/* ---- matching nodes ---- */

/* The only supported field is metadata.name. */
static bool field_matches(const kc_selector_requirement *rule, const kc_object *node)
{
    if (!kc__sched_text_is(rule->key, "metadata.name") || rule->n_values != 1)
        return false;
    const bool same = kc_str_is(kc_object_name(node), rule->values[0]);
    return kc__sched_text_is(rule->operator, "In")
               ? same
               : kc__sched_text_is(rule->operator, "NotIn") && !same;
}

bool kc__sched_node_term_matches(const kc__sched_node_term *term, const kc_object *node)
{
    if (term->never || (term->labels && !kc_selector_match(term->labels, node)))
        return false;
    for (size_t i = 0; i < term->n_fields; i++)
        if (!field_matches(&term->fields[i], node))
            return false;
    return true;
}

bool kc__sched_wants_node(const kc__sched_wants *wants, const kc_object *node)
{
    if (wants->node_selector && !kc_selector_match(wants->node_selector, node))
        return false;
    if (!wants->restricted)
        return true;
    kc_vec_each (&wants->required, term)
        if (kc__sched_node_term_matches(term, node))
            return true;
    return false;
}
