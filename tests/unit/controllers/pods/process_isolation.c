/* SPDX-License-Identifier: Apache-2.0 */
/* Isolation of containers when the runtime is root: they cannot change or read the host. */
#include "process_testing.h"

#include <sys/mount.h>

/* Before anything is made: a test that is skipped frees nothing. */
static void needs_root(void)
{
    if (geteuid() != 0)
        skip();
}

/* The test is skipped where the machine has no namespaces or we are not root. */
static node *isolated(const node_opts *opts)
{
    needs_root();
    node *n = node_start(opts);
    if (n->rt->isolation.namespaces == KC__PROCESS_NAMESPACES_ROOT)
        return n;
    node_free(n);
    skip();
    return NULL;
}

static void startup_log_describes_the_isolation(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    assert_contains(kc_buf_cstr(&n->logged), "running pods as processes");
    assert_contains(n->rt->isolation.text, "UID per pod from range 2000000000:");
    assert_contains(n->rt->isolation.text, "; seccomp filter; ");
    assert_contains(n->rt->isolation.text, "namespaces: mount pid ipc uts");
    assert_contains(n->runtime->version, "namespaces");
}

static void container_runs_as_pod_user_with_own_pids_and_host_name(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){.pods.uids = {1900000000, 1}});
    kc_autofree char *text =
        output_of(n, "id -u; id -G; echo pid $$; hostname; set -- /proc/[0-9]*; echo $#");
    assert_contains(text, "1900000000\n1900000000\npid 1\npod-u1\n");
    assert_contains(text, "pod-u1\n1\n"); /* The shell. */
}

static void container_cannot_read_files_of_root(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    char secret[] = "/var/tmp/kc-secret-XXXXXX";
    const int fd = mkstemp(secret);
    close(fd);
    kc_autofree char *script = kc_asprintf("cat /etc/shadow; cat %s; ls /root; echo end", secret);
    kc_autofree char *text = output_of(n, script);
    unlink(secret);
    assert_contains(text, "end\n");
    assert_null(strstr(text, "root:"));
}

static void container_cannot_signal_the_runtime(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    kc_autofree char *script =
        kc_asprintf("kill -9 %d || echo refused; kill -9 -1; echo alive", getpid());
    kc_autofree char *text = output_of(n, script);
    assert_contains(text, "refused\n");
}

static void container_cannot_see_the_runtime_directory(void **state)
{
    (void)state;
    char folder[64];
    snprintf(folder, sizeof(folder), "/var/lib/kc-process-test-%d", getpid());
    kc_auto(node) *n = isolated(&(node_opts){.pods.dir = folder});
    kc_autofree char *script =
        kc_asprintf("ls -la %s || echo hidden; stat -c %%a %s", folder, folder);
    kc_autofree char *text = output_of(n, script);
    assert_contains(text, "hidden\n");
    assert_contains(text, "\n0\n");
}

static void tmp_is_private_and_removed_with_the_next_attempt(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_running("touch /tmp/kc-process-mine; ls /tmp /var/tmp; sleep 0.1");
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    assert_true(has_logged(n, pod, "c", "/tmp:\nkc-process-mine\n"));
    assert_true(has_logged(n, pod, "c", "/var/tmp:\nkc-process-mine\n"));
    assert_int_equal(access("/tmp/kc-process-mine", F_OK), -1);
    start(n, pod, 1);
    assert_false(is_there(n, "pods/u1/c/0.tmp"));
}

static void container_has_the_default_devices_only(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    kc_autofree char *text = output_of(
        n, "ls /dev | tr \\\"\\\\n\\\" \\\" \\\"; echo x > /dev/null && echo null; "
           "echo to > /dev/stdout; touch /dev/shm/x && echo shm; touch /dev/x || echo no");
    assert_contains(text, "fd full null ptmx pts random shm stderr stdin stdout termination-log "
                          "tty urandom zero");
    assert_contains(text, "null\nto\nshm\n");
    assert_contains(text, "no\n");
}

static void run_as_user_is_refused_unless_root_is_allowed(void **state)
{
    (void)state;
    static const char *const contexts[] = {"'runAsUser':0", "'runAsUser':1000", "'runAsGroup':0",
                                           "'privileged':true"};
    kc_auto(node) *n = isolated(&(node_opts){0});
    for (size_t i = 0; i < KC_COUNT(contexts); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *spec = kc_asprintf(
            "'containers':[{'name':'c','command':['id'],'securityContext':{%s}}]", contexts[i]);
        kc_auto(kc_pod) *pod = pod_of(spec);
        assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
        assert_error(&err, KC_INVALID, "root");
    }
}

static void security_context_is_applied_when_root_is_allowed(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){.pods.allow_root = true});
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod =
        pod_of("'securityContext':{'runAsUser':1234,'runAsGroup':2345,'fsGroup':3456},"
               "'volumes':[{'name':'v','emptyDir':{}}],'containers':["
               "{'name':'a','command':['sh','-c','id -u; id -G; stat -c %g,%a /v'],"
               "'volumeMounts':[{'name':'v','mountPath':'/v'}]},"
               "{'name':'r','command':['sh','-c','id -u; grep CapEff /proc/self/status'],"
               "'securityContext':{'runAsUser':0}},"
               "{'name':'n','command':['id'],"
               "'securityContext':{'runAsUser':0,'runAsNonRoot':true}}]");
    assert_int_equal(start_with(n, pod, 0, 0, NULL, 0, &err), 0);
    assert_int_equal(start_with(n, pod, 1, 0, NULL, 0, &err), 0);
    await_end(n, pod, "a", 0);
    await_end(n, pod, "r", 0);
    assert_true(has_logged(n, pod, "a", "1234\n2345 3456\n3456,2777\n"));
    assert_true(has_logged(n, pod, "r", "0\nCapEff:\t00000000a80425fb\n"));
    assert_true(start_with(n, pod, 2, 0, NULL, 0, &err) < 0);
    assert_error(&err, KC_INVALID, "container has runAsNonRoot and image will run as root");
}

static void read_only_root_filesystem_is_applied(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){.pods.allow_root = true});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'c','command':['sh','-c',"
        "'touch /usr/kc-process-x /kc-process-x /etc/kc-process-x; touch /etc/kc-v/y && echo vol']"
        ",'securityContext':{'runAsUser':0,'readOnlyRootFilesystem':true},"
        "'volumeMounts':[{'name':'v','mountPath':'/etc/kc-v'}]}]");
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    assert_true(has_logged(n, pod, "c", "vol\n"));
    assert_true(has_logged(n, pod, "c", "'/usr/kc-process-x': Read-only file system"));
    assert_true(has_logged(n, pod, "c", "'/kc-process-x': Read-only file system"));
    assert_true(has_logged(n, pod, "c", "'/etc/kc-process-x': Read-only file system"));
    assert_int_equal(access("/etc/kc-v", F_OK), -1);
}

static void image_is_a_directory_of_the_operator(void **state)
{
    (void)state;
    node_free(isolated(&(node_opts){0})); /* Skips before anything is allocated. */
    kc_autofree char *image = new_folder();
    static const char *const folders[] = {"bin", "lib", "lib64", "usr", "var"};
    static const char *const trees[] = {"/bin", "/lib", "/lib64", "/usr"};
    char path[512];
    for (size_t i = 0; i < KC_COUNT(folders); i++) {
        snprintf(path, sizeof(path), "%s/%s", image, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    chmod(image, 0755);
    kc_auto(node) *n = isolated(&(node_opts){.pods = {.image = image, .allow_root = true}});
    kc_scoped(kc_buf) spec = {0};
    kc_buf_puts(&spec, "'volumes':[");
    for (size_t i = 0; i < KC_COUNT(trees); i++)
        kc_buf_printf(&spec, "%s{'name':'v%zu','hostPath':{'path':'%s'}}", i ? "," : "", i,
                      trees[i]);
    kc_buf_puts(&spec, "],'containers':[{'name':'c','command':['/bin/sh','-c','ls -d /*; "
                       "test -r /etc/resolv.conf'],"
                       "'volumeMounts':[");
    for (size_t i = 0; i < KC_COUNT(trees); i++)
        kc_buf_printf(&spec, "%s{'name':'v%zu','mountPath':'%s','readOnly':true}", i ? "," : "", i,
                      trees[i]);
    kc_buf_puts(&spec, "]}]");
    kc_auto(kc_pod) *pod = pod_of(kc_buf_cstr(&spec));
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
    kc_autofree char *text = logs_of(n, pod, "c", 0, NULL);
    assert_string_equal(text, "/bin\n/dev\n/etc\n/lib\n/lib64\n/proc\n/sys\n/tmp\n/usr\n/var\n");
    assert_int_equal(kc__process_dir_remove(AT_FDCWD, image, NULL), 0);
}

/* On a disk of our own, of 1 MiB. */
static void full_disk_is_logged_and_container_keeps_running(void **state)
{
    (void)state;
    needs_root();
    kc_autofree char *folder = new_folder();
    if (mount("tmpfs", folder, "tmpfs", 0, "size=1m,mode=700") < 0) {
        rmdir(folder);
        free(kc_take(folder));
        skip();
    }
    node *n = node_start(&(node_opts){.pods.dir = folder, .keep = true});
    kc_auto(kc_pod) *pod = pod_running("yes | head -c 5000000; exit 5");
    kc_auto(kc_pod) *next = pod_named("u2", "'containers':[{'name':'c','command':['true']}]");
    kc_scoped(kc_error) err = {0};
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 5);
    assert_contains(kc_buf_cstr(&n->logged), "failed to write container log; output is lost");
    assert_true(start_with(n, next, 0, 0, NULL, 0, &err) < 0);
    assert_contains(kc_error_text(&err), "no space left");
    n->runtime->ops->remove(n->runtime, KC_STR("u1"));
    assert_int_equal(start_with(n, next, 0, 0, NULL, 0, &err), 0);
    assert_int_equal(await_end(n, next, "c", 0).exit_code, 0);
    node_free(n);
    umount2(folder, MNT_DETACH);
    rmdir(folder);
}

static void directory_in_use_is_a_conflict(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    kc_scoped(kc_error) err = {0};
    assert_null(node_try(&(node_opts){.pods.dir = n->folder, .keep = true}, &err));
    assert_error(&err, KC_CONFLICT, "is used by another process");
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc__process_runtime_new(&(kc_pods_opts){0}, kc_clock_real(), NULL, &err));
    assert_error(&err, KC_INVALID, "requires a directory");
    assert_null(node_try(&(node_opts){.pods.image = "/no/such/image"}, &err));
    assert_error(&err, KC_INVALID, "open image root /no/such/image");
    if (geteuid() != 0)
        return;
    assert_null(node_try(&(node_opts){.pods.uids = {0, 10}}, &err));
    assert_error(&err, KC_INVALID, "must not contain 0");
    assert_null(node_try(&(node_opts){.pods.uids = {65000, 1000}}, &err));
    assert_error(&err, KC_INVALID, "65534");
    assert_null(node_try(&(node_opts){.pods.uids = {1, 10}}, &err));
    assert_error(&err, KC_INVALID, "contains the account \"daemon\"");
}

static void resource_limits_become_cgroup_limits(void **state)
{
    (void)state;
    char text[64];
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'a','resources':{'limits':{'cpu':'1500m',"
                                  "'memory':'64Mi'}}},{'name':'b'},{'name':'c','resources':"
                                  "{'limits':{'cpu':'1m'}}}]");
    kc__process_cgroup_cpu_text(&pod->spec.containers[0], text);
    assert_string_equal(text, "150000 100000");
    kc__process_cgroup_memory_text(&pod->spec.containers[0], text);
    assert_string_equal(text, "67108864");
    kc__process_cgroup_cpu_text(&pod->spec.containers[1], text);
    assert_string_equal(text, "");
    kc__process_cgroup_memory_text(&pod->spec.containers[1], text);
    assert_string_equal(text, "");
    kc__process_cgroup_cpu_text(&pod->spec.containers[2], text);
    assert_string_equal(text, "1000 100000");
}

static void make_file(const char *folder, const char *name)
{
    kc_autofree char *path = kc_asprintf("%s/%s", folder, name);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void assert_file(int at, const char *name, const char *expected)
{
    kc_scoped(kc_buf) text = {0};
    assert_true(kc__process_file_bytes(at, name, 4096, false, &text));
    assert_string_equal(kc_buf_cstr(&text), expected);
}

/* In a folder that looks like a cgroup, for not every machine has controllers. */
static void cgroup_limits_are_written_and_oom_kill_is_reported(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    kc_autofree char *group = kc_asprintf("%s/u1/c-0", folder);
    kc_autofree char *pod_group = kc_asprintf("%s/u1", folder);
    assert_int_equal(mkdir(pod_group, 0700) | mkdir(group, 0700), 0);
    make_file(group, "cpu.max");
    make_file(group, "memory.max");
    make_file(group, "pids.max");
    make_file(group, "memory.oom.group");
    kc__process_runtime rt = {.isolation = {.cpu = true, .memory = true, .pids = true}};
    rt.isolation.cgroup = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char uid[] = "u1", name[] = "c";
    const kc__process_proc proc = {.uid = uid, .name = name};
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','resources':{'limits':{'cpu':'2',"
                                  "'memory':'1Ki'}}}]");
    const int fd = kc__process_cgroup_make(&rt, &proc, &pod->spec.containers[0]);
    assert_true(fd >= 0);
    assert_file(fd, "cpu.max", "200000 100000");
    assert_file(fd, "memory.max", "1024");
    assert_file(fd, "pids.max", "4096");
    assert_file(fd, "memory.oom.group", "1");
    kc__process_file_replace(fd, "memory.events", KC_STR("low 0\noom 0\noom_kill 0\n"), NULL);
    assert_false(kc__process_cgroup_oom(fd));
    kc__process_file_replace(fd, "memory.events", KC_STR("low 0\noom 2\noom_kill 2\n"), NULL);
    assert_true(kc__process_cgroup_oom(fd));
    close(fd);
    close(rt.isolation.cgroup);
    assert_int_equal(kc__process_dir_remove(AT_FDCWD, folder, NULL), 0);
}

static void cgroup_is_created_and_removed_with_its_container(void **state)
{
    (void)state;
    kc_auto(node) *n = isolated(&(node_opts){0});
    if (n->rt->isolation.cgroup < 0)
        skip();
    kc_auto(kc_pod) *pod = pod_running("cat /proc/self/cgroup; sleep 60");
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "/u1/c-0\n"));
    stop(n, pod, "c", 0, true);
    await_end(n, pod, "c", 0);
    n->runtime->ops->remove(n->runtime, KC_STR("u1"));
    assert_int_equal(faccessat(n->rt->isolation.cgroup, "u1", F_OK, 0), -1);
    kc_autofree char *all = kc_strdup(n->rt->isolation.cgroup_path);
    assert_int_equal(access(all, F_OK), 0);
    n = node_free(n);
    assert_int_equal(access(all, F_OK), -1);
}

TESTS(startup_log_describes_the_isolation, container_runs_as_pod_user_with_own_pids_and_host_name,
      container_cannot_read_files_of_root, container_cannot_signal_the_runtime,
      container_cannot_see_the_runtime_directory, tmp_is_private_and_removed_with_the_next_attempt,
      container_has_the_default_devices_only, run_as_user_is_refused_unless_root_is_allowed,
      security_context_is_applied_when_root_is_allowed, read_only_root_filesystem_is_applied,
      image_is_a_directory_of_the_operator, full_disk_is_logged_and_container_keeps_running,
      directory_in_use_is_a_conflict, invalid_options_are_refused,
      resource_limits_become_cgroup_limits, cgroup_limits_are_written_and_oom_kill_is_reported,
      cgroup_is_created_and_removed_with_its_container)
