/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials of the server: hidden by mounts in every container, or private by file modes;
 * otherwise the runtime does not start.
 */
#include "process_testing.h"

/* Not below /tmp or /var/tmp, of which containers have their own. */
static char *directory_with_keys(mode_t mode)
{
    if (geteuid() != 0)
        skip();
    char *folder = kc_asprintf("/var/lib/kc-hidden-%d", getpid());
    kc_autofree char *keys = kc_asprintf("%s/keys", folder);
    kc_autofree char *key = kc_asprintf("%s/keys/ca.key", folder);
    kc_autofree char *token = kc_asprintf("%s/token", folder);
    assert_int_equal(mkdir(folder, 0755) | mkdir(keys, 0755), 0);
    assert_int_equal(kc__process_file_replace(AT_FDCWD, key, KC_STR("sesame"), NULL), 0);
    assert_int_equal(kc__process_file_replace(AT_FDCWD, token, KC_STR("sesame"), NULL), 0);
    assert_int_equal(chmod(key, 0644) | chmod(token, 0644) | chmod(keys, mode), 0);
    return folder;
}

/* Skips the test where the machine has no mount namespaces; before anything is made. */
static void needs_mounts(void)
{
    kc_auto(node) *n = node_start(&(node_opts){0});
    const bool mounts = n->rt->isolation.namespaces != KC__PROCESS_NAMESPACES_NONE;
    n = node_free(n);
    if (!mounts)
        skip();
}

static const node_opts plain = {.limit = {.no_namespaces = true, .no_cgroup = true}};

static void directories_and_files_are_hidden_by_mounts(void **state)
{
    (void)state;
    needs_mounts(); /* Without, the runtime refuses keys that others can read. */
    kc_autofree char *directory = directory_with_keys(0755);
    kc_autofree char *keys = kc_asprintf("%s/keys", directory),
                     *token = kc_asprintf("%s/token", directory);
    const char *hidden[] = {keys, token, "/var/lib/kc-hidden-that-is-not-there", NULL};
    kc_auto(node) *n = node_start(&(node_opts){.pods.hidden = hidden});
    kc_autofree char *script =
        kc_asprintf("cat %s/keys/ca.key %s/token; ls -la %s/keys; ls %s; echo x >%s/token; "
                    "rm -rf %s/keys; umount %s/keys; echo end",
                    directory, directory, directory, directory, directory, directory, directory);
    kc_autofree char *text = output_of(n, script);
    kc__process_dir_remove(AT_FDCWD, directory, NULL);
    assert_null(strstr(text, "sesame"));
    assert_null(strstr(text, "ca.key\n"));
    assert_contains(text, "keys\ntoken\n");
    assert_contains(text, "end\n");
    assert_contains(kc_buf_cstr(&n->logged), "credential file is readable by other users");
}

static void readable_directory_is_refused_without_namespaces(void **state)
{
    (void)state;
    kc_autofree char *directory = directory_with_keys(0755);
    kc_autofree char *keys = kc_asprintf("%s/keys", directory);
    const char *hidden[] = {keys, NULL};
    kc_scoped(kc_error) err = {0};
    assert_null(node_try(&(node_opts){.limit = plain.limit, .pods.hidden = hidden}, &err));
    kc__process_dir_remove(AT_FDCWD, directory, NULL);
    assert_error(&err, KC_FORBIDDEN, "which is readable by other users");
    assert_contains(kc_error_text(&err), "--unsafe-pods-can-read-credentials");
}

static void private_directory_is_accepted_without_namespaces(void **state)
{
    (void)state;
    kc_autofree char *directory = directory_with_keys(0700);
    kc_autofree char *keys = kc_asprintf("%s/keys", directory);
    kc_autofree char *key = kc_asprintf("%s/keys/ca.key", directory);
    const char *hidden[] = {keys, key, NULL}; /* The file is open, in a folder that is not. */
    kc_auto(node) *n = node_start(&(node_opts){.limit = plain.limit, .pods.hidden = hidden});
    kc_autofree char *script = kc_asprintf("cat %s; echo end", key);
    kc_autofree char *text = output_of(n, script);
    kc__process_dir_remove(AT_FDCWD, directory, NULL);
    assert_null(strstr(text, "sesame"));
    assert_contains(text, "end\n");
}

static void accepted_risk_is_logged(void **state)
{
    (void)state;
    kc_autofree char *directory = directory_with_keys(0755);
    kc_autofree char *keys = kc_asprintf("%s/keys", directory);
    const char *hidden[] = {keys, NULL};
    kc_auto(node) *n = node_start(&(node_opts){
        .limit = plain.limit, .pods = {.hidden = hidden, .unsafe_can_read_credentials = true}});
    kc__process_dir_remove(AT_FDCWD, directory, NULL);
    assert_contains(kc_buf_cstr(&n->logged), "pods can read credentials");
}

static void host_path_to_credentials_is_refused(void **state)
{
    (void)state;
    needs_mounts();
    kc_autofree char *directory = directory_with_keys(0700);
    kc_autofree char *keys = kc_asprintf("%s/keys", directory);
    const char *hidden[] = {keys, NULL};
    static const char *const paths[] = {"", "/keys", "/keys/ca.key"};
    kc_auto(node) *n = node_start(&(node_opts){.pods = {.hidden = hidden, .allow_root = true}});
    for (size_t i = 0; i < KC_COUNT(paths); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *spec = kc_asprintf(
            "'volumes':[{'name':'v','hostPath':{'path':'%s%s'}}],'containers':[{'name':'c',"
            "'command':['true'],'volumeMounts':[{'name':'v','mountPath':'/v'}]}]",
            directory, paths[i]);
        kc_auto(kc_pod) *pod = pod_of(spec);
        assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
        assert_error(&err, KC_INVALID, "would expose the server's credentials");
    }
    kc__process_dir_remove(AT_FDCWD, directory, NULL);
}

static void container_has_no_privileges_and_inherits_nothing(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    kc_auto(node) *n = node_start(&(node_opts){0});
    setenv("KUBECONFIG", "/secret/admin.kubeconfig", 1);
    const int leak = open("/etc/shadow", O_RDONLY); /* Without O_CLOEXEC. */
    kc_autofree char *text = output_of(
        n, "grep -E \\\"NoNewPrivs|Seccomp:|Cap\\\" /proc/self/status; env; ls /proc/self/fd; pwd");
    close(leak);
    unsetenv("KUBECONFIG");
    assert_contains(text, "NoNewPrivs:\t1\n");
    if (n->rt->isolation.seccomp)
        assert_contains(text, "Seccomp:\t2\n");
    static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
    for (size_t i = 0; i < KC_COUNT(sets); i++) {
        kc_autofree char *none = kc_asprintf("%s:\t0000000000000000\n", sets[i]);
        assert_contains(text, none);
    }
    assert_null(strstr(text, "KUBECONFIG"));
    assert_contains(text, "\n0\n1\n2\n");
    assert_contains(text, "\n/\n");
    if (n->rt->isolation.namespaces != KC__PROCESS_NAMESPACES_NONE)
        assert_contains(text, "\n0\n1\n2\n3\n/\n"); /* 3 is the listed folder itself. */
}

static void capabilities_of_a_root_container_can_be_dropped_and_added(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    kc_auto(kc_pod) *pod = pod_of(
        "'containers':[{'name':'a','securityContext':{'capabilities':{'drop':['ALL'],"
        "'add':['NET_BIND_SERVICE']}}},{'name':'b','securityContext':{'capabilities':{'drop':"
        "['CAP_MKNOD']}}},{'name':'c'}]");
    kc__process_runtime rt = {.allow_root = true};
    assert_int_equal(kc__process_capabilities_of(&rt, &pod->spec.containers[0], 0), 1 << 10);
    assert_int_equal(kc__process_capabilities_of(&rt, &pod->spec.containers[1], 0), 0xa00425fb);
    assert_int_equal(kc__process_capabilities_of(&rt, &pod->spec.containers[2], 0), 0xa80425fb);
    assert_int_equal(kc__process_capabilities_of(&rt, &pod->spec.containers[2], 5), 0);
}

TESTS(directories_and_files_are_hidden_by_mounts, readable_directory_is_refused_without_namespaces,
      private_directory_is_accepted_without_namespaces, accepted_risk_is_logged,
      host_path_to_credentials_is_refused, container_has_no_privileges_and_inherits_nothing,
      capabilities_of_a_root_container_can_be_dropped_and_added)
