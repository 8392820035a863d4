/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes: what containers see, and that they cannot escape through them. */
#include "process_testing.h"

#include <sys/mount.h>

#define MOUNT(name, path) "{'name':'" name "','mountPath':'" path "'}"

static node *with_mounts(const node_opts *opts)
{
    node *n = node_start(opts);
    if (n->rt->isolation.namespaces != KC__PROCESS_NAMESPACES_NONE)
        return n;
    node_free(n);
    skip();
    return NULL;
}

static void fill(node *n, const kc_pod *pod, size_t volume, const kc__pod_volume_file *files,
                 size_t k)
{
    kc_scoped(kc_error) err = {0};
    if (n->runtime->ops->prepare(n->runtime, pod, &err) < 0 ||
        n->runtime->ops->fill(n->runtime, pod, &pod->spec.volumes[volume], files, k, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void empty_dir_is_shared_by_containers_and_attempts(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{}}],'containers':["
        "{'name':'a','command':['sh','-c','date > /data/made/x'],'workingDir':'/data',"
        "'volumeMounts':[" MOUNT(
            "v", "/data") "]},"
                          "{'name':'b','command':['sh','-c','mkdir /deep/er/made; ls /deep/er'],"
                          "'volumeMounts':[" MOUNT("v", "/deep/er/") "]}]");
    kc_scoped(kc_error) err = {0};
    assert_int_equal(start_with(n, pod, 1, 0, NULL, 0, &err), 0);
    await_end(n, pod, "b", 0);
    assert_true(has_logged(n, pod, "b", "made\n"));
    assert_int_equal(start_with(n, pod, 0, 0, NULL, 0, &err), 0);
    assert_int_equal(await_end(n, pod, "a", 0).exit_code, 0);
    assert_int_equal(start_with(n, pod, 0, 1, NULL, 0, &err), 0);
    assert_int_equal(await_end(n, pod, "a", 1).exit_code, 0);
    assert_int_equal(access("/data", F_OK), -1);
    assert_int_equal(access("/deep", F_OK), -1);
}

static void mount_path_missing_in_image_is_created(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{}},{'name':'w','emptyDir':{}}],'containers':["
        "{'name':'c','command':['sh','-c','touch /etc/kc-app/x /run/kc-app/deep/y "
        "/v/inner/z && ls /etc/passwd /v /v/inner'],"
        "'volumeMounts':[" MOUNT("v", "/etc/kc-app") "," MOUNT(
            "w", "/var/run/kc-app/deep") "," MOUNT("w", "/v/inner") "," MOUNT("v", "/v") "]}]");
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
    assert_true(has_logged(n, pod, "c", "/etc/passwd\n\n/v:\ninner\nx\n\n/v/inner:\ny\nz\n"));
    assert_int_equal(access("/etc/kc-app", F_OK), -1);
    assert_int_equal(access("/run/kc-app", F_OK), -1);
}

static void config_map_files_are_read_only(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod =
        pod_of("'volumes':[{'name':'v','secret':{'secretName':'s'}}],'containers':[{'name':'c',"
               "'command':['sh','-c','cat /s/key /s/deep/er/key; stat -Lc %a /s/key; "
               "touch /s/x; rm -f /s/key; ls -A /s'],'volumeMounts':[" MOUNT("v", "/s") "]}]");
    const kc__pod_volume_file files[] = {{"key", KC_STR("one\n"), 0400},
                                         {"deep/er/key", KC_STR("two\n"), 0644}};
    fill(n, pod, 0, files, 2);
    start(n, pod, 0);
    await_end(n, pod, "c", 0);
    assert_true(has_logged(n, pod, "c", "one\ntwo\n400\n"));
    assert_true(has_logged(n, pod, "c", "'/s/x': Read-only file system"));
    assert_true(has_logged(n, pod, "c", "..data\ndeep\nkey\n"));
}

static void volume_update_is_atomic_for_running_container(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','configMap':{'name':'s'}}],'containers':[{'name':'c','command':["
        "'sh','-c','echo up; until [ -e /s/b ]; do [ \\\"$(cat /s/..data/a)\\\" ] || echo gap; "
        "done; cat /s/b; ls /s'],'volumeMounts':[" MOUNT("v", "/s") "]}]");
    const kc__pod_volume_file old[] = {{"a", KC_STR("1"), 0}};
    const kc__pod_volume_file middle[] = {{"a", KC_STR("2"), 0}};
    const kc__pod_volume_file new[] = {{"a", KC_STR("3"), 0}, {"b", KC_STR("3\n"), 0}};
    const kc__pod_volume_file last[] = {{"b", KC_STR("3\n"), 0}};
    fill(n, pod, 0, old, 1);
    start(n, pod, 0);
    await(has_logged(n, pod, "c", "up\n"));
    fill(n, pod, 0, middle, 1);
    fill(n, pod, 0, new, 2);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
    assert_false(has_logged(n, pod, "c", "gap"));
    assert_true(has_logged(n, pod, "c", "3\na\nb\n"));
    fill(n, pod, 0, last, 1);
    assert_false(is_there(n, "pods/u1/.volumes/v/a"));
    assert_true(is_there(n, "pods/u1/.volumes/v/b"));
}

static void unchanged_files_are_not_rewritten(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of("'volumes':[{'name':'v','configMap':{'name':'s'}}]");
    const kc__pod_volume_file files[] = {{"a", KC_STR("1"), 0}};
    char before[256] = "", after[256] = "";
    kc_autofree char *path = kc_asprintf("%s/pods/u1/.volumes/v/..data", n->folder);
    fill(n, pod, 0, files, 1);
    assert_true(readlink(path, before, sizeof(before) - 1) > 0);
    fill(n, pod, 0, files, 1);
    assert_true(readlink(path, after, sizeof(after) - 1) > 0);
    assert_string_equal(before, after);
}

static void file_path_outside_volume_is_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"../x", "/x", "a/../../x", "", "a//b", "..data", "./a"};
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of("'volumes':[{'name':'v','configMap':{'name':'s'}}]");
    for (size_t i = 0; i < KC_COUNT(paths); i++) {
        kc_scoped(kc_error) err = {0};
        const kc__pod_volume_file file = {paths[i], KC_STR("1"), 0};
        assert_true(n->runtime->ops->fill(n->runtime, pod, &pod->spec.volumes[0], &file, 1, &err) <
                    0);
        assert_int_equal(err.reason, KC_INVALID);
    }
}

static void sub_path_mounts_directory_or_file(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{}},{'name':'m','configMap':{'name':'m'}}],"
        "'containers':[{'name':'c','command':['sh','-c','cat /etc/kc.conf; touch /d/x; ls /v/a'],"
        "'volumeMounts':[{'name':'v','mountPath':'/d','subPath':'a/b'},"
        "{'name':'m','mountPath':'/etc/kc.conf','subPath':'conf'}," MOUNT("v", "/v") "]}]");
    const kc__pod_volume_file file = {"conf", KC_STR("conf\n"), 0};
    fill(n, pod, 1, &file, 1);
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
    assert_true(has_logged(n, pod, "c", "conf\nb\n"));
    assert_true(is_there(n, "pods/u1/.volumes/v/a/b/x"));
    assert_int_equal(access("/etc/kc.conf", F_OK), -1);
}

static void symlink_in_volume_does_not_escape(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{}}],'containers':["
        "{'name':'a','command':['sh','-c','ln -s / /v/root; ln -s ../../../.. /v/up; ln -s "
        "/etc/kc-process-evil /v/mountpoint'],'volumeMounts':[" MOUNT(
            "v",
            "/v") "]},"
                  "{'name':'b','command':['true'],'volumeMounts':[{'name':'v','mountPath':'/x','subPath':"
                  "'root'}]},"
                  "{'name':'c','command':['true'],'volumeMounts':[{'name':'v','mountPath':'/x','subPath':"
                  "'up/etc'}]},"
                  "{'name':'d','command':['true'],'terminationMessagePath':'/v/mountpoint','volumeMounts':"
                  "[" MOUNT("v", "/v") "]}]");
    kc_scoped(kc_error) err = {0};
    assert_int_equal(start_with(n, pod, 0, 0, NULL, 0, &err), 0);
    await_end(n, pod, "a", 0);
    assert_true(start_with(n, pod, 1, 0, NULL, 0, &err) < 0);
    assert_contains(kc_error_text(&err), "subPath root");
    assert_true(start_with(n, pod, 2, 0, NULL, 0, &err) < 0);
    assert_contains(kc_error_text(&err), "subPath up/etc");
    assert_true(start_with(n, pod, 3, 0, NULL, 0, &err) < 0);
    assert_contains(kc_error_text(&err), "mount /v/mountpoint");
    assert_int_equal(access("/etc/kc-process-evil", F_OK), -1);
}

static void invalid_mount_path_or_sub_path_is_refused(void **state)
{
    (void)state;
    static const char *const mounts[] = {
        "'mountPath':'relative'",
        "'mountPath':'/a/../b'",
        "'mountPath':'/'",
        "'mountPath':'/a','subPath':'../b'",
        "'mountPath':'/a','subPath':'/b'",
    };
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    for (size_t i = 0; i < KC_COUNT(mounts); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *spec =
            kc_asprintf("'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'c',"
                        "'command':['true'],'volumeMounts':[{'name':'v',%s}]}]",
                        mounts[i]);
        kc_auto(kc_pod) *pod = pod_of(spec);
        assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
        assert_int_equal(err.reason, KC_INVALID);
    }
}

static void memory_empty_dir_is_limited_and_unmounted(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    if (n->rt->isolation.namespaces != KC__PROCESS_NAMESPACES_ROOT)
        skip();
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{'medium':'Memory','sizeLimit':'1Mi'}}],'containers':["
        "{'name':'c','command':['sh','-c','stat -fc %T /v; head -c 2000000 /dev/zero > /v/x'],"
        "'volumeMounts':[" MOUNT("v", "/v") "]}]");
    start(n, pod, 0);
    assert_int_not_equal(await_end(n, pod, "c", 0).exit_code, 0);
    assert_true(has_logged(n, pod, "c", "tmpfs\n"));
    assert_true(has_logged(n, pod, "c", "No space left on device"));
    n->runtime->ops->remove(n->runtime, KC_STR("u1"));
    assert_false(is_there(n, "pods/u1"));
}

static void host_path_requires_allow_root(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','hostPath':{'path':'/usr','type':'Directory'}}],'containers':["
        "{'name':'c','command':['ls','/v'],'volumeMounts':[" MOUNT("v", "/v") "]}]");
    assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
    assert_error(&err, KC_INVALID, "hostPath requires --pods-allow-root");
    kc_auto(node) *allowed = with_mounts(&(node_opts){.pods.allow_root = true});
    start(allowed, pod, 0);
    await_end(allowed, pod, "c", 0);
    assert_true(has_logged(allowed, pod, "c", "bin\n"));
}

static void host_path_type_creates_and_checks(void **state)
{
    (void)state;
    static const struct {
        const char *path, *type, *error; /* NULL: it is well. */
    } cases[] = {
        {"a/b/c", "DirectoryOrCreate", NULL},
        {"a/b/c", "Directory", NULL},
        {"a/b/c", "File", "is not a file"},
        {"a/f", "FileOrCreate", NULL},
        {"a/f", "File", NULL},
        {"a/f", "Directory", "is not a directory"},
        {"a/none", "", "No such file"},
        {"a/none", "Directory", "No such file"},
    };
    kc_autofree char *folder = new_folder();
    kc_auto(node) *n = node_start(&(node_opts){.pods.allow_root = true});
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *spec =
            kc_asprintf("'volumes':[{'name':'v','hostPath':{'path':'%s/%s','type':'%s'}}]", folder,
                        cases[i].path, cases[i].type);
        kc_auto(kc_pod) *pod = pod_of(spec);
        const int prepared = n->runtime->ops->prepare(n->runtime, pod, &err);
        assert_int_equal(prepared < 0, cases[i].error != NULL);
        if (cases[i].error)
            assert_contains(kc_error_text(&err), cases[i].error);
    }
    assert_int_equal(kc__process_dir_remove(AT_FDCWD, folder, NULL), 0);
}

static void deeply_nested_directory_is_removed(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'c','workingDir':'/v',"
        "'command':['sh','-c','i=0; while [ $i -lt 400 ]; do mkdir d && cd d; i=$((i+1)); done; "
        "ln -s / x; cd /v; chmod 0 d'],"
        "'volumeMounts':[" MOUNT("v", "/v") "]}]");
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
    n->runtime->ops->remove(n->runtime, KC_STR("u1"));
    assert_false(is_there(n, "pods/u1"));
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

static void termination_message_is_reported(void **state)
{
    (void)state;
    kc_auto(node) *n = with_mounts(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_of(
        "'containers':[{'name':'a','command':['sh','-c','echo because > /dev/termination-log; "
        "exit 1']},{'name':'b','terminationMessagePath':'/var/kc-msg','command':['sh','-c',"
        "'echo elsewhere > /var/kc-msg']},"
        "{'name':'c','terminationMessagePolicy':'FallbackToLogsOnError','command':['sh','-c',"
        "'seq 1 100; exit 1']},"
        "{'name':'d','terminationMessagePolicy':'FallbackToLogsOnError','command':['echo','x']},"
        "{'name':'e','command':['sh','-c','printf \\\"a\\\\377b\\\\303\\\\244\\\\000c\\\" > "
        "/dev/termination-log']}]");
    start(n, pod, 0);
    assert_string_equal(await_end(n, pod, "a", 0).message, "because\n");
    assert_string_equal(await_end(n, pod, "b", 0).message, "elsewhere\n");
    const kc__pod_container_report r = await_end(n, pod, "c", 0);
    assert_memory_equal(r.message, "21\n22\n", 6);
    assert_non_null(strstr(r.message, "99\n100\n"));
    assert_string_equal(await_end(n, pod, "d", 0).message, "");
    assert_string_equal(await_end(n, pod, "e", 0).message, "a?bä?c");
}

static void unsupported_volume_type_is_refused(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_of("'volumes':[{'name':'v','nfs':{'server':'s','path':'/'}}]");
    assert_true(n->runtime->ops->prepare(n->runtime, pod, &err) < 0);
    assert_error(&err, KC_INVALID, "volume v: unsupported volume type");
}

TESTS(empty_dir_is_shared_by_containers_and_attempts, mount_path_missing_in_image_is_created,
      config_map_files_are_read_only, volume_update_is_atomic_for_running_container,
      unchanged_files_are_not_rewritten, file_path_outside_volume_is_refused,
      sub_path_mounts_directory_or_file, symlink_in_volume_does_not_escape,
      invalid_mount_path_or_sub_path_is_refused, memory_empty_dir_is_limited_and_unmounted,
      host_path_requires_allow_root, host_path_type_creates_and_checks,
      deeply_nested_directory_is_removed, termination_message_is_reported,
      unsupported_volume_type_is_refused)
