/* SPDX-License-Identifier: Apache-2.0 */
/* plane.c: the fixture of cache tests. */
#include "plane.h"

#include "thread_testing.h"

static plane *make(const kc_cache_opts *given, kc_clock *clock)
{
    kc_scoped(kc_error) err = {0};
    kc_cache_opts opts = given ? *given : (kc_cache_opts){0};
    const kc_clock *time = clock ? clock : kc_clock_real();
    plane *p = kc_new(plane);
    p->clock = clock;
    p->server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.clock = time, .threads = 1}, &err);
    assert_non_null(p->server);
    p->faults = faulty_new(kc_embedded_server_transport(p->server, NULL), time);
    p->client = kc_client_new(
        &(kc_client_opts){.transport = faulty_transport(p->faults), .clock = time}, &err);
    assert_non_null(p->client);
    opts.client = p->client;
    opts.clock = time;
    p->cache = kc_cache_new(&opts);
    p->cached = kc_cache_client(p->cache);
    return p;
}

plane *plane_new(const kc_cache_opts *opts)
{
    return make(opts, NULL);
}

plane *plane_started(const kc_cache_opts *opts)
{
    plane *p = make(opts, NULL);
    assert_int_equal(kc_cache_start(p->cache, NULL), 0);
    return p;
}

plane *plane_virtual(const kc_cache_opts *opts)
{
    return make(opts, kc_clock_virtual_new(1700000000 * KC_SECOND));
}

void plane_free(plane *p)
{
    kc_client_unref(p->cached);
    kc_cache_free(p->cache);
    kc_client_unref(p->client);
    kc_embedded_server_stop(p->server);
    kc_clock_free(p->clock);
    free(p);
}

void plane_wait(plane *p)
{
    /* In a millisecond the loops of the server find out that virtual time has advanced. */
    kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    if (!p->clock)
        return;
    await_other_threads();
    kc_clock_advance(p->clock, 100 * KC_MILLISECOND);
}

kc_object *config_map(const char *ns, const char *name, const char *labels, const char *value)
{
    kc_autofree char *text = kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                         "'namespace':'%s','name':'%s','labels':{%s}},"
                                         "'data':{'k':'%s'}}",
                                         ns, name, labels, value);
    return object_of(text);
}

static uint64_t written(kc_object *object, const kc_error *err)
{
    kc_auto(kc_object) *answer = object;
    if (!answer)
        fail_msg("%s", kc_error_text(err));
    return kc_object_revision(answer);
}

uint64_t create(kc_client *client, const char *ns, const char *name, const char *labels,
                const char *value)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = config_map(ns, name, labels, value);
    return written(kc_client_create(client, object, NULL, &err), &err);
}

uint64_t update(kc_client *client, const char *ns, const char *name, const char *value)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = config_map(ns, name, "", value);
    return written(kc_client_update(client, object, NULL, &err), &err);
}

void erase(kc_client *client, const char *ns, const char *name)
{
    kc_scoped(kc_error) err = {0};
    if (kc_client_delete(client, &kc_kind_config_map, KC_KEY(ns, name), NULL, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

uint64_t revision_of(plane *p, const char *ns, const char *name)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *found = kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY(ns, name), &err);
    if (!found && !kc_is_not_found(&err))
        fail_msg("%s", kc_error_text(&err));
    return found ? kc_object_revision(found) : 0;
}

bool has(plane *p, const char *ns, const char *name)
{
    return revision_of(p, ns, name) != 0;
}

size_t count(plane *p, const kc_list_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc_object_list list = {0};
    if (kc_cache_list(p->cache, &kc_kind_config_map, opts, &list, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    const size_t n = list.n;
    kc_object_list_done(&list);
    return n;
}
