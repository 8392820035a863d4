/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of an unprivileged user: in user namespaces, where these are available. */
#include "process_contract.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static node_opts contract_opts(void)
{
    return (node_opts){0};
}

static void containers_run_as_current_user(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_autofree char *text = output_of(n, "id -u");
    assert_int_equal(strtol(text, NULL, 10), geteuid());
}

static void process_mode_without_root_needs_the_unsafe_flag(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_autofree char *folder = new_folder();
    const kc_pods_opts opts = {.mode = KC_PODS_PROCESS, .dir = folder};
    assert_null(kc__process_runtime_new(&opts, kc_clock_real(), NULL, &err));
    assert_error(&err, KC_FORBIDDEN, "--unsafe-pods-can-read-credentials");
    assert_int_equal(kc__process_dir_remove(AT_FDCWD, folder, NULL), 0);
}

static void auto_mode_without_root_simulates_unless_unsafe_flag_is_set(void **state)
{
    (void)state;
    kc_pods_opts opts = {.mode = KC_PODS_AUTO};
    assert_int_equal(kc_pods_resolve_mode(&opts), KC_PODS_SIMULATE);
    assert_false(kc_pods_may_run_as(&opts, geteuid()));
    opts.unsafe_can_read_credentials = true;
    assert_int_equal(kc_pods_resolve_mode(&opts), KC_PODS_PROCESS);
    assert_true(kc_pods_may_run_as(&opts, geteuid()));
    assert_false(kc_pods_may_run_as(&opts, 0));
}

/* A folder and a file that only our user may read: in a user namespace they are covered. The folder
 * is main's, not below /tmp or /var/tmp, of which containers have their own. */
static void hidden_paths_are_covered_in_a_user_namespace(void **state)
{
    const char *folder = *state;
    if (!folder)
        skip();
    char keys[128], key[128], token[128]; /* Nothing is allocated where the test is skipped. */
    snprintf(keys, sizeof(keys), "%s/keys", folder);
    snprintf(key, sizeof(key), "%s/keys/ca.key", folder);
    snprintf(token, sizeof(token), "%s/token", folder);
    assert_int_equal(mkdir(keys, 0700), 0);
    assert_int_equal(kc__process_file_replace(AT_FDCWD, key, KC_STR("sesame"), NULL), 0);
    assert_int_equal(kc__process_file_replace(AT_FDCWD, token, KC_STR("sesame"), NULL), 0);
    const char *hidden[] = {keys, token, NULL};
    kc_auto(node) *n = node_start(&(node_opts){.pods.hidden = hidden});
    if (n->rt->isolation.namespaces == KC__PROCESS_NAMESPACES_NONE) {
        print_message("%s\n", n->rt->isolation.text);
        skip();
    }
    kc_autofree char *script =
        kc_asprintf("cat %s %s; ls %s; unshare -U true; umount %s; cat %s; echo end", key, token,
                    keys, keys, key);
    kc_autofree char *text = output_of(n, script);
    assert_null(strstr(text, "sesame"));
    assert_null(strstr(text, "ca.key\n"));
    assert_contains(text, "end\n");
}

static void empty_dir_is_shared_and_pids_are_private(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    if (n->rt->isolation.namespaces == KC__PROCESS_NAMESPACES_NONE) {
        print_message("%s\n", n->rt->isolation.text);
        skip();
    }
    kc_auto(kc_pod) *pod =
        pod_of("'volumes':[{'name':'v','emptyDir':{'medium':'Memory'}}],'containers':["
               "{'name':'a','command':['sh','-c','echo $$ > /data/from-a'],"
               "'volumeMounts':[{'name':'v','mountPath':'/data'}]},"
               "{'name':'b','command':['sh','-c','until grep . /data/from-a; do sleep 0.02; done'],"
               "'volumeMounts':[{'name':'v','mountPath':'/data','readOnly':true}]}]");
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "a", 0).exit_code, 0);
    assert_int_equal(await_end(n, pod, "b", 0).exit_code, 0);
    assert_true(has_logged(n, pod, "b", "1\n"));
}

static void process_limit_is_reported(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_scoped(kc_error) err = {0};
    struct rlimit before, none;
    getrlimit(RLIMIT_NPROC, &before);
    none = before;
    none.rlim_cur = 1;
    setrlimit(RLIMIT_NPROC, &none);
    kc_auto(kc_pod) *pod = pod_running("true");
    const int started = start_with(n, pod, 0, 0, NULL, 0, &err);
    setrlimit(RLIMIT_NPROC, &before);
    assert_true(started < 0);
    assert_error(&err, KC_TOO_MANY_REQUESTS, "process limit reached");
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
}

static char *folder_for_nobody;

static int set_state_directory(void **state)
{
    *state = folder_for_nobody;
    return 0;
}

static int run_as_this_user(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(hidden_paths_are_covered_in_a_user_namespace, set_state_directory),
        KC__EACH(cmocka_unit_test, CONTRACT, containers_run_as_current_user,
                 process_mode_without_root_needs_the_unsafe_flag,
                 auto_mode_without_root_simulates_unless_unsafe_flag_is_set,
                 process_limit_is_reported, empty_dir_is_shared_and_pids_are_private)};
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* As for a user that has always been this one. */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* As root: another user's process runs them, and we remove what it leaves. */
int main(void)
{
    int status = 0;
    if (geteuid() != 0)
        return run_as_this_user();
    kc_autofree char *folder = kc_asprintf("/var/lib/kc-unprivileged-%d", getpid());
    folder_for_nobody = folder;
    if (mkdir(folder, 0755) < 0 || chown(folder, 65534, 65534) < 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
            setresuid(65534, 65534, 65534) < 0)
            return 1;
        return run_as_this_user();
    }
    waitpid(child, &status, 0);
    kc__process_dir_remove(AT_FDCWD, folder, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
