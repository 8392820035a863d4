/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c: server-side apply of a Deployment of about 12 KB with three managers, from text to
 * text: parse the live object, its managed fields and the configuration, validate both, apply,
 * write the object and the managed fields. Once the configuration changes an image, once nothing,
 * once it gives up a field. The peer does the same without ownership: parse both, write one.
 */
#include "bench.h"

#include "kc/edit.h"
#include "object/fields/fields_managed.h"

#include <assert.h>
#include <stdio.h>

/* The topology of a Deployment, as far as the sample has it. */
static const char definitions[] =
    "{'Deployment':{'type':'object','properties':{'apiVersion':{'type':'string'},'kind':{'type':'string'},"
    "'metadata':{'$ref':'#/definitions/ObjectMeta'},'spec':{'$ref':'#/definitions/DeploymentSpec'},"
    "'status':{'type':'object','properties':{'replicas':{'type':'integer'},'readyReplicas':{'type':'integer'},"
    "'observedGeneration':{'type':'integer'},'conditions':{'type':'array','x-kubernetes-list-type':'map',"
    "'x-kubernetes-list-map-keys':['type'],'items':{'type':'object','properties':{'type':{'type':'string'},"
    "'status':{'type':'string'},'reason':{'type':'string'},'message':{'type':'string'},'lastUpdateTime':{'type':"
    "'string','format':'date-time'}}}}}}}},"
    "'ObjectMeta':{'type':'object','properties':{'name':{'type':'string'},'namespace':{'type':'string'},'uid':{'type':"
    "'string'},'resourceVersion':{'type':'string'},'generation':{'type':'integer'},'creationTimestamp':{'type':'string',"
    "'format':'date-time'},'labels':{'type':'object','additionalProperties':{'type':'string'}},'annotations':{'type':"
    "'object','additionalProperties':{'type':'string'}}}},"
    "'DeploymentSpec':{'type':'object','properties':{'replicas':{'type':'integer'},'selector':{'type':'object',"
    "'x-kubernetes-map-type':'atomic','properties':{'matchLabels':{'type':'object','additionalProperties':{'type':"
    "'string'}}}},'strategy':{'type':'object','properties':{'type':{'type':'string'}}},'template':{'type':'object',"
    "'properties':{'metadata':{'$ref':'#/definitions/ObjectMeta'},'spec':{'$ref':'#/definitions/PodSpec'}}}}},"
    "'PodSpec':{'type':'object','properties':{'containers':{'type':'array','x-kubernetes-list-type':'map',"
    "'x-kubernetes-list-map-keys':['name'],'items':{'$ref':'#/definitions/Container'}},'volumes':{'type':'array',"
    "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['name'],'items':{'type':'object','properties':{"
    "'name':{'type':'string'},'emptyDir':{'type':'object'}}}},'restartPolicy':{'type':'string'},"
    "'serviceAccountName':{'type':'string'},'terminationGracePeriodSeconds':{'type':'integer'},'dnsPolicy':{'type':"
    "'string'}}},"
    "'Container':{'type':'object','properties':{'name':{'type':'string'},'image':{'type':'string'},'imagePullPolicy':{"
    "'type':'string'},'command':{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'atomic'},'env':{"
    "'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['name'],'items':{'type':'object',"
    "'properties':{'name':{'type':'string'},'value':{'type':'string'}}}},'ports':{'type':'array',"
    "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['containerPort','protocol'],'items':{'type':'object',"
    "'properties':{'name':{'type':'string'},'containerPort':{'type':'integer'},'protocol':{'type':'string','default':"
    "'TCP'}}}},'volumeMounts':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['mountPath'],"
    "'items':{'type':'object','properties':{'name':{'type':'string'},'mountPath':{'type':'string'},'readOnly':{'type':"
    "'boolean'}}}},'resources':{'type':'object','properties':{'limits':{'type':'object','additionalProperties':{"
    "'type':'string'}},'requests':{'type':'object','additionalProperties':{'type':'string'}}}},'readinessProbe':{"
    "'$ref':'#/definitions/Probe'},'livenessProbe':{'$ref':'#/definitions/Probe'}}},"
    "'Probe':{'type':'object','properties':{'httpGet':{'type':'object','properties':{'path':{'type':'string'},'port':{"
    "'x-kubernetes-int-or-string':true},'scheme':{'type':'string'}}},'periodSeconds':{'type':'integer'},"
    "'timeoutSeconds':{'type':'integer'},'failureThreshold':{'type':'integer'}}}}";

enum { CONTAINERS = 4, VARIABLES = 8 };

/* Text with ' for ". */
static void put(kc_buf *out, const char *text)
{
    for (; *text; text++)
        kc_buf_putc(out, *text == '\'' ? '"' : *text);
}

static void put_container(kc_buf *out, int at, const char *tag, bool defaults)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "{'name':'container-%d','image':'registry.example.org/shop/web:%s',", at,
                  tag);
    kc_buf_puts(&text, "'command':['/bin/server','--port=8080','--verbose'],'env':[");
    for (int i = 0; i < VARIABLES; i++)
        kc_buf_printf(&text, "%s{'name':'VARIABLE_%d','value':'the value of variable %d'}",
                      i ? "," : "", i, i);
    kc_buf_puts(&text, "],'ports':[{'name':'http','containerPort':8080,'protocol':'TCP'},"
                       "{'name':'metrics','containerPort':9090,'protocol':'TCP'}],");
    kc_buf_puts(
        &text,
        "'volumeMounts':[{'name':'data','mountPath':'/data'},{'name':'tmp','mountPath':'/tmp'}],"
        "'resources':{'limits':{'cpu':'500m','memory':'256Mi'},'requests':{'cpu':'100m','memory':'128Mi'}},"
        "'readinessProbe':{'httpGet':{'path':'/ready','port':8080},'periodSeconds':10},"
        "'livenessProbe':{'httpGet':{'path':'/live','port':'http'},'periodSeconds':20}");
    kc_buf_puts(&text, defaults ? ",'imagePullPolicy':'IfNotPresent'}" : "}");
    put(out, kc_buf_cstr(&text));
}

static void put_deployment(kc_buf *out, const char *tag, bool live, bool annotated)
{
    put(out,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'shop',");
    if (live)
        put(out,
            "'uid':'5b0e4e2c-4f6e-4a53-8b57-7f3a2c6f0c11','resourceVersion':'123456','generation':4,"
            "'creationTimestamp':'2026-01-02T03:04:05Z',");
    put(out, annotated ? "'annotations':{'example.org/contact':'team-shop'}," : "");
    put(out, "'labels':{'app':'web','team':'shop','tier':'frontend'}},'spec':{");
    put(out, live ? "'replicas':3,'strategy':{'type':'RollingUpdate'}," : "");
    put(out,
        "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web','tier':"
        "'frontend'}},'spec':{'containers':[");
    for (int i = 0; i < CONTAINERS; i++) {
        put(out, i ? "," : "");
        put_container(out, i, tag, live);
    }
    put(out,
        "],'volumes':[{'name':'data','emptyDir':{}},{'name':'tmp','emptyDir':{}}],'serviceAccountName':'web'");
    put(out,
        live
            ? ",'restartPolicy':'Always','terminationGracePeriodSeconds':30,'dnsPolicy':'ClusterFirst'}}},"
              "'status':{'replicas':3,'readyReplicas':3,'observedGeneration':4,'conditions':[{'type':'Available',"
              "'status':'True','reason':'MinimumReplicasAvailable','message':'Deployment has minimum availability.',"
              "'lastUpdateTime':'2026-01-02T03:04:05Z'},{'type':'Progressing','status':'True','reason':"
              "'NewReplicaSetAvailable','message':'ReplicaSet has successfully progressed.','lastUpdateTime':"
              "'2026-01-02T03:04:05Z'}]}}"
            : "}}}}");
}

typedef struct setup {
    kc__fields_types *types;
    const kc__fields_type *type;
    kc_object *live; /* With managed fields. */
    kc_buf config, same, less;
    const kc_buf *now; /* What is applied. */
    kc_arena arena;
} setup;

static const kc__fields_updater updater;

/* Parses, applies and writes once; returns the size of the output. */
static size_t apply_once(setup *s, kc_str config, bool *ret_changed, kc_buf *out)
{
    kc__fields_managed managed = {.arena = &s->arena};
    kc_auto(kc_view) *live = kc__fields_managed_take(&managed, s->live, NULL);
    kc_auto(kc_view) *view = kc_view_parse(config, NULL, NULL);
    kc__fields_request request = {.updater = &updater,
                                  .live = {kc_view_root(live), s->type, KC_STR("apps/v1")},
                                  .object = {kc_view_root(view), s->type, KC_STR("apps/v1")},
                                  .manager = KC_STR("kubectl"),
                                  .now = KC_STR("2026-02-03T04:05:06Z"),
                                  .force = true};
    const kc_value *value = NULL;
    int failed = kc__fields_validate(s->type, request.object.value, false, NULL);
    failed |= kc__fields_validate(s->type, request.live.value, true, NULL);
    failed |= kc__fields_managed_apply(&managed, &request, &value, NULL);
    assert(!failed);
    kc_json_write(out, value ? value : request.live.value);
    kc__fields_managed_write(out, &managed);
    kc__fields_managed_done(&managed);
    kc_arena_clear(&s->arena);
    *ret_changed = value != NULL;
    return out->n;
}

static void run_apply(void *input, size_t times)
{
    setup *s = input;
    kc_scoped(kc_buf) out = {0};
    while (times--) {
        bool changed;
        kc_buf_clear(&out);
        bench_use(apply_once(s, kc_buf_str(s->now), &changed, &out));
    }
}

static void run_update(void *input, size_t times)
{
    setup *s = input;
    kc_scoped(kc_buf) out = {0};
    while (times--) {
        kc__fields_managed managed = {.arena = &s->arena};
        kc_auto(kc_view) *live = kc__fields_managed_take(&managed, s->live, NULL);
        kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(s->now), NULL, NULL);
        kc__fields_request request = {.updater = &updater,
                                      .live = {kc_view_root(live), s->type, KC_STR("apps/v1")},
                                      .object = {kc_view_root(view), s->type, KC_STR("apps/v1")},
                                      .manager = KC_STR("controller"),
                                      .now = KC_STR("2026-02-03T04:05:06Z")};
        int failed = kc__fields_managed_update(&managed, &request, NULL);
        assert(!failed);
        kc_buf_clear(&out);
        kc_json_write(&out, request.object.value);
        kc__fields_managed_write(&out, &managed);
        kc__fields_managed_done(&managed);
        kc_arena_clear(&s->arena);
        bench_use(out.n);
    }
}

/* Without ownership: parse both, write one. */
static void run_plain(void *input, size_t times)
{
    setup *s = input;
    kc_scoped(kc_buf) out = {0};
    while (times--) {
        kc_auto(kc_view) *live = kc_view_of(s->live);
        kc_auto(kc_view) *config = kc_view_parse(kc_buf_str(s->now), NULL, NULL);
        kc_buf_clear(&out);
        kc_json_write(&out, kc_view_root(live));
        bench_use(kc_view_root(config));
    }
}

/* An object with the managed fields that the writes of three managers leave. */
static kc_object *with_owners(setup *s, kc_str live_text)
{
    kc_auto(kc_view) *live = kc_view_parse(live_text, NULL, NULL),
                     *empty = kc_view_parse(KC_STR("{}"), NULL, NULL);
    kc_auto(kc_view) *config = kc_view_parse(kc_buf_str(&s->same), NULL, NULL);
    kc__fields_managed managed = {.arena = &s->arena};
    const kc_value *value;
    kc__fields_request request = {.updater = &updater,
                                  .live = {kc_view_root(empty), s->type, KC_STR("apps/v1")},
                                  .object = {kc_view_root(config), s->type, KC_STR("apps/v1")},
                                  .manager = KC_STR("kubectl"),
                                  .now = KC_STR("2026-01-02T03:04:05Z")};
    int failed = kc__fields_managed_apply(&managed, &request, &value, NULL);
    request.live = request.object;
    request.object.value = kc_view_root(live);
    request.manager = KC_STR("controller");
    failed |= kc__fields_managed_update(&managed, &request, NULL);
    request.live.value = kc_view_root(empty);
    kc_auto(kc_view) *scaled = kc_view_parse(KC_STR("{\"spec\":{\"replicas\":3}}"), NULL, NULL);
    request.object.value = kc_view_root(scaled);
    request.manager = KC_STR("autoscaler");
    request.subresource = KC_STR("scale");
    failed |= kc__fields_managed_update(&managed, &request, NULL);
    assert(!failed && managed.owners.n == 3);
    kc_scoped(kc_buf) entries = {0};
    kc_scoped(kc_buf) text = {0};
    kc__fields_managed_write(&entries, &managed);
    kc_auto(kc_view) *parsed = kc_view_parse(kc_buf_str(&entries), NULL, NULL);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(live));
    kc_node_set(edit, kc_node_get(kc_edit_root(edit), KC_STR("metadata")), KC_STR("managedFields"),
                kc_node_from_value(edit, kc_view_root(parsed)));
    kc__fields_managed_done(&managed);
    kc_arena_clear(&s->arena);
    return kc_edit_freeze(edit, NULL);
}

static double measure(setup *s, const char *title, const kc_buf *config, bench_fn run)
{
    contestant all[] = {{title, run}, {"parse both, write one", run_plain}};
    s->now = config;
    bench_run(title, all, KC_COUNT(all), s);
    printf("%40s %.0f per second\n", "", 1e9 / all[0].ns);
    return all[0].ns / all[1].ns;
}

int main(void)
{
    setup s = {.types = kc__fields_types_new()};
    kc_scoped(kc_buf) schema = {0};
    kc_scoped(kc_buf) live = {0};
    bool changed;
    put(&schema, definitions);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&schema), NULL, NULL);
    int failed = kc__fields_types_add_openapi(s.types, kc_view_root(view), NULL, NULL);
    assert(!failed);
    kc__fields_types_finish(s.types);
    s.type = kc__fields_types_get(s.types, KC_STR("Deployment"));
    put_deployment(&live, "1.0", true, true);
    put_deployment(&s.same, "1.0", false, true);
    put_deployment(&s.config, "2.0", false, true);
    put_deployment(&s.less, "1.0", false, false);
    s.live = with_owners(&s, kc_buf_str(&live));
    printf("live object: %zu bytes, managed fields: %zu\n", kc_object_json(s.live).n,
           kc_object_managed_fields_json(s.live).n);
    kc_scoped(kc_buf) out = {0};
    apply_once(&s, kc_buf_str(&s.same), &changed, &out);
    assert(!changed);
    kc_buf_clear(&out);
    apply_once(&s, kc_buf_str(&s.less), &changed, &out);
    assert(changed && !kc_str_contains(kc_buf_str(&out), KC_STR("example.org/contact")));
    double image = measure(&s, "apply that changes images", &s.config, run_apply);
    double nothing = measure(&s, "apply that changes nothing", &s.same, run_apply);
    double less = measure(&s, "apply that gives up a field", &s.less, run_apply);
    double update = measure(&s, "update that changes nothing", &live, run_update);
    bench_at_most("apply that changes images, to parsing and writing", image, 4);
    bench_at_most("apply that changes nothing, to the same", nothing, 3.5);
    bench_at_most("apply that gives up a field, to the same", less, 4);
    bench_at_most("update, to the same", update, 3);
    kc_object_unref(s.live);
    kc__fields_types_free(s.types);
    kc_buf_done(&s.config);
    kc_buf_done(&s.same);
    kc_buf_done(&s.less);
    kc_arena_done(&s.arena);
    return bench_result();
}
