/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_resources.c: what is left on a node: NodeResourcesFit, which also prefers the emptier one
 * (LeastAllocated), and NodeResourcesBalancedAllocation, which prefers one whose CPU and memory are
 * used alike.
 */
#include "scheduler/cycle.h"

#include <math.h>

/* More than the node has at all: no preemption would help. */
static kc__code lack(kc__code so_far, int64_t wanted, int64_t has, int64_t used, const char *reason,
                     kc__reasons *why)
{
    if (wanted <= 0 || wanted <= has - used)
        return so_far;
    kc__reasons_add(why, reason);
    return wanted > has ? KC__NEVER : KC_MAX(so_far, KC__NOT_NOW);
}

kc__code kc__filter_fit(kc__cycle *c, const kc__host *host, kc__reasons *why)
{
    const kc__resources *wants = &c->demand->requests, *has = &host->allocatable,
                        *used = &host->used;
    kc__code code = KC__FITS;
    if (host->n_pods + 1 > host->allowed_pods) {
        kc__reasons_add(why, "Too many pods");
        code = KC__NOT_NOW;
    }
    code = lack(code, wants->cpu, has->cpu, used->cpu, "Insufficient cpu", why);
    code = lack(code, wants->memory, has->memory, used->memory, "Insufficient memory", why);
    code = lack(code, wants->storage, has->storage, used->storage, "Insufficient ephemeral-storage",
                why);
    kc_vec_each (&wants->scalars, s)
        code = lack(code, s->value, kc__resources_scalar(has, kc__scalar_name(s)),
                    kc__resources_scalar(used, kc__scalar_name(s)), s->lack, why);
    return code;
}

static int64_t share_left(int64_t has, int64_t used)
{
    if (used > has)
        return 0;
    return has < INT64_MAX / KC__MAX_SCORE ? (has - used) * KC__MAX_SCORE / has
                                           : (has - used) / (has / KC__MAX_SCORE);
}

int64_t kc__score_least_allocated(kc__cycle *c, const kc__host *host)
{
    const kc__resources *has = &host->allocatable;
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

/* Pods that ask for nothing would all go to the same node. */
bool kc__prepare_score_balance(kc__cycle *c)
{
    return c->demand->requests.cpu || c->demand->requests.memory;
}

static double share_used(int64_t has, int64_t used)
{
    return fmin(1, (double)used / (double)has);
}

int64_t kc__score_balance(kc__cycle *c, const kc__host *host)
{
    const kc__resources *has = &host->allocatable, *used = &host->used;
    if (!has->cpu || !has->memory)
        return KC__MAX_SCORE;
    const double deviation =
        fabs(share_used(has->cpu, used->cpu + c->demand->requests.cpu) -
             share_used(has->memory, used->memory + c->demand->requests.memory)) /
        2;
    return (int64_t)((1 - deviation) * KC__MAX_SCORE);
}
