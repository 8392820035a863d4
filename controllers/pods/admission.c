/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.c: admits a pod to the node it is bound to, as the kubelet does before it runs a pod:
 * the scheduler may not have known the node's state, or a user set spec.nodeName directly.
 *
 * A pod that does not fit fails permanently, with the kubelet's reason (OutOfcpu, NodeAffinity).
 * The requests of admitted pods count until they terminate or are deleted.
 */
#include "pods/pods.h"

#include "common/resources.h"

/* ---- requests of a pod ---- */

static void requests_of(const kc_pod *pod, int64_t *ret_cpu, int64_t *ret_memory)
{
    kc_scoped(kc__common_resources) most = {0};
    kc__common_resources_of_pod(&pod->spec, false, &most);
    *ret_cpu = most.cpu;
    *ret_memory = most.memory;
}

static void pods_admission_take(kc__pod_record *state, int64_t cpu, int64_t memory)
{
    state->counted = true;
    state->cpu = cpu;
    state->memory = memory;
    state->node->cpu += cpu;
    state->node->memory += memory;
    state->node->pods++;
}

void kc__pods_account(kc__pods *pods, const kc_pod *pod, kc__pod_record *state)
{
    int64_t cpu, memory;
    requests_of(pod, &cpu, &memory);
    if (!state->counted && !kc__pod_phase_is_terminal(pod->status.phase))
        kc_locked (&pods->nodes->mutex)
            pods_admission_take(state, cpu, memory);
}

void kc__pods_release(kc__pods *pods, kc__pod_record *state)
{
    if (!state->counted)
        return;
    kc_locked (&pods->nodes->mutex) {
        state->counted = false;
        state->node->cpu -= state->cpu;
        state->node->memory -= state->memory;
        state->node->pods--;
    }
}

/* ---- checks ---- */

static void pods_admission_reject(kc__pod_record *state, const char *reason, char *message)
{
    if (state->failed)
        free(message);
    else {
        state->failed = reason;
        state->failed_message = message;
    }
}

static void refuse_for_want(kc__pod_record *state, const char *reason, const char *what,
                            int64_t requested, int64_t used, int64_t capacity)
{
    if (!requested || used + requested <= capacity)
        return;
    pods_admission_reject(
        state, reason,
        kc_asprintf("Pod was rejected: Node didn't have enough resource: %s, requested: %lld, "
                    "used: %lld, capacity: %lld",
                    what, (long long)requested, (long long)used, (long long)capacity));
}

/* Uses the Node from the cache; before it is cached, the Node as it will be registered. */
static const char *refusal(const kc__pods_node *node, const kc_pod *pod, const char **ret_why)
{
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc_cluster_node) *object = kc__pods_node_get(node);
    if (object)
        return kc__pods_node_refuses(object, pod, ret_why);
    const kc_cluster_node initial = {
        .metadata = {.name = node->name, .labels = kc__pods_node_labels(node, &arena)}};
    return kc__pods_node_refuses(&initial, pod, ret_why);
}

bool kc__pods_admit(kc__pods *pods, const kc_pod *pod, kc__pod_record *state)
{
    int64_t cpu, memory;
    kc__pods_node *node = state->node;
    if (state->admitted || state->failed)
        return !state->failed;
    requests_of(pod, &cpu, &memory);
    const char *why = NULL, *predicate = refusal(node, pod, &why);
    kc_locked (&pods->nodes->mutex) {
        refuse_for_want(state, "OutOfpods", "pods", 1, node->pods, pods->nodes->pods);
        refuse_for_want(state, "OutOfcpu", "cpu", cpu, node->cpu, pods->nodes->cpu);
        refuse_for_want(state, "OutOfmemory", "memory", memory, node->memory, pods->nodes->memory);
        if (predicate)
            pods_admission_reject(
                state, predicate,
                kc_asprintf("Pod was rejected: Predicate %s failed: %s", predicate, why));
        if (!state->failed)
            pods_admission_take(state, cpu, memory);
    }
    state->admitted = !state->failed;
    return state->admitted;
}
