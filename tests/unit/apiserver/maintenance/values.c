/* SPDX-License-Identifier: Apache-2.0 */
/* The stored form of objects in files and in a real etcd, with and without encryption. */
#include "maintenance_testing.h"

#include "apiserver/maintenance/object_keys.h"
#include "apiserver/maintenance/values.h"
#include "encryption_testing.h"
#include "etcd_process.h"
#include "etcd_storage.h"

static etcd_cluster cluster = {.n = 1};

static void stored_form_is_json_in_files_and_that_of_kubernetes_in_etcd(void **state)
{
    (void)state;
    kc_auto(kc__storage) *memory = memory_store(), *etcd = etcd_store(&cluster, "/forms");
    kc__storage *const storages[] = {memory, etcd};
    kc_auto(kc_object) *map = kc_object_parse(KC_STR(CONFIG_MAP("a")), NULL, NULL);
    for (size_t i = 0; i < KC_COUNT(storages); i++) {
        kc_scoped(kc_buf) value = {0};
        assert_int_equal(
            kc__maintenance_store_value(NULL, storages[i], KC_STR(MAPS "a"), map, &value, NULL), 0);
        assert_true(kc_str_starts(kc_buf_str(&value), i ? kc_str_of("k8s\0", 4) : KC_STR("{")));
        kc_auto(kc_object) *again = kc__maintenance_object_of(NULL, storages[i], KC_STR(MAPS "a"),
                                                              kc_buf_str(&value), NULL);
        assert_non_null(again);
        assert_str(kc_object_json(again), CONFIG_MAP("a"));
    }
}

/* As in kube-apiserver, which knows the key with its prefix only. */
static void encrypted_value_in_etcd_is_bound_to_its_key_with_the_prefix(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *memory = memory_store(), *etcd = etcd_store(&cluster, "/bound"),
                         *registry = etcd_store(&cluster, NULL);
    kc_scoped(kc_buf) sealed = {0}, same = {0};
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'}, {NULL, NULL, 0});
    kc_auto(kc__encryption) *encryption = open_encryption(dir, false, 0);
    kc_auto(kc_object) *secret = kc_object_parse(KC_STR(SECRET("s")), NULL, NULL);
    const kc_str key = KC_STR(SECRETS "s");
    assert_int_equal(kc__maintenance_store_value(encryption, etcd, key, secret, &sealed, NULL), 0);
    assert_true(kc__maintenance_is_encrypted(kc_buf_str(&sealed)));
    kc_auto(kc_object) *opened =
        kc__maintenance_object_of(encryption, etcd, key, kc_buf_str(&sealed), NULL);
    assert_non_null(opened);
    assert_null(kc__maintenance_object_of(encryption, memory, key, kc_buf_str(&sealed), NULL));
    assert_int_equal(kc__maintenance_store_value(encryption, registry, key, secret, &same, NULL),
                     0);
    kc_auto(kc_object) *moved =
        kc__maintenance_object_of(encryption, memory, key, kc_buf_str(&same), NULL);
    assert_non_null(moved);
}

static void events_expire_and_records_of_servers_are_no_objects(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        int64_t ttl; /* Of an event-ttl of 100 s. */
        bool object;
    } cases[] = {
        {"/registry/events/default/e", 100, true},
        {"/registry/eventsources/default/e", 0, true},
        {"/registry/pods/default/events", 0, true},
        {"/registry/services/specs/default/web", 0, true},
        {"/registry/example.com/robots/default/r2", 0, true},
        {"/registry/ranges/serviceips", 0, false},
        {"/registry/masterleases/10.0.0.1", 0, false},
        {"/registry/peerserverleases/a", 0, false},
        {"/registry/health", 0, false},
        {KC__STORAGE_MARKER_KEY, 0, false},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        assert_int_equal(kc__maintenance_ttl(kc_cstr(cases[i].key), 100), cases[i].ttl);
        assert_int_equal(kc__maintenance_is_object(kc_cstr(cases[i].key)), cases[i].object);
    }
    assert_int_equal(kc__maintenance_ttl(KC_STR("/registry/events/default/e"), 0), 3600);
}

ETCD_TESTS(cluster, stored_form_is_json_in_files_and_that_of_kubernetes_in_etcd,
           encrypted_value_in_etcd_is_bound_to_its_key_with_the_prefix,
           events_expire_and_records_of_servers_are_no_objects)
