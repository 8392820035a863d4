/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client: reads and writes objects without a controller: create, update, patch, list page by page,
 * watch, wait, delete. Every call blocks; the caller owns the results; NULL or a negative number
 * reports an error in `err`.
 */
#include "kc/client.h"
#include "kc/kinds.h"
#include "kc/view.h"
#include "kc/wait.h"

#include <stdio.h>

/* A ConfigMap as text; the client adds nothing to it. */
static kc_object *shirt(const char *name, const char *colour, kc_error *err)
{
    kc_autofree char *json = kc_asprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
        "\"default\",\"labels\":{\"kind\":\"shirt\"}},\"data\":{\"colour\":\"%s\"}}",
        name, colour);
    return kc_object_parse(kc_cstr(json), NULL, err);
}

static int write_one(kc_client *client, kc_error *err)
{
    kc_auto(kc_object) *red = shirt("one", "red", err);
    kc_auto(kc_object) *created = red ? kc_client_create(client, red, NULL, err) : NULL;
    if (!created)
        return kc_error_result(err);

    /* An update carries the resourceVersion it started from. Of two with the same, one fails. */
    kc_auto(kc_edit) *edit = kc_edit_of(created);
    kc_edit_set_nested(edit, "data.colour", kc_node_str(edit, KC_STR("green")));
    kc_auto(kc_object) *green = kc_edit_freeze(edit, err);
    kc_auto(kc_object) *updated = green ? kc_client_update(client, green, NULL, err) : NULL;
    if (!updated)
        return kc_error_result(err);
    kc_scoped(kc_error) late = {0};
    kc_auto(kc_object) *again = kc_client_update(client, green, NULL, &late);
    printf("second update: %s\n", kc_is_conflict(&late) ? "conflict" : "no conflict");

    /* A patch contains only the changes and needs no resourceVersion. */
    kc_auto(kc_object) *patched =
        kc_client_patch(client, &kc_kind_config_map, KC_KEY("default", "one"), KC_PATCH_MERGE,
                        KC_STR("{\"data\":{\"size\":\"L\"}}"), NULL, err);
    return patched ? 0 : kc_error_result(err);
}

static int list_all(kc_client *client, kc_error *err)
{
    for (int i = 2; i <= 7; i++) {
        kc_autofree char *name = kc_asprintf("shirt-%d", i);
        kc_auto(kc_object) *one = shirt(name, "blue", err);
        kc_auto(kc_object) *created = one ? kc_client_create(client, one, NULL, err) : NULL;
        if (!created)
            return kc_error_result(err);
    }
    /* Seven objects in pages of two, all from one snapshot. */
    kc_scoped(kc_object_list) all = {0};
    kc_list_opts shirts = {.ns = "default", .labels = "kind=shirt", .page = 2};
    if (kc_client_list(client, &kc_kind_config_map, &shirts, &all, err) < 0)
        return kc_error_result(err);
    printf("%zu shirts, the last is %.*s\n", all.n, KC_ARG(kc_object_name(all.items[all.n - 1])));
    return 0;
}

static int watch_some(kc_client *client, kc_error *err)
{
    kc_auto(kc_watch) *watch =
        kc_client_watch(client, &kc_kind_config_map,
                        &(kc_watch_opts){.ns = "default", .labels = "kind=shirt"}, err);
    int64_t deadline = kc_clock_deadline(kc_client_clock(client), 10 * KC_SECOND);
    /* Without a resourceVersion existing objects are delivered first, as added. */
    for (int seen = 0; watch && seen < 7; seen++) {
        kc_scoped(kc_watch_event) event = {0};
        if (kc_watch_next(watch, deadline, &event, err) <= 0)
            return kc_error_result(err);
    }
    kc_scoped(kc_watch_event) event = {0};
    const kc_key second = KC_KEY("default", "shirt-2");
    if (!watch || kc_client_delete(client, &kc_kind_config_map, second, NULL, err) < 0 ||
        kc_watch_next(watch, deadline, &event, err) <= 0)
        return kc_error_result(err);
    printf("watched: %.*s %s\n", KC_ARG(kc_object_name(event.object)),
           event.type == KC_WATCH_DELETED ? "deleted" : "?");
    return kc_wait_for(client, &kc_kind_config_map, second, kc_until_gone, NULL, 10 * KC_SECOND,
                       NULL, err);
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_client) *client = kc_client_new(NULL, &err);
    kc_list_opts shirts = {.ns = "default", .labels = "kind=shirt"};
    if (!client || write_one(client, &err) < 0 || list_all(client, &err) < 0 ||
        watch_some(client, &err) < 0 ||
        kc_client_delete_all(client, &kc_kind_config_map, &shirts, NULL, &err) < 0) {
        fprintf(stderr, "client: %s\n", kc_error_text(&err));
        return 1;
    }
    puts("done");
    return 0;
}
