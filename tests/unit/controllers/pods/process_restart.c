/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers of a killed runtime: none survives unnoticed, and the next runtime knows how they
 * ended.
 */
#include "process_testing.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Another process with a node, in which a `sleep` runs, and one that has left its session. Dead by
 * SIGKILL when this returns. True if the machine let it have namespaces. */
static bool run_until_killed(const char *folder, kc__process_isolation_limit limit,
                             const char *seconds)
{
    int ready[2];
    char isolated = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        node *n = node_start(&(node_opts){.pods.dir = folder, .limit = limit, .keep = true});
        kc_autofree char *script = kc_asprintf(
            "echo up; (setsid setsid sleep %s1 &); sleep %s2; echo over", seconds, seconds);
        kc_auto(kc_pod) *pod = pod_running(script);
        kc_auto(kc_pod) *other = pod_named("u2", "'containers':[{'name':'c','command':['false']}]");
        start(n, pod, 0);
        start(n, other, 0);
        await_end(n, other, "c", 0);
        await(has_logged(n, pod, "c", "up\n") && process_exists(seconds));
        isolated = n->rt->isolation.namespaces != KC__PROCESS_NAMESPACES_NONE;
        if (write(ready[1], &isolated, 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &isolated, 1), 1);
    close(ready[0]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return isolated;
}

static void collect(kc_str uid, void *user)
{
    kc_buf_printf(user, "%.*s ", KC_ARG(uid));
}

static void check_next(const char *folder, kc__process_isolation_limit limit)
{
    kc_auto(node) *n = node_start(&(node_opts){.pods.dir = folder, .limit = limit});
    kc_auto(kc_pod) *pod = pod_running("echo again");
    kc_auto(kc_pod) *other = pod_named("u2", "'containers':[{'name':'c','command':['false']}]");
    const kc__pod_container_report r = observe(n, pod, "c", KC__POD_LATEST_ATTEMPT);
    assert_int_equal(r.phase, KC__POD_CONTAINER_ENDED);
    assert_int_equal(r.attempt, 0);
    assert_int_equal(r.exit_code, 137);
    assert_string_equal(r.reason, "ContainerStatusUnknown");
    assert_true(r.started > 0 && r.ended >= r.started);
    assert_int_equal(observe(n, other, "c", KC__POD_LATEST_ATTEMPT).exit_code, 1);
    assert_true(has_logged(n, pod, "c", "up\n"));
    kc_scoped(kc_buf) uids = {0};
    n->runtime->ops->each(n->runtime, collect, &uids);
    assert_contains(kc_buf_cstr(&uids), "u1 ");
    assert_contains(kc_buf_cstr(&uids), "u2 ");
    start(n, pod, 1);
    assert_int_equal(await_end(n, pod, "c", KC__POD_LATEST_ATTEMPT).exit_code, 0);
    n->runtime->ops->remove(n->runtime, KC_STR("u1"));
    n->runtime->ops->remove(n->runtime, KC_STR("u2"));
    kc_buf_clear(&uids);
    n->runtime->ops->each(n->runtime, collect, &uids);
    assert_int_equal(uids.n, 0);
}

static void containers_end_with_a_killed_runtime(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "5%d", getpid());
    const bool isolated = run_until_killed(folder, (kc__process_isolation_limit){0}, seconds);
    /* Before the next runtime starts, where a pid namespace ends with its first process. */
    if (isolated)
        await(!process_exists(seconds));
    check_next(folder, (kc__process_isolation_limit){0});
    await(!process_exists(seconds));
}

static void next_runtime_kills_leftovers_without_namespaces(void **state)
{
    (void)state;
    const kc__process_isolation_limit limit = {.no_namespaces = true, .no_cgroup = true};
    kc_autofree char *folder = new_folder();
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "4%d", getpid());
    run_until_killed(folder, limit, seconds);
    check_next(folder, limit);
    await(!process_exists(seconds));
}

/* A state that calls this process running. */
static void claim(const char *folder, pid_t pid, uint64_t began)
{
    char path[512];
    static const char *const parts[] = {"pods", "pods/u9", "pods/u9/c"};
    for (size_t i = 0; i < KC_COUNT(parts); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
        mkdir(path, 0700);
    }
    const int fd = open(path, O_RDONLY | O_DIRECTORY);
    const kc__process_proc_state running = {
        .pid = pid, .pid_started = began, .report.phase = KC__POD_CONTAINER_RUNNING};
    assert_int_equal(kc__process_proc_state_write(fd, 0, &running, NULL), 0);
    close(fd);
}

static pid_t sleeper(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    return pid;
}

static void reused_pid_is_not_killed(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    const pid_t pid = sleeper();
    claim(folder, pid, kc__process_start_time(pid) + 1);
    kc_auto(node) *n = node_start(&(node_opts){.pods.dir = folder});
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void surviving_process_is_killed(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    const pid_t pid = sleeper();
    int status = 0;
    claim(folder, pid, kc__process_start_time(pid));
    kc_auto(node) *n = node_start(&(node_opts){.pods.dir = folder});
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_contains(kc_buf_cstr(&n->logged),
                    "killed a container left over from an earlier process");
}

static void container_state_round_trips(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    const int fd = open(folder, O_RDONLY | O_DIRECTORY);
    kc__process_proc_state read, written = {.pid = 12, .pid_started = 34};
    written.report = (kc__pod_container_report){.phase = KC__POD_CONTAINER_ENDED,
                                                .attempt = 3,
                                                .started = 5,
                                                .ended = 6,
                                                .exit_code = 137,
                                                .signal = 9,
                                                .reason = "OOMKilled"};
    strcpy(written.report.message, "two\nlines of pid 7\n");
    assert_int_equal(kc__process_proc_state_write(fd, 3, &written, NULL), 0);
    assert_int_equal(kc__process_proc_state_latest(fd), 3);
    assert_true(kc__process_proc_state_read(fd, 3, &read));
    assert_int_equal(read.pid, 12);
    assert_int_equal(read.pid_started, 34);
    assert_int_equal(read.report.started, 5);
    assert_int_equal(read.report.ended, 6);
    assert_int_equal(read.report.exit_code, 137);
    assert_int_equal(read.report.signal, 9);
    assert_string_equal(read.report.reason, "OOMKilled");
    assert_string_equal(read.report.message, "two\nlines of pid 7\n");
    assert_false(kc__process_proc_state_read(fd, 4, &read));
    close(fd);
    assert_int_equal(kc__process_dir_remove(AT_FDCWD, folder, NULL), 0);
}

TESTS(containers_end_with_a_killed_runtime, next_runtime_kills_leftovers_without_namespaces,
      reused_pid_is_not_killed, surviving_process_is_killed, container_state_round_trips)
