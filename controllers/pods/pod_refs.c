/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_refs.c: an index of the ConfigMaps and Secrets that pods reference, so that a change of one
 * queues only those pods.
 */
#include "pods/pods.h"

#include "pods/pod_inputs.h"

#include "kc/kinds.h"

/* One ConfigMap or Secret. */
typedef struct pod_refs_source {
    char *key;   /* "configmap/namespace/name" */
    kc_map pods; /* Records by key. */
} pod_refs_source;

static char *source_key(const kc_kind *kind, kc_str ns, kc_str name)
{
    return kc_asprintf("%s/%.*s/%.*s", kc__pod_source_name(kind), KC_ARG(ns), KC_ARG(name));
}

typedef struct pod_refs_pair {
    kc__pods *pods;
    kc__pod_record *state;
} pod_refs_pair;

static void pod_refs_add(const kc_kind *kind, const char *name, void *user)
{
    const pod_refs_pair *p = user;
    kc_autofree char *key = source_key(kind, kc_cstr(p->state->ns), kc_cstr(name));
    kc_locked (&p->pods->mutex) {
        pod_refs_source *s = kc_map_get(&p->pods->sources, kc_cstr(key));
        if (!s) {
            s = kc_new(pod_refs_source);
            s->key = kc_take(key);
            kc_map_put(&p->pods->sources, kc_cstr(s->key), s);
        }
        kc_map_put(&s->pods, kc_cstr(p->state->key), p->state);
        if (!kc_map_get(&p->state->sources, kc_cstr(s->key)))
            kc_map_put(&p->state->sources, kc_cstr(s->key), s);
    }
}

void kc__pods_add_references(kc__pods *pods, const kc_pod *pod, kc__pod_record *state)
{
    kc__pod_each_source(pod, pod_refs_add, &(pod_refs_pair){pods, state});
}

static void source_free(pod_refs_source *s)
{
    kc_map_done(&s->pods);
    free(s->key);
    free(s);
}

void kc__pods_remove_references(kc__pods *pods, kc__pod_record *state)
{
    kc_locked (&pods->mutex)
        kc_map_each (&state->sources, it) {
            pod_refs_source *s = it->value;
            kc_map_remove(&s->pods, kc_cstr(state->key));
            if (s->pods.n)
                continue;
            kc_map_remove(&pods->sources, kc_cstr(s->key));
            source_free(s);
        }
    kc_map_done(&state->sources);
}

void kc__pods_free_refs(kc__pods *pods)
{
    kc_map_each (&pods->sources, it)
        source_free(it->value);
    kc_map_done(&pods->sources);
}

/* A ConfigMap or Secret has changed: called on the informer's thread. */
static void enqueue_users(kc__pods *pods, const kc_kind *kind, const kc_object *object,
                          kc_enqueuer *to)
{
    kc_autofree char *key = source_key(kind, kc_object_namespace(object), kc_object_name(object));
    KC_VEC(char *) names = {0};
    kc_locked (&pods->mutex) {
        pod_refs_source *s = kc_map_get(&pods->sources, kc_cstr(key));
        if (s)
            kc_map_each (&s->pods, it)
                kc_vec_push(&names, kc_strdup(((kc__pod_record *)it->value)->name));
    }
    kc_vec_each (&names, name) {
        kc_enqueue(to, (kc_key){kc_object_namespace(object), kc_cstr(*name)});
        free(*name);
    }
    kc_vec_done(&names);
}

void kc__pods_of_config_map(const kc_object *object, kc_enqueuer *to, void *user)
{
    enqueue_users(user, &kc_kind_config_map, object, to);
}

void kc__pods_of_secret(const kc_object *object, kc_enqueuer *to, void *user)
{
    enqueue_users(user, &kc_kind_secret, object, to);
}
