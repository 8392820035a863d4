/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_group.c: all-or-nothing groups of operations (storage_group.h). The operations of a group
 * run one after the other; the first one that is not stored undoes those before it, and the rest of
 * the group is skipped.
 */
#include "apiserver/storage/storage_group.h"

static void fill_results(kc__storage_result *results, size_t n, kc__storage_outcome outcome)
{
    for (size_t i = 0; i < n; i++)
        results[i] = (kc__storage_result){.outcome = outcome};
}

static int run_checked(const kc__storage_op *op, kc__storage_result *result,
                       const kc__storage_group_ops *with, void *user)
{
    if (!kc__storage_op_problem(op))
        return with->run(user, op, result);
    *result = (kc__storage_result){.outcome = KC__STORAGE_REFUSED};
    return 0;
}

static int run_group(const kc__storage_op *ops, size_t n, kc__storage_result *results,
                     const kc__storage_group_ops *with, void *user)
{
    for (size_t i = 0; i < n; i++) {
        const int code = run_checked(&ops[i], &results[i], with, user);
        if (code)
            return code;
        if (results[i].outcome == KC__STORAGE_STORED)
            continue;
        if (i > 0)
            with->undo(user, i);
        fill_results(results, i, KC__STORAGE_SKIPPED);
        fill_results(results + i + 1, n - i - 1, KC__STORAGE_SKIPPED);
        break;
    }
    return 0;
}

int kc__storage_run_groups(const kc__storage_op *ops, size_t n_ops, kc__storage_result *ret_results,
                           const kc__storage_group_ops *with, void *user)
{
    int code = 0;
    for (size_t at = 0, n = 0; !code && at < n_ops; at += n) {
        n = kc__storage_group_size(ops + at, n_ops - at);
        if (n > 1 && kc__storage_group_problem(ops + at, n))
            fill_results(ret_results + at, n, KC__STORAGE_REFUSED);
        else
            code = run_group(ops + at, n, ret_results + at, with, user);
    }
    return code;
}
