/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations between files and a real etcd. */
#include "maintenance_testing.h"

#include "apiserver/maintenance/migrate.h"
#include "apiserver/maintenance/restore.h"
#include "etcd_process.h"
#include "etcd_storage.h"

static etcd_cluster cluster = {.n = 1};

static kc__maintenance_migrated migrate(kc__storage *source, kc__storage *target)
{
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result = {0};
    if (kc__maintenance_migrate(source, target, &(kc__maintenance_migrate_opts){0}, &result, &err) <
        0)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

/* In protobuf, with a new revision. */
static void assert_in_form_of_kubernetes(kc__storage *etcd, const char *key, uint64_t above)
{
    kc_scoped(kc_buf) value = {0};
    uint64_t revision = 0;
    assert_int_equal(kc__storage_get(etcd, kc_cstr(key), &value, &revision, NULL), 0);
    assert_true(revision > above);
    assert_true(kc_str_starts(kc_buf_str(&value), kc_str_of("k8s\0", 4)));
}

static void objects_and_revisions_survive_the_way_to_etcd_and_back(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *source = file_store(dir, "source"), *back = file_store(dir, "back"),
                         *etcd = etcd_store(&cluster, "/there");
    put_many(source, 1500);
    assert_int_equal(kc__storage_advance(
                         source, state_of(etcd).revision + state_of(source).revision + 1000, NULL),
                     0);
    const kc__maintenance_migrated there = migrate(source, etcd);
    assert_int_equal(there.objects, 1500);
    assert_int_equal(there.copied, 1500);
    assert_true(there.target_revision > there.source_revision);
    assert_in_form_of_kubernetes(etcd, MAPS "m00000", there.source_revision);
    const kc__maintenance_migrated again = migrate(etcd, back);
    assert_true(again.target_revision > again.source_revision);
    assert_same_content(source, back);
}

static void older_revisions_of_the_target_are_expired(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *etcd = etcd_store(&cluster, "/expired");
    kc_scoped(kc_error) err = {0};
    put_map(source, "a");
    const kc__maintenance_migrated result = migrate(source, etcd);
    assert_true(kc__storage_list(etcd,
                                 &(kc__storage_list_opts){.revision = result.target_revision - 1},
                                 NULL, NULL, NULL, &err) < 0);
    assert_int_equal(err.reason, KC_EXPIRED);
    assert_keys(etcd, MAPS "a ");
}

static void etcd_with_keys_is_refused(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *etcd = etcd_store(&cluster, "/full");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result;
    put_map(source, "a");
    put_value(etcd, "/registry/ranges/serviceips", "x");
    assert_true(kc__maintenance_migrate(source, etcd, &(kc__maintenance_migrate_opts){0}, &result,
                                        &err) < 0);
    assert_error(&err, KC_CONFLICT, "target: the store has objects");
    assert_contains(kc_error_text(&err), "--etcd-prefix");
}

/* ---- values ---- */

static void append_field(kc_buf *out, int number, kc_str bytes)
{
    assert_true(bytes.n < 128);
    kc_buf_putc(out, (char)(number * 8 + 2));
    kc_buf_putc(out, (char)bytes.n);
    kc_buf_append(out, bytes);
}

/* A ConfigMap "name" as kube-apiserver stores it. */
static void append_protobuf_map(kc_buf *out, const char *name)
{
    kc_scoped(kc_buf) type = {0}, meta = {0}, raw = {0};
    append_field(&type, 1, KC_STR("v1"));
    append_field(&type, 2, KC_STR("ConfigMap"));
    append_field(&meta, 1, kc_cstr(name));
    append_field(&meta, 3, KC_STR("default"));
    append_field(&raw, 1, kc_buf_str(&meta));
    kc_buf_append(out, kc_str_of("k8s\0", 4));
    append_field(out, 1, kc_buf_str(&type));
    append_field(out, 2, kc_buf_str(&raw));
}

static void put_bytes(kc__storage *storage, const char *key, kc_str value)
{
    kc__storage_result result;
    const kc__storage_op op = {.key = kc_cstr(key), .expected = KC__STORAGE_ANY, .value = value};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    assert_int_equal(result.outcome, KC__STORAGE_STORED);
}

static void protobuf_becomes_json_in_a_file_and_records_of_servers_are_left_out(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *etcd = etcd_store(&cluster, "/protobuf"), *file = file_store(dir, "file");
    kc_scoped(kc_buf) value = {0}, stored = {0};
    uint64_t revision = 0;
    append_protobuf_map(&value, "other");
    put_bytes(etcd, MAPS "other", kc_buf_str(&value));
    put_map(etcd, "plain");
    put_value(etcd, "/registry/masterleases/10.0.0.1", "x");
    put_value(etcd, "/registry/ranges/serviceips", "x");
    const kc__maintenance_migrated result = migrate(etcd, file);
    assert_int_equal(result.objects, 2);
    assert_int_equal(result.converted, 2);
    assert_int_equal(result.left_out, 2);
    assert_keys(file, MAPS "other " MAPS "plain ");
    assert_int_equal(kc__storage_get(file, KC_STR(MAPS "other"), &stored, &revision, NULL), 0);
    assert_contains(kc_buf_cstr(&stored), "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"");
}

static void value_that_cannot_be_decoded_is_an_error_with_its_key(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *etcd = etcd_store(&cluster, "/broken"), *file = file_store(dir, "file");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result;
    put_bytes(etcd, MAPS "broken", kc_str_of("k8s\0\xff\xff", 6));
    assert_true(
        kc__maintenance_migrate(etcd, file, &(kc__maintenance_migrate_opts){0}, &result, &err) < 0);
    assert_contains(kc_error_text(&err), "source: " MAPS "broken: ");
}

static void value_too_large_for_etcd_is_an_error_with_its_key(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *etcd = etcd_store(&cluster, "/large");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result;
    kc_autofree char *value = kc_calloc(1, (2 << 20) + 1);
    memset(value, 'x', 2 << 20);
    kc_autofree char *text = kc_asprintf(
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"large\","
        "\"namespace\":\"default\"},\"data\":{\"a\":\"%s\"}}",
        value);
    put_value(source, MAPS "large", text);
    assert_true(kc__maintenance_migrate(source, etcd, &(kc__maintenance_migrate_opts){0}, &result,
                                        &err) < 0);
    assert_error(&err, KC_TOO_LARGE, MAPS "large was not stored");
    assert_contains(kc_error_text(&err), "--max-request-bytes");
}

static void encrypted_value_is_copied_as_it_is_but_not_to_another_prefix(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *etcd = etcd_store(&cluster, "/sealed"),
                         *registry = etcd_store(&cluster, NULL);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) value = {0};
    uint64_t revision = 0;
    kc__maintenance_migrated result;
    put_value(source, SECRETS "s", "k8s:enc:secretbox:v1:key1:xyz");
    assert_true(kc__maintenance_migrate(source, etcd, &(kc__maintenance_migrate_opts){0}, &result,
                                        &err) < 0);
    assert_error(&err, KC_INVALID, SECRETS "s: the value is encrypted for the key " SECRETS "s");
    assert_contains(kc_error_text(&err), "/sealed/secrets/default/s");
    migrate(source, registry);
    assert_int_equal(kc__storage_get(registry, KC_STR(SECRETS "s"), &value, &revision, NULL), 0);
    assert_string_equal(kc_buf_cstr(&value), "k8s:enc:secretbox:v1:key1:xyz");
}

static void restored_backup_has_the_form_of_kubernetes_and_revisions_above_the_old_ones(
    void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *source = memory_store(), *back = memory_store(),
                         *etcd = etcd_store(&cluster, "/restored");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_backup_header header;
    kc__maintenance_restored result;
    kc_autofree char *path = scratch_path(dir, "backup");
    put_many(source, 500);
    assert_int_equal(kc__maintenance_backup(source, path, &header, NULL), 0);
    FILE *backup = fopen(path, "re");
    const uint64_t margin = state_of(etcd).revision + 2000;
    if (kc__maintenance_restore(etcd, backup, &(kc__maintenance_restore_opts){.margin = margin},
                                &result, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    fclose(backup);
    assert_true(result.revision > header.revision + margin);
    assert_in_form_of_kubernetes(etcd, MAPS "m00000", header.revision + margin);
    migrate(etcd, back);
    assert_same_content(source, back);
}

/* ---- Events ---- */

#define EVENT "/registry/events/default/e"
#define EVENT_TEXT                                                                                                        \
    "{\"kind\":\"Event\",\"apiVersion\":\"v1\"," METADATA(                                                                \
        "\"name\":\"e\",\"namespace\":\"default\"") ",\"involvedObject\":{},\"source\":{},"                               \
                                                    "\"firstTimestamp\":null,\"lastTimestamp\":null,\"type\":\"Normal\"," \
                                                    "\"eventTime\":null,\"reportingComponent\":\"\",\"reportingInstance\":\"\"}"

static int64_t lease_of(const char *key)
{
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE, .range.key = kc_cstr(key)});
    assert_int_equal(reply->range->kvs.n, 1);
    return reply->range->kvs.items[0].lease;
}

static void events_get_a_lease_and_other_objects_none(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *etcd = etcd_store(&cluster, "/events");
    put_map(source, "a");
    put_value(source, EVENT, EVENT_TEXT);
    migrate(source, etcd);
    assert_true(lease_of("/events/events/default/e") != 0);
    assert_int_equal(lease_of("/events/configmaps/default/a"), 0);
}

static bool has_no_event(kc__storage *storage)
{
    uint64_t revision = 0;
    assert_int_equal(kc__storage_get(storage, KC_STR(EVENT), NULL, &revision, NULL), 0);
    return revision == 0;
}

static void delete_event(size_t objects, void *user)
{
    kc__storage_result result;
    const kc__storage_op op = {
        .verb = KC__STORAGE_DELETE, .key = KC_STR(EVENT), .expected = KC__STORAGE_ANY};
    (void)objects;
    assert_int_equal(kc__storage_commit(user, &op, 1, &result, NULL, NULL), 0);
}

static void event_that_expires_meanwhile_is_no_change(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *etcd = etcd_store(&cluster, "/expires"), *file = file_store(dir, "file");
    kc__maintenance_migrated result = {0};
    put_map(etcd, "a");
    put_value(etcd, EVENT, EVENT_TEXT);
    const kc__maintenance_migrate_opts opts = {.progress = delete_event, .user = etcd};
    assert_int_equal(kc__maintenance_migrate(etcd, file, &opts, &result, NULL), 0);
    assert_int_equal(result.objects, 2);
    assert_true(has_no_event(etcd));
    assert_false(has_no_event(file));
}

static void change_object(size_t objects, void *user)
{
    (void)objects;
    put_map(user, "late");
}

static void object_written_meanwhile_fails_the_migration_and_the_next_run_has_it(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *etcd = etcd_store(&cluster, "/changes"), *file = file_store(dir, "file");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result = {0};
    put_map(etcd, "a");
    const kc__maintenance_migrate_opts opts = {.progress = change_object, .user = etcd};
    assert_true(kc__maintenance_migrate(etcd, file, &opts, &result, &err) < 0);
    assert_error(&err, KC_CONFLICT, "source: objects changed since revision");
    const kc__maintenance_migrated second = migrate(etcd, file);
    assert_false(second.resumed);
    assert_keys(file, MAPS "a " MAPS "late ");
}

/* ---- kills ---- */

static void die_after(size_t objects, void *user)
{
    if (objects >= *(size_t *)user)
        kill(getpid(), SIGKILL);
}

/* ThreadSanitizer supports no threads after a fork of a process that has some. */
static void require_fork(void)
{
#if defined(__SANITIZE_THREAD__)
    skip();
#endif
}

/* In a process of its own, which is killed after this many objects. */
static void migrate_and_die(const scratch *dir, const char *prefix, bool to_etcd, size_t objects)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kc__maintenance_migrated result;
        kc__storage *file = file_store(dir, to_etcd ? "source" : "target"),
                    *etcd = etcd_store(&cluster, prefix);
        const kc__maintenance_migrate_opts opts = {.progress = die_after, .user = &objects};
        (void)kc__maintenance_migrate(to_etcd ? file : etcd, to_etcd ? etcd : file, &opts, &result,
                                      NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void killed_migration_to_etcd_is_continued_where_it_stopped(void **state)
{
    (void)state;
    require_fork();
    kc_auto(scratch) *dir = scratch_new();
    kc__storage *source = file_store(dir, "source");
    put_many(source, 1500);
    kc__storage_close(source);
    migrate_and_die(dir, "/killed", true, 600);
    source = file_store(dir, "source");
    kc_auto(kc__storage) *etcd = etcd_store(&cluster, "/killed");
    const kc__maintenance_migrated result = migrate(source, etcd);
    assert_true(result.resumed);
    assert_true(result.copied < 1500 && result.copied > 0);
    assert_int_equal(result.objects, 1500);
    kc__storage *back = memory_store();
    migrate(etcd, back);
    assert_same_content(source, back);
    kc__storage_close(back);
    kc__storage_close(source);
}

/* The revision of etcd changes all the time; an Event, too. */
static void killed_migration_from_etcd_is_continued_though_etcd_has_another_revision(void **state)
{
    (void)state;
    require_fork();
    kc_auto(scratch) *dir = scratch_new();
    kc__storage *source = memory_store();
    put_many(source, 1500);
    put_value(source, EVENT, EVENT_TEXT);
    kc__storage *etcd = etcd_store(&cluster, "/away"), *other = etcd_store(&cluster, "/others");
    migrate(source, etcd);
    migrate_and_die(dir, "/away", false, 600);
    put_map(other, "a");
    delete_event(0, etcd);
    kc__storage *target = file_store(dir, "target");
    const kc__maintenance_migrated result = migrate(etcd, target);
    assert_true(result.resumed);
    assert_true(result.copied < 1501 && result.copied > 0);
    assert_int_equal(result.objects, 1501);
    assert_same_content(source, target);
    kc__storage_close(source);
    kc__storage_close(etcd);
    kc__storage_close(other);
    kc__storage_close(target);
}

/* ---- an etcd that goes away ---- */

static void kill_member(size_t objects, void *user)
{
    etcd_cluster *lost = user;
    if (objects >= 500 && lost->members[0].pid)
        etcd_member_kill(&lost->members[0]);
}

static void migration_whose_etcd_goes_away_fails_and_is_continued(void **state)
{
    (void)state;
    etcd_cluster lost = {.n = 1};
    etcd_cluster_start(&lost);
    kc_auto(kc__storage) *source = memory_store(), *back = memory_store();
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result;
    put_many(source, 1500);
    kc__storage *target = etcd_store_with(&lost, &(kc__storage_etcd_opts){0});
    const kc__maintenance_migrate_opts opts = {.progress = kill_member, .user = &lost};
    assert_true(kc__maintenance_migrate(source, target, &opts, &result, &err) < 0);
    assert_contains(kc_error_text(&err), "target: etcd: ");
    kc__storage_close(target);
    etcd_member_restart(&lost.members[0]);
    target = etcd_store(&lost, NULL);
    const kc__maintenance_migrated second = migrate(source, target);
    assert_true(second.resumed);
    assert_true(second.copied < 1500);
    migrate(target, back);
    assert_same_content(source, back);
    kc__storage_close(target);
    etcd_cluster_stop(&lost);
}

ETCD_TESTS(cluster, objects_and_revisions_survive_the_way_to_etcd_and_back,
           older_revisions_of_the_target_are_expired, etcd_with_keys_is_refused,
           protobuf_becomes_json_in_a_file_and_records_of_servers_are_left_out,
           value_that_cannot_be_decoded_is_an_error_with_its_key,
           value_too_large_for_etcd_is_an_error_with_its_key,
           encrypted_value_is_copied_as_it_is_but_not_to_another_prefix,
           restored_backup_has_the_form_of_kubernetes_and_revisions_above_the_old_ones,
           events_get_a_lease_and_other_objects_none, event_that_expires_meanwhile_is_no_change,
           object_written_meanwhile_fails_the_migration_and_the_next_run_has_it,
           killed_migration_to_etcd_is_continued_where_it_stopped,
           killed_migration_from_etcd_is_continued_though_etcd_has_another_revision,
           migration_whose_etcd_goes_away_fails_and_is_continued)
