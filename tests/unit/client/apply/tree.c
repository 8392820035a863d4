/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the manifests of a directory: which names count, links, errors and limits. */
#include "client/apply/apply_tree.h"
#include "files_testing.h"

#include "kc/apply.h"

/* The paths below the directory, each with ! if it has an error, separated by spaces. */
static char *found(const scratch *s, bool recursive)
{
    kc_scoped(kc__apply_tree) tree = {0};
    kc_scoped(kc_error) err = {0};
    kc_buf out = {0};
    if (kc__apply_tree_read(s->dir, &(kc__apply_tree_opts){.recursive = recursive}, &tree, &err) <
        0)
        kc_buf_puts(&out, kc_error_text(&err));
    kc_vec_each (&tree.files, f)
        kc_buf_printf(&out, "%s%s%s", out.n ? " " : "", f->path + strlen(s->dir) + 1,
                      f->err.reason ? "!" : "");
    return kc_buf_take(&out);
}

static void assert_found(const scratch *s, const char *expected)
{
    kc_autofree char *all = found(s, true);
    assert_string_equal(all ? all : "", expected);
}

static void manifests_of_subdirectories_are_sorted_by_path(void **state)
{
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    scratch_write(s, "b.yml", "");
    scratch_write(s, "a.yaml", "");
    scratch_write(s, "sub/deep/c.json", "");
    scratch_write(s, "sub/a.yaml", "");
    scratch_write(s, "z.yaml/inner.yaml", "");
    assert_found(s, "a.yaml b.yml sub/a.yaml sub/deep/c.json z.yaml/inner.yaml");
    kc_autofree char *flat = found(s, false);
    assert_string_equal(flat, "a.yaml b.yml");
}

static void hidden_and_temporary_files_are_skipped(void **state)
{
    static const char *const skipped[] = {".a.yaml",    ".a.yaml.swp", "a.yaml~",     "#a.yaml#",
                                          "a.yaml.tmp", "README.md",   ".git/b.yaml", "4913"};
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    for (size_t i = 0; i < KC_COUNT(skipped); i++)
        scratch_write(s, skipped[i], "");
    scratch_link(s, "user@host.1234", ".#a.yaml");
    assert_found(s, "");
}

/* As the kubelet mounts a ConfigMap with the keys a.yaml and sub/b.yaml. */
static void volume_of_config_map_is_read_through_its_links(void **state)
{
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    scratch_write(s, "..2025_1/a.yaml", "");
    scratch_write(s, "..2025_1/sub/b.yaml", "");
    scratch_link(s, "..2025_1", "..data");
    scratch_link(s, "..data/a.yaml", "a.yaml");
    scratch_link(s, "..data/sub", "sub");
    assert_found(s, "a.yaml sub/b.yaml");
}

static void cycle_of_links_ends(void **state)
{
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    scratch_write(s, "sub/a.yaml", "");
    scratch_link(s, "..", "sub/up");
    scratch_link(s, "sub", "twin");
    kc_autofree char *all = found(s, true);
    assert_true(!strcmp(all, "sub/a.yaml") || !strcmp(all, "twin/a.yaml"));
}

static void unreadable_entries_are_reported(void **state)
{
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    kc_autofree char *pipe = scratch_path(s, "pipe.yaml"), *closed = scratch_path(s, "closed");
    scratch_link(s, "nowhere", "broken.yaml");
    scratch_link(s, "nowhere", "broken");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_found(s, "broken.yaml! pipe.yaml!");
    if (geteuid() == 0)
        return; /* root reads every directory. */
    scratch_write(s, "closed/a.yaml", "");
    assert_int_equal(chmod(closed, 0), 0);
    assert_found(s, "broken.yaml! closed! pipe.yaml!");
    assert_int_equal(chmod(closed, 0700), 0);
}

static void missing_directory_is_not_found(void **state)
{
    (void)state;
    kc_scoped(kc__apply_tree) tree = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__apply_tree_read("/no/such", NULL, &tree, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "cannot open directory /no/such");
    assert_true(kc__apply_tree_read("/dev/null", NULL, &tree, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "cannot open directory /dev/null");
}

static void assert_too_large(const scratch *s, const char *message)
{
    kc_autofree char *all = found(s, true);
    assert_contains(all, message);
}

static void directory_beyond_limits_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *many = scratch_new();
    for (unsigned i = 0; i <= KC_APPLY_MAX_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u.yaml", i);
        scratch_write(many, name, "");
    }
    assert_too_large(many, "has more than 10000 manifests");
    kc_auto(scratch) *deep = scratch_new();
    kc_scoped(kc_buf) path = {0};
    for (unsigned i = 0; i <= KC__APPLY_TREE_MAX_DEPTH; i++)
        kc_buf_puts(&path, "d/");
    kc_buf_puts(&path, "a.yaml");
    scratch_write(deep, kc_buf_cstr(&path), "");
    assert_too_large(deep, "has more than 32 levels of subdirectories");
}

static void link_to_the_root_ends_at_a_limit(void **state)
{
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    scratch_link(s, "/", "everything");
    assert_too_large(s, "has more than");
}

static void note_directory(const char *path, void *user)
{
    kc_buf_printf(user, "%s ", path);
}

static void directories_are_announced_before_they_are_read(void **state)
{
    (void)state;
    kc_auto(scratch) *s = scratch_new();
    kc_scoped(kc_buf) seen = {0};
    kc_scoped(kc__apply_tree) tree = {0};
    scratch_write(s, "sub/a.yaml", "");
    const kc__apply_tree_opts opts = {.recursive = true, .enter = note_directory, .user = &seen};
    assert_int_equal(kc__apply_tree_read(s->dir, &opts, &tree, NULL), 0);
    kc_autofree char *expected = kc_asprintf("%s %s/sub ", s->dir, s->dir);
    assert_string_equal(kc_buf_cstr(&seen), expected);
    assert_true(tree.inode != 0);
}

TESTS(manifests_of_subdirectories_are_sorted_by_path, hidden_and_temporary_files_are_skipped,
      volume_of_config_map_is_read_through_its_links, cycle_of_links_ends,
      unreadable_entries_are_reported, missing_directory_is_not_found,
      directory_beyond_limits_is_refused, link_to_the_root_ends_at_a_limit,
      directories_are_announced_before_they_are_read)
