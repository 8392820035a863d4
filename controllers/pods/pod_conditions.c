/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_conditions.c: the pod conditions that the node sets: PodReadyToStartContainers, Initialized,
 * Ready, ContainersReady; PodScheduled, which is True for every pod here; and, for pods with fields
 * that the node does not apply, KC__POD_CONDITION_APPLIED.
 *
 * Conditions of other writers are kept and come first. A condition whose status is unchanged keeps
 * its lastTransitionTime.
 */
#include "pods/pod_record.h"

static const char *const ours[] = {
    "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled",
    KC__POD_CONDITION_APPLIED,   NULL};

typedef struct pod_conditions_verdict {
    bool yes;
    const char *reason, *message;
} pod_conditions_verdict;

static const kc_pod_condition *pod_conditions_find(const kc_pod_condition *list, size_t n,
                                                   const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].type, type))
            return &list[i];
    return NULL;
}

static kc_pod_condition pod_conditions_make(const kc_pod *pod, const char *type,
                                            pod_conditions_verdict v, kc_time now)
{
    const char *status = v.yes ? "True" : "False";
    const kc_pod_condition *was =
        pod_conditions_find(pod->status.conditions, pod->status.n_conditions, type);
    kc_pod_condition c = {.type = (char *)type,
                          .observed_generation = pod->metadata.generation,
                          .status = (char *)status,
                          .last_transition_time.at = kc__pod_whole_seconds(now),
                          .reason = (char *)v.reason,
                          .message = (char *)v.message};
    if (was && !strcmp(was->status, status)) {
        c.last_transition_time = was->last_transition_time;
        c.last_probe_time = was->last_probe_time;
    }
    return c;
}

/* ---- lists of names, as Go prints them: "[a b]" ---- */

static void pod_conditions_add_name(kc_buf *names, const char *name)
{
    kc_buf_puts(names, names->n ? " " : "[");
    kc_buf_puts(names, name);
}

static const char *with_names(kc_arena *arena, const char *text, kc_buf *names)
{
    return names->n ? kc_arena_printf(arena, "%s: %s]", text, kc_buf_cstr(names)) : NULL;
}

/* ---- single conditions ---- */

static pod_conditions_verdict containers_ready(const kc_pod *pod, const kc__pod_record *state,
                                               const kc_pod_status *s, kc_arena *arena)
{
    kc_scoped(kc_buf) names = {0};
    if (kc__pod_phase_is_terminal(s->phase))
        return (pod_conditions_verdict){.reason = !strcmp(s->phase, "Failed") ? "PodFailed"
                                                                              : "PodCompleted"};
    for (size_t i = 0; i < state->n; i++) {
        const kc_container *spec = kc__pod_container(pod, i);
        const bool counts = i >= state->n_init || kc__common_is_sidecar(spec);
        if (counts && !kc__pod_container_is_ready(&state->containers[i], spec))
            pod_conditions_add_name(&names, spec->name);
    }
    const char *message = with_names(arena, "containers with unready status", &names);
    return message ? (pod_conditions_verdict){.reason = "ContainersNotReady", .message = message}
                   : (pod_conditions_verdict){.yes = true};
}

static void check_gate(const char *gate, const kc_pod_condition *c, kc_buf *why)
{
    if (c && !strcmp(c->status, "True"))
        return;
    if (why->n)
        kc_buf_puts(why, ", ");
    if (c)
        kc_buf_printf(why, "the status of pod readiness gate \"%s\" is not \"True\", but %s", gate,
                      c->status);
    else
        kc_buf_printf(why, "corresponding condition of pod readiness gate \"%s\" does not exist.",
                      gate);
}

static pod_conditions_verdict ready(const kc_pod *pod, pod_conditions_verdict of_containers,
                                    kc_arena *arena)
{
    kc_scoped(kc_buf) why = {0};
    if (!of_containers.yes)
        return of_containers;
    for (size_t i = 0; i < pod->spec.n_readiness_gates; i++) {
        const char *gate = pod->spec.readiness_gates[i].condition_type;
        check_gate(gate,
                   pod_conditions_find(pod->status.conditions, pod->status.n_conditions, gate),
                   &why);
    }
    if (!why.n)
        return (pod_conditions_verdict){.yes = true};
    return (pod_conditions_verdict){.reason = "ReadinessGatesNotReady",
                                    .message = kc_arena_printf(arena, "%s", kc_buf_cstr(&why))};
}

static bool has_run(const kc_pod_status *s)
{
    for (size_t i = 0; i < s->n_container_statuses; i++)
        if (s->container_statuses[i].state.running || s->container_statuses[i].state.terminated)
            return true;
    return false;
}

static pod_conditions_verdict initialized(const kc_pod *pod, const kc_pod_status *s,
                                          kc_arena *arena)
{
    kc_scoped(kc_buf) names = {0};
    if (s->phase && !strcmp(s->phase, "Succeeded"))
        return (pod_conditions_verdict){.yes = true, .reason = "PodCompleted"};
    if (has_run(s))
        return (pod_conditions_verdict){.yes = true};
    for (size_t i = 0; i < s->n_init_container_statuses; i++) {
        const kc_container_status *c = &s->init_container_statuses[i];
        if (kc__common_is_sidecar(kc__pod_container(pod, i)) ? !*c->started : !c->ready)
            pod_conditions_add_name(&names, c->name);
    }
    const char *message = with_names(arena, "containers with incomplete status", &names);
    return message
               ? (pod_conditions_verdict){.reason = "ContainersNotInitialized", .message = message}
               : (pod_conditions_verdict){.yes = true};
}

/* ---- all conditions ---- */

static size_t keep_others(const kc_pod *pod, kc_pod_condition *to)
{
    size_t n = 0;
    for (size_t i = 0; i < pod->status.n_conditions; i++)
        if (!kc_str_is_any(kc_cstr(pod->status.conditions[i].type), ours))
            to[n++] = pod->status.conditions[i];
    return n;
}

void kc__pod_conditions_make(const kc_pod *pod, const kc__pod_record *state,
                             const kc__pod_host_info *place, kc_time now, kc_arena *arena,
                             kc_pod_status *status)
{
    kc_pod_condition *list =
        kc_arena_calloc(arena, pod->status.n_conditions + KC_COUNT(ours), sizeof(kc_pod_condition));
    size_t n = keep_others(pod, list);
    const bool terminal = kc__pod_phase_is_terminal(status->phase);
    const pod_conditions_verdict of_containers = containers_ready(pod, state, status, arena);
    const pod_conditions_verdict sandbox = {.yes = state->prepared &&
                                                   !(terminal && !kc__pod_is_alive(state))};
    list[n++] = pod_conditions_make(pod, ours[0], sandbox, now);
    list[n++] = pod_conditions_make(pod, ours[1], initialized(pod, status, arena), now);
    list[n++] = pod_conditions_make(pod, ours[2], ready(pod, of_containers, arena), now);
    list[n++] = pod_conditions_make(pod, ours[3], of_containers, now);
    list[n++] = pod_conditions_make(pod, ours[4], (pod_conditions_verdict){.yes = true}, now);
    if (state->ignored)
        list[n++] = pod_conditions_make(
            pod, ours[5],
            (pod_conditions_verdict){.reason = KC__POD_REASON_IGNORED, .message = state->ignored},
            now);
    for (size_t i = 0; i < n && place->no_generations; i++)
        list[i].observed_generation = 0;
    status->conditions = list;
    status->n_conditions = n;
}
