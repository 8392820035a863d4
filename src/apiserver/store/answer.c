/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c: the way of a decided write back to who submitted it.
 *
 * The writes of a batch are strung together by loop, in their order, and each loop is handed the
 * first of its string: one task for a loop and a batch, and nothing is allocated. Batches are
 * answered one after the other by one thread, so on each loop `done` runs in the order of
 * submission.
 */
#include "apiserver/store/store_internal.h"

/* On the loop's thread. A write is gone when its `done` has returned. */
static void run_string(kc__task *task)
{
    kc__write *write = kc_container_of(task, kc__write, task);
    kc__store *store = write->cache->store;
    size_t n = 0;
    for (kc__write *next; write; write = next, n++) {
        next = write->next;
        write->done(write);
    }
    kc__store_finished(store, n);
}

/* One for each loop that has writes in the batch. */
typedef struct string {
    kc__write *first, *last;
} string;

typedef KC_VEC(string) strings;

static void append(strings *all, kc__write *write)
{
    write->next = NULL;
    kc_vec_each (all, s)
        if (s->first->loop == write->loop) {
            s->last = s->last->next = write;
            return;
        }
    kc_vec_push(all, (string){write, write});
}

void kc__answer(kc__batch *batch)
{
    strings all = {0};
    kc_vec_each (&batch->writes, write)
        append(&all, *write);
    kc_vec_each (&all, s) {
        s->first->task = (kc__task){.run = run_string};
        kc__loop_post(s->first->loop, &s->first->task);
    }
    kc_vec_done(&all);
    kc_vec_clear(&batch->writes);
}
