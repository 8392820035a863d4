/* SPDX-License-Identifier: Apache-2.0 */
/* Users of pods: each pod has its own, which it keeps while it has files. */
#include "process_testing.h"

#define RANGE .uids = {1900000000, 3}

static void needs_root(void)
{
    if (geteuid() != 0)
        skip();
}

static uint32_t uid_of(node *n, const char *pod)
{
    kc_scoped(kc_error) err = {0};
    uint32_t uid = 0;
    close(kc__process_pod_dir(n->rt, kc_cstr(pod), true, &err));
    if (kc__process_uids_of_pod(n->rt, kc_cstr(pod), &uid, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return uid;
}

static void each_pod_gets_a_stable_uid_from_the_range(void **state)
{
    (void)state;
    needs_root();
    kc_auto(node) *n = node_start(&(node_opts){.pods = {RANGE}});
    const uint32_t a = uid_of(n, "a"), b = uid_of(n, "b");
    assert_int_not_equal(a, b);
    assert_in_range(a, 1900000000, 1900000002);
    assert_in_range(b, 1900000000, 1900000002);
    assert_int_equal(uid_of(n, "a"), a);
}

static void pod_uid_survives_runtime_restart(void **state)
{
    (void)state;
    needs_root();
    kc_autofree char *folder = new_folder();
    node *first = node_start(&(node_opts){.pods = {RANGE, .dir = folder}, .keep = true});
    const uint32_t a = uid_of(first, "a");
    node_free(first);
    kc_auto(node) *n = node_start(&(node_opts){.pods = {RANGE, .dir = folder}});
    const uint32_t b = uid_of(n, "b");
    assert_int_not_equal(b, a);
    assert_int_equal(uid_of(n, "a"), a);
}

static void uid_is_reused_after_all_others_and_file_removal(void **state)
{
    (void)state;
    needs_root();
    kc_auto(node) *n = node_start(&(node_opts){.pods = {RANGE}});
    const uint32_t a = uid_of(n, "a");
    n->runtime->ops->remove(n->runtime, KC_STR("a"));
    const uint32_t b = uid_of(n, "b"), c = uid_of(n, "c");
    assert_true(b != a && c != a && b != c);
    assert_int_equal(uid_of(n, "d"), a);
}

static void exhausted_uid_range_returns_error_with_flag(void **state)
{
    (void)state;
    needs_root();
    kc_auto(node) *n = node_start(&(node_opts){.pods.uids = {1900000000, 1}});
    kc_scoped(kc_error) err = {0};
    uint32_t uid;
    uid_of(n, "a");
    close(kc__process_pod_dir(n->rt, KC_STR("b"), true, &err));
    assert_true(kc__process_uids_of_pod(n->rt, KC_STR("b"), &uid, &err) < 0);
    assert_error(&err, KC_TOO_MANY_REQUESTS, "all 1 UIDs of --pod-uid-range are in use");
}

static void volume_files_belong_to_the_pod_user(void **state)
{
    (void)state;
    needs_root();
    kc_auto(node) *n = node_start(&(node_opts){.pods = {RANGE}});
    kc_auto(kc_pod) *pod = pod_of("'volumes':[{'name':'v','secret':{'secretName':'s'}}]");
    const kc__pod_volume_file file = {"key", KC_STR("1"), 0400};
    kc_scoped(kc_error) err = {0};
    struct stat st;
    const uint32_t uid = uid_of(n, "u1");
    assert_int_equal(n->runtime->ops->fill(n->runtime, pod, &pod->spec.volumes[0], &file, 1, &err),
                     0);
    kc_autofree char *path = kc_asprintf("%s/pods/u1/.volumes/v/key", n->folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, uid);
    assert_int_equal(st.st_mode & 0777, 0400);
}

static void signal_to_another_pod_is_denied(void **state)
{
    (void)state;
    needs_root();
    /* Without pid namespaces both see each other: the user is what keeps them apart. */
    kc_auto(node) *n = node_start(
        &(node_opts){.pods = {RANGE}, .limit = {.no_namespaces = true, .no_cgroup = true}});
    kc_auto(kc_pod) *victim =
        pod_named("u2", "'containers':[{'name':'c','command':['sleep','100']}]");
    kc_scoped(kc_error) err = {0};
    assert_int_equal(start_with(n, victim, 0, 0, NULL, 0, &err), 0);
    pid_t pid = 0;
    kc_locked (&n->rt->mutex)
        kc_dlist_each (&n->rt->running, kc__process_proc, link, proc)
            pid = proc->pid;
    kc_autofree char *script = kc_asprintf(
        "kill -9 %d; cat /proc/%d/environ; cat /proc/%d/environ; echo end", pid, pid, getpid());
    kc_autofree char *text = output_of(n, script);
    assert_contains(text, "end\n");
    assert_null(strstr(text, "KC_CONTAINER"));
    assert_int_equal(observe(n, victim, "c", 0).phase, KC__POD_CONTAINER_RUNNING);
    stop(n, victim, "c", 0, true);
    await_end(n, victim, "c", 0);
}

static void local_trust_excludes_uids_of_pods(void **state)
{
    (void)state;
    needs_root();
    kc_pods_opts opts = {.mode = KC_PODS_AUTO};
    assert_int_equal(kc_pods_resolve_mode(&opts), KC_PODS_PROCESS);
    assert_false(kc_pods_may_run_as(&opts, 0));
    assert_false(kc_pods_may_run_as(&opts, 1000));
    assert_true(kc_pods_may_run_as(&opts, KC_PODS_UID_BASE));
    assert_true(kc_pods_may_run_as(&opts, KC_PODS_UID_BASE + KC_PODS_UID_COUNT - 1));
    assert_false(kc_pods_may_run_as(&opts, KC_PODS_UID_BASE + KC_PODS_UID_COUNT));
    opts.uids = (kc_uid_range){3000000, 10};
    assert_true(kc_pods_may_run_as(&opts, 3000009));
    assert_false(kc_pods_may_run_as(&opts, KC_PODS_UID_BASE));
    opts.allow_root = true;
    assert_true(kc_pods_may_run_as(&opts, 0));
    opts.mode = KC_PODS_SIMULATE;
    assert_false(kc_pods_may_run_as(&opts, 0));
}

TESTS(each_pod_gets_a_stable_uid_from_the_range, pod_uid_survives_runtime_restart,
      uid_is_reused_after_all_others_and_file_removal, exhausted_uid_range_returns_error_with_flag,
      volume_files_belong_to_the_pod_user, signal_to_another_pod_is_denied,
      local_trust_excludes_uids_of_pods)
