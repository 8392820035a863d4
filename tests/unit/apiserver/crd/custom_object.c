/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/crd/custom_object.h"
#include "apiserver/crd/custom_ops.h"
#include "apiserver/kinds/unservable_set.h"
#include "testing.h"

static const char robot_schema[] =
    "{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','required':["
    "'replicas'],'properties':{'replicas':{'type':'integer','minimum':0,'maximum':10},'mode"
    "':{'type':'string','enum':['fast','slow'],'default':'slow'},'name':{'type':'string','m"
    "inLength':2,'maxLength':8,'pattern':'^[a-z]+$'},'port':{'x-kubernetes-int-or-string':t"
    "rue},'tags':{'type':'array','maxItems':3,'items':{'type':'string'},'x-kubernetes-list-"
    "type':'set'},'arms':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-"
    "map-keys':['side'],'items':{'type':'object','required':['side'],'properties':{'side':{"
    "'type':'string'},'force':{'type':'number','default':1.5}}}},'free':{'type':'object','x"
    "-kubernetes-preserve-unknown-fields':true},'limits':{'type':'object','additionalProper"
    "ties':{'type':'string'}},'when':{'type':'string','format':'date-time'},'maybe':{'type'"
    ":'string','nullable':true}}},'status':{'type':'object','properties':{'replicas':{'type"
    "':'integer'},'phase':{'type':'string'},'selector':{'type':'string'}}}}}}";

/* A definition of robots.x.io with one version, or two. */
static kc__crd *crd_of(const char *versions)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(
        &json,
        "{'metadata':{'name':'robots.x.io'},'spec':{'group':'x.io','scope':'Namespaced',"
        "'versions':[%s]},'status':{'acceptedNames':{'plural':'robots','singular':'robot',"
        "'kind':'Robot','listKind':'RobotList'}}}",
        versions);
    kc_auto(kc_object) *crd = object_of(kc_buf_cstr(&json));
    kc_scoped(kc_error) err = {0};
    kc__crd *compiled = kc__crd_compile(crd, NULL, &err);
    if (!compiled)
        fail_msg("%s", kc_error_text(&err));
    return compiled;
}

#define SCALE                                                                               \
    "'scale':{'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'," \
    "'labelSelectorPath':'.status.selector'}"

static kc__crd *robots(void)
{
    kc_scoped(kc_buf) version = {0};
    kc_buf_printf(&version,
                  "{'name':'v1','served':true,'storage':true,'schema':%s,'subresources':{"
                  "'status':{}," SCALE "}}",
                  robot_schema);
    return crd_of(kc_buf_cstr(&version));
}

/* One version with this schema and nothing else. */
static kc__crd *with_schema(const char *schema)
{
    kc_scoped(kc_buf) version = {0};
    kc_buf_printf(&version,
                  "{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':"
                  "%s}}",
                  schema);
    return crd_of(kc_buf_cstr(&version));
}

static const kc__custom *version_of(const kc__crd *crd, size_t i)
{
    size_t n;
    const kc__custom *versions = kc__crd_versions(crd, &n);
    assert_true(i < n);
    return &versions[i];
}

#define ROBOT(rest) "{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'r'}" rest "}"

static kc_object *decoded(const kc__crd *crd, const char *json, kc_paths *unknown)
{
    kc_auto(kc_object) *given = object_of(json);
    kc_scoped(kc_error) err = {0};
    kc_object *object = kc__custom_decode(version_of(crd, 0), given, false, unknown, NULL, &err);
    if (!object)
        fail_msg("%s", kc_error_text(&err));
    return object;
}

static void assert_decodes(const char *schema, const char *json, const char *expected)
{
    kc_auto(kc__crd) *crd = with_schema(schema);
    kc_auto(kc_object) *object = decoded(crd, json, NULL), *wanted = object_of(expected);
    assert_object_json(object, kc_object_json(wanted).p);
}

/* ---- identity ---- */

static void kind_and_api_version_must_match(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    const kc__custom *v1 = version_of(crd, 0);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *right = object_of(ROBOT("")), *none = object_of("{}");
    kc_auto(kc_object) *other = object_of("{'apiVersion':'x.io/v2','kind':'Robot'}");
    kc_auto(kc_object) *half = object_of("{'kind':'Robot'}");
    assert_int_equal(kc__custom_check_kind(v1, right, &err), 0);
    assert_true(kc__custom_check_kind(v1, none, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "Object 'Kind' is missing in '{}' ({})");
    assert_true(kc__custom_check_kind(v1, half, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "Object 'apiVersion' is missing in");
    assert_true(kc__custom_check_kind(v1, other, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST,
                 "the API version in the data (x.io/v2) does not match the expected API version "
                 "(x.io/v1)");
}

/* ---- decoding ---- */

static void unknown_fields_are_pruned_and_defaults_applied(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *robot =
        decoded(crd,
                ROBOT(",'spec':{'replicas':2,'unknown':1,'arms':[{'side':'left'},{'side':'right',"
                      "'force':2}],'free':{'any':{'thing':[1,'two',null]}},'maybe':null,'port':"
                      "'http'},'status':{'phase':'Forged'}"),
                &unknown);
    kc_auto(kc_view) *view = kc_view_of(robot);
    assert_value_json(
        kc_value_get(kc_view_root(view), "spec"),
        "{\"replicas\":2,\"arms\":[{\"side\":\"left\",\"force\":1.5},{\"side\":\"right\","
        "\"force\":2}],\"free\":{\"any\":{\"thing\":[1,\"two\",null]}},\"maybe\":null,"
        "\"port\":\"http\",\"mode\":\"slow\"}");
    assert_int_equal(unknown.n, 1);
    assert_string_equal(unknown.items[0], "spec.unknown");
}

static void object_without_changes_is_not_copied(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_auto(kc_object) *given = object_of(ROBOT(",'spec':{'replicas':2,'mode':'fast'}"));
    kc_auto(kc_object) *same =
        kc__custom_decode(version_of(crd, 0), given, false, NULL, NULL, NULL);
    assert_ptr_equal(same, given);
}

static void nulls_are_pruned_unless_nullable(void **state)
{
    (void)state;
    assert_decodes("{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'string',"
                   "'nullable':true},'c':{'type':'string','default':'see'}}}",
                   "{'a':null,'b':null,'c':null}", "{'b':null,'c':'see'}");
}

static void metadata_is_decoded_as_object_meta(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema("{'type':'object'}");
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *object =
        decoded(crd,
                "{'zoo':1,'metadata':{'labels':{'b':'2','a':'1'},'foo':1,'name':'r',"
                "'creationTimestamp':null,'ownerReferences':[{'uid':'u','bar':2}]}}",
                &unknown);
    assert_object_json(object, "{\"metadata\":{\"name\":\"r\",\"labels\":{\"a\":\"1\",\"b\":\"2\"},"
                               "\"ownerReferences\":[{\"apiVersion\":\"\",\"kind\":\"\","
                               "\"name\":\"\",\"uid\":\"u\"}]}}");
    assert_int_equal(unknown.n, 3);
    assert_string_equal(unknown.items[0], "metadata.foo");
    assert_string_equal(unknown.items[1], "metadata.ownerReferences[0].bar");
    assert_string_equal(unknown.items[2], "zoo");
}

static void metadata_of_wrong_type_is_refused(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema("{'type':'object'}");
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *labels = object_of("{'metadata':{'labels':1}}");
    assert_null(kc__custom_decode(version_of(crd, 0), labels, false, NULL, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "json: cannot unmarshal number into Go struct field "
                 "ObjectMeta.labels of type map[string]string");
    kc_auto(kc_object) *text = object_of("{'metadata':'x'}");
    assert_null(kc__custom_decode(version_of(crd, 0), text, false, NULL, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "Robot in version \"v1\" cannot be handled as a Robot: json: cannot unmarshal "
                 "string into Go value of type v1.ObjectMeta");
}

#define EMBEDDED                                                                                 \
    "{'type':'object','properties':{'t':{'type':'object','x-kubernetes-embedded-resource':true," \
    "'properties':{'spec':{'type':'object'}}}}}"

static void embedded_resource_keeps_kind_and_metadata(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema(EMBEDDED);
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *object =
        decoded(crd,
                "{'t':{'apiVersion':'v1','kind':'Pod','metadata':{'labels':{'b':'1'},'foo':1},"
                "'extra':1}}",
                &unknown);
    assert_object_json(object, "{\"t\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                               "\"labels\":{\"b\":\"1\"}}}}");
    assert_int_equal(unknown.n, 2);
    assert_string_equal(unknown.items[0], "t.extra");
    assert_string_equal(unknown.items[1], "t.metadata.foo");
}

static void embedded_kind_must_be_a_string(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema(EMBEDDED);
    kc_auto(kc_object) *given = object_of("{'t':{'apiVersion':'v1','kind':7}}");
    kc_scoped(kc_error) err = {0};
    assert_null(kc__custom_decode(version_of(crd, 0), given, false, NULL, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "t.kind: Invalid value: 7: must be a string");
}

static void crd_with_preserve_unknown_fields_keeps_every_field(void **state)
{
    (void)state;
    kc_auto(kc_object) *definition =
        object_of("{'spec':{'group':'x.io','preserveUnknownFields':true,'versions':[{'name':'v1',"
                  "'served':true,'storage':true}]},'status':{'acceptedNames':{'kind':'Robot'}}}");
    kc_auto(kc__crd) *crd = kc__crd_compile(definition, NULL, NULL);
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *given = object_of(ROBOT(",'any':{'thing':null}"));
    kc_auto(kc_object) *same =
        kc__custom_decode(version_of(crd, 0), given, false, &unknown, NULL, NULL);
    assert_ptr_equal(same, given);
    assert_int_equal(unknown.n, 0);
}

/* ---- preparing ---- */

static void create_drops_status_with_status_subresource(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots(), *plain = with_schema("{'type':'object'}");
    kc_auto(kc_object) *given = object_of("{'spec':{},'status':{'phase':'x'}}");
    kc_auto(kc_object) *prepared = kc__custom_prepare(version_of(crd, 0), given, NULL);
    assert_object_json(prepared, "{\"spec\":{}}");
    kc_auto(kc_object) *kept = kc__custom_prepare(version_of(plain, 0), given, NULL);
    assert_ptr_equal(kept, given);
}

static kc_object *updated(const kc__crd *crd, const char *old, const char *now, const char *part)
{
    kc_auto(kc_object) *before = object_of(old), *given = object_of(now);
    return kc__custom_prepare_update(version_of(crd, 0), given, before, part, NULL);
}

static void update_keeps_status_with_status_subresource(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots(), *plain = with_schema("{'type':'object'}");
    kc_auto(kc_object) *kept = updated(crd, "{'spec':{'a':1},'status':{'p':1}}",
                                       "{'spec':{'a':2},'status':{'p':2}}", NULL);
    assert_object_json(kept, "{\"spec\":{\"a\":2},\"status\":{\"p\":1}}");
    kc_auto(kc_object) *none = updated(crd, "{'spec':{}}", "{'spec':{},'status':{'p':2}}", NULL);
    assert_object_json(none, "{\"spec\":{}}");
    kc_auto(kc_object) *own = updated(plain, "{'status':{'p':1}}", "{'status':{'p':2}}", NULL);
    assert_object_json(own, "{\"status\":{\"p\":2}}");
}

static void status_update_changes_status_only(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_auto(kc_object) *changed = updated(
        crd, "{'metadata':{'name':'r','labels':{'a':'1'}},'spec':{'a':1}}",
        "{'metadata':{'name':'r','labels':{'a':'2'}},'spec':{'a':2},'status':{'p':2}}", "status");
    assert_object_json(changed, "{\"metadata\":{\"name\":\"r\",\"labels\":{\"a\":\"1\"}},"
                                "\"spec\":{\"a\":1},\"status\":{\"p\":2}}");
    kc_auto(kc_object) *gone = updated(crd, "{'status':{'p':1}}", "{}", "status");
    assert_object_json(gone, "{}");
}

static void change_outside_metadata_is_a_difference(void **state)
{
    (void)state;
    kc_auto(kc_object) *a = object_of("{'metadata':{'name':'a'},'spec':{'x':1},'other':1}");
    kc_auto(kc_object) *b = object_of("{'spec':{'x':1.0},'other':1,'metadata':{'name':'b'}}");
    kc_auto(kc_object) *c = object_of("{'metadata':{'name':'a'},'spec':{'x':1},'other':2}");
    assert_false(kc__custom_differs(a, b));
    assert_true(kc__custom_differs(a, c));
}

/* kube-apiserver increments the generation for it. */
static void empty_value_added_is_a_difference(void **state)
{
    (void)state;
    kc_auto(kc_object) *a = object_of("{'spec':{'x':1}}");
    kc_auto(kc_object) *b = object_of("{'spec':{'x':1,'y':{}}}");
    kc_auto(kc_object) *c = object_of("{'spec':{'x':1,'y':[]}}");
    assert_true(kc__custom_differs(a, b));
    assert_true(kc__custom_differs(b, c));
}

static void objects_with_many_members_are_compared(void **state)
{
    (void)state;
    kc_scoped(kc_buf) first = {0}, second = {0};
    for (int i = 0; i < 100; i++) {
        kc_buf_printf(&first, "%s'k%d':1", i ? "," : "{'metadata':{'name':'a'},", i);
        kc_buf_printf(&second, "%s'k%d':%d", i ? "," : "{", 99 - i, i == 50 ? 2 : 1);
    }
    kc_buf_putc(&first, '}');
    kc_buf_putc(&second, '}');
    kc_auto(kc_object) *a = object_of(kc_buf_cstr(&first)), *b = object_of(kc_buf_cstr(&second));
    assert_true(kc__custom_differs(a, b));
    assert_false(kc__custom_differs(a, a));
}

/* ---- validating ---- */

static char *errors_of(const kc__crd *crd, const char *json, const char *old_json, const char *part)
{
    kc_auto(kc_view) *object = view_of(json), *old = old_json ? view_of(old_json) : NULL;
    kc_scoped(kc_field_errors) errors = {0};
    kc__custom_validate(version_of(crd, 0), kc_view_root(object),
                        &(kc__custom_rules){.old = old ? kc_view_root(old) : NULL,
                                            .subresource = part,
                                            .metadata_checked = true},
                        &errors);
    kc_buf text = {0};
    kc_vec_each (&errors.list, error)
        kc_buf_printf(&text, "%s%s: %s", text.n ? "\n" : "", error->field, error->body);
    return kc_buf_take(&text);
}

static void assert_robot(const char *json, const char *expected)
{
    kc_auto(kc__crd) *crd = robots();
    kc_autofree char *text = errors_of(crd, json, NULL, NULL);
    assert_string_equal(text, expected);
}

static void object_violating_its_schema_is_invalid(void **state)
{
    (void)state;
    assert_robot(ROBOT(",'spec':{'replicas':1}"), "");
    assert_robot(ROBOT(",'spec':{}"), "spec.replicas: Required value");
    assert_robot(ROBOT(",'spec':{'replicas':11}"),
                 "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or "
                 "equal to 10");
    assert_robot(ROBOT(",'spec':{'replicas':1,'tags':['a','a']}"),
                 "spec.tags[1]: Duplicate value: \"a\"");
    assert_robot(ROBOT(",'spec':{'replicas':1,'arms':[{'side':'left'},{'side':'left'}]}"),
                 "spec.arms[1]: Duplicate value: {\"side\":\"left\"}");
}

static void scale_values_are_validated(void **state)
{
    (void)state;
    assert_robot(ROBOT(",'spec':{'replicas':'two'}"),
                 "spec.replicas: Invalid value: \"string\": spec.replicas in body must be of type "
                 "integer: \"string\"\n"
                 ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: two is of the "
                 "type string, expected int64");
    assert_robot(ROBOT(",'spec':{'replicas':1},'status':{'replicas':-1,'selector':5}"),
                 "status.selector: Invalid value: \"integer\": status.selector in body must be of "
                 "type string: \"integer\"\n"
                 ".status.replicas: Invalid value: -1: should be a non-negative integer\n"
                 ".status.selector: Invalid value: \"\": .status.selector accessor error: 5 is of "
                 "the type int64, expected string");
}

static void wrong_kind_is_the_only_error(void **state)
{
    (void)state;
    assert_robot("{'apiVersion':'x.io/v1','kind':'Toaster','spec':1}",
                 "kind: Invalid value: \"Toaster\": must be Robot");
}

static void invalid_metadata_is_reported(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema("{'type':'object'}");
    kc_auto(kc_view) *object =
        view_of("{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'A','namespace':'n'}}");
    kc_scoped(kc_field_errors) errors = {0};
    kc__custom_validate(version_of(crd, 0), kc_view_root(object), NULL, &errors);
    assert_int_equal(errors.list.n, 1);
    assert_string_equal(errors.list.items[0].field, "metadata.name");
}

static void unchanged_invalid_value_is_tolerated(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    const char *old = ROBOT(",'spec':{'replicas':11,'tags':['a','a']}");
    kc_autofree char *kept =
        errors_of(crd, ROBOT(",'spec':{'replicas':11,'mode':'fast','tags':['b','b']}"), old, NULL);
    assert_string_equal(kept, "");
    kc_autofree char *new = errors_of(crd, ROBOT(",'spec':{'replicas':12}"), old, NULL);
    assert_contains(new, "spec.replicas: Invalid value: 12");
}

static void status_update_validates_status_only(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_autofree char *text =
        errors_of(crd, ROBOT(",'spec':{},'status':{'phase':1}"), ROBOT(",'spec':{}"), "status");
    assert_string_equal(
        text, "status.phase: Invalid value: \"integer\": phase in body must be of type string: "
              "\"integer\"");
}

static void embedded_resources_are_validated(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema(EMBEDDED);
    kc_autofree char *text =
        errors_of(crd, ROBOT(",'t':{'kind':'9','metadata':{'labels':{'a b':'c'}}}"), NULL, NULL);
    assert_contains(text, "t.apiVersion: Required value");
    assert_contains(text, "t.kind: Invalid value: \"9\": may have mixed case, but should otherwise "
                          "match: a DNS-1035 label");
    assert_contains(text, "t.metadata.labels: Invalid value: \"a b\": name part must consist of");
    kc_autofree char *fine =
        errors_of(crd, ROBOT(",'t':{'apiVersion':'v1','kind':'Pod'}"), NULL, NULL);
    assert_string_equal(fine, "");
}

static void cel_rules_are_not_evaluated_on_invalid_object(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema("{'type':'object','required':['a'],"
                                        "'x-kubernetes-validations':[{'rule':'self.a > 1'}]}");
    kc_autofree char *text = errors_of(crd, ROBOT(""), NULL, NULL);
    assert_string_equal(text, "a: Required value\n"
                              "<nil>: Invalid value: null: some validation rules were not checked "
                              "because the object was invalid; correct the existing errors to "
                              "complete validation");
}

static void cel_rules_are_evaluated(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = with_schema(
        "{'type':'object','properties':{'a':{'type':'integer','x-kubernetes-validations':[{'rule':"
        "'self > 1','message':'small'}]},'status':{'type':'object','properties':{'n':{'type':"
        "'integer','x-kubernetes-validations':[{'rule':'self >= oldSelf','message':'shrinks'}]}}}"
        "}}");
    kc_autofree char *created = errors_of(crd, ROBOT(",'a':1"), NULL, NULL);
    assert_string_equal(created, "a: Invalid value: \"integer\": small");
    kc_autofree char *unchanged = errors_of(crd, ROBOT(",'a':1,'b':2"), ROBOT(",'a':1"), NULL);
    assert_string_equal(unchanged, "");
    kc_autofree char *status =
        errors_of(crd, ROBOT(",'status':{'n':1}"), ROBOT(",'status':{'n':2}"), "status");
    assert_string_equal(status, "status.n: Invalid value: \"integer\": shrinks");
}

static void unqualified_finalizers_return_a_warning(void **state)
{
    (void)state;
    kc_auto(kc_view) *object =
        view_of("{'metadata':{'finalizers':['x.io/a','orphan','x.io','mine','old']}}");
    kc_auto(kc_view) *old = view_of("{'metadata':{'finalizers':['old']}}");
    kc_scoped(kc_paths) warnings = {0};
    kc__custom_warnings(kc_view_root(object), kc_view_root(old), &warnings);
    assert_int_equal(warnings.n, 2);
    assert_string_equal(warnings.items[0],
                        "metadata.finalizers: \"x.io\": prefer a domain-qualified finalizer name "
                        "including a path (/) to avoid accidental conflicts with other finalizer "
                        "writers");
    assert_contains(warnings.items[1], "\"mine\": prefer a domain-qualified finalizer name to");
}

/* ---- versions ---- */

static kc__crd *two_versions(void)
{
    return crd_of(
        "{'name':'v1beta1','served':true,'schema':{'openAPIV3Schema':{'type':'object','properties':"
        "{'a':{'type':'string'},'old':{'type':'string','default':'o'}}}}},{'name':'v1','served':"
        "true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'a':{"
        "'type':'string'},'b':{'type':'string','default':'bee'}}}}}");
}

static void object_is_stored_in_storage_version(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = two_versions();
    kc_auto(kc_object) *given =
        object_of("{'apiVersion':'x.io/v1beta1','kind':'Robot','a':'x','old':'o'}");
    kc_auto(kc_object) *stored = kc__custom_to_storage(version_of(crd, 0), given, NULL);
    assert_object_json(stored, "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\",\"a\":\"x\"}");
    kc_auto(kc_object) *same = kc__custom_to_storage(version_of(crd, 1), stored, NULL);
    assert_ptr_equal(same, stored);
}

static void each_version_applies_its_own_schema(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = two_versions();
    kc_auto(kc_object) *stored = object_of("{'apiVersion':'x.io/v1','kind':'Robot','a':'x'}");
    kc_auto(kc_object) *beta = kc__custom_read(version_of(crd, 0), stored, NULL);
    assert_object_json(beta, "{\"apiVersion\":\"x.io/v1beta1\",\"kind\":\"Robot\",\"a\":\"x\"}");
    kc_auto(kc_object) *stable = kc__custom_read(version_of(crd, 1), stored, NULL);
    assert_object_json(stable, "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\",\"a\":\"x\","
                               "\"b\":\"bee\"}");
}

static void object_stored_in_another_version_is_defaulted_by_it(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = two_versions();
    kc_auto(kc_object) *stored = object_of("{'apiVersion':'x.io/v1beta1','kind':'Robot'}");
    kc_auto(kc_object) *beta = kc__custom_read(version_of(crd, 0), stored, NULL);
    assert_object_json(beta, "{\"apiVersion\":\"x.io/v1beta1\",\"kind\":\"Robot\",\"old\":\"o\"}");
    kc_auto(kc_object) *stable = kc__custom_read(version_of(crd, 1), stored, NULL);
    assert_object_json(stable, "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\"}");
}

/* A string of 100 KB as the default of each item. */
static kc__crd *long_defaults(void)
{
    kc_scoped(kc_buf) schema = {0};
    kc_buf_puts(&schema,
                "{'type':'object','properties':{'l':{'type':'array','items':{'type':'object',"
                "'properties':{'s':{'type':'string','default':'");
    for (int i = 0; i < 100000; i++)
        kc_buf_putc(&schema, 'x');
    kc_buf_puts(&schema, "'}}}}}}");
    return with_schema(kc_buf_cstr(&schema));
}

#define SIXTEEN "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}"

static void written_object_that_defaults_make_too_large_is_invalid(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = long_defaults();
    kc_auto(kc_object) *given = object_of(ROBOT(",'l':[" SIXTEEN "]"));
    kc_scoped(kc_error) decoding = {0}, defaulting = {0};
    assert_null(kc__custom_decode(version_of(crd, 0), given, false, NULL, NULL, &decoding));
    assert_null(kc__custom_default(version_of(crd, 0), given, &defaulting));
    assert_int_equal(decoding.reason, KC_INVALID);
    assert_int_equal(defaulting.reason, KC_INVALID);
    assert_string_equal(decoding.causes.items[0].field, "l[15].s");
    assert_contains(decoding.message, "Robot.x.io \"r\" is invalid: l[15].s: Too long: defaults");
}

static void stored_object_that_defaults_make_too_large_cannot_be_read(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = long_defaults();
    kc_auto(kc_object) *large = object_of(ROBOT(",'l':[" SIXTEEN "]"));
    kc_auto(kc_object) *small = object_of(ROBOT(",'l':[{}]"));
    kc_scoped(kc_error) err = {0};
    assert_null(kc__custom_read(version_of(crd, 0), large, NULL));
    assert_null(kc__custom_read(version_of(crd, 0), large, &err));
    assert_int_equal(err.reason, KC_STORE_READ_ERROR);
    assert_contains(err.message, "failed to read Robot.x.io \"r\" from the storage: l[15].s");
    kc_auto(kc_object) *shown = kc__custom_read(version_of(crd, 0), small, &err);
    assert_non_null(shown);
}

static void unservable_objects_are_remembered_until_the_crd_changes(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = long_defaults(), *changed = long_defaults();
    kc__resource_unservable_set *set = kc__crd_resources(crd)->resources[0].unservable;
    kc__resource_unservable_set *fresh = kc__crd_resources(changed)->resources[0].unservable;
    assert_true(kc__resource_unservable_set_add(set, KC_STR("ns"), KC_STR("a")));
    assert_false(kc__resource_unservable_set_add(set, KC_STR("ns"), KC_STR("a")));
    assert_true(kc__resource_unservable_set_add(fresh, KC_STR("ns"), KC_STR("a")));
    for (int i = 0; i < 2 * KC__CRD_UNSERVABLE_MAX; i++) {
        kc_autofree char *name = kc_asprintf("%d", i);
        kc__resource_unservable_set_add(set, KC_STR("ns"), kc_cstr(name));
    }
    assert_int_equal(kc__resource_unservable_set_count(set), KC__CRD_UNSERVABLE_MAX);
}

static void stored_object_without_changes_is_not_copied(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = two_versions();
    kc_auto(kc_object) *stored =
        object_of("{'apiVersion':'x.io/v1','kind':'Robot','a':'x','b':'y'}");
    kc_auto(kc_object) *same = kc__custom_read(version_of(crd, 1), stored, NULL);
    assert_ptr_equal(same, stored);
}

/* ---- the scale ---- */

static kc_object *scale_of(kc__crd *crd, const kc_object *object, kc_error *err)
{
    kc__resource resource = {.custom = version_of(crd, 0), .ops = &kc__custom_resource_ops};
    return kc__scale_of(&resource, object, true, err);
}

static void scale_is_built_from_its_paths(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_auto(kc_object) *robot =
        object_of("{'metadata':{'name':'r','namespace':'n','uid':'u','resourceVersion':'7',"
                  "'labels':{'a':'b'},'creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{"
                  "'replicas':2},'status':{'replicas':1,'selector':'app=r'}}");
    kc_auto(kc_object) *scale = scale_of(crd, robot, NULL);
    assert_object_json(
        scale, "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"name\":\"r\","
               "\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"creationTimestamp\":"
               "\"2026-01-01T00:00:00Z\"},\"spec\":{\"replicas\":2},\"status\":{\"replicas\":1,"
               "\"selector\":\"app=r\"}}");
}

static void scale_without_replicas_is_an_error(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *none = object_of("{'spec':null}"), *wrong = object_of("{'spec':'x'}");
    assert_null(scale_of(crd, none, &err));
    assert_error(&err, KC_INTERNAL, "the spec replicas field \".spec.replicas\" does not exist");
    assert_null(scale_of(crd, wrong, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 ".spec.replicas accessor error: x is of the type string, "
                 "expected map[string]interface{}");
}

static void scale_is_applied_to_object(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots();
    kc_auto(kc_object) *robot = object_of("{'metadata':{'resourceVersion':'7'},'spec':{'a':1}}");
    kc_auto(kc_object) *scale = object_of("{'spec':{'replicas':4}}");
    kc__resource robots_of = {.custom = version_of(crd, 0), .ops = &kc__custom_resource_ops};
    kc_auto(kc_object) *scaled = kc__scale_apply_to(&robots_of, robot, scale, NULL);
    assert_object_json(scaled, "{\"metadata\":{},\"spec\":{\"a\":1,\"replicas\":4}}");
    kc_auto(kc_object) *named = object_of("{'metadata':{'resourceVersion':'5'},'spec':{}}");
    kc_auto(kc_object) *old = kc__scale_apply_to(&robots_of, robot, named, NULL);
    assert_str(kc_object_resource_version(old), "5");
}

TESTS(kind_and_api_version_must_match, unknown_fields_are_pruned_and_defaults_applied,
      object_without_changes_is_not_copied, nulls_are_pruned_unless_nullable,
      metadata_is_decoded_as_object_meta, metadata_of_wrong_type_is_refused,
      embedded_resource_keeps_kind_and_metadata, embedded_kind_must_be_a_string,
      crd_with_preserve_unknown_fields_keeps_every_field,
      create_drops_status_with_status_subresource, update_keeps_status_with_status_subresource,
      status_update_changes_status_only, change_outside_metadata_is_a_difference,
      empty_value_added_is_a_difference, objects_with_many_members_are_compared,
      object_violating_its_schema_is_invalid, scale_values_are_validated,
      wrong_kind_is_the_only_error, invalid_metadata_is_reported,
      unchanged_invalid_value_is_tolerated, status_update_validates_status_only,
      embedded_resources_are_validated, cel_rules_are_not_evaluated_on_invalid_object,
      cel_rules_are_evaluated, unqualified_finalizers_return_a_warning,
      object_is_stored_in_storage_version, each_version_applies_its_own_schema,
      object_stored_in_another_version_is_defaulted_by_it,
      written_object_that_defaults_make_too_large_is_invalid,
      stored_object_that_defaults_make_too_large_cannot_be_read,
      unservable_objects_are_remembered_until_the_crd_changes,
      stored_object_without_changes_is_not_copied, scale_is_built_from_its_paths,
      scale_without_replicas_is_an_error, scale_is_applied_to_object)
