/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_contract.h: tests that containers must pass with every isolation: as root, in a user
 * namespace, in none. A test program defines `contract_opts`, includes this file, and runs
 * CONTRACT.
 */
#ifndef KC_PROCESS_CONTRACT_H
#define KC_PROCESS_CONTRACT_H

#include "process_testing.h"

static node_opts contract_opts(void);

static node *contract_node(void)
{
    node_opts opts = contract_opts();
    return node_start(&opts);
}

static void command_ends_with_its_exit_code(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_running("exit 7");
    start(n, pod, 0);
    const kc__pod_container_report r = await_end(n, pod, "c", 0);
    assert_int_equal(r.exit_code, 7);
    assert_int_equal(r.signal, 0);
    assert_int_equal(r.attempt, 0);
    assert_null(r.reason);
    assert_true(r.started > 0 && r.ended >= r.started);
    await(node_changes(n) == 2); /* It has begun, and ended. */
}

static void container_that_was_never_started_is_unknown(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_running("exit 7");
    assert_int_equal(observe(n, pod, "c", 0).phase, KC__POD_CONTAINER_NONE);
    assert_int_equal(observe(n, pod, "c", KC__POD_LATEST_ATTEMPT).attempt, -1);
}

static void output_is_logged_with_its_stream_in_cri_format(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_running("echo out; echo err >&2; printf rest");
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    kc_autofree char *path = kc_asprintf("%s/pods/u1/c/0.log", n->folder);
    kc_scoped(kc_buf) text = {0};
    assert_true(kc__process_file_bytes(AT_FDCWD, path, 4096, false, &text));
    assert_contains(kc_buf_cstr(&text), "Z stdout F out\n");
    assert_contains(kc_buf_cstr(&text), "Z stderr F err\n");
    assert_contains(kc_buf_cstr(&text), "Z stdout F rest\n");
    assert_int_equal(kc_buf_cstr(&text)[29], 'Z');
}

static void output_before_the_end_is_logged(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_running("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); "
                                       "done; kill -9 $$; exit 1");
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    kc_autofree char *text = logs_of(n, pod, "c", 0, NULL);
    assert_contains(text, "line 0\n");
    assert_contains(text, "line 19999\n");
}

static void environment_has_given_variables_and_defaults_only(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','command':['env']}]");
    const kc_string_pair env[] = {pair("A", "1"), pair("B", "two words"), pair("A", "3"),
                                  pair("EMPTY", NULL)};
    setenv("KC_OPERATORS_SECRET", "x", 1);
    kc_scoped(kc_error) err = {0};
    assert_int_equal(start_with(n, pod, 0, 0, env, KC_COUNT(env), &err), 0);
    await_end(n, pod, "c", 0);
    kc_autofree char *text = logs_of(n, pod, "c", 0, NULL);
    assert_contains(text, "A=3\n");
    assert_contains(text, "B=two words\n");
    assert_contains(text, "EMPTY=\n");
    assert_contains(text, "HOSTNAME=pod-u1\n");
    assert_contains(text, "PATH=/usr/local/sbin:");
    assert_null(strstr(text, "A=1"));
    assert_null(strstr(text, "KC_OPERATORS_SECRET"));
}

static void missing_program_is_a_start_error(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','command':['no-such-program']}]");
    start(n, pod, 0);
    const kc__pod_container_report r = observe(n, pod, "c", 0);
    assert_int_equal(r.phase, KC__POD_CONTAINER_ENDED);
    assert_int_equal(r.exit_code, 128);
    assert_string_equal(r.reason, "StartError");
    assert_string_equal(r.message, "exec: \"no-such-program\": executable file not found in $PATH");
}

static void working_directory_is_entered_or_a_start_error(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','command':['pwd'],'workingDir':'/usr'}"
                                  ",{'name':'d','command':['pwd'],'workingDir':'/no/such'}]");
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    assert_true(has_logged(n, pod, "c", "/usr\n"));
    const kc__pod_container_report r = await_end(n, pod, "d", 0);
    assert_string_equal(r.reason, "StartError");
    assert_contains(r.message, "chdir to workingDir \"/no/such\"");
}

static void container_without_command_cannot_start(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','args':['x']}]");
    assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
    assert_error(&err, KC_INVALID, "container c has no command");
    assert_int_equal(observe(n, pod, "c", KC__POD_LATEST_ATTEMPT).attempt, -1);
}

static void sigterm_handler_ends_the_container_gracefully(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod =
        pod_running("trap \\\"echo bye; exit 3\\\" TERM; echo up; while :; do sleep 0.05; done");
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "up\n"));
    stop(n, pod, "c", 0, false);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 3);
    assert_true(has_logged(n, pod, "c", "bye\n"));
}

static void kill_ends_daemons_of_the_container(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "9%d", getpid());
    kc_autofree char *script = kc_asprintf(
        "(setsid setsid sleep %s & ) ; trap : TERM; echo up; while :; do sleep 0.05; done",
        seconds);
    kc_auto(kc_pod) *pod = pod_running(script);
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "up\n") && process_exists(seconds));
    stop(n, pod, "c", 0, true);
    const kc__pod_container_report r = await_end(n, pod, "c", 0);
    assert_int_equal(r.exit_code, 137);
    assert_int_equal(r.signal, 9);
    await(!process_exists(seconds));
}

static void daemons_do_not_outlive_the_main_process(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "8%d", getpid());
    /* The main process ends when it finds a file, which the probe creates. */
    kc_autofree char *spec = kc_asprintf(
        "'containers':[{'name':'c','command':['/bin/sh','-c','(setsid setsid sleep %s &) ; "
        "until rm /tmp/kc-end-%s 2>/dev/null; do sleep 0.05; done; exit 0'],"
        "'livenessProbe':{'exec':{'command':['touch','/tmp/kc-end-%s']},'timeoutSeconds':60}}]",
        seconds, seconds, seconds);
    kc_auto(kc_pod) *pod = pod_of(spec);
    const kc_container *c = &pod->spec.containers[0];
    start(n, pod, 0);
    await(process_exists(seconds));
    /* Its result is open: it may end with the container. */
    n->runtime->ops->probe(n->runtime, pod, c, 0, c->liveness_probe, NULL, NULL);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
    await(!process_exists(seconds));
}

static void latest_attempt_and_its_predecessor_are_kept(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_running("exit $HOW");
    for (int attempt = 0; attempt < 4; attempt++) {
        char how[16];
        kc_scoped(kc_error) err = {0};
        snprintf(how, sizeof(how), "%d", attempt);
        const kc_string_pair env = pair("HOW", how);
        assert_int_equal(start_with(n, pod, 0, attempt, &env, 1, &err), 0);
        await_end(n, pod, "c", attempt);
    }
    assert_int_equal(observe(n, pod, "c", KC__POD_LATEST_ATTEMPT).exit_code, 3);
    assert_int_equal(observe(n, pod, "c", 2).exit_code, 2);
    assert_int_equal(observe(n, pod, "c", 1).phase, KC__POD_CONTAINER_NONE);
    assert_false(is_there(n, "pods/u1/c/1.log"));
    assert_true(is_there(n, "pods/u1/c/2.log"));
}

static void same_attempt_does_not_start_twice(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_running("sleep 60");
    start(n, pod, 0);
    assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
    assert_int_equal(err.reason, KC_ALREADY_EXISTS);
}

static void removing_a_pod_kills_and_removes_its_containers(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "7%d", getpid());
    kc_autofree char *script = kc_asprintf("sleep %s", seconds);
    kc_auto(kc_pod) *pod = pod_running(script);
    start(n, pod, 0);
    await(process_exists(seconds));
    n->runtime->ops->remove(n->runtime, KC_STR("u1"));
    await(!process_exists(seconds));
    assert_false(is_there(n, "pods/u1"));
    assert_int_equal(observe(n, pod, "c", KC__POD_LATEST_ATTEMPT).attempt, -1);
}

static void exec_runs_in_the_container(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod =
        pod_of("'containers':[{'name':'c','command':['sh','-c','echo up; sleep 60'],"
               "'livenessProbe':{'exec':{'command':['sh','-c','echo $MARK; test $MARK = yes']},"
               "'timeoutSeconds':60},"
               "'readinessProbe':{'exec':{'command':['sh','-c','echo not ready; exit 4']},"
               "'timeoutSeconds':60},"
               "'startupProbe':{'exec':{'command':['sleep','50']},'timeoutSeconds':1}}]");
    const kc_container *c = &pod->spec.containers[0];
    const kc_string_pair env = pair("MARK", "yes");
    kc_scoped(kc_error) err = {0};
    assert_int_equal(start_with(n, pod, 0, 0, &env, 1, &err), 0);
    const kc__pods_runtime_ops *ops = n->runtime->ops;
    assert_int_equal(ops->probe(n->runtime, pod, c, 0, c->liveness_probe, NULL, &err),
                     KC__POD_PROBE_OK);
    assert_int_equal(ops->probe(n->runtime, pod, c, 0, c->readiness_probe, NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_string_equal(kc_error_text(&err), "not ready");
    assert_int_equal(ops->probe(n->runtime, pod, c, 0, c->startup_probe, NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_error(&err, KC_TIMEOUT, "timed out after 1s");
    assert_int_equal(observe(n, pod, "c", 0).phase, KC__POD_CONTAINER_RUNNING);
}

static void container_inherits_no_descriptors(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_autofree char *text = output_of(n, "ls /proc/self/fd | wc -l; cat; umask");
    /* 0, 1, 2, that of ls, and 3 where the message's file is not mounted. */
    assert_true(strtol(text, NULL, 10) <= 5);
    assert_contains(text, "0022\n");
}

static void container_has_no_capabilities_and_cannot_gain_any(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_autofree char *text = output_of(n, "grep -E \\\"CapEff|NoNewPrivs\\\" /proc/self/status");
    assert_contains(text, "CapEff:\t0000000000000000");
    assert_contains(text, "NoNewPrivs:\t1");
}

static void freeing_the_runtime_kills_running_containers(void **state)
{
    (void)state;
    node *n = contract_node();
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "6%d", getpid());
    kc_autofree char *script = kc_asprintf("sleep %s", seconds);
    kc_auto(kc_pod) *pod = pod_running(script);
    start(n, pod, 0);
    await(process_exists(seconds));
    node_free(n);
    await(!process_exists(seconds)); /* A killed process may take a moment to exit. */
}

static void freeing_the_runtime_sends_sigterm_first(void **state)
{
    (void)state;
    node_opts opts = contract_opts();
    opts.keep = true;
    node *n = node_start(&opts);
    kc_autofree char *folder = kc_strdup(n->folder);
    kc_auto(kc_pod) *pod =
        pod_running("trap \\\"echo bye; exit 3\\\" TERM; echo up; while :; do sleep 0.05; done");
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "up\n"));
    node_free(n);
    opts.pods.dir = folder;
    opts.keep = false;
    kc_auto(node) *next = node_start(&opts);
    assert_int_equal(observe(next, pod, "c", KC__POD_LATEST_ATTEMPT).exit_code, 3);
    assert_true(has_logged(next, pod, "c", "bye\n"));
}

#define CONTRACT                                                                               \
    command_ends_with_its_exit_code, container_that_was_never_started_is_unknown,              \
        output_is_logged_with_its_stream_in_cri_format, output_before_the_end_is_logged,       \
        environment_has_given_variables_and_defaults_only, missing_program_is_a_start_error,   \
        working_directory_is_entered_or_a_start_error, container_without_command_cannot_start, \
        sigterm_handler_ends_the_container_gracefully, kill_ends_daemons_of_the_container,     \
        daemons_do_not_outlive_the_main_process, latest_attempt_and_its_predecessor_are_kept,  \
        same_attempt_does_not_start_twice, removing_a_pod_kills_and_removes_its_containers,    \
        exec_runs_in_the_container, container_inherits_no_descriptors,                         \
        container_has_no_capabilities_and_cannot_gain_any,                                     \
        freeing_the_runtime_kills_running_containers, freeing_the_runtime_sends_sigterm_first

#endif
