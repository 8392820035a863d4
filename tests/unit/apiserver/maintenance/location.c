/* SPDX-License-Identifier: Apache-2.0 */
#include "maintenance_testing.h"

#include "apiserver/maintenance/location.h"

static void directory_with_or_without_backend_is_the_data_directory(void **state)
{
    (void)state;
    static const char *const texts[] = {"/data", "file:/data"};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_scoped(kc__maintenance_location) location = {0};
        assert_int_equal(kc__maintenance_location_parse(texts[i], &location, NULL), 0);
        assert_string_equal(location.backend->name, "file");
        assert_string_equal(location.root, "/data");
        assert_string_equal(location.storage, "/data/store");
    }
}

static void directory_of_a_store_is_the_store_itself(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc__storage_close(file_store(dir, "store"));
    kc_autofree char *store = scratch_path(dir, "store");
    kc_scoped(kc__maintenance_location) location = {0};
    assert_int_equal(kc__maintenance_location_parse(store, &location, NULL), 0);
    assert_string_equal(location.storage, store);
}

static void unknown_backend_and_empty_directory_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc__maintenance_location) location = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__maintenance_location_parse("fle:/data", &location, &err) < 0);
    assert_error(&err, KC_INVALID, "; did you mean 'file:");
    assert_true(kc__maintenance_location_parse("memory:", &location, &err) < 0);
    assert_error(&err, KC_INVALID, "must be file:DIR");
    assert_true(kc__maintenance_location_parse("file:", &location, &err) < 0);
    assert_error(&err, KC_INVALID, "names no directory");
}

static void urls_of_etcd_are_its_members(void **state)
{
    (void)state;
    kc_scoped(kc__maintenance_location) location = {0};
    assert_int_equal(kc__maintenance_location_parse("etcd:http://a:1,https://b:2", &location, NULL),
                     0);
    assert_true(kc__maintenance_location_is_etcd(&location));
    assert_int_equal(location.n_urls, 2);
    assert_string_equal(location.urls[0], "http://a:1");
    assert_string_equal(location.urls[1], "https://b:2");
    assert_null(location.root);
}

static void location_that_is_no_url_of_etcd_is_refused_with_the_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"etcd:", "a URL is missing; must be etcd:http://HOST:PORT"},
        {"etcd:http://a:1,", "a URL is missing"},
        {"etcd://a:1", "a member is no URL"},
        {"etcd:/var/lib", "a member is no URL"},
        {"etcd:http://", "a member is no URL"},
        {"http://a:1", "did you mean 'etcd:http://a:1'?"},
        {"etc:http://a:1", "did you mean 'etcd:…'?"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc__maintenance_location) location = {0};
        kc_scoped(kc_error) err = {0};
        assert_true(kc__maintenance_location_parse(cases[i].text, &location, &err) < 0);
        assert_error(&err, KC_INVALID, cases[i].part);
    }
}

static void missing_store_is_not_created_when_it_must_exist(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *root = scratch_path(dir, "root"), *store = scratch_path(dir, "root/store");
    kc_scoped(kc__maintenance_location) location = {0};
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    assert_int_equal(kc__maintenance_location_parse(root, &location, NULL), 0);
    assert_true(kc__maintenance_open(&location, &(kc__maintenance_open_opts){.existing = true},
                                     &storage, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "there is no store in");
    assert_int_equal(access(root, F_OK), -1);
    assert_int_equal(
        kc__maintenance_open(&location, &(kc__maintenance_open_opts){0}, &storage, NULL), 0);
    kc__storage_close(storage);
    assert_int_equal(access(store, F_OK), 0);
}

static void store_in_use_is_refused_with_advice(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *used = file_store(dir, "store");
    kc_scoped(kc__maintenance_location) location = {0};
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    assert_int_equal(kc__maintenance_location_parse(dir->dir, &location, NULL), 0);
    assert_true(kc__maintenance_open(&location, &(kc__maintenance_open_opts){.existing = true},
                                     &storage, &err) < 0);
    assert_error(&err, KC_CONFLICT, "is in use by process");
    assert_contains(kc_error_text(&err), "stop the server first");
}

TESTS(directory_with_or_without_backend_is_the_data_directory,
      directory_of_a_store_is_the_store_itself, unknown_backend_and_empty_directory_are_refused,
      urls_of_etcd_are_its_members, location_that_is_no_url_of_etcd_is_refused_with_the_form,
      missing_store_is_not_created_when_it_must_exist, store_in_use_is_refused_with_advice)
