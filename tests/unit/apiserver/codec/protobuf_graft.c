/* SPDX-License-Identifier: Apache-2.0 */
/* Unknown fields of a stored value survive in the value that replaces it. */
#include "apiserver/codec/protobuf.h"
#include "kc/buf.h"
#include "testing.h"

#define UNKNOWN(text) "\xba\x3f\x05" text /* Field 1015 with five bytes, which no type has. */

static const char pod[] =
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'containers':["
    "{'name':'a','image':'i'},{'name':'b','image':'i'}],'tolerations':[{'key':'x'},{'key':'y'}]}}";

static void encode_pod(const char *json, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_strdup(json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    kc_auto(kc_object) *object = kc_object_parse(kc_cstr(text), NULL, &err);
    assert_non_null(object);
    if (kc__protobuf_encode(object, kc__type_lookup(KC_STR("io.k8s.api.core.v1.Pod")), KC_STR("v1"),
                            out, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static size_t find_text(const kc_buf *in, const char *text, size_t n)
{
    const char *at = memmem(in->p, in->n, text, n);
    assert_non_null(at);
    return (size_t)(at - in->p);
}

/* Decodes, encodes with a change and grafts. */
static void graft_pod(const char *json, kc_str older, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) fresh = {0};
    encode_pod(json, &fresh);
    if (kc__protobuf_graft(kc__type_lookup(KC_STR("io.k8s.api.core.v1.Pod")), kc_buf_str(&fresh),
                           older, out, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

/* A pod in protobuf, written by hand with unknown fields in all kinds of places. */
static void put_message(kc_buf *out, unsigned number, kc_str contents)
{
    kc_buf_putc(out, (char)(number << 3 | 2));
    assert_in_range(contents.n, 0, 127);
    kc_buf_putc(out, (char)contents.n);
    kc_buf_append(out, contents);
}

static void put_named(kc_buf *spec, unsigned list, const char *name, const char *unknown)
{
    kc_scoped(kc_buf) item = {0};
    put_message(&item, 1, kc_cstr(name));
    kc_buf_puts(&item, unknown);
    put_message(spec, list, kc_buf_str(&item));
}

static void older_pod(kc_buf *out)
{
    kc_scoped(kc_buf) type = {0};
    kc_scoped(kc_buf) spec = {0};
    kc_scoped(kc_buf) raw = {0};
    put_message(&type, 1, KC_STR("v1"));
    put_message(&type, 2, KC_STR("Pod"));
    put_named(&spec, 2, "b", UNKNOWN("in__b"));
    put_named(&spec, 2, "c", UNKNOWN("in__c"));
    kc_buf_puts(&spec, UNKNOWN("spec_"));
    put_message(&raw, 2, kc_buf_str(&spec));
    kc_buf_puts(&raw, UNKNOWN("root_"));
    kc_buf_append(out, kc_str_of("k8s\0", 4));
    put_message(out, 1, kc_buf_str(&type));
    put_message(out, 2, kc_buf_str(&raw));
}

static bool has_text(const kc_buf *in, const char *text)
{
    return memmem(in->p, in->n, text, strlen(text)) != NULL;
}

static void unknown_fields_stay_in_the_messages_that_stay(void **state)
{
    (void)state;
    kc_scoped(kc_buf) older = {0};
    kc_scoped(kc_buf) out = {0};
    older_pod(&older);
    graft_pod(pod, kc_buf_str(&older), &out);
    assert_true(has_text(&out, UNKNOWN("root_")));
    assert_true(has_text(&out, UNKNOWN("spec_")));
    assert_true(has_text(&out, UNKNOWN("in__b")));
    assert_false(has_text(&out, "in__c")); /* The container is gone. */
}

static void list_items_are_matched_by_key_whatever_their_order(void **state)
{
    (void)state;
    kc_scoped(kc_buf) older = {0};
    kc_scoped(kc_buf) out = {0};
    older_pod(&older);
    graft_pod("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'containers':["
              "{'name':'c'},{'name':'b'}]}}",
              kc_buf_str(&older), &out);
    const size_t c = find_text(&out, UNKNOWN("in__c"), 8), b = find_text(&out, UNKNOWN("in__b"), 8);
    assert_true(c < b);
}

static void grafted_value_decodes_to_the_new_object(void **state)
{
    (void)state;
    kc_scoped(kc_buf) older = {0};
    kc_scoped(kc_buf) fresh = {0};
    kc_scoped(kc_buf) out = {0};
    bool lossy = false;
    older_pod(&older);
    encode_pod(pod, &fresh);
    graft_pod(pod, kc_buf_str(&older), &out);
    kc_auto(kc_object) *expected = kc__protobuf_decode(kc_buf_str(&fresh), NULL, NULL);
    const kc__protobuf_opts opts = {.ret_has_unknown = &lossy};
    kc_auto(kc_object) *decoded = kc__protobuf_decode(kc_buf_str(&out), &opts, NULL);
    assert_true(kc_str_eq(kc_object_json(decoded), kc_object_json(expected)));
    assert_true(lossy);
}

static void value_without_unknown_fields_is_not_changed(void **state)
{
    (void)state;
    kc_scoped(kc_buf) older = {0};
    kc_scoped(kc_buf) out = {0};
    bool lossy = true;
    encode_pod(pod, &older);
    graft_pod(pod, kc_buf_str(&older), &out);
    assert_true(kc_str_eq(kc_buf_str(&out), kc_buf_str(&older)));
    const kc__protobuf_opts opts = {.ret_has_unknown = &lossy};
    kc_auto(kc_object) *decoded = kc__protobuf_decode(kc_buf_str(&out), &opts, NULL);
    assert_non_null(decoded);
    assert_false(lossy);
}

static void damaged_older_value_is_an_error(void **state)
{
    (void)state;
    const kc__type_message *type = kc__type_lookup(KC_STR("io.k8s.api.core.v1.Pod"));
    kc_scoped(kc_buf) older = {0};
    kc_scoped(kc_buf) fresh = {0};
    kc_scoped(kc_buf) out = {0};
    older_pod(&older);
    encode_pod(pod, &fresh);
    for (size_t n = 0; n < older.n; n++) {
        kc_scoped(kc_error) err = {0};
        const kc_str cut = kc_str_sub(kc_buf_str(&older), 0, n);
        assert_true(kc__protobuf_graft(type, kc_buf_str(&fresh), cut, &out, &err) < 0);
        assert_int_equal(out.n, 0);
    }
}

TESTS(unknown_fields_stay_in_the_messages_that_stay,
      list_items_are_matched_by_key_whatever_their_order, grafted_value_decodes_to_the_new_object,
      value_without_unknown_fields_is_not_changed, damaged_older_value_is_an_error)
