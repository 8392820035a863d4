/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.c: parses a location and opens its store.
 *
 * The text before the first colon is a backend if it has only letters, so "./a:b" and "/a:b" are
 * directories. To add a backend with locations: a row of `forms`, its parser, and its options in
 * kc__maintenance_open.
 */
#include "apiserver/maintenance/location.h"

#include "kc/file.h"

#include <unistd.h>

#define ETCD_WAIT     (10 * KC_SECOND)
#define ETCD_TIMEOUT  (60 * KC_SECOND) /* Hundreds of requests wait for a busy etcd together. */
#define ETCD_FORM     "etcd:http://HOST:PORT[,URL…] (or https)"
#define ACCEPTED      "must be file:DIR, or DIR for short, or " ETCD_FORM
#define ETCD_REGISTRY "/registry"

void kc__maintenance_location_done(kc__maintenance_location *location)
{
    free(location->root);
    free(location->storage);
    for (size_t i = 0; i < location->n_urls; i++)
        free(location->urls[i]);
    *location = (kc__maintenance_location){0};
}

bool kc__maintenance_location_is_etcd(const kc__maintenance_location *location)
{
    return location->backend == &kc__storage_etcd_backend;
}

/* ---- directories ---- */

static bool is_store_dir(const char *dir)
{
    kc_autofree char *data = kc_asprintf("%s/data.mdb", dir);
    return access(data, F_OK) == 0;
}

static int parse_dir(const char *text, const char *dir, kc__maintenance_location *ret,
                     kc_error *err)
{
    if (!*dir)
        return kc_error_set(err, KC_INVALID, "invalid location '%s': it names no directory", text);
    *ret = (kc__maintenance_location){.backend = kc__storage_backend_named("file")};
    const bool is_store = is_store_dir(dir);
    ret->root = is_store ? kc_asprintf("%s/..", dir) : kc_strdup(dir);
    ret->storage = is_store ? kc_strdup(dir) : kc_asprintf("%s/store", dir);
    return 0;
}

/* ---- etcd ---- */

static bool is_etcd_url(kc_str text)
{
    const kc_str schemes[] = {KC_STR("http://"), KC_STR("https://")};
    for (size_t i = 0; i < KC_COUNT(schemes); i++)
        if (kc_str_starts(text, schemes[i]) && text.n > schemes[i].n)
            return true;
    return false;
}

static int refuse_urls(const char *text, const char *why, kc_error *err)
{
    return kc_error_set(err, KC_INVALID, "invalid location '%s': %s; must be %s", text, why,
                        ETCD_FORM);
}

static int parse_etcd(const char *text, const char *urls, kc__maintenance_location *ret,
                      kc_error *err)
{
    kc_str rest = kc_cstr(urls);
    kc_scoped(kc__maintenance_location) parsed = {.backend = &kc__storage_etcd_backend,
                                                  .storage = kc_strdup(text)};
    while (rest.p) {
        const kc_str url = kc_str_cut(&rest, ',');
        if (!is_etcd_url(url))
            return refuse_urls(text, url.n ? "a member is no URL" : "a URL is missing", err);
        if (parsed.n_urls == KC_COUNT(parsed.urls))
            return refuse_urls(text, "more than 16 URLs", err);
        parsed.urls[parsed.n_urls++] = kc_strndup(url.p, url.n);
    }
    *ret = parsed;
    parsed = (kc__maintenance_location){0};
    return 0;
}

/* ---- both ---- */

static const struct {
    const char *name;
    int (*parse)(const char *text, const char *rest, kc__maintenance_location *ret, kc_error *err);
} forms[] = {{"file", parse_dir}, {"etcd", parse_etcd}};

/* The length of "file" in "file:DIR"; 0 without a backend. */
static size_t backend_length(const char *text)
{
    size_t n = 0;
    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z'))
        n++;
    return text[n] == ':' ? n : 0;
}

static int refuse_backend(const char *text, size_t n, kc_error *err)
{
    const char *names[KC_COUNT(forms)];
    for (size_t i = 0; i < KC_COUNT(forms); i++)
        names[i] = forms[i].name;
    if (is_etcd_url(kc_cstr(text)))
        return kc_error_set(err, KC_INVALID,
                            "invalid location '%s': " ACCEPTED "; did you mean 'etcd:%s'?", text,
                            text);
    const char *nearest = kc_str_nearest(kc_str_of(text, n), names, KC_COUNT(names));
    return kc_error_set(err, KC_INVALID, "invalid location '%s': " ACCEPTED "%s%s%s", text,
                        nearest ? "; did you mean '" : "", nearest ? nearest : "",
                        nearest ? ":…'?" : "");
}

int kc__maintenance_location_parse(const char *text, kc__maintenance_location *ret, kc_error *err)
{
    const size_t n = backend_length(text);
    if (!n)
        return parse_dir(text, text, ret, err);
    for (size_t i = 0; i < KC_COUNT(forms); i++)
        if (kc_str_is(kc_str_of(text, n), forms[i].name))
            return forms[i].parse(text, text + n + 1, ret, err);
    return refuse_backend(text, n, err);
}

/* ---- opening ---- */

static int stop_at_first_key(const kc__storage_entry *entry, void *user)
{
    (void)entry;
    *(bool *)user = true;
    return 1;
}

/* An etcd always exists; a store in it has keys. */
static int require_keys(kc__storage *storage, const kc__maintenance_location *location,
                        const char *prefix, kc_error *err)
{
    bool found = false;
    if (kc__storage_list(storage, &(kc__storage_list_opts){.limit = 1}, stop_at_first_key, &found,
                         NULL, err) < 0)
        return kc_error_result(err);
    return found ? 0
                 : kc_error_set(err, KC_NOT_FOUND,
                                "there is no store in %s: it has no keys below '%s' "
                                "(--etcd-prefix)",
                                location->storage, prefix ? prefix : ETCD_REGISTRY);
}

static int open_etcd(const kc__maintenance_location *location,
                     const kc__maintenance_open_opts *opts, kc__storage **ret_storage,
                     kc_error *err)
{
    kc__storage_etcd_opts etcd = opts->etcd ? *opts->etcd : (kc__storage_etcd_opts){0};
    etcd.endpoints = (const char *const *)location->urls;
    etcd.n_endpoints = location->n_urls;
    etcd.wait = etcd.wait ? etcd.wait : ETCD_WAIT;
    etcd.timeout = etcd.timeout ? etcd.timeout : ETCD_TIMEOUT;
    kc_auto(kc__storage) *storage = NULL;
    if (kc__storage_open(location->backend, &(kc__storage_opts){.etcd = &etcd}, &storage, err) < 0)
        return kc_error_wrap(err, "%s", location->storage);
    if (opts->existing && require_keys(storage, location, etcd.prefix, err) < 0)
        return kc_error_result(err);
    *ret_storage = kc_take(storage);
    return 0;
}

static int open_files(const kc__maintenance_location *location,
                      const kc__maintenance_open_opts *opts, kc__storage **ret_storage,
                      kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc__storage_opts storage = {
        .location = location->storage, .existing = opts->existing, .log = opts->log};
    if (!opts->existing && kc_dir_create(location->root, 0700, err) < 0)
        return kc_error_result(err);
    if (kc__storage_open(location->backend, &storage, ret_storage, &why) == 0)
        return 0;
    if (!kc_error_has_reason(&why, KC_CONFLICT))
        return kc_error_move(err, &why);
    return kc_error_set(err, KC_CONFLICT,
                        "%s: stop the server first, or work with a copy: 'kc store backup' runs "
                        "beside a server",
                        kc_error_text(&why));
}

int kc__maintenance_open(const kc__maintenance_location *location,
                         const kc__maintenance_open_opts *opts, kc__storage **ret_storage,
                         kc_error *err)
{
    return kc__maintenance_location_is_etcd(location)
               ? open_etcd(location, opts, ret_storage, err)
               : open_files(location, opts, ret_storage, err);
}
