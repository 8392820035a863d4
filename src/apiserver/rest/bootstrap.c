/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap.c: what every cluster has: the namespaces default, kube-system, kube-public and
 * kube-node-lease, the Service that leads to the server itself, and the priorities of the plane's
 * own pods. They are written as a client's would be, and not again once they are there.
 *
 * One is kept current: kube-system/extension-apiserver-authentication says whose certificates the
 * server takes for clients', so that nodes and others whom it calls can know it.
 *
 * To add one: a line in the table.
 */
#include "apiserver/rest/bootstrap.h"

#include "kc/edit.h"
#include "kc/thread.h"
#include "kc/view.h"

#define NAMESPACES      "/registry/core/namespaces/"
#define CONFIG_MAPS     "/registry/core/configmaps/"
#define SERVICES        "/registry/core/services/"
#define PRIORITIES      "/registry/scheduling.k8s.io/priorityclasses/"
#define ACTIVE          "\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}"
#define NAME_LABEL(own) "{\"kubernetes.io/metadata.name\":\"" own "\"}"
#define PREEMPTS        ",\"preemptionPolicy\":\"PreemptLowerPriority\""

static const struct first_object {
    const char *prefix, *kind, *api_version;
    const char *ns; /* "": none. */
    const char *name;
    int generation;     /* 0: none. */
    const char *labels; /* JSON; "": none. */
    const char *rest;   /* The members after metadata. */
} objects[] = {
    {NAMESPACES, "Namespace", "v1", "", "default", 0, NAME_LABEL("default"), ACTIVE},
    {NAMESPACES, "Namespace", "v1", "", "kube-system", 0, NAME_LABEL("kube-system"), ACTIVE},
    {NAMESPACES, "Namespace", "v1", "", "kube-public", 0, NAME_LABEL("kube-public"), ACTIVE},
    {NAMESPACES, "Namespace", "v1", "", "kube-node-lease", 0, NAME_LABEL("kube-node-lease"),
     ACTIVE},
    {SERVICES, "Service", "v1", "default", "kubernetes", 0,
     "{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}",
     "\"spec\":{\"ports\":[{\"name\":\"https\",\"protocol\":\"TCP\",\"port\":443,\"targetPort\":6443}"
     "],\"clusterIP\":\"10.96.0.1\",\"clusterIPs\":[\"10.96.0.1\"],\"type\":\"ClusterIP\","
     "\"sessionAffinity\":\"None\",\"ipFamilies\":[\"IPv4\"],\"ipFamilyPolicy\":\"SingleStack\","
     "\"internalTrafficPolicy\":\"Cluster\"},\"status\":{\"loadBalancer\":{}}"},
    {PRIORITIES, "PriorityClass", "scheduling.k8s.io/v1", "", "system-cluster-critical", 1, "",
     "\"value\":2000000000,\"description\":\"For pods without which the cluster does not work, and "
     "which may move to another node.\"" PREEMPTS},
    {PRIORITIES, "PriorityClass", "scheduling.k8s.io/v1", "", "system-node-critical", 1, "",
     "\"value\":2000001000,\"description\":\"For pods without which their node does not "
     "work.\"" PREEMPTS},
};

typedef struct creation {
    kc__write write;
    kc_object *object;
    char *key;
    kc_latch *latch;
} creation;

static void created(kc__write *write)
{
    creation *c = kc_container_of(write, creation, write);
    kc_object_unref(write->result);
    kc_latch_count_down(c->latch);
}

static void text_member(kc_buf *out, const char *name, const char *text)
{
    if (*text)
        kc_buf_printf(out, ",\"%s\":\"%s\"", name, text);
}

static kc_object *make(kc__api *api, const struct first_object *o)
{
    uint8_t random[16];
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    kc_scoped(kc_buf) json = {0};
    kc_rand_bytes(&api->lanes[0].rand, random, sizeof(random));
    kc_uid_of(random, uid);
    kc_time_print(kc_clock_wall(api->clock), now);
    kc_buf_printf(&json, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%s\"",
                  o->kind, o->api_version, o->name);
    text_member(&json, "namespace", o->ns);
    text_member(&json, "uid", uid);
    text_member(&json, "resourceVersion", "0");
    if (o->generation)
        kc_buf_printf(&json, ",\"generation\":%d", o->generation);
    text_member(&json, "creationTimestamp", now);
    if (*o->labels)
        kc_buf_printf(&json, ",\"labels\":%s", o->labels);
    kc_buf_printf(&json, "},%s}", o->rest);
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

static void submit(kc__api *api, creation *c, kc__cache *cache, uint64_t expected)
{
    c->write = (kc__write){.cache = cache,
                           .verb = KC_STORAGE_PUT,
                           .key = kc_cstr(c->key),
                           .expected = expected,
                           .object = c->object,
                           .loop = api->lanes[0].loop,
                           .done = created};
    kc_latch_add(c->latch, 1);
    kc__store_submit(api->store, &c->write);
}

/* Submits it unless it is there. */
static void create(kc__api *api, const struct first_object *o, creation *c)
{
    kc__cache *cache = kc__store_cache(api->store, kc_cstr(o->prefix));
    c->key = kc_asprintf("%s%s%s", o->ns, *o->ns ? "/" : "", o->name);
    kc_auto(kc_object) *there = kc__cache_get(cache, kc_cstr(c->key));
    if (there)
        return;
    c->object = make(api, o);
    submit(api, c, cache, KC_STORAGE_ABSENT);
}

/* ---- whose clients are let in ---- */

#define CLIENT_CA "data.client-ca-file"

static const struct first_object authentication = {
    CONFIG_MAPS,  "ConfigMap",          "v1", "kube-system", "extension-apiserver-authentication",
    .labels = "", .rest = "\"data\":{}"};

static bool says(const kc_object *object, kc_str client_ca)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_str_eq(kc_as_str(kc_dig(kc_view_root(view), CLIENT_CA)), client_ca);
}

static void publish(kc__api *api, kc_str client_ca, creation *c)
{
    const struct first_object *o = &authentication;
    kc__cache *cache = kc__store_cache(api->store, kc_cstr(o->prefix));
    c->key = kc_asprintf("%s/%s", o->ns, o->name);
    kc_auto(kc_object) *there = kc__cache_get(cache, kc_cstr(c->key));
    if (there && says(there, client_ca))
        return;
    kc_auto(kc_object) *base = there ? kc_object_ref(there) : make(api, o);
    kc_auto(kc_edit) *edit = kc_edit_of(base);
    kc_edit_put(edit, CLIENT_CA, kc_node_str(edit, client_ca));
    c->object = kc_edit_freeze(edit, NULL);
    submit(api, c, cache, there ? kc_object_revision(there) : KC_STORAGE_ABSENT);
}

/* ---- all of it ---- */

int kc__bootstrap_objects(kc__api *api, kc_str client_ca, kc_error *err)
{
    creation creations[KC_COUNT(objects) + 1] = {0};
    kc_latch latch;
    int status = 0;
    kc_latch_init(&latch);
    for (size_t i = 0; i < KC_COUNT(objects); i++) {
        creations[i].latch = &latch;
        create(api, &objects[i], &creations[i]);
    }
    creations[KC_COUNT(objects)].latch = &latch;
    if (!kc_str_empty(client_ca))
        publish(api, client_ca, &creations[KC_COUNT(objects)]);
    kc_latch_wait(&latch);
    for (size_t i = 0; i < KC_COUNT(creations); i++) {
        kc_object_unref(creations[i].object);
        if (creations[i].write.error.reason && status == 0) {
            kc_error_move(err, &creations[i].write.error);
            status = kc_error_wrap(err, "create %s", creations[i].key);
        }
        kc_error_done(&creations[i].write.error);
        free(creations[i].key);
    }
    kc_latch_done(&latch);
    return status;
}
