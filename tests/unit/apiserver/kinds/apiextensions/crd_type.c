/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "testing.h"

/* ---- the tables ---- */

static void check_table(const kc__type_message *message, unsigned depth)
{
    for (size_t i = 0; i + 1 < message->n_fields; i++)
        assert_true(kc_str_cmp(message->fields[message->by_name[i]].name,
                               message->fields[message->by_name[i + 1]].name) < 0);
    for (size_t i = 0; i + 1 < message->n_fields; i++)
        assert_true(message->fields[message->by_number[i]].number <=
                    message->fields[message->by_number[i + 1]].number);
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        assert_ptr_equal(kc__type_message_field(message, field->name),
                         field->name.n ? field : NULL);
        bool has_message = field->kind == KC__FIELD_MESSAGE || field->kind == KC__FIELD_EITHER;
        assert_int_equal(field->message != NULL, has_message);
        if (field->message && field->message != message && depth)
            check_table(field->message, depth - 1);
    }
}

static void fields_are_found_by_name_in_every_table(void **state)
{
    (void)state;
    check_table(kc__crd_type, 8);
    check_table(kc__crd_beta_type, 8);
    check_table(kc__crd_beta_list_type, 1);
}

static void check_same(const kc__type_message *a, const kc__type_message *b)
{
    assert_int_equal(a->n_fields, b->n_fields);
    for (size_t i = 0; i < a->n_fields; i++) {
        const kc__type_field *x = &a->fields[i], *y = &b->fields[i];
        assert_true(kc_str_eq(x->name, y->name));
        assert_string_equal(x->go_type, y->go_type);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->shape, y->shape);
        assert_int_equal(x->marks, y->marks & ~(unsigned)KC__REQUIRED);
        assert_int_equal(x->message != NULL, y->message != NULL);
        if (x->message)
            check_same(x->message, y->message);
    }
}

static void object_meta_type_equals_that_of_built_in_kinds(void **state)
{
    (void)state;
    check_same(kc__crd_object_meta_type,
               kc__type_lookup(KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")));
}

/* ---- decoding ---- */

static kc_object *decode(const char *json, kc_paths *unknown)
{
    kc_auto(kc_object) *given = object_of(json);
    kc_scoped(kc_error) err = {0};
    kc_object *decoded = kc__crd_decode(given, unknown, &err);
    if (!decoded)
        fail_msg("%s", kc_error_text(&err));
    return decoded;
}

static void fields_are_written_in_struct_order(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd =
        decode("{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1',"
               "'spec':{'versions':[{'storage':true,'served':true,'name':'v1','schema':"
               "{'openAPIV3Schema':{'properties':{'b':{'minLength':1,'type':'string'},"
               "'a':{'items':{'default':'x','type':'string'},'type':'array'}},'type':'object'}}}],"
               "'scope':'Cluster','names':{'kind':'A','plural':'as'},'group':'x.io'}}",
               NULL);
    assert_object_json(
        crd, "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\","
             "\"metadata\":{},\"spec\":{\"group\":\"x.io\",\"names\":{\"plural\":\"as\","
             "\"kind\":\"A\"},\"scope\":\"Cluster\",\"versions\":[{\"name\":\"v1\","
             "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
             "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{"
             "\"type\":\"string\",\"default\":\"x\"}},\"b\":{\"type\":\"string\","
             "\"minLength\":1}}}}}]},\"status\":{\"conditions\":null,\"acceptedNames\":{"
             "\"plural\":\"\",\"kind\":\"\"},\"storedVersions\":null}}");
}

static void unknown_fields_are_dropped_and_reported(void **state)
{
    (void)state;
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *crd =
        decode("{'spec':{'group':'x.io','color':1,'versions':[{'name':'v1','schema':"
               "{'openAPIV3Schema':{'typo':'object','properties':{'a':{'typo':1},"
               "'b':{'items':{'silent':1}},'c':{'additionalProperties':true}}}}}]}}",
               &unknown);
    assert_int_equal(unknown.n, 3);
    assert_string_equal(unknown.items[0], "spec.color");
    assert_string_equal(unknown.items[1], "spec.versions[0].schema.openAPIV3Schema.typo");
    assert_string_equal(unknown.items[2],
                        "spec.versions[0].schema.openAPIV3Schema.properties.a.typo");
    kc_auto(kc_view) *view = kc_view_of(crd);
    const kc_value *version =
        kc_value_at(kc_value_get(kc_value_get(kc_view_root(view), "spec"), "versions"), 0);
    assert_value_json(kc_value_get(version, "schema"),
                      "{\"openAPIV3Schema\":{\"properties\":{\"a\":{},\"b\":{\"items\":{}},"
                      "\"c\":{\"additionalProperties\":true}}}}");
}

static void wrong_type_is_refused_with_message_of_go(void **state)
{
    (void)state;
    kc_auto(kc_object) *given = object_of("{'spec':{'versions':[{'served':'yes'}]}}");
    kc_scoped(kc_error) err = {0};
    assert_null(kc__crd_decode(given, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "json: cannot unmarshal string into Go struct field "
                 "CustomResourceDefinitionVersion.spec.versions.served of type bool");
}

static void null_default_is_dropped(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd =
        decode("{'spec':{'versions':[{'schema':{'openAPIV3Schema':{'default':null,"
               "'enum':[null,1]}}}]}}",
               NULL);
    kc_auto(kc_view) *view = kc_view_of(crd);
    const kc_value *version =
        kc_value_at(kc_value_get(kc_value_get(kc_view_root(view), "spec"), "versions"), 0);
    assert_value_json(kc_value_get(version, "schema"), "{\"openAPIV3Schema\":{\"enum\":[null,1]}}");
}

/* ---- defaults ---- */

#define ROBOTS(more)                                                                            \
    "{'apiVersion':'apiextensions.k8s.io/v1','metadata':{'name':'robots.x.io'},'spec':{"        \
    "'group':'x.io','scope':'Namespaced','names':{'plural':'robots','kind':'Robot'}," more      \
    "'versions':[{'name':'v1alpha1','served':true,'storage':false},{'name':'v1','served':true," \
    "'storage':true}]}}"

static kc_object *prepared(const char *json)
{
    kc_auto(kc_edit) *edit = edit_of(json);
    kc__crd_prepare(edit);
    return kc__crd_freeze(edit, NULL);
}

static void names_and_conversion_are_defaulted(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd = prepared(ROBOTS(""));
    kc_auto(kc_view) *view = kc_view_of(crd);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    assert_value_json(kc_value_get(spec, "names"),
                      "{\"plural\":\"robots\",\"singular\":\"robot\","
                      "\"kind\":\"Robot\",\"listKind\":\"RobotList\"}");
    assert_value_json(kc_value_get(spec, "conversion"), "{\"strategy\":\"None\"}");
}

static void given_names_and_conversion_are_kept(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit =
        edit_of("{'spec':{'names':{'kind':'Robot','singular':'bot','listKind':'Robots'},"
                "'conversion':{'strategy':'Webhook','webhook':{'clientConfig':{'service':"
                "{'name':'a','port':8443}}}}}}");
    kc__crd_default(edit);
    assert_node_json(kc_edit_root(edit),
                     "{\"spec\":{\"names\":{\"kind\":\"Robot\",\"singular\":\"bot\","
                     "\"listKind\":\"Robots\"},\"conversion\":{\"strategy\":\"Webhook\","
                     "\"webhook\":{\"clientConfig\":{\"service\":{\"name\":\"a\",\"port\":8443}}}}}"
                     "}");
}

static void webhook_port_defaults_to_443(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit =
        edit_of("{'spec':{'conversion':{'webhook':{'clientConfig':{'service':{'name':'a'}}}}}}");
    kc__crd_default(edit);
    assert_node_json(kc_edit_root(edit), "{\"spec\":{\"conversion\":{\"webhook\":{"
                                         "\"clientConfig\":{\"service\":{\"name\":\"a\","
                                         "\"port\":443}}}}}}");
}

static void created_crd_stores_only_its_storage_version(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd = prepared("{'status':{'storedVersions':['v9'],'conditions':[{}]},"
                                       "'spec':{'versions':[{'name':'v1','storage':true}]}}");
    kc_auto(kc_view) *view = kc_view_of(crd);
    assert_value_json(kc_value_get(kc_view_root(view), "status"),
                      "{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},"
                      "\"storedVersions\":[\"v1\"]}");
}

static void update_keeps_status_and_adds_storage_version(void **state)
{
    (void)state;
    kc_auto(kc_view) *old = view_of("{'status':{'storedVersions':['v1']},'spec':{}}");
    kc_auto(kc_edit) *edit = edit_of("{'status':{'storedVersions':[]},"
                                     "'spec':{'versions':[{'name':'v2','storage':true}]}}");
    kc__crd_prepare_update(edit, kc_view_root(old), NULL);
    assert_node_json(kc_node_get(kc_edit_root(edit), KC_STR("status")),
                     "{\"storedVersions\":[\"v1\",\"v2\"]}");
}

static void status_update_keeps_spec(void **state)
{
    (void)state;
    kc_auto(kc_view) *old = view_of("{'spec':{'group':'x.io','conversion':{'strategy':'None'}}}");
    kc_auto(kc_edit) *edit = edit_of("{'spec':{'group':'y.io'},'status':{'storedVersions':[]}}");
    kc__crd_prepare_update(edit, kc_view_root(old), "status");
    assert_node_json(kc_edit_root(edit),
                     "{\"spec\":{\"group\":\"x.io\",\"conversion\":{\"strategy\":\"None\"}},"
                     "\"status\":{\"storedVersions\":[]}}");
}

/* ---- v1beta1 ---- */

static void v1beta1_crd_without_schema_preserves_unknown_fields(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd =
        decode("{'apiVersion':'apiextensions.k8s.io/v1beta1','kind':'CustomResourceDefinition',"
               "'metadata':{'name':'networks.samplecrd.k8s.io'},'spec':{'group':"
               "'samplecrd.k8s.io','version':'v1','names':{'kind':'Network','plural':'networks'},"
               "'scope':'Namespaced'}}",
               NULL);
    assert_str(kc_object_api_version(crd), "apiextensions.k8s.io/v1");
    kc_auto(kc_view) *view = kc_view_of(crd);
    assert_value_json(kc_value_get(kc_view_root(view), "spec"),
                      "{\"group\":\"samplecrd.k8s.io\",\"names\":{\"plural\":\"networks\","
                      "\"kind\":\"Network\"},\"scope\":\"Namespaced\",\"versions\":[{"
                      "\"name\":\"v1\",\"served\":true,\"storage\":true}],"
                      "\"preserveUnknownFields\":true}");
}

static void top_level_v1beta1_fields_are_copied_to_each_version(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd =
        decode("{'apiVersion':'apiextensions.k8s.io/v1beta1','spec':{'versions':[{'name':'a'},"
               "{'name':'b'}],'preserveUnknownFields':false,'scope':'Cluster','version':'a',"
               "'validation':{'openAPIV3Schema':{'type':'object'}},"
               "'additionalPrinterColumns':[{'name':'N','type':'string','JSONPath':'.a'}]}}",
               NULL);
    kc_auto(kc_view) *view = kc_view_of(crd);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    assert_null(kc_value_get(spec, "validation"));
    kc_value_each_item (kc_value_get(spec, "versions"), version) {
        assert_value_json(kc_value_get(version, "schema"),
                          "{\"openAPIV3Schema\":{\"type\":\"object\"}}");
        assert_value_json(kc_value_get(version, "additionalPrinterColumns"),
                          "[{\"name\":\"N\",\"type\":\"string\",\"jsonPath\":\".a\"}]");
    }
}

static void v1beta1_crd_round_trips(void **state)
{
    (void)state;
    const char *json =
        "{'apiVersion':'apiextensions.k8s.io/v1beta1','spec':{'group':'x.io','names':{'plural':'a',"
        "'kind':'A'},'scope':'Cluster','versions':[{'name':'a','served':true,'storage':true}],"
        "'conversion':{'strategy':'Webhook','webhookClientConfig':{'url':'https://a'},"
        "'conversionReviewVersions':['v1']},'preserveUnknownFields':true,'version':'a',"
        "'validation':{'openAPIV3Schema':{'type':'object'}},"
        "'additionalPrinterColumns':[{'name':'N','type':'string','JSONPath':'.a'}]}}";
    kc_auto(kc_object) *crd = decode(json, NULL);
    kc_auto(kc_object) *beta = kc__crd_to_beta(crd, NULL);
    kc_auto(kc_view) *now = kc_view_of(beta), *then = view_of(json);
    kc_value_each_member (kc_value_get(kc_view_root(then), "spec"), name, value) {
        kc_scoped(kc_buf) text = {0};
        kc_json_write(&text, value);
        const kc_value *found = kc_value_get_str(kc_value_get(kc_view_root(now), "spec"), name);
        assert_value_json(found, kc_buf_cstr(&text));
    }
}

TESTS(fields_are_found_by_name_in_every_table, object_meta_type_equals_that_of_built_in_kinds,
      fields_are_written_in_struct_order, unknown_fields_are_dropped_and_reported,
      wrong_type_is_refused_with_message_of_go, null_default_is_dropped,
      names_and_conversion_are_defaulted, given_names_and_conversion_are_kept,
      webhook_port_defaults_to_443, created_crd_stores_only_its_storage_version,
      update_keeps_status_and_adds_storage_version, status_update_keeps_spec,
      v1beta1_crd_without_schema_preserves_unknown_fields,
      top_level_v1beta1_fields_are_copied_to_each_version, v1beta1_crd_round_trips)
