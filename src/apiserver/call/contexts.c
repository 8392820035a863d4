/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts.c: runs a function on every loop of the server, with the state of that loop. What a loop
 * keeps for itself (its catalog, its policies, its watches and responses) only its own thread may
 * touch, so whoever wants it changed on all loops asks each of them.
 */
#include "apiserver/call/call.h"

typedef struct context_task {
    kc__loop_task task;
    kc__rest_api *api;
    kc__rest_context *context;
    kc__rest_context_fn *run;
    uint64_t argument;
} context_task;

static void run_on_context(kc__loop_task *task)
{
    context_task *t = kc_container_of(task, context_task, task);
    t->run(t->api, t->context, t->argument);
    free(t);
}

void kc__rest_each_context(kc__rest_api *api, kc__rest_context_fn *run, uint64_t argument)
{
    for (size_t i = 0; i < api->n_contexts; i++) {
        context_task *t = kc_new(context_task);
        *t = (context_task){.task.run = run_on_context,
                            .api = api,
                            .context = &api->contexts[i],
                            .run = run,
                            .argument = argument};
        kc__loop_post(t->context->loop, &t->task);
    }
}
