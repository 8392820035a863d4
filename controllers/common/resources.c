/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.c: see resources.h. Pod requests follow Kubernetes' component-helpers (PodRequests): a
 * sidecar (an init container that always restarts) adds to everything that runs after it; any other
 * init container runs alone, beside the sidecars that started before it.
 */
#include "common/resources.h"

#define LACK "Insufficient "

enum { DEFAULT_CPU = 100, DEFAULT_MEMORY = 200 * 1024 * 1024 };

static int64_t sum(int64_t a, int64_t b)
{
    int64_t s;
    if (!__builtin_add_overflow(a, b, &s))
        return s;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

const char *kc__common_extended_resource_name(const kc__common_extended_resource *scalar)
{
    return scalar->lack + strlen(LACK);
}

void kc__common_resources_done(kc__common_resources *r)
{
    kc_vec_each (&r->scalars, s)
        free(s->lack);
    kc_vec_done(&r->scalars);
}

static kc__common_extended_resource *find_scalar(const kc__common_resources *r, const char *name)
{
    kc_vec_each (&r->scalars, s)
        if (!strcmp(kc__common_extended_resource_name(s), name))
            return s;
    return NULL;
}

int64_t kc__common_resources_scalar(const kc__common_resources *r, const char *name)
{
    const kc__common_extended_resource *s = find_scalar(r, name);
    return s ? s->value : 0;
}

static void remove_scalar(kc__common_resources *r, const kc__common_extended_resource *s)
{
    free(s->lack);
    kc_vec_remove(&r->scalars, (size_t)(s - r->scalars.items));
}

void kc__common_resources_set_scalar(kc__common_resources *r, const char *name, int64_t value)
{
    kc__common_extended_resource *s = find_scalar(r, name);
    if (s)
        s->value = value;
    else
        kc_vec_push(&r->scalars,
                    (kc__common_extended_resource){kc_asprintf(LACK "%s", name), value});
}

static int64_t amount(const char *text, bool milli)
{
    kc_quantity q;
    if (kc_quantity_parse(kc_cstr(text), &q, NULL) < 0)
        return 0;
    return milli ? kc_quantity_milli_value(q) : kc_quantity_value(q);
}

bool kc__common_resource_find(const kc_resource_list *list, const char *name, int64_t *ret)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].key, name)) {
            *ret = amount(list->items[i].value.text, !strcmp(name, "cpu"));
            return true;
        }
    return false;
}

/* The field of CPU, memory or ephemeral storage; NULL for any other resource. */
static int64_t *named(kc__common_resources *r, const char *name)
{
    if (!strcmp(name, "cpu"))
        return &r->cpu;
    if (!strcmp(name, "memory"))
        return &r->memory;
    return strcmp(name, "ephemeral-storage") == 0 ? &r->storage : NULL;
}

void kc__common_resources_read(const kc_resource_list *list, kc__common_resources *ret)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *name = list->items[i].key;
        int64_t *at = named(ret, name);
        const int64_t value = amount(list->items[i].value.text, at == &ret->cpu);
        if (at)
            *at = value;
        else if (strcmp(name, "pods") != 0)
            kc__common_resources_set_scalar(ret, name, value);
    }
}

void kc__common_resources_add(kc__common_resources *to, const kc__common_resources *from, int times)
{
    to->cpu = sum(to->cpu, times * from->cpu);
    to->memory = sum(to->memory, times * from->memory);
    to->storage = sum(to->storage, times * from->storage);
    kc_vec_each (&from->scalars, s) {
        const char *name = kc__common_extended_resource_name(s);
        const int64_t value = sum(kc__common_resources_scalar(to, name), times * s->value);
        kc__common_resources_set_scalar(to, name, value);
        if (value == 0)
            remove_scalar(to, find_scalar(to, name));
    }
}

void kc__common_resources_max(kc__common_resources *to, const kc__common_resources *from)
{
    to->cpu = KC_MAX(to->cpu, from->cpu);
    to->memory = KC_MAX(to->memory, from->memory);
    to->storage = KC_MAX(to->storage, from->storage);
    kc_vec_each (&from->scalars, s)
        if (kc__common_resources_scalar(to, kc__common_extended_resource_name(s)) < s->value)
            kc__common_resources_set_scalar(to, kc__common_extended_resource_name(s), s->value);
}

/* ---- a pod ---- */

static void read_container(const kc_container *c, bool defaults, kc__common_resources *ret)
{
    int64_t request;
    kc__common_resources_read(&c->resources.requests, ret);
    if (defaults && !kc__common_resource_find(&c->resources.requests, "cpu", &request))
        ret->cpu = DEFAULT_CPU;
    if (defaults && !kc__common_resource_find(&c->resources.requests, "memory", &request))
        ret->memory = DEFAULT_MEMORY;
}

/* The maximum needed while init containers run; adds the sidecars' share to `beside`. */
static void read_init(const kc_pod_spec *spec, bool defaults, kc__common_resources *peak,
                      kc__common_resources *beside)
{
    for (size_t i = 0; i < spec->n_init_containers; i++) {
        const kc_container *c = &spec->init_containers[i];
        kc_scoped(kc__common_resources) own = {0};
        read_container(c, defaults, &own);
        if (kc__common_is_sidecar(c)) {
            kc__common_resources_add(beside, &own, 1);
            kc__common_resources_max(peak, beside);
        } else {
            kc__common_resources_add(&own, beside, 1);
            kc__common_resources_max(peak, &own);
        }
    }
}

/* Pod-level resources override the sum of the containers. */
static void apply_pod_level(const kc_resource_list *requests, kc__common_resources *r)
{
    for (size_t i = 0; i < requests->n; i++) {
        const char *name = requests->items[i].key;
        int64_t *at = named(r, name);
        const int64_t value = amount(requests->items[i].value.text, at == &r->cpu);
        if (at && at != &r->storage)
            *at = value;
        else if (!strncmp(name, "hugepages-", strlen("hugepages-")))
            kc__common_resources_set_scalar(r, name, value);
    }
}

void kc__common_resources_of_pod(const kc_pod_spec *spec, bool defaults, kc__common_resources *ret)
{
    kc_scoped(kc__common_resources) peak = {0}, overhead = {0};
    for (size_t i = 0; i < spec->n_containers; i++) {
        kc_scoped(kc__common_resources) own = {0};
        read_container(&spec->containers[i], defaults, &own);
        kc__common_resources_add(ret, &own, 1);
    }
    kc_scoped(kc__common_resources) beside = {0};
    read_init(spec, defaults, &peak, &beside);
    kc__common_resources_add(ret, &beside, 1);
    kc__common_resources_max(ret, &peak);
    if (spec->resources)
        apply_pod_level(&spec->resources->requests, ret);
    kc__common_resources_read(&spec->overhead, &overhead);
    kc__common_resources_add(ret, &overhead, 1);
}
