/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.c: returns decided writes to their event loops.
 *
 * The writes of a batch are linked into one list per loop, in batch order, and each loop receives
 * the head of its list: one task per loop and batch, without an allocation. One thread completes
 * the batches one after the other, so on each loop `done` runs in the order of submission.
 */
#include "apiserver/store/store_internal.h"

/* Runs on the loop's thread. The write may be freed once its `done` has returned. */
static void run_string(kc__loop_task *task)
{
    kc__store_write *write = kc_container_of(task, kc__store_write, task);
    kc__store *store = write->cache->store;
    size_t n = 0;
    for (kc__store_write *next; write; write = next, n++) {
        next = write->next;
        write->done(write);
    }
    kc__store_finished(store, n);
}

/* The writes of one loop in the batch. */
typedef struct string {
    kc__store_write *first, *last;
} string;

typedef KC_VEC(string) strings;

static void append(strings *all, kc__store_write *write)
{
    write->next = NULL;
    kc_vec_each (all, s)
        if (s->first->loop == write->loop) {
            s->last = s->last->next = write;
            return;
        }
    kc_vec_push(all, (string){write, write});
}

void kc__store_complete_writes(kc__store_batch *batch)
{
    strings all = {0};
    kc_vec_each (&batch->writes, write)
        append(&all, *write);
    kc_vec_each (&all, s) {
        s->first->task = (kc__loop_task){.run = run_string};
        kc__loop_post(s->first->loop, &s->first->task);
    }
    kc_vec_done(&all);
    kc_vec_clear(&batch->writes);
}
