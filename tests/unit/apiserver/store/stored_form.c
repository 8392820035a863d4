/* SPDX-License-Identifier: Apache-2.0 */
/* The store with encryption: what reaches the storage, restarts, stale and unreadable objects. */
#include "store_testing.h"

#include "encryption_testing.h"

static kc__encryption_resource last_segment(kc_str prefix)
{
    kc_str rest = kc_str_sub(prefix, strlen("/registry/"), prefix.n);
    return (kc__encryption_resource){.name = kc_str_cut(&rest, '/')};
}

typedef struct sealed_stage {
    stage *s;
    scratch *dir;
    kc__encryption *encryption;
} sealed_stage;

static void sealed_stage_done(sealed_stage *t)
{
    stage_free(t->s);
    kc__encryption_free(t->encryption);
    scratch_free(t->dir);
}

/* Opens the store with the configuration of the file; closes it first if it is open. */
static void open_sealed(sealed_stage *t, bool reload)
{
    if (t->s->store)
        stage_close(t->s);
    kc__encryption_free(t->encryption);
    t->encryption = open_encryption(t->dir, reload, 20 * KC_MILLISECOND);
    t->s->opts.encryption = t->encryption;
    t->s->opts.resource_of = last_segment;
    stage_open(t->s);
}

static sealed_stage sealed_stage_make(void)
{
    return (sealed_stage){.s = stage_make(), .dir = scratch_new()};
}

/* Whether a file of the store contains the text. */
static bool files_contain(const stage *s, const char *text)
{
    static const char *const names[] = {"data.mdb", "journal"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_scoped(kc_buf) bytes = {0};
        kc_autofree char *path = kc_asprintf("%s/%s", s->folder, names[i]);
        assert_int_equal(kc_file_read(path, (size_t)64 << 20, &bytes, NULL), 0);
        if (memmem(bytes.p, bytes.n, text, strlen(text)))
            return true;
    }
    return false;
}

static void encrypted_value_is_in_no_file_and_survives_restart(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    write_encryption(t.dir, "pods", {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "one-readable-value");
    kc_scoped(attempt) plain = try_write(t.s, t.s->maps, "ns/m", KC__STORAGE_ANY, "plain-value");
    assert_false(files_contain(t.s, "one-readable-value"));
    assert_true(files_contain(t.s, "plain-value"));
    open_sealed(&t, false);
    expect_now(t.s->pods, "ns/a=one-readable-value@2 ");
    expect_at(t.s->pods, 1, "");
    assert_false(files_contain(t.s, "one-readable-value"));
}

static bool is_stale(const sealed_stage *t, const char *key)
{
    kc_auto(kc_object) *object = kc__watch_cache_get(t->s->pods, kc_cstr(key));
    return kc__watch_cache_is_stale(t->s->pods, kc_cstr(key), kc_object_revision(object));
}

static void object_of_an_earlier_key_is_stale_until_it_is_written(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    write_encryption(t.dir, "pods", {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "x");
    put(t.s, "ns/b", "x");
    assert_false(is_stale(&t, "ns/a"));
    write_encryption(t.dir, "pods", {"aesgcm", "key2", 'b'}, {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    assert_true(is_stale(&t, "ns/a"));
    put(t.s, "ns/a", "x");
    assert_false(is_stale(&t, "ns/a"));
    assert_true(is_stale(&t, "ns/b"));
    open_sealed(&t, false);
    assert_false(is_stale(&t, "ns/a"));
    assert_true(is_stale(&t, "ns/b"));
}

static void reload_with_another_key_makes_stored_objects_stale(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    write_encryption(t.dir, "pods", {"secretbox", "key1", 'a'});
    open_sealed(&t, true);
    put(t.s, "ns/a", "x");
    write_encryption(t.dir, "pods", {"secretbox", "key2", 'b'}, {"secretbox", "key1", 'a'});
    for (int i = 0; i < 3000 && !is_stale(&t, "ns/a"); i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_true(is_stale(&t, "ns/a"));
    put(t.s, "ns/a", "y");
    assert_false(is_stale(&t, "ns/a"));
    write_encryption(t.dir, "pods", {"secretbox", "key2", 'b'});
    open_sealed(&t, false);
    expect_now(t.s->pods, "ns/a=y@3 ");
}

static void unreadable_object_is_reported_and_others_are_served(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    kc_scoped(kc_error) err = {0};
    write_encryption(t.dir, "pods", {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "x");
    write_encryption(t.dir, "pods", {"aesgcm", "key2", 'b'});
    open_sealed(&t, false);
    put(t.s, "other/b", "y");
    assert_null(kc__watch_cache_get(t.s->pods, KC_STR("ns/a")));
    assert_true(kc__watch_cache_check_readable(t.s->pods, KC_STR("ns/a"), &err) < 0);
    assert_string_equal(kc_error_text(&err),
                        "Internal error occurred: no matching key was found for the provided AES "
                        "transformer");
    assert_true(kc__watch_cache_check_all_readable(t.s->pods, KC_STR("ns/"), &err) < 0);
    assert_string_equal(kc_error_text(&err),
                        "Internal error occurred: unable to transform key "
                        "\"/registry/pods/ns/a\": no matching key was found for the provided AES "
                        "transformer");
    assert_int_equal(kc__watch_cache_check_all_readable(t.s->pods, KC_STR("other/"), &err), 0);
    assert_int_equal(kc__watch_cache_check_readable(t.s->pods, KC_STR("other/b"), &err), 0);
    expect_now(t.s->pods, "other/b=y@3 ");
    assert_int_equal(kc__watch_cache_oldest(t.s->pods), 2);
}

static void write_to_unreadable_object_is_a_conflict(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    write_encryption(t.dir, "pods", {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "x");
    write_encryption(t.dir, "pods", {"aesgcm", "key2", 'b'});
    open_sealed(&t, false);
    kc_scoped(attempt) create = try_write(t.s, t.s->pods, "ns/a", KC__STORAGE_ABSENT, "y");
    assert_int_equal(create.write.outcome, KC__STORAGE_CONFLICT);
    assert_null(create.write.result);
    kc_scoped(attempt) any = try_write(t.s, t.s->pods, "ns/a", KC__STORAGE_ANY, "y");
    assert_int_equal(any.write.outcome, KC__STORAGE_CONFLICT);
    kc_scoped(attempt) removal = try_write(t.s, t.s->pods, "ns/a", KC__STORAGE_ANY, NULL);
    assert_int_equal(removal.write.outcome, KC__STORAGE_CONFLICT);
    put(t.s, "ns/b", "z");
    write_encryption(t.dir, "pods", {"aesgcm", "key2", 'b'}, {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    expect_now(t.s->pods, "ns/a=x@2 ns/b=z@3 ");
}

static void history_of_a_removed_key_is_dropped(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    kc_scoped(kc_error) err = {0};
    write_encryption(t.dir, "pods", {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "old");
    write_encryption(t.dir, "pods", {"aesgcm", "key2", 'b'}, {"aesgcm", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "new");
    put(t.s, "ns/b", "new");
    write_encryption(t.dir, "pods", {"aesgcm", "key2", 'b'});
    open_sealed(&t, false);
    expect_now(t.s->pods, "ns/a=new@3 ns/b=new@4 ");
    expect_at(t.s->pods, 3, "ns/a=new@3 ");
    assert_null(kc__watch_cache_snapshot_at(t.s->pods, 2, &err));
    assert_int_equal(err.reason, KC_EXPIRED);
}

static void encrypted_value_without_configuration_is_unreadable(void **state)
{
    (void)state;
    kc_scoped(sealed_stage) t = sealed_stage_make();
    kc_scoped(kc_error) err = {0};
    write_encryption(t.dir, "pods", {"secretbox", "key1", 'a'});
    open_sealed(&t, false);
    put(t.s, "ns/a", "x");
    stage_close(t.s);
    t.s->opts.encryption = NULL;
    stage_open(t.s);
    assert_true(kc__watch_cache_check_readable(t.s->pods, KC_STR("ns/a"), &err) < 0);
    assert_string_equal(kc_error_text(&err),
                        "Internal error occurred: identity transformer tried to read encrypted "
                        "data");
}

TESTS(encrypted_value_is_in_no_file_and_survives_restart,
      object_of_an_earlier_key_is_stale_until_it_is_written,
      reload_with_another_key_makes_stored_objects_stale,
      unreadable_object_is_reported_and_others_are_served, write_to_unreadable_object_is_a_conflict,
      history_of_a_removed_key_is_dropped, encrypted_value_without_configuration_is_unreadable)
