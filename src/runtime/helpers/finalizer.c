/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalizer.c: adds or removes one finalizer with a JSON patch that tests what it changes.
 *
 * A patch that replaces the whole list could restore a finalizer that another client has just
 * removed, or remove one that has just been added. The patch therefore carries a test operation,
 * and the server rejects it if the list has changed since it was read:
 *
 *     add:              test /metadata/resourceVersion               add /metadata/finalizers(/-)
 *     remove:           test /metadata/finalizers/i  name            remove /metadata/finalizers/i
 *
 * The server answers a failed test with 422; callers get it as a conflict.
 */
#include "kc/finalizer.h"

#include "kc/json.h"

static bool position(const kc_object *object, kc_str name, size_t *ret_index, size_t *ret_count)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_finalizers(object, &arena);
    bool found = false;
    size_t n = 0;
    for (kc_str one; kc_meta_next_text(&at, &one); n++)
        if (!found && kc_str_eq(one, name)) {
            found = true;
            *ret_index = n;
        }
    *ret_count = n;
    return found;
}

/* Sends the patch; *object becomes the server's response. A failed test is a conflict. */
static int finalizer_send(kc_client *client, kc_object **object, kc_str patch, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    const kc_kind *kind = kc_client_kind(client, kc_object_gvk(*object), err);
    if (!kind)
        return kc_error_result(err);
    kc_object *now =
        kc_client_patch(client, kind, kc_object_key(*object), KC_PATCH_JSON, patch, NULL, &failed);
    if (!now && kc_is_invalid(&failed))
        return kc_error_set(err, KC_CONFLICT, "the finalizers of %.*s have changed: %s",
                            KC_ARG(kc_object_name(*object)), kc_error_text(&failed));
    if (!now)
        return kc_error_move(err, &failed);
    kc_object_unref(*object);
    *object = now;
    return 1;
}

/* [{"op":"test","path":...,"value":"..."}, */
static void put_test(kc_buf *out, const char *path, kc_str value)
{
    kc_buf_printf(out, "[{\"op\":\"test\",\"path\":\"%s\",\"value\":", path);
    kc_json_quote(out, value);
    kc_buf_puts(out, "},");
}

int kc_finalizer_add(kc_client *client, kc_object **object, const char *name, kc_error *err)
{
    size_t at, count;
    if (position(*object, kc_cstr(name), &at, &count))
        return 0;
    kc_scoped(kc_buf) patch = {0};
    put_test(&patch, "/metadata/resourceVersion", kc_object_resource_version(*object));
    kc_buf_printf(&patch, "{\"op\":\"add\",\"path\":\"/metadata/finalizers%s\",\"value\":%s",
                  count ? "/-" : "", count ? "" : "[");
    kc_json_quote(&patch, kc_cstr(name));
    kc_buf_puts(&patch, count ? "}]" : "]}]");
    return finalizer_send(client, object, kc_buf_str(&patch), err);
}

int kc_finalizer_remove(kc_client *client, kc_object **object, const char *name, kc_error *err)
{
    size_t at, count;
    if (!position(*object, kc_cstr(name), &at, &count))
        return 0;
    kc_scoped(kc_buf) patch = {0};
    kc_scoped(kc_error) failed = {0};
    kc_autofree char *path = kc_asprintf("/metadata/finalizers/%zu", at);
    put_test(&patch, path, kc_cstr(name));
    kc_buf_printf(&patch, "{\"op\":\"remove\",\"path\":\"%s\"}]", path);
    int done = finalizer_send(client, object, kc_buf_str(&patch), &failed);
    if (done < 0 && kc_is_not_found(&failed))
        return 0;
    return done < 0 ? kc_error_move(err, &failed) : done;
}

kc_finalizer_state kc_finalizer_step(kc_client *client, kc_object **object, const char *name,
                                     kc_finalize_fn *clean, void *user, kc_error *err)
{
    if (!kc_object_being_deleted(*object))
        return kc_finalizer_add(client, object, name, err) < 0 ? KC_FINALIZER_FAILED
                                                               : KC_FINALIZER_HELD;
    if (!kc_object_has_finalizer(*object, kc_cstr(name)))
        return KC_FINALIZER_GONE;
    if (clean(client, *object, user, err) < 0 || kc_finalizer_remove(client, object, name, err) < 0)
        return KC_FINALIZER_FAILED;
    return KC_FINALIZER_GONE;
}
