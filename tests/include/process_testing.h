/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_testing.h: a node whose containers are processes, and pods for it, for tests.
 *
 *     kc_auto(node) *n = node_start(&(node_opts){0});
 *     kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','command':['true']}]");
 *     start(n, pod, 0);
 *     assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
 */
#ifndef KC_PROCESS_TESTING_H
#define KC_PROCESS_TESTING_H

#include "testing.h"

#include "pods/process_internal.h"
#include "pods/process_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct node_opts {
    kc__process_isolation_limit limit;
    kc_pods_opts pods; /* The directory defaults to a temporary one. */
    bool keep;         /* Keep the directory. */
} node_opts;

typedef struct node {
    kc__pods_runtime *runtime;
    kc__process_runtime *rt;
    char *folder;
    bool keep;
    kc_log *log;
    kc_mutex mutex; /* Guards the rest. */
    int changes;
    kc_buf logged;
} node;

static inline void node_changed(kc_str uid, void *user)
{
    node *n = user;
    assert_true(uid.n > 0);
    kc_locked (&n->mutex)
        n->changes++;
}

static inline KC_UNUSED int node_changes(node *n)
{
    int changes = 0;
    kc_locked (&n->mutex)
        changes = n->changes;
    return changes;
}

static inline void node_logged(kc_str line, void *user)
{
    node *n = user;
    kc_locked (&n->mutex)
        kc_buf_append(&n->logged, line);
}

static inline node *node_free(node *n)
{
    if (!n)
        return NULL;
    if (n->runtime)
        n->runtime->ops->free(n->runtime);
    if (!n->keep)
        kc__process_dir_remove(AT_FDCWD, n->folder, NULL);
    kc_log_free(n->log);
    kc_buf_done(&n->logged);
    kc_mutex_done(&n->mutex);
    free(n->folder);
    free(n);
    return NULL;
}
KC_AUTO_DEFINE(node, node_free)

static inline KC_UNUSED char *new_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = kc_asprintf("%s/kc-process-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static inline KC_UNUSED node *node_try(const node_opts *opts, kc_error *err)
{
    node *n = kc_new(node);
    kc_pods_opts pods = opts->pods;
    kc_mutex_init(&n->mutex);
    n->folder = pods.dir ? kc_strdup(pods.dir) : new_folder();
    n->keep = opts->keep;
    pods.dir = n->folder;
    pods.unsafe_can_read_credentials = pods.unsafe_can_read_credentials || geteuid() != 0;
    n->log = kc_log_new(&(kc_log_opts){.write = node_logged, .user = n});
    n->runtime = kc__process_runtime_new_with(&pods, opts->limit, kc_clock_real(), n->log, err);
    if (!n->runtime)
        return node_free(n);
    n->rt = kc__process_runtime_of(n->runtime);
    n->runtime->changed = node_changed;
    n->runtime->changed_user = n;
    return n;
}

static inline KC_UNUSED node *node_start(const node_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    node *n = node_try(opts, &err);
    if (!n)
        fail_msg("%s", kc_error_text(&err));
    return n;
}

/* A pod with uid "u1", or another, and this spec. */
static inline KC_UNUSED kc_pod *pod_named(const char *uid, const char *spec)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'pod-%s','namespace':"
                    "'default','uid':'%s'},'spec':{%s}}",
                    uid, uid, spec);
    kc_object *object = object_of(json);
    kc_scoped(kc_error) err = {0};
    kc_pod *pod = kc_pod_of(object, &err);
    if (!pod)
        fail_msg("%s", kc_error_text(&err));
    kc_object_unref(object);
    return pod;
}

static inline KC_UNUSED kc_pod *pod_of(const char *spec)
{
    return pod_named("u1", spec);
}

/* A pod with one container, "c", that runs a script. */
static inline KC_UNUSED kc_pod *pod_running(const char *script)
{
    kc_autofree char *spec =
        kc_asprintf("'containers':[{'name':'c','command':['/bin/sh','-c','%s']}]", script);
    return pod_of(spec);
}

static inline KC_UNUSED kc_string_pair pair(const char *key, const char *value)
{
    return (kc_string_pair){(char *)(uintptr_t)key, (char *)(uintptr_t)value};
}

static inline KC_UNUSED int start_with(node *n, const kc_pod *pod, size_t at, int attempt,
                                       const kc_string_pair *env, size_t n_env, kc_error *err)
{
    const kc__pod_container_start what = {pod, &pod->spec.containers[at], attempt, env, n_env};
    if (n->runtime->ops->prepare(n->runtime, pod, err) < 0)
        return -1;
    return n->runtime->ops->start(n->runtime, &what, err);
}

static inline KC_UNUSED void start(node *n, const kc_pod *pod, int attempt)
{
    kc_scoped(kc_error) err = {0};
    for (size_t i = 0; i < pod->spec.n_containers; i++)
        if (start_with(n, pod, i, attempt, NULL, 0, &err) < 0)
            fail_msg("%s", kc_error_text(&err));
}

static inline KC_UNUSED kc__pod_container_id id_of(const kc_pod *pod, const char *name, int attempt)
{
    return (kc__pod_container_id){kc_cstr(pod->metadata.uid), kc_cstr(name), attempt};
}

static inline KC_UNUSED kc__pod_container_report observe(node *n, const kc_pod *pod,
                                                         const char *name, int attempt)
{
    kc__pod_container_report report;
    n->runtime->ops->observe(n->runtime, id_of(pod, name, attempt), &report);
    return report;
}

/* Waits for a condition, for 60 s at most: with sanitizers, beside other tests, a process may take
 * long. */
#define await(condition)                                                         \
    do {                                                                         \
        const int64_t end_ = kc_clock_deadline(kc_clock_real(), 60 * KC_SECOND); \
        while (!(condition) && kc_clock_now(kc_clock_real()) < end_)             \
            kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);                 \
        assert_true(condition);                                                  \
    } while (0)

static inline KC_UNUSED kc__pod_container_report await_end(node *n, const kc_pod *pod,
                                                           const char *name, int attempt)
{
    await(observe(n, pod, name, attempt).phase == KC__POD_CONTAINER_ENDED);
    return observe(n, pod, name, attempt);
}

static inline KC_UNUSED void stop(node *n, const kc_pod *pod, const char *name, int attempt,
                                  bool now)
{
    n->runtime->ops->stop(n->runtime, id_of(pod, name, attempt), now);
}

/* Everything logged so far. The caller frees it. */
static inline KC_UNUSED char *logs_of(node *n, const kc_pod *pod, const char *name, int attempt,
                                      const kc__process_logs_opts *opts)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc__process_logs) *logs = kc__process_logs_open(n->folder, kc_cstr(pod->metadata.uid),
                                                            kc_cstr(name), attempt, opts, NULL);
    while (logs && kc__process_logs_read(logs, &out) == KC__PROCESS_LOGS_MORE)
        ;
    return kc_buf_take(&out);
}

static inline KC_UNUSED bool has_logged(node *n, const kc_pod *pod, const char *name,
                                        const char *text)
{
    kc_autofree char *logs = logs_of(n, pod, name, KC__POD_LATEST_ATTEMPT, NULL);
    return strstr(logs, text) != NULL;
}

/* Runs a script to completion; returns its output. The caller frees it. */
static inline KC_UNUSED char *output_of(node *n, const char *script)
{
    kc_auto(kc_pod) *pod = pod_running(script);
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    char *text = logs_of(n, pod, "c", 0, NULL);
    n->runtime->ops->remove(n->runtime, kc_cstr(pod->metadata.uid));
    return text;
}

static inline KC_UNUSED bool is_there(const node *n, const char *path)
{
    kc_autofree char *whole = kc_asprintf("%s/%s", n->folder, path);
    struct stat st;
    return lstat(whole, &st) == 0;
}

/* Whether a `sleep` with this duration is running. */
static inline KC_UNUSED bool process_exists(const char *text)
{
    bool lives = false;
    const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kc__process_names names = {0};
    kc__process_dir_names(proc, &names, NULL);
    kc_vec_each (&names, name) {
        char path[300];
        kc_scoped(kc_buf) line = {0};
        snprintf(path, sizeof(path), "%s/cmdline", *name);
        if (kc__process_file_bytes(proc, path, 4096, false, &line) &&
            kc_str_starts(kc_buf_str(&line), KC_STR("sleep\0")))
            lives = lives || kc_str_contains(kc_buf_str(&line), kc_cstr(text));
    }
    kc__process_names_done(&names);
    close(proc);
    return lives;
}

#endif
