/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply: server-side apply. Several managers write one object; each states only the fields that it
 * decides about, and the server records their owners. The kind is that of examples/typed.
 *
 *     example_apply examples/typed/example.com_robots.yaml
 *     kubectl get robot r2 -o yaml --show-managed-fields
 */
#include "zz_generated.h"

#include "kc/apply.h"
#include "kc/extract_applied.h"

#include <stdio.h>

static char name[] = "r2", ns[] = "default";
#define R2 .metadata = {.name = name, .ns = ns}

/* The first apply creates the object. */
static int fleet_applies(kc_client *client, kc_error *err)
{
    const robot_apply_config wanted = {
        R2,
        .spec = &(robot_spec_apply_config){.nickname = "Bob", .arms = &(int32_t){4}},
    };
    const kc_write_opts fleet = {.field_manager = "fleet", .force = true};
    kc_auto(robot) *now = robot_apply(client, &wanted, &fleet, err);
    if (!now)
        return kc_error_result(err);
    printf("fleet applied: %s has %d arms\n", now->spec.nickname, *now->spec.arms);
    return 0;
}

/* A field of another manager is not changed by accident … */
static int person_meets_a_conflict(kc_client *client, const robot_apply_config *wanted,
                                   kc_error *err)
{
    kc_scoped(kc_error) refused = {0};
    kc_apply_conflict conflict;
    const kc_write_opts person = {.field_manager = "person"};
    kc_auto(robot) *now = robot_apply(client, wanted, &person, &refused);
    if (now)
        return kc_error_set(err, KC_INTERNAL, "there is no conflict");
    for (size_t at = 0; kc_apply_conflict_next(&refused, &at, &conflict);)
        printf("conflict: %.*s belongs to %s\n", KC_ARG(conflict.field), conflict.manager);
    return 0;
}

/* … but by force: then it has a new owner. */
static int person_forces(kc_client *client, const robot_apply_config *wanted, kc_error *err)
{
    const kc_write_opts person = {.field_manager = "person", .force = true};
    kc_auto(robot) *now = robot_apply(client, wanted, &person, err);
    if (!now)
        return kc_error_result(err);
    printf("person forced: %s has %d arms\n", now->spec.nickname, *now->spec.arms);
    return 0;
}

/* What a manager applied can be extracted, changed and applied again. */
static int fleet_renames(kc_client *client, kc_error *err)
{
    kc_auto(robot) *live = robot_get(client, KC_KEY("default", "r2"), err);
    kc_auto(robot_apply_config) *mine = live ? robot_extract(client, live, "fleet", err) : NULL;
    if (!mine)
        return kc_error_result(err);
    printf("fleet owns the nickname %s, and %s arms\n", mine->spec->nickname,
           mine->spec->arms ? "its" : "no");
    mine->spec->nickname = "Alice";
    const kc_write_opts fleet = {.field_manager = "fleet", .force = true};
    kc_auto(robot) *now = robot_apply(client, mine, &fleet, err);
    if (!now)
        return kc_error_result(err);
    printf("fleet renamed: %s has %d arms\n", now->spec.nickname, *now->spec.arms);
    return 0;
}

/* A field that its only owner no longer applies is removed; here the server then sets its
 * default. */
static int person_gives_up(kc_client *client, kc_error *err)
{
    const kc_write_opts person = {.field_manager = "person"};
    kc_auto(robot) *now = robot_apply(client, &(robot_apply_config){R2}, &person, err);
    if (!now)
        return kc_error_result(err);
    printf("person gave up: %s has %d arms\n", now->spec.nickname, *now->spec.arms);
    return 0;
}

int main(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    const char *definition = argc > 1 ? argv[1] : "../typed/example.com_robots.yaml";
    const robot_apply_config six = {R2, .spec = &(robot_spec_apply_config){.arms = &(int32_t){6}}};
    kc_auto(kc_client) *client = kc_client_new(NULL, &err);
    if (!client || kc_apply_file(client, definition, NULL, &err) < 0 ||
        fleet_applies(client, &err) < 0 || person_meets_a_conflict(client, &six, &err) < 0 ||
        person_forces(client, &six, &err) < 0 || fleet_renames(client, &err) < 0 ||
        person_gives_up(client, &err) < 0) {
        fprintf(stderr, "apply: %s\n", kc_error_text(&err));
        return 1;
    }
    return 0;
}
