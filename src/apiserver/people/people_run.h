/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_run.h: an operation in progress: what it computes on a thread and what it writes.
 *
 *     run = kc__people_run_new(people, op);
 *     kc__people_run_hash(run, then);        on a hashing thread; `then` on the loop of the op
 *     kc__people_run_put(run, cache, key, object, expected);
 *     kc__people_run_commit(run, then);      all writes or none; `then` on the loop
 *     kc__people_run_end(run);               calls op->done
 */
#ifndef KC_APISERVER_PEOPLE_RUN_H
#define KC_APISERVER_PEOPLE_RUN_H

#include "apiserver/people/people_internal.h"

enum { KC__PEOPLE_MAX_WRITES = 3, KC__PEOPLE_MAX_TRIES = 5 };

typedef struct kc__people_run kc__people_run;
typedef void kc__people_step(kc__people_run *run);

struct kc__people_run {
    kc__people *people;
    kc__people_op *op;
    kc__people_step *then;

    /* Hashing: inputs and results. */
    bool verifies; /* op->password, or op->old_password if `makes`, against `stored`. */
    bool makes;    /* A hash of op->password. */
    kc_buf stored, made;
    bool verified;
    bool limited;   /* A try was taken from the limits, … */
    kc_str account; /* … of this account; empty: of the source only. */
    kc_job job;
    kc__loop_task task;

    int64_t generation; /* Of the user when the operation began. */
    kc_buf session_id;

    /* Writes. */
    kc__store_write writes[KC__PEOPLE_MAX_WRITES];
    char *keys[KC__PEOPLE_MAX_WRITES];
    size_t n_writes, n_written;
    bool conflict;
    unsigned tries;
};

kc__people_run *kc__people_run_new(kc__people *people, kc__people_op *op);
/* Calls op->done and frees the run. */
void kc__people_run_end(kc__people_run *run);
/* Sets the error of the op and ends. */
void kc__people_run_fail(kc__people_run *run, kc_reason reason, const char *text);

/* Takes a try of the account and of the source. False: the run has ended with 429. */
bool kc__people_run_limit(kc__people_run *run, kc_str account);
/* Hashes on a thread, then continues; ends with 429 if all threads are busy. */
void kc__people_run_hash(kc__people_run *run, kc__people_step *then);

/* Adds a write; takes over the object, NULL: a deletion. */
void kc__people_run_put(kc__people_run *run, kc__watch_cache *cache, const char *key,
                        kc_object *object, uint64_t expected);
/* Submits the writes as a group. `then` sees run->conflict; an error ends the run. */
void kc__people_run_commit(kc__people_run *run, kc__people_step *then);

#endif
