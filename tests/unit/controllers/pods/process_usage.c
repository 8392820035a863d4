/* SPDX-License-Identifier: Apache-2.0 */
/* Local storage of pods: what is counted, and which limit is exceeded. */
#include "process_testing.h"

static void put(node *n, const char *path, size_t bytes)
{
    kc_autofree char *whole = kc_asprintf("%s/pods/u1/%s", n->folder, path);
    kc_autofree char *text = kc_alloc(bytes + 1);
    memset(text, 'x', bytes);
    assert_int_equal(kc__process_file_replace(AT_FDCWD, whole, kc_str_of(text, bytes), NULL), 0);
}

/* A pod's folder with a volume and two containers, as a runtime makes it. */
static kc_pod *prepared(node *n, const char *spec)
{
    static const char *const folders[] = {"", "/.volumes", "/.volumes/v", "/a", "/b"};
    for (size_t i = 0; i < KC_COUNT(folders); i++) {
        kc_autofree char *path = kc_asprintf("%s/pods/u1%s", n->folder, folders[i]);
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    }
    return pod_of(spec);
}

static const char *message_of(node *n, const kc_pod *pod, kc_error *err)
{
    return n->runtime->ops->measure(n->runtime, pod, err) < 0 ? kc_error_text(err) : "";
}

static void empty_dir_over_its_size_limit_is_evicted(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod = prepared(n, "'volumes':[{'name':'v','emptyDir':{'sizeLimit':'64Ki'}}]");
    kc_scoped(kc_error) err = {0};
    put(n, ".volumes/v/small", 20000);
    assert_string_equal(message_of(n, pod, &err), "");
    put(n, ".volumes/v/large", 50000);
    assert_string_equal(message_of(n, pod, &err),
                        "Usage of EmptyDir volume \"v\" exceeds the limit \"64Ki\". ");
}

static void container_over_its_ephemeral_storage_is_evicted(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod = prepared(
        n, "'containers':[{'name':'a','resources':{'limits':{'ephemeral-storage':'32Ki'}}},"
           "{'name':'b','resources':{'limits':{'ephemeral-storage':'1Mi'}}}]");
    kc_scoped(kc_error) err = {0};
    put(n, "b/0.log", 40000);
    assert_string_equal(message_of(n, pod, &err), "");
    put(n, "a/0.log", 40000);
    assert_string_equal(message_of(n, pod, &err),
                        "Container a exceeded its local ephemeral storage limit \"32Ki\". ");
}

static void pod_over_the_sum_of_its_limits_is_evicted(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod =
        prepared(n, "'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'a','resources':"
                    "{'limits':{'ephemeral-storage':'64Ki'}}},{'name':'b'}]");
    kc_scoped(kc_error) err = {0};
    put(n, ".volumes/v/x", 30000);
    assert_string_equal(message_of(n, pod, &err), "");
    put(n, "b/0.log", 40000);
    assert_string_equal(
        message_of(n, pod, &err),
        "Pod ephemeral local storage usage exceeds the total limit of containers 64Ki. ");
}

static void hard_link_is_counted_once(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    kc_autofree char *a = kc_asprintf("%s/a", folder), *b = kc_asprintf("%s/b", folder);
    kc_autofree char *text = kc_alloc(100000);
    memset(text, 'x', 100000);
    kc__process_file_replace(AT_FDCWD, a, kc_str_of(text, 100000), NULL);
    const int64_t before = kc__process_dir_usage(AT_FDCWD, folder);
    assert_int_equal(link(a, b), 0);
    assert_true(before >= 100000);
    assert_int_equal(kc__process_dir_usage(AT_FDCWD, folder), before);
    kc__process_dir_remove(AT_FDCWD, folder, NULL);
}

static void symlink_is_not_followed(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    kc_autofree char *link = kc_asprintf("%s/link", folder);
    assert_int_equal(symlink("/usr", link), 0);
    assert_true(kc__process_dir_usage(AT_FDCWD, folder) < 100000);
    kc__process_dir_remove(AT_FDCWD, folder, NULL);
}

static void tree_that_is_too_deep_exceeds_every_limit(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod = prepared(n, "'volumes':[{'name':'v','emptyDir':{'sizeLimit':'1Gi'}}]");
    kc_scoped(kc_error) err = {0};
    kc_autofree char *top = kc_asprintf("%s/pods/u1/.volumes/v", n->folder);
    int at = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 300; i++) {
        const int next = kc__process_dir_open(at, "d", 0700, &err);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    close(at);
    assert_contains(message_of(n, pod, &err), "exceeds the limit \"1Gi\"");
}

TESTS(empty_dir_over_its_size_limit_is_evicted, container_over_its_ephemeral_storage_is_evicted,
      pod_over_the_sum_of_its_limits_is_evicted, hard_link_is_counted_once, symlink_is_not_followed,
      tree_that_is_too_deep_exceeds_every_limit)
