/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_warnings.c: warnings about volumes whose files overlap: two items with the same path, or
 * one path below the other. The node then reports an error, or one file hides the other.
 *
 * Kubernetes compares each path with all before it. Here the number of comparisons is bounded: a
 * volume with more than MAX_PATHS paths is not checked beyond them.
 */
#include "apiserver/kinds/core/pod_warnings.h"

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/vec.h"

enum { MAX_PATHS = 256 };

/* A path, and where it comes from; an empty source is not printed. */
typedef struct volume_path {
    kc_str path;
    const char *source;
} volume_path;

/* The paths of one volume so far. */
typedef struct volume_paths {
    kc_str name;       /* Of the volume. */
    const char *where; /* `ConfigMap "x"` */
    KC_VEC(volume_path) all;
    kc_arena *arena;
    size_t max;
    kc_paths *warnings;
} volume_paths;

static const char *show_path(const volume_paths *paths, const volume_path *path)
{
    if (*path->source)
        return kc_arena_printf(paths->arena, "\"%.*s\" (%s)", KC_ARG(path->path), path->source);
    return kc_arena_printf(paths->arena, "\"%.*s\"", KC_ARG(path->path));
}

/* Whether `below` is the path or below it. */
static bool is_below(kc_str below, kc_str path)
{
    return kc_str_starts(below, path) && (below.n == path.n || below.p[path.n] == '/');
}

static void add_volume_path(volume_paths *paths, kc_str path, const char *source)
{
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    const volume_path one = {path, source};
    if (paths->all.n >= MAX_PATHS)
        return;
    kc_vec_each (&paths->all, other)
        if (path.n && other->path.n && paths->warnings->n < paths->max &&
            (is_below(other->path, path) || is_below(path, other->path)))
            kc_vec_push(paths->warnings,
                        kc_asprintf("volume \"%.*s\" (%s): overlapping paths: %s with %s",
                                    KC_ARG(paths->name), paths->where, show_path(paths, &one),
                                    show_path(paths, other)));
    kc_vec_push(&paths->all, one);
}

static void add_items(volume_paths *paths, const kc_value *items, const char *source)
{
    kc_value_each_item (items, item)
        add_volume_path(paths, kc_value_as_str(kc_value_get(item, "path")), source);
}

static const char *named(const volume_paths *paths, const char *kind, kc_str name)
{
    return kc_arena_printf(paths->arena, "%s \"%.*s\"", kind, KC_ARG(name));
}

static kc_str text_of_source(const kc_value *source, const char *member)
{
    return kc_value_as_str(kc_value_get(source, member));
}

/* ---- projected volumes ---- */

static void add_certificate_paths(volume_paths *paths, const kc_value *source)
{
    static const char *const members[][2] = {
        {"certificateChainPath", "PodCertificate chain"},
        {"keyPath", "PodCertificate key"},
        {"credentialBundlePath", "PodCertificate credential bundle"}};
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        const kc_str path = text_of_source(source, members[i][0]);
        if (path.n)
            add_volume_path(paths, path, members[i][1]);
    }
}

static void add_projection(volume_paths *paths, const kc_value *projection)
{
    const kc_value *config = kc_value_get(projection, "configMap"),
                   *secret = kc_value_get(projection, "secret"),
                   *downward = kc_value_get(projection, "downwardAPI"),
                   *token = kc_value_get(projection, "serviceAccountToken"),
                   *bundle = kc_value_get(projection, "clusterTrustBundle");
    if (kc_value_get(config, "items"))
        add_items(paths, kc_value_get(config, "items"),
                  named(paths, "ConfigMap", text_of_source(config, "name")));
    else if (kc_value_get(secret, "items"))
        add_items(paths, kc_value_get(secret, "items"),
                  named(paths, "Secret", text_of_source(secret, "name")));
    else if (kc_value_get(downward, "items"))
        add_items(paths, kc_value_get(downward, "items"), "DownwardAPI");
    else if (token)
        add_volume_path(paths, text_of_source(token, "path"), "ServiceAccountToken");
    else if (bundle)
        add_volume_path(
            paths, text_of_source(bundle, "path"),
            named(paths, "ClusterTrustBundle",
                  text_of_source(bundle, kc_value_get(bundle, "name") ? "name" : "signerName")));
    else
        add_certificate_paths(paths, kc_value_get(projection, "podCertificate"));
}

static void warn_projected(volume_paths *paths, const kc_value *projected)
{
    paths->where = "Projected";
    kc_value_each_item (kc_value_get(projected, "sources"), projection) {
        if (!kc_value_len(projection) && paths->warnings->n < paths->max)
            kc_vec_push(paths->warnings,
                        kc_asprintf("volume \"%.*s\" (Projected) has no sources provided",
                                    KC_ARG(paths->name)));
        add_projection(paths, projection);
    }
}

/* ---- all volumes ---- */

static void warn_volume(volume_paths *paths, const kc_value *volume)
{
    const kc_value *config = kc_value_get(volume, "configMap"),
                   *secret = kc_value_get(volume, "secret"),
                   *downward = kc_value_get(volume, "downwardAPI"),
                   *projected = kc_value_get(volume, "projected");
    if (config) {
        paths->where = named(paths, "ConfigMap", text_of_source(config, "name"));
        add_items(paths, kc_value_get(config, "items"), "");
    } else if (secret) {
        paths->where = named(paths, "Secret", text_of_source(secret, "secretName"));
        add_items(paths, kc_value_get(secret, "items"), "");
    } else if (downward) {
        paths->where = "DownwardAPI";
        add_items(paths, kc_value_get(downward, "items"), "");
    } else if (projected) {
        warn_projected(paths, projected);
    }
}

void kc__warnings_volume_paths(const kc_value *volumes, size_t max, kc_paths *warnings)
{
    kc_scoped(kc_arena) arena = {0};
    kc_value_each_item (volumes, volume) {
        volume_paths paths = {.name = text_of_source(volume, "name"),
                              .arena = &arena,
                              .max = max,
                              .warnings = warnings};
        warn_volume(&paths, volume);
        kc_vec_done(&paths.all);
    }
}
