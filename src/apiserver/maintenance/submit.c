/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.c: submissions in slices of AT_ONCE: a slice is sent, then its answers are awaited. etcd
 * writes what arrives together with one sync of its disk.
 *
 * Threads: `done` runs on a thread of the backend and only counts; the caller reads the results
 * after the last one.
 */
#include "apiserver/maintenance/submit.h"

#include "kc/thread.h"

enum { AT_ONCE = 256 };

typedef struct submitted_op {
    kc__storage_submission submission;
    kc_latch *open;
} submitted_op;

static void count_answer(kc__storage_submission *submission)
{
    kc_latch_count_down(kc_container_of(submission, submitted_op, submission)->open);
}

/* Moves the first error to `err` and releases the others. Returns whether there is one. */
static bool take_first_error(submitted_op *sent, size_t n, kc_error *err)
{
    bool failed = false;
    for (size_t i = 0; i < n; i++) {
        kc_error *why = &sent[i].submission.error;
        if (why->reason && !failed) {
            failed = true;
            kc_error_move(err, why);
        }
        kc_error_done(why);
    }
    return failed;
}

/* False: an operation has no answer. */
static bool submit_slice(kc__storage *storage, const kc__storage_op *ops, size_t n,
                         kc__storage_result *results, kc_error *err)
{
    kc_autofree submitted_op *sent = kc_calloc(n + 1, sizeof(*sent));
    kc_latch open;
    kc_latch_init(&open);
    kc_latch_add(&open, n);
    for (size_t i = 0; i < n; i++) {
        sent[i] = (submitted_op){.submission = {.ops = &ops[i],
                                                .n_ops = 1,
                                                .done = count_answer,
                                                .results = &results[i]},
                                 .open = &open};
        kc__storage_submit(storage, &sent[i].submission);
    }
    kc_latch_wait(&open);
    kc_latch_done(&open);
    return !take_first_error(sent, n, err);
}

int kc__maintenance_submit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                           kc__storage_result *ret_results, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    for (size_t at = 0, n; at < n_ops; at += n) {
        n = KC_MIN(n_ops - at, (size_t)AT_ONCE);
        if (!submit_slice(storage, &ops[at], n, &ret_results[at], &why))
            return kc_error_move(err, &why);
    }
    return 0;
}
