/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_amounts.c: sums of a pod's resources, as Kubernetes' PodRequests and PodLimits compute them.
 *
 * Init containers run one after the other; sidecars (restartPolicy: Always) keep running. The peak
 * of an init container is its own amount and those of the sidecars before it. A resource that only
 * the sidecars use needs no comparison, because the sum of the running containers includes all
 * sidecars: so each container costs time for its own resources only.
 *
 * A container that is resized in place uses what it requests, what its node has allocated, or what
 * its status reports, whichever is most; the request does not count if the node cannot fulfil it.
 */
#include "kc/quota.h"

#define HUGEPAGES "hugepages-"

/* One computation. */
typedef struct pod_sum {
    const kc_value *pod;
    const char *member; /* "requests" or "limits" */
    unsigned parts;
    kc_map statuses; /* Container statuses by name, as const kc_value *. */
    bool infeasible; /* The node cannot resize the pod as its spec demands. */
} pod_sum;

static void pod_sum_done(pod_sum *sum)
{
    kc_map_done(&sum->statuses);
}

static void find_statuses(pod_sum *sum, const char *list)
{
    kc_value_each_item (kc_value_get(kc_value_get(sum->pod, "status"), list), status)
        if (kc_value_type(kc_value_get(status, "resources")) == KC_JSON_OBJECT)
            kc_map_put(&sum->statuses, kc_value_as_str(kc_value_get(status, "name")),
                       (void *)status);
}

static void read_status(pod_sum *sum)
{
    if (!(sum->parts & KC_QUOTA_POD_STATUS))
        return;
    find_statuses(sum, "containerStatuses");
    find_statuses(sum, "initContainerStatuses");
    kc_value_each_item (kc_value_nested(sum->pod, "status.conditions"), condition) {
        if (!kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), "PodResizePending"))
            continue;
        sum->infeasible =
            kc_str_is(kc_value_as_str(kc_value_get(condition, "reason")), "Infeasible");
        break;
    }
}

static const kc_value *amounts_in(const kc_value *container, const char *member)
{
    return kc_value_get(kc_value_get(container, "resources"), member);
}

static void raise_all(kc_quota_amounts *amounts, const kc_value *list)
{
    kc_quota_amount amount;
    kc_value_each_member (list, name, value)
        if (kc_quota_amount_read(value, &amount))
            kc_quota_amounts_raise(amounts, name, &amount);
}

/* What one container uses. */
static void container_amounts(const pod_sum *sum, const kc_value *container, bool resizable,
                              kc_quota_amounts *ret)
{
    const kc_str name = kc_value_as_str(kc_value_get(container, "name"));
    const kc_value *status = resizable && name.p ? kc_map_get(&sum->statuses, name) : NULL;
    ret->arena.first = 512;
    if (!status || !sum->infeasible)
        kc_quota_amounts_read(ret, amounts_in(container, sum->member));
    raise_all(ret, amounts_in(status, sum->member));
    if (!strcmp(sum->member, "requests"))
        raise_all(ret, kc_value_get(status, "allocatedResources"));
}

static void add_containers(const pod_sum *sum, kc_quota_amounts *sums)
{
    kc_value_each_item (kc_value_nested(sum->pod, "spec.containers"), container) {
        kc_scoped(kc_quota_amounts) own = {0};
        container_amounts(sum, container, true, &own);
        kc_quota_amounts_add_all(sums, &own);
    }
}

/* The peaks of init containers in `peaks`; sidecars are added to `sums`. */
static void add_init_containers(const pod_sum *sum, kc_quota_amounts *sums, kc_quota_amounts *peaks)
{
    kc_scoped(kc_quota_amounts) sidecars = {0};
    kc_value_each_item (kc_value_nested(sum->pod, "spec.initContainers"), container) {
        kc_scoped(kc_quota_amounts) own = {0};
        const bool sidecar =
            kc_str_is(kc_value_as_str(kc_value_get(container, "restartPolicy")), "Always");
        container_amounts(sum, container, sidecar, &own);
        if (sidecar) {
            kc_quota_amounts_add_all(sums, &own);
            kc_quota_amounts_add_all(&sidecars, &own);
        }
        kc_map_each (&own.summed, entry) {
            kc_quota_amount peak = *(const kc_quota_amount *)entry->value, running;
            char text[KC_QUANTITY_MAX];
            if (kc_quota_amount_of(&sidecars, entry->key, &running)) {
                if (sidecar)
                    peak = running;
                else if (kc_quantity_add(&peak.value, running.value))
                    peak.text = kc_quantity_print(peak.value, text);
            }
            peak.text = kc_arena_str(&peaks->arena, peak.text);
            kc_quota_amounts_raise(peaks, entry->key, &peak);
        }
    }
}

/* The resources of the pod itself replace those of its containers. */
static void replace_by_pod_level(const pod_sum *sum, kc_quota_amounts *sums)
{
    kc_quota_amount amount;
    kc_value_each_member (amounts_in(kc_value_get(sum->pod, "spec"), sum->member), name, value) {
        const bool huge =
            sum->parts & KC_QUOTA_POD_HUGEPAGES && kc_str_starts(name, KC_STR(HUGEPAGES));
        if ((huge || kc_str_is(name, "cpu") || kc_str_is(name, "memory")) &&
            kc_quota_amount_read(value, &amount))
            kc_quota_amounts_set(sums, name, &amount);
    }
}

static void add_overhead(const pod_sum *sum, kc_quota_amounts *sums)
{
    kc_quota_amount amount, limit;
    const bool limits = !strcmp(sum->member, "limits");
    if (!(sum->parts & KC_QUOTA_POD_OVERHEAD))
        return;
    kc_value_each_member (kc_value_nested(sum->pod, "spec.overhead"), name, value) {
        if (!kc_quota_amount_read(value, &amount))
            continue;
        if (limits &&
            (!kc_quota_amount_of(sums, name, &limit) || kc_quantity_sign(limit.value) == 0))
            continue;
        kc_quota_amounts_add(sums, name, &amount);
    }
}

void kc_quota_pod_amounts(const kc_value *pod, const char *member, unsigned parts,
                          kc_quota_amounts *ret)
{
    kc_scoped(pod_sum) sum = {.pod = pod, .member = member, .parts = parts};
    kc_scoped(kc_quota_amounts) peaks = {0};
    read_status(&sum);
    add_containers(&sum, ret);
    add_init_containers(&sum, ret, &peaks);
    kc_map_each (&peaks.summed, entry) {
        kc_quota_amount amount = *(const kc_quota_amount *)entry->value;
        amount.text = kc_arena_str(&ret->arena, amount.text);
        kc_quota_amounts_raise(ret, entry->key, &amount);
    }
    replace_by_pod_level(&sum, ret);
    add_overhead(&sum, ret);
}
