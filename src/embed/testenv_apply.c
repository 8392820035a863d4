/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv_apply.c: YAML to objects at the server, as kubectl apply does it for people: what is not
 * there is created, what is there gets what the text says, by a merge patch. A kind whose
 * definition was applied a moment ago is waited for.
 */
#include "embed/testenv_internal.h"

#include "kc/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND_TIMEOUT (10 * KC_SECOND)
enum { MAX_FILE = 16 << 20 };

/* The server's kind of the object; definitions take a moment to be served. */
static const kc_kind *kind_of(kc_testenv *env, const kc_object *object, kc_error *err)
{
    int64_t deadline = kc_clock_deadline(env->clock, KIND_TIMEOUT);
    for (;;) {
        kc_scoped(kc_error) failed = {0};
        const kc_kind *kind = kc_client_kind(env->client, kc_object_gvk(object), &failed);
        if (kind)
            return kind;
        if (!kc_is_not_found(&failed) || kc_clock_now(env->clock) >= deadline) {
            kc_error_move(err, &failed);
            return NULL;
        }
        kc_clock_sleep(env->clock, 10 * KC_MILLISECOND);
    }
}

static kc_object *with_namespace(const kc_object *object, const kc_kind *kind, kc_error *err)
{
    if (!kind->namespaced || kc_object_namespace(object).n)
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_edit_set_namespace(edit, KC_STR("default"));
    return kc_edit_freeze(edit, err);
}

static int apply_one(kc_testenv *env, const kc_object *object, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    const kc_kind *kind = kind_of(env, object, err);
    kc_auto(kc_object) *wanted = kind ? with_namespace(object, kind, err) : NULL;
    if (!wanted)
        return -1;
    const kc_write_opts opts = {.kind = kind};
    kc_auto(kc_object) *now = kc_client_create(env->client, wanted, &opts, &failed);
    if (!now && kc_is_already_exists(&failed))
        now = kc_client_patch(env->client, kind, kc_object_key(wanted), KC_PATCH_MERGE,
                              kc_object_json(wanted), &opts, err);
    else if (!now)
        kc_error_move(err, &failed);
    return now ? 0 : -1;
}

/* ---- text ---- */

typedef struct application {
    kc_testenv *env;
    kc_error *err;
} application;

static int apply_document(kc_view *document, void *user)
{
    const application *a = user;
    kc_auto(kc_view) *view = document;
    kc_scoped(kc_buf) json = {0};
    kc_json_write(&json, kc_view_root(view));
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&json), NULL, a->err);
    return object ? apply_one(a->env, object, a->err) : -1;
}

int kc_testenv_apply(kc_testenv *env, kc_str yaml, kc_error *err)
{
    application a = {env, err};
    return kc_yaml_each(yaml, NULL, apply_document, &a, err);
}

static int read_file(const char *path, kc_buf *out, kc_error *err)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size <= MAX_FILE) {
        char *to = kc_buf_reserve(out, (size_t)about.st_size);
        n = read(fd, to, (size_t)about.st_size);
        out->n += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return n >= 0 ? 0 : kc_error_set(err, KC_NOT_FOUND, "cannot read %s", path);
}

int kc_testenv_apply_file(kc_testenv *env, const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (read_file(path, &text, err) < 0)
        return -1;
    return kc_testenv_apply(env, kc_buf_str(&text), err) < 0 ? kc_error_wrap(err, "apply %s", path)
                                                             : 0;
}
