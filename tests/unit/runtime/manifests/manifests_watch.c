/* SPDX-License-Identifier: Apache-2.0 */
/* Watching a directory of manifests: which changes count, the debounce, files that are being
 * written, and directories that come and go. */
#include "files_testing.h"
#include "runtime/manifests/manifests_internal.h"

#include <fcntl.h>

#define SHORT (20 * KC_MILLISECOND)

typedef struct watching {
    scratch *s;
    char *root; /* s->dir/root */
    kc__manifests_watch *watch;
} watching;

static void visit(const char *path, void *user)
{
    kc__manifests_watch_visit(user, path);
}

/* Reads the tree, as a sync does. */
static void survey(const watching *w)
{
    kc_scoped(kc__apply_tree) tree = {0};
    const kc__apply_tree_opts opts = {.recursive = true, .enter = visit, .user = w->watch};
    kc__manifests_watch_begin(w->watch);
    kc__apply_tree_read(w->root, &opts, &tree, NULL);
    kc__manifests_watch_end(w->watch);
}

static watching *watching_new(void)
{
    watching *w = kc_new(watching);
    w->s = scratch_new();
    w->root = scratch_path(w->s, "root");
    scratch_write(w->s, "root/a.yaml", "a: 1\n");
    w->watch = kc__manifests_watch_new(w->root, NULL, NULL);
    assert_non_null(w->watch);
    survey(w);
    return w;
}

static void watching_free(watching *w)
{
    kc__manifests_watch_free(w->watch);
    scratch_free(w->s);
    free(w->root);
    free(w);
}
KC_AUTO_DEFINE(watching, watching_free)

static kc__manifests_wakeup wait_for(const watching *w, int64_t timeout)
{
    return kc__manifests_watch_wait(w->watch, NULL, SHORT,
                                    kc_clock_deadline(kc_clock_real(), timeout));
}

#define assert_changed(w)   assert_int_equal(wait_for(w, 5 * KC_SECOND), KC__MANIFESTS_CHANGED)
#define assert_unchanged(w) assert_int_equal(wait_for(w, 3 * SHORT), KC__MANIFESTS_TIMEOUT)

static void changes_of_manifests_wake(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    assert_unchanged(w);
    scratch_write(w->s, "root/b.yaml", "b: 1\n");
    assert_changed(w);
    assert_unchanged(w);
    scratch_write(w->s, "root/a.yaml", "a: 2\n");
    assert_changed(w);
    scratch_rename(w->s, "root/b.yaml", "root/c.yaml");
    assert_changed(w);
    scratch_remove(w->s, "root/c.yaml");
    assert_changed(w);
    assert_unchanged(w);
}

static void other_files_do_not_wake(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    scratch_write(w->s, "root/notes.txt", "x");
    scratch_write(w->s, "root/.a.yaml.swp", "x");
    scratch_write(w->s, "root/a.yaml~", "x");
    scratch_remove(w->s, "root/notes.txt");
    scratch_write(w->s, "beside.yaml", "x");
    assert_unchanged(w);
}

/* Editors write a new file and rename it over the old one. */
static void atomic_replacement_wakes_once(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    scratch_write(w->s, "root/.a.yaml.new", "a: 2\n");
    scratch_rename(w->s, "root/.a.yaml.new", "root/a.yaml");
    assert_changed(w);
    assert_unchanged(w);
}

static void swap_of_volume_link_wakes(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    scratch_write(w->s, "root/..1/b.yaml", "b: 1\n");
    scratch_link(w->s, "..1", "root/..data");
    scratch_link(w->s, "..data/b.yaml", "root/b.yaml");
    assert_changed(w);
    survey(w);
    scratch_write(w->s, "root/..2/b.yaml", "b: 2\n");
    scratch_link(w->s, "..2", "root/..data_tmp");
    assert_int_equal(wait_for(w, 3 * SHORT), KC__MANIFESTS_CHANGED); /* A directory was created. */
    scratch_rename(w->s, "root/..data_tmp", "root/..data");
    assert_changed(w);
}

static void new_subdirectory_is_watched_after_the_next_survey(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    scratch_write(w->s, "root/sub/b.yaml", "b: 1\n");
    assert_changed(w);
    survey(w);
    assert_unchanged(w);
    scratch_write(w->s, "root/sub/b.yaml", "b: 2\n");
    assert_changed(w);
    scratch_rename(w->s, "root/sub", "moved");
    assert_changed(w);
    survey(w);
    scratch_write(w->s, "moved/b.yaml", "b: 3\n");
    assert_unchanged(w);
}

static void replaced_root_wakes(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    scratch_rename(w->s, "root", "old");
    assert_changed(w);
    survey(w);
    assert_unchanged(w);
    scratch_write(w->s, "new/b.yaml", "b: 1\n");
    scratch_rename(w->s, "new", "root");
    assert_changed(w);
    survey(w);
    scratch_write(w->s, "root/c.yaml", "c: 1\n");
    assert_changed(w);
}

static void file_counts_as_open_from_write_to_close(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    kc_autofree char *path = scratch_path(w->s, "root/a.yaml");
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, "a: ", 3), 3);
    assert_changed(w);
    const int64_t now = kc_clock_now(kc_clock_real());
    assert_true(kc__manifests_watch_is_open(w->watch, path, now));
    close(fd);
    assert_changed(w);
    assert_false(kc__manifests_watch_is_open(w->watch, path, now));
    assert_int_equal(truncate(path, 1), 0); /* Modifies without a close. */
    assert_changed(w);
    assert_true(kc__manifests_watch_is_open(w->watch, path, now));
    assert_false(
        kc__manifests_watch_is_open(w->watch, path, now + 2 * KC__MANIFESTS_WRITE_TIMEOUT));
}

typedef struct writer {
    const watching *w;
    int n;
} writer;

static void write_often(void *user)
{
    const writer *each = user;
    for (int i = 0; i < each->n; i++) {
        scratch_write(each->w->s, "root/a.yaml", "a: 1\n");
        kc_clock_sleep(kc_clock_real(), SHORT / 4);
    }
}

static void changes_in_a_row_wake_once(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    writer each = {w, 10};
    kc_thread *thread = kc_thread_start("writer", write_often, &each, NULL);
    assert_int_equal(kc__manifests_watch_wait(w->watch, NULL, 50 * SHORT,
                                              kc_clock_deadline(kc_clock_real(), KC_MINUTE)),
                     KC__MANIFESTS_CHANGED);
    kc_thread_join(thread);
    assert_unchanged(w);
}

static void fire_soon(void *user)
{
    kc_clock_sleep(kc_clock_real(), SHORT);
    kc_cancel_fire(user);
}

static void stop_ends_the_wait(void **state)
{
    (void)state;
    kc_auto(watching) *w = watching_new();
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    kc_thread *thread = kc_thread_start("stopper", fire_soon, stop, NULL);
    for (int i = 0; i < 2; i++) /* A token stays fired. */
        assert_int_equal(kc__manifests_watch_wait(w->watch, stop, SHORT, KC_FOREVER),
                         KC__MANIFESTS_STOPPED);
    kc_thread_join(thread);
}

TESTS(changes_of_manifests_wake, other_files_do_not_wake, atomic_replacement_wakes_once,
      swap_of_volume_link_wakes, new_subdirectory_is_watched_after_the_next_survey,
      replaced_root_wakes, file_counts_as_open_from_write_to_close, changes_in_a_row_wake_once,
      stop_ends_the_wait)
