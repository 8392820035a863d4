/* SPDX-License-Identifier: Apache-2.0 */
#include "encryption_testing.h"
#include "maintenance_testing.h"

#include "apiserver/maintenance/check.h"
#include "apiserver/maintenance/values.h"

static void print_problem(kc_str key, const char *reason, void *user)
{
    kc_buf_printf(user, "%.*s: %s\n", KC_ARG(key), reason);
}

/* Returns the problems as text; the caller frees it. */
static char *check_store(kc__storage *storage, kc__encryption *encryption,
                         kc__maintenance_checked *ret)
{
    kc_buf out = {0};
    kc_scoped(kc_error) err = {0};
    const kc__maintenance_check_opts opts = {
        .encryption = encryption, .problem = print_problem, .user = &out};
    if (kc__maintenance_check(storage, &opts, ret, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return kc_buf_take(&out);
}

static void good_store_has_no_problems_and_counts_by_resource(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc_scoped(kc__maintenance_checked) checked = {0};
    put_map(storage, "a");
    put_map(storage, "b");
    put_value(storage, "/registry/namespaces/default", NAMESPACE("default"));
    put_value(storage, ROBOTS_KEY, ROBOTS);
    put_value(storage, "/registry/example.com/robots/default/r2", ROBOT("r2"));
    kc_autofree char *problems = check_store(storage, NULL, &checked);
    assert_string_equal(problems, "");
    assert_int_equal(checked.problems, 0);
    assert_int_equal(checked.objects, 5);
    assert_int_equal(checked.events, 5);
    assert_int_equal(checked.counts.n, 4);
    assert_str(checked.counts.items[0].name, "customresourcedefinitions.apiextensions.k8s.io");
    assert_str(checked.counts.items[1].name, "configmaps");
    assert_int_equal(checked.counts.items[1].objects, 2);
    assert_int_equal(checked.counts.items[1].bytes, 2 * strlen(CONFIG_MAP("a")));
    assert_str(checked.counts.items[2].name, "robots.example.com");
}

static void each_kind_of_problem_names_key_and_reason(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *reason;
    } cases[] = {
        {"/elsewhere/a", "{}", "the key names no object"},
        {"/registry/gadgets/default/a", CONFIG_MAP("a"), "no resource has this key"},
        {"/registry/example.com/robots/default/r2", ROBOT("r2"), "no resource has this key"},
        {MAPS "a", "{\"kind\"", "the value cannot be read"},
        {MAPS "a", CONFIG_MAP("b"), "the object belongs to the key " MAPS "b"},
        {MAPS "a", SECRET("a"), "the object belongs to the key " SECRETS "a"},
        {MAPS "a", "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v2\"}",
         "the value cannot be read: the stored version v2 of configmaps is not supported"},
        {MAPS "a",
         "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
         "\"namespace\":\"default\"}}",
         "metadata.uid is missing"},
        {MAPS "a",
         "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"," METADATA(
             "\"name\":\"a\",\"namespace\":\"default\"") ",\"data\":7}",
         "cannot unmarshal"},
        {MAPS "a", "k8s:enc:secretbox:v1:key1:xxxx", "the value is encrypted"},
        {KC__STORAGE_MARKER_KEY, "restore\n4\n", "'kc store restore' was interrupted"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(kc__storage) *storage = memory_store();
        kc_scoped(kc__maintenance_checked) checked = {0};
        put_value(storage, cases[i].key, cases[i].value);
        assert_int_equal(kc__storage_compact(storage, 2, NULL), 0);
        kc_autofree char *problems = check_store(storage, NULL, &checked);
        assert_contains(problems, cases[i].reason);
        assert_int_equal(checked.problems, 1);
    }
}

static void damaged_value_of_the_history_is_a_problem(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc_scoped(kc__maintenance_checked) checked = {0};
    put_value(storage, MAPS "a", "{");
    put_map(storage, "a");
    assert_int_equal(kc__storage_compact(storage, 2, NULL), 0);
    kc_autofree char *problems = check_store(storage, NULL, &checked);
    assert_contains(problems, MAPS "a: event 3 of the history: the value cannot be read");
}

static void encrypted_value_is_checked_with_its_key(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store();
    kc_scoped(kc_buf) sealed = {0};
    kc_scoped(kc__maintenance_checked) with = {0}, without = {0};
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'}, {NULL, NULL, 0});
    kc_auto(kc__encryption) *encryption = open_encryption(dir, false, 0);
    kc_auto(kc_object) *secret = kc_object_parse(KC_STR(SECRET("s")), NULL, NULL);
    assert_int_equal(kc__maintenance_store_value(encryption, storage, KC_STR(SECRETS "s"), secret,
                                                 &sealed, NULL),
                     0);
    kc__storage_result result;
    const kc__storage_op op = {
        .key = KC_STR(SECRETS "s"), .expected = KC__STORAGE_ANY, .value = kc_buf_str(&sealed)};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    kc_autofree char *fine = check_store(storage, encryption, &with);
    assert_string_equal(fine, "");
    assert_int_equal(with.counts.items[0].encrypted, 1);
    kc_autofree char *problems = check_store(storage, NULL, &without);
    assert_contains(problems, "--encryption-provider-config");
    assert_int_equal(without.problems, 1);
}

TESTS(good_store_has_no_problems_and_counts_by_resource, each_kind_of_problem_names_key_and_reason,
      damaged_value_of_the_history_is_a_problem, encrypted_value_is_checked_with_its_key)
