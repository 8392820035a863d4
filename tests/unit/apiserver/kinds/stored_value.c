/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of kube-apiserver v1.34.1 in etcd, recorded by scripts/compare-etcd: each is decoded to
 * the object that it serves, and encoded again to the same bytes.
 */
#include "apiserver/kinds/stored_value.h"

#include "apiserver/codec/protobuf.h"
#include "apiserver/storage/stored_key.h"
#include "kc/base64.h"
#include "kc/json.h"
#include "kc/view.h"
#include "object/fields/fields_typed.h"
#include "testing.h"

#include <stdio.h>

#define RECORDED "conformance/etcd-values.jsonl"

/* ---- recorded values ---- */

typedef struct recorded {
    kc_str key;
    uint64_t revision;
    const kc_value *object; /* As served; null: not an object of the API. */
    kc_buf value;
} recorded;

static void recorded_done(recorded *r)
{
    kc_buf_done(&r->value);
}

typedef void recorded_fn(const recorded *r);

static size_t each_recorded(recorded_fn *check)
{
    FILE *file = fopen(RECORDED, "re");
    char *line = NULL;
    size_t size = 0, count = 0;
    ssize_t n;
    assert_non_null(file);
    while ((n = getline(&line, &size, file)) > 0) {
        kc_auto(kc_view) *view = kc_view_parse(kc_str_of(line, (size_t)n), NULL, NULL);
        const kc_value *root = kc_view_root(view);
        kc_scoped(recorded) r = {.key = kc_value_as_str(kc_value_get(root, "key")),
                                 .object = kc_value_get(root, "object")};
        assert_true(kc_value_as_u64(kc_value_get(root, "revision"), &r.revision));
        assert_true(
            kc_base64_read(&r.value, kc_value_as_str(kc_value_get(root, "value")), KC_BASE64));
        check(&r);
        count++;
    }
    free(line);
    fclose(file);
    return count;
}

static kc_object *decode_recorded(const recorded *r)
{
    kc_scoped(kc_error) err = {0};
    bool lossy = false;
    kc_auto(kc_object) *object =
        kc__resource_value_decode(kc__resource_value_kind(kc__storage_key_prefix(r->key)),
                                  kc_buf_str(&r->value), &lossy, &err);
    if (!object)
        fail_msg("%.*s: %s", KC_ARG(r->key), kc_error_text(&err));
    assert_false(lossy);
    return kc_object_with_revision(object, r->revision);
}

static void check_decoded(const recorded *r)
{
    kc_auto(kc_object) *object = decode_recorded(r);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_scoped(kc_buf) served = {0};
    kc_json_write(&served, r->object);
    if (kc_value_type(r->object) == KC_JSON_OBJECT &&
        !kc__fields_equal(kc_view_root(view), r->object))
        fail_msg("%.*s:\n%.*s\nis not\n%s", KC_ARG(r->key), KC_ARG(kc_object_json(object)),
                 kc_buf_cstr(&served));
}

static void recorded_values_decode_to_the_served_objects(void **state)
{
    (void)state;
    assert_true(each_recorded(check_decoded) >= 69);
}

/* A Job gets labels when it is read, which the next write stores. */
static bool is_completed(const recorded *r)
{
    return kc_str_starts(r->key, KC_STR("/registry/jobs/"));
}

static void check_encoded(const recorded *r)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_object) *object = decode_recorded(r);
    if (kc__resource_value_encode(kc__resource_value_kind(kc__storage_key_prefix(r->key)), object,
                                  (kc_str){0}, &out, &err) < 0)
        fail_msg("%.*s: %s", KC_ARG(r->key), kc_error_text(&err));
    if (!is_completed(r) && !kc_str_eq(kc_buf_str(&out), kc_buf_str(&r->value)))
        fail_msg("%.*s: encodes to other bytes: %.*s", KC_ARG(r->key), (int)KC_MIN(out.n, 2000u),
                 out.p);
}

static void served_objects_encode_to_the_recorded_bytes(void **state)
{
    (void)state;
    assert_true(each_recorded(check_encoded) >= 69);
}

/* ---- the table of versions ---- */

static bool was_seen[256];

static void note_resource(const recorded *r)
{
    const kc__resource *kind = kc__resource_value_kind(kc__storage_key_prefix(r->key));
    if (kind && kind->kind)
        was_seen[kind - kc__resource_builtins] = true;
}

/* A resource without a recorded value would have an untested version. */
static void every_stored_resource_has_a_recorded_value(void **state)
{
    (void)state;
    each_recorded(note_resource);
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (r->key_prefix && kc__resource_value_kind(kc_cstr(r->key_prefix)) == r && !was_seen[i])
            fail_msg("%s", r->plural);
    }
}

static void keys_of_kubernetes_itself_have_no_kind(void **state)
{
    (void)state;
    static const char *const prefixes[] = {
        "/registry/ranges/",
        "/registry/masterleases/",
        "/registry/peerserverleases/",
        "/registry/leasecandidates/",
        "/registry/storagemigration.k8s.io/storageversionmigrations/",
    };
    for (size_t i = 0; i < KC_COUNT(prefixes); i++)
        assert_null(kc__resource_value_kind(kc_cstr(prefixes[i])));
    assert_non_null(kc__resource_value_kind(KC_STR("/registry/example.com/robots/")));
}

/* ---- other forms ---- */

static kc_object *decode_at(const char *prefix, const char *json, kc_error *err)
{
    kc_autofree char *text = kc_strdup(json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return kc__resource_value_decode(kc__resource_value_kind(kc_cstr(prefix)), kc_cstr(text), NULL,
                                     err);
}

static void json_of_any_version_becomes_the_version_in_memory(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"/registry/pods/", "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'}}", "v1"},
        {"/registry/deviceclasses/",
         "{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1beta2','metadata':{'name':'a'}}",
         "resource.k8s.io/v1"},
        {"/registry/volumeattributesclasses/",
         "{'kind':'VolumeAttributesClass','apiVersion':'storage.k8s.io/v1beta1'}",
         "storage.k8s.io/v1"},
        {"/registry/apiextensions.k8s.io/customresourcedefinitions/",
         "{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1beta1'}",
         "apiextensions.k8s.io/v1"},
        {"/registry/horizontalpodautoscalers/",
         "{'kind':'HorizontalPodAutoscaler','apiVersion':'autoscaling/v1','spec':{}}",
         "autoscaling/v2"},
        {"/registry/example.com/robots/", "{'kind':'Robot','apiVersion':'example.com/v7'}",
         "example.com/v7"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *object = decode_at(cases[i][0], cases[i][1], &err);
        if (!object)
            fail_msg("%s: %s", cases[i][1], kc_error_text(&err));
        assert_true(kc_str_is(kc_object_api_version(object), cases[i][2]));
    }
}

static void version_with_other_fields_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(decode_at("/registry/deviceclasses/",
                          "{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1alpha1'}", &err));
    assert_string_equal(kc_error_text(&err),
                        "the stored version resource.k8s.io/v1alpha1 of deviceclasses is not "
                        "supported");
}

static void object_that_does_not_fit_its_type_is_stored_as_json(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_object) *object =
        decode_at("/registry/pods/",
                  "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a','resourceVersion':'7'},"
                  "'spec':{'priority':'<'}}",
                  NULL);
    assert_int_equal(kc__resource_value_encode(kc__resource_value_kind(KC_STR("/registry/pods/")),
                                               object, (kc_str){0}, &out, NULL),
                     0);
    assert_string_equal(kc_buf_cstr(&out),
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},"
                        "\"spec\":{\"priority\":\"\\u003c\"}}\n");
}

static void unknown_fields_of_the_older_value_are_kept(void **state)
{
    (void)state;
    /* An Endpoints with the unknown field 1000 in its message. */
    static const char older[] = "k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
                                "Endpoints\x12\x08\xc2\x3e\x05novel";
    const kc_str value = kc_str_of(older, sizeof(older) - 1);
    const kc__resource *kind = kc__resource_value_kind(KC_STR("/registry/services/endpoints/"));
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    bool lossy = false;
    kc_auto(kc_object) *object = kc__resource_value_decode(kind, value, &lossy, &err);
    assert_string_equal(kc_error_text(&err), "no error");
    assert_true(lossy);
    assert_int_equal(kc__resource_value_encode(kind, object, value, &out, &err), 0);
    assert_true(kc__protobuf_recognizes(kc_buf_str(&out)));
    assert_non_null(memmem(out.p, out.n, "novel", 5));
}

static void damaged_older_value_does_not_prevent_a_write(void **state)
{
    (void)state;
    const kc__resource *kind = kc__resource_value_kind(KC_STR("/registry/services/endpoints/"));
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_object) *object =
        decode_at("/registry/services/endpoints/",
                  "{'kind':'Endpoints','apiVersion':'v1','metadata':{'name':'a'}}", NULL);
    assert_int_equal(kc__resource_value_encode(kind, object, KC_STR("damaged"), &out, NULL), 0);
    kc_auto(kc_object) *again = kc__resource_value_decode(kind, kc_buf_str(&out), NULL, NULL);
    assert_true(kc_str_is(kc_object_name(again), "a"));
}

TESTS(recorded_values_decode_to_the_served_objects, served_objects_encode_to_the_recorded_bytes,
      every_stored_resource_has_a_recorded_value, keys_of_kubernetes_itself_have_no_kind,
      json_of_any_version_becomes_the_version_in_memory, version_with_other_fields_is_an_error,
      object_that_does_not_fit_its_type_is_stored_as_json,
      unknown_fields_of_the_older_value_are_kept, damaged_older_value_does_not_prevent_a_write)
