/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_resources.c: plugins for free resources: NodeResourcesFit, which also prefers nodes with
 * more free resources (LeastAllocated), and NodeResourcesBalancedAllocation, which prefers nodes
 * whose CPU and memory are used to the same degree.
 */
#include "scheduler/cycle.h"

#include <math.h>

/* More than the node's capacity: preemption cannot help. */
static kc__sched_filter_code lack(kc__sched_filter_code so_far, int64_t wanted, int64_t has,
                                  int64_t used, const char *reason, kc__sched_reasons *why)
{
    if (wanted <= 0 || wanted <= has - used)
        return so_far;
    kc__sched_reasons_add(why, reason);
    return wanted > has ? KC__SCHED_UNRESOLVABLE : KC_MAX(so_far, KC__SCHED_UNFIT);
}

kc__sched_filter_code kc__sched_filter_fit(kc__sched_cycle *c, const kc__sched_node *host,
                                           kc__sched_reasons *why)
{
    const kc__common_resources *wants = &c->demand->requests, *has = &host->allocatable,
                               *used = &host->used;
    kc__sched_filter_code code = KC__SCHED_FITS;
    if (host->n_pods + 1 > host->allowed_pods) {
        kc__sched_reasons_add(why, "Too many pods");
        code = KC__SCHED_UNFIT;
    }
    code = lack(code, wants->cpu, has->cpu, used->cpu, "Insufficient cpu", why);
    code = lack(code, wants->memory, has->memory, used->memory, "Insufficient memory", why);
    code = lack(code, wants->storage, has->storage, used->storage, "Insufficient ephemeral-storage",
                why);
    kc_vec_each (&wants->scalars, s)
        code = lack(
            code, s->value, kc__common_resources_scalar(has, kc__common_extended_resource_name(s)),
            kc__common_resources_scalar(used, kc__common_extended_resource_name(s)), s->lack, why);
    return code;
}

static int64_t share_left(int64_t has, int64_t used)
{
    if (used > has)
        return 0;
    return has < INT64_MAX / KC__SCHED_MAX_SCORE ? (has - used) * KC__SCHED_MAX_SCORE / has
                                                 : (has - used) / (has / KC__SCHED_MAX_SCORE);
}

int64_t kc__sched_score_least_allocated(kc__sched_cycle *c, const kc__sched_node *host)
{
    const kc__common_resources *has = &host->allocatable;
    int64_t score = 0, weights = 0;
    if (has->cpu) {
        score += share_left(has->cpu, host->assumed_cpu + c->demand->assumed_cpu);
        weights++;
    }
    if (has->memory) {
        score += share_left(has->memory, host->assumed_memory + c->demand->assumed_memory);
        weights++;
    }
    return weights ? score / weights : 0;
}

/* Otherwise pods without requests would all go to the same node. */
bool kc__sched_prepare_score_balance(kc__sched_cycle *c)
{
    return c->demand->requests.cpu || c->demand->requests.memory;
}

static double share_used(int64_t has, int64_t used)
{
    return fmin(1, (double)used / (double)has);
}

int64_t kc__sched_score_balance(kc__sched_cycle *c, const kc__sched_node *host)
{
    const kc__common_resources *has = &host->allocatable, *used = &host->used;
    if (!has->cpu || !has->memory)
        return KC__SCHED_MAX_SCORE;
    const double deviation =
        fabs(share_used(has->cpu, used->cpu + c->demand->requests.cpu) -
             share_used(has->memory, used->memory + c->demand->requests.memory)) /
        2;
    return (int64_t)((1 - deviation) * KC__SCHED_MAX_SCORE);
}
