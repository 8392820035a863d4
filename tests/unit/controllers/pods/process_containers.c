/* SPDX-License-Identifier: Apache-2.0 */
/* Containers with all isolation that the machine offers, for any user. */
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
static void run_containers(void *user)
{
    worker *w = user;
    const kc__pods_runtime_ops *ops = w->n->runtime->ops;
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
            ops->probe(w->n->runtime, pod, c, 0, c->liveness_probe, NULL, &err) != KC__POD_PROBE_OK;
        stop(w->n, pod, "c", 0, i % 2);
        await(observe(w->n, pod, "d", 0).phase == KC__POD_CONTAINER_ENDED);
        w->failures += observe(w->n, pod, "d", 0).exit_code != 5;
        ops->remove(w->n->runtime, kc_cstr(uid));
    }
}

static size_t open_files(void)
{
    kc__process_names names = {0};
    const int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kc__process_dir_names(fd, &names, NULL);
    close(fd);
    const size_t n = names.n;
    kc__process_names_done(&names);
    return n;
}

static void concurrent_containers_leave_nothing_behind(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    worker workers[4];
    kc_thread *threads[KC_COUNT(workers)];
    const size_t before = open_files();
    for (size_t i = 0; i < KC_COUNT(workers); i++) {
        workers[i] = (worker){.n = n, .number = (int)i};
        threads[i] = kc_thread_start("worker", run_containers, &workers[i], NULL);
    }
    for (size_t i = 0; i < KC_COUNT(workers); i++) {
        kc_thread_join(threads[i]);
        assert_int_equal(workers[i].failures, 0);
    }
    assert_int_equal(open_files(), before);
    assert_int_equal(n->rt->procs.n, 0);
    kc__process_names left = {0};
    kc__process_dir_names(n->rt->pods_fd, &left, NULL);
    assert_int_equal(left.n, 0);
    kc__process_names_done(&left);
}

/* ---- without a command ---- */

static void container_without_command_gets_a_placeholder_process_if_allowed(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','image':'nginx:latest'}]");
    kc_auto(node) *strict = node_start(&(node_opts){0});
    assert_true(start_with(strict, pod, 0, 0, NULL, 0, &err) < 0);
    assert_contains(kc_error_text(&err), "container c has no command");
    kc_auto(node) *n = node_start(&(node_opts){.pods.placeholder = true});
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "nginx:latest: image not pulled"));
    assert_int_equal(observe(n, pod, "c", 0).phase, KC__POD_CONTAINER_RUNNING);
    stop(n, pod, "c", 0, false); /* It has a handler: its grace is not waited for. */
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
}

TESTS(CONTRACT, concurrent_containers_leave_nothing_behind,
      container_without_command_gets_a_placeholder_process_if_allowed)
