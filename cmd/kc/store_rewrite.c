/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_rewrite.c: `kc store rewrite` rewrites stored objects with the current first key of the
 * encryption configuration: after encryption was enabled, keys were rotated, or encryption is to be
 * removed.
 *
 *     kc store rewrite --file-rootpath=DIR    the files of a stopped server; removes old values
 *     kc store rewrite --server=URL           a running server, by updates that change nothing
 *
 * Both can be interrupted and run again: an object that is stored as it should be is not written.
 */
#include "encryption_file.h"
#include "store.h"

#include "apiserver/maintenance/values.h"
#include "apiserver/storage/encryption/encryption_rewrite.h"
#include "apiserver/storage/file/file_backend.h"
#include "kc/client.h"
#include "kc/kubeconfig.h"

#include <glob.h>

/* ---- files ---- */

static int rewrite_opened(kc__storage *storage, kc__encryption *encryption,
                          kc__encryption_rewritten *ret, kc_error *err)
{
    kc__storage_state state;
    if (kc__encryption_rewrite(storage, encryption, kc__maintenance_encryption_resource, ret, err) <
            0 ||
        kc__storage_progress(storage, &state, err) < 0)
        return kc_error_result(err);
    return kc__storage_compact(storage, state.revision, err);
}

static int report_rewritten(const kc__encryption_rewritten *result, kc_error *err)
{
    printf("%zu of %zu objects rewritten\n", result->rewritten, result->objects);
    if (!result->unreadable)
        return 0;
    return kc_error_set(err, KC_INTERNAL, "%zu objects cannot be decrypted and are unchanged: %s",
                        result->unreadable, kc_error_text(&result->first_error));
}

/* The copies that migrations of the layout left (storage/file/file_layout_copy.c). */
static void name_layout_copies(const char *dir)
{
    kc_autofree char *pattern = kc_asprintf("%s/data.mdb.layout-*", dir);
    glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            printf("%s still has old values: remove it if no older program needs it\n",
                   found.gl_pathv[i]);
    globfree(&found);
}

static int rewrite_files(const kc__cli_store_options *o, kc_error *err)
{
    kc__encryption_rewritten result = {0};
    kc__storage *storage = NULL;
    kc_autofree char *dir = kc_asprintf("%s/store", o->root);
    kc_autofree char *path = kc__cli_encryption_path(o->encryption, o->root);
    if (!path)
        return kc_error_set(err, KC_INVALID,
                            "%s has no encryption.yaml; name the configuration "
                            "with --encryption-provider-config",
                            o->root);
    kc_auto(kc__encryption) *encryption =
        kc__encryption_new(&(kc__encryption_opts){.path = path}, err);
    if (!encryption || kc__storage_open(&kc__storage_file_backend,
                                        &(kc__storage_opts){.location = dir}, &storage, err) < 0)
        return kc_error_result(err);
    int failed = rewrite_opened(storage, encryption, &result, err);
    kc__storage_close(storage);
    if (!failed)
        failed = kc__storage_file_scrub(dir, err);
    if (!failed)
        failed = report_rewritten(&result, err);
    if (!failed)
        name_layout_copies(dir);
    kc_error_done(&result.first_error);
    return failed;
}

/* ---- a running server ---- */

typedef struct online_rewrite {
    kc_client *client;
    KC_VEC(const kc_kind *) kinds;
    const kc_kind *kind;
    size_t objects, failed;
    kc_error first_error;
} online_rewrite;

static bool has_verb(const kc_api_resource *resource, const char *verb)
{
    for (size_t i = 0; resource->verbs[i]; i++)
        if (!strcmp(resource->verbs[i], verb))
            return true;
    return false;
}

/* Events of both groups are the same objects. */
static void add_kind(const kc_api_resource *resource, void *user)
{
    online_rewrite *run = user;
    const kc_kind *kind = resource->kind;
    const bool events = kind->group && !strcmp(kind->group, "events.k8s.io");
    if (resource->preferred && !events && has_verb(resource, "list") &&
        has_verb(resource, "update"))
        kc_vec_push(&run->kinds, kind);
}

/* A conflict or a deletion means that another client has just written the object. */
static bool is_rewritten_by_others(const kc_error *err)
{
    return kc_error_has_reason(err, KC_CONFLICT) || kc_error_has_reason(err, KC_NOT_FOUND);
}

static int update_object(kc_object *object, void *user, kc_error *err)
{
    online_rewrite *run = user;
    kc_auto(kc_object) *held = object;
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *stored =
        kc_client_update(run->client, held, &(kc_write_opts){.kind = run->kind}, &why);
    (void)err;
    run->objects++;
    if (stored || is_rewritten_by_others(&why))
        return 0;
    if (run->failed++ == 0) {
        kc_error_wrap(&why, "%s %.*s/%.*s", run->kind->plural, KC_ARG(kc_object_namespace(held)),
                      KC_ARG(kc_object_name(held)));
        kc_error_move(&run->first_error, &why);
    }
    return 0;
}

static int rewrite_kind(online_rewrite *run, const kc_kind *kind, kc_error *err)
{
    run->kind = kind;
    if (kc_client_list_each(run->client, kind, &(kc_list_opts){.page = 200}, update_object, run,
                            NULL, err) < 0)
        return kc_error_wrap(err, "list %s", kind->plural);
    return 0;
}

static int report_online(const online_rewrite *run, kc_error *err)
{
    printf("%zu objects of %zu resources checked\n", run->objects, run->kinds.n);
    if (!run->failed)
        return 0;
    return kc_error_set(err, KC_INTERNAL, "%zu objects could not be updated: %s", run->failed,
                        kc_error_text(&run->first_error));
}

static int rewrite_online(const kc__cli_store_options *o, kc_error *err)
{
    kc_auto(kc_config) *config = kc_config_load(
        &(kc_config_opts){.path = o->kubeconfig, .context = o->context, .server = o->server}, err);
    kc_auto(kc_client) *client = config
                                     ? kc_client_new(&(kc_client_opts){.config = config,
                                                                       .user_agent = "kc-store",
                                                                       .field_manager = "kc-store"},
                                                     err)
                                     : NULL;
    online_rewrite run = {.client = client};
    if (!client)
        return kc_error_result(err);
    int failed = kc_client_discover(client, add_kind, &run, err);
    for (size_t i = 0; i < run.kinds.n && failed >= 0; i++)
        failed = rewrite_kind(&run, run.kinds.items[i], err);
    if (failed >= 0)
        failed = report_online(&run, err);
    kc_vec_done(&run.kinds);
    kc_error_done(&run.first_error);
    return failed;
}

int kc__cli_store_rewrite(const kc__cli_store_options *o, kc_error *err)
{
    return o->root ? rewrite_files(o, err) : rewrite_online(o, err);
}
