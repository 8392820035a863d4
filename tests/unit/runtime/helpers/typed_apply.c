/* SPDX-License-Identifier: Apache-2.0 */
/* Apply configurations of a kind through the client, with the real server. */
#include "plane_testing.h"

#include "kc/embedded_server.h"
#include "kc/typed.h"

typedef struct card {
    kc_object_meta metadata;
    kc_string_map data;
    bool immutable;
} card;

static const kc_member card_members[] = {
    {.name = "metadata",
     .offset = offsetof(card, metadata),
     .type = KC_MEMBER_STRUCT,
     .of = &kc_struct_object_meta},
    {.name = "data", .offset = offsetof(card, data), .type = KC_MEMBER_TEXT, .shape = KC_SHAPE_MAP},
    {.name = "immutable", .offset = offsetof(card, immutable), .type = KC_MEMBER_BOOLEAN},
};
static const kc_struct card_struct = {"card", sizeof(card), card_members, KC_COUNT(card_members),
                                      offsetof(card, metadata)};

typedef struct card_apply_config {
    kc_object_meta metadata;
    kc_string_map data;
    bool *immutable;
} card_apply_config;

static const kc_member config_members[] = {
    {.name = "metadata",
     .offset = offsetof(card_apply_config, metadata),
     .type = KC_MEMBER_STRUCT,
     .of = &kc_struct_object_meta},
    {.name = "data",
     .offset = offsetof(card_apply_config, data),
     .type = KC_MEMBER_TEXT,
     .shape = KC_SHAPE_MAP,
     .flags = KC_MEMBER_IF_SET},
    {.name = "immutable",
     .offset = offsetof(card_apply_config, immutable),
     .type = KC_MEMBER_BOOLEAN,
     .shape = KC_SHAPE_POINTER},
};
static const kc_struct config_struct = {"card_apply_config", sizeof(card_apply_config),
                                        config_members, KC_COUNT(config_members),
                                        offsetof(card_apply_config, metadata)};
static const kc_typed card_type = {&kc_kind_config_map, &card_struct, &config_struct};
KC_TYPED_KIND(card)
KC_TYPED_APPLY(card)

static kc_string_pair one = {(char *)"one", (char *)"1"}, other = {(char *)"one", (char *)"2"},
                      two = {(char *)"two", (char *)"2"};

static card_apply_config config_with(kc_string_pair *pair)
{
    return (card_apply_config){.metadata = {.name = (char *)"a", .ns = (char *)"default"},
                               .data = {pair, pair ? 1 : 0}};
}

static card *apply_as(kc_testenv *env, const char *manager, kc_string_pair *pair, bool force,
                      kc_error *err)
{
    const card_apply_config config = config_with(pair);
    return card_apply(kc_testenv_client(env), &config,
                      &(kc_write_opts){.field_manager = manager, .force = force}, err);
}

static void apply_creates_and_merges(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_auto(card) *made = apply_as(env, "first", &one, false, &err);
    assert_non_null(made);
    assert_non_null(made->metadata.uid);
    kc_auto(card) *both = apply_as(env, "second", &two, false, &err);
    assert_int_equal(both->data.n, 2);
    kc_auto(card) *same = apply_as(env, "second", &two, false, &err);
    assert_string_equal(same->metadata.resource_version, both->metadata.resource_version);
    kc_auto(card) *less = apply_as(env, "first", NULL, false, &err);
    assert_int_equal(less->data.n, 1);
    assert_string_equal(less->data.items[0].key, "two");
}

static void conflict_names_field_and_owner(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    kc_auto(card) *made = apply_as(env, "first", &one, false, &err);
    assert_non_null(made);
    assert_null(apply_as(env, "second", &other, false, &err));
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_str(conflict.field, ".data.one");
    assert_string_equal(conflict.manager, "first");
    assert_int_equal(conflict.api_version.n, 0);
    assert_false(kc_apply_conflict_next(&err, &at, &conflict));
    kc_auto(card) *forced = apply_as(env, "second", &other, true, &err);
    assert_string_equal(forced->data.items[0].value, "2");
}

static void conflict_with_an_update_has_its_version(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':"
                  "'default'},'data':{'one':'1'}}");
    assert_null(apply_as(env, "second", &other, false, &err));
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_true(*conflict.manager);
    assert_str(conflict.api_version, "v1");
}

static void extract_returns_the_fields_of_one_manager(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    kc_auto(card) *made = apply_as(env, "first", &one, false, &err);
    kc_auto(card) *both = apply_as(env, "second", &two, false, &err);
    kc_auto(card_apply_config) *mine = card_extract(client, both, "first", &err);
    if (!mine)
        fail_msg("%s", kc_error_text(&err));
    assert_string_equal(mine->metadata.name, "a");
    assert_string_equal(mine->metadata.ns, "default");
    assert_null(mine->metadata.uid);
    assert_null(mine->metadata.origin);
    assert_null(mine->immutable);
    assert_int_equal(mine->data.n, 1);
    assert_string_equal(mine->data.items[0].key, "one");
    /* Applied again, it changes nothing. */
    kc_auto(card) *again =
        card_apply(client, mine, &(kc_write_opts){.field_manager = "first"}, &err);
    assert_string_equal(again->metadata.resource_version, both->metadata.resource_version);
    kc_auto(card_apply_config) *none = card_extract(client, both, "third", &err);
    assert_null(none->data.items);
}

static void false_is_applied_and_unset_is_not(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    card_apply_config config = config_with(NULL);
    kc_auto(card) *without = card_apply(client, &config, NULL, &err);
    assert_null(strstr(kc_object_json(without->metadata.origin).p, "immutable"));
    config.immutable = &(bool){false};
    kc_auto(card) *with = card_apply(client, &config, NULL, &err);
    assert_contains(kc_object_json(with->metadata.origin).p, "\"immutable\":false");
}

static void dry_run_of_apply_stores_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    const card_apply_config config = config_with(&one);
    kc_auto(card) *dry = card_apply(client, &config, &(kc_write_opts){.dry_run = true}, &err);
    assert_non_null(dry);
    assert_null(card_get(client, KC_KEY("default", "a"), &err));
    assert_true(kc_is_not_found(&err));
}

static void extract_of_a_value_of_the_program_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    card mine = {0};
    assert_null(card_extract(kc_testenv_client(env), &mine, "first", &err));
    assert_error(&err, KC_BAD_REQUEST, "requires a value read from the server");
}

/* The transport of a test environment, which injects faults, is like one over HTTP: the cache
 * strips managedFields. */
static void extract_from_a_stripped_object_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_run(env, &err), &err);
    kc_auto(kc_client) *client = kc_cache_client(kc_manager_cache(kc_testenv_manager(env)));
    const card_apply_config config = config_with(&one);
    kc_auto(card) *made = card_apply(client, &config, &(kc_write_opts){.field_manager = "m"}, &err);
    assert_non_null(made);
    kc_auto(card) *read = card_get(client, KC_KEY("default", "a"), &err);
    assert_null(card_extract(client, read, "m", &err));
    assert_error(&err, KC_BAD_REQUEST, "has no managedFields");
    kc_auto(kc_object) *live = kc_client_get(client, &kc_kind_config_map, KC_KEY("default", "a"),
                                             &(kc_get_opts){.live = true}, &err);
    kc_auto(card) *fresh = card_of(live, &err);
    kc_auto(card_apply_config) *mine = card_extract(client, fresh, "m", &err);
    assert_non_null(mine);
}

/* A cache in the process of its server shares its objects, with their managedFields: also those of
 * own writes that the watch has not delivered yet. */
static void extract_from_a_cache_in_this_process(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.threads = 1}, &err);
    kc_client *direct = kc_client_new(
        &(kc_client_opts){.transport = kc_embedded_server_transport(server, NULL)}, &err);
    kc_cache *cache = kc_cache_new(&(kc_cache_opts){.client = direct});
    OK(kc_cache_start(cache, &err), &err);
    kc_client *client = kc_cache_client(cache);
    assert_null(card_get(client, KC_KEY("default", "a"), &err)); /* Starts the informer. */
    const card_apply_config config = config_with(&one);
    card *made = card_apply(client, &config, &(kc_write_opts){.field_manager = "m"}, &err);
    assert_non_null(made);
    for (int i = 0; i < 20; i++) { /* From the overlay, and then from the store. */
        kc_auto(card) *read = card_get(client, KC_KEY("default", "a"), &err);
        assert_string_equal(read->metadata.resource_version, made->metadata.resource_version);
        kc_auto(card_apply_config) *mine = card_extract(client, read, "m", &err);
        if (!mine)
            fail_msg("%s", kc_error_text(&err));
        assert_int_equal(mine->data.n, 1);
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
    card_free(made);
    kc_client_unref(client);
    kc_cache_free(cache);
    kc_client_unref(direct);
    kc_embedded_server_stop(server);
}

TESTS(apply_creates_and_merges, conflict_names_field_and_owner,
      conflict_with_an_update_has_its_version, extract_returns_the_fields_of_one_manager,
      false_is_applied_and_unset_is_not, dry_run_of_apply_stores_nothing,
      extract_of_a_value_of_the_program_is_refused, extract_from_a_stripped_object_is_refused,
      extract_from_a_cache_in_this_process)
