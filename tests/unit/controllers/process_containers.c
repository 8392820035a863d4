/* SPDX-License-Identifier: Apache-2.0 */
/* Containers with all the isolation that the machine has, whoever we are. */
#include "process_contract.h"

static node_opts contract_opts(void)
{
    return (node_opts){0};
}

/* ---- many ---- */

typedef struct worker {
    node *n;
    int number;
    int failures;
} worker;

/* Runs pods of its own through their lives, one after the other; they are probed meanwhile. */
static void live_and_die(void *user)
{
    worker *w = user;
    const kc__runtime_ops *ops = w->n->runtime->ops;
    for (int i = 0; i < 8; i++) {
        char uid[32];
        snprintf(uid, sizeof(uid), "w%d-%d", w->number, i);
        kc_auto(kc_pod) *pod =
            pod_named(uid, "'containers':[{'name':'c','command':['sh','-c','echo up; sleep 60'],"
                           "'livenessProbe':{'exec':{'command':['true']},'timeoutSeconds':30}},"
                           "{'name':'d','command':['sh','-c','exit 5']}]");
        const kc_container *c = &pod->spec.containers[0];
        kc_scoped(kc_error) err = {0};
        for (size_t k = 0; k < 2; k++)
            w->failures += start_with(w->n, pod, k, 0, NULL, 0, &err) < 0;
        w->failures +=
            ops->probe(w->n->runtime, pod, c, 0, c->liveness_probe, NULL, &err) != KC__PROBE_OK;
        stop(w->n, pod, "c", 0, i % 2);
        await(observe(w->n, pod, "d", 0).phase == KC__CONTAINER_ENDED);
        w->failures += observe(w->n, pod, "d", 0).exit_code != 5;
        ops->remove(w->n->runtime, kc_cstr(uid));
    }
}

static size_t open_files(void)
{
    kc__names names = {0};
    const int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kc__folder_names(fd, &names, NULL);
    close(fd);
    const size_t n = names.n;
    kc__names_done(&names);
    return n;
}

static void many_at_a_time_leave_nothing_behind(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    worker workers[4];
    kc_thread *threads[KC_COUNT(workers)];
    const size_t before = open_files();
    for (size_t i = 0; i < KC_COUNT(workers); i++) {
        workers[i] = (worker){.n = n, .number = (int)i};
        threads[i] = kc_thread_start("worker", live_and_die, &workers[i], NULL);
    }
    for (size_t i = 0; i < KC_COUNT(workers); i++) {
        kc_thread_join(threads[i]);
        assert_int_equal(workers[i].failures, 0);
    }
    assert_int_equal(open_files(), before);
    assert_int_equal(n->rt->procs.n, 0);
    kc__names left = {0};
    kc__folder_names(n->rt->pods_fd, &left, NULL);
    assert_int_equal(left.n, 0);
    kc__names_done(&left);
}

/* ---- without a command ---- */

static void without_a_command_a_process_stands_in_if_it_may(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','image':'nginx:latest'}]");
    kc_auto(node) *strict = node_start(&(node_opts){0});
    assert_true(start_with(strict, pod, 0, 0, NULL, 0, &err) < 0);
    assert_contains(kc_error_text(&err), "container c has no command");
    kc_auto(node) *n = node_start(&(node_opts){.pods.stand_in = true});
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "nginx:latest: no image is pulled"));
    assert_int_equal(observe(n, pod, "c", 0).phase, KC__CONTAINER_RUNNING);
    stop(n, pod, "c", 0, false); /* It has a handler: its grace is not waited for. */
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
}

TESTS(CONTRACT, many_at_a_time_leave_nothing_behind,
      without_a_command_a_process_stands_in_if_it_may)
