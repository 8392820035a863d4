/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/metadata_validation.h"
#include "testing.h"

static const kc_metadata_rules namespaced = {.namespaced = true};

/* All errors, one per line. */
static void write_errors(kc_buf *out, const kc_field_errors *errors)
{
    kc_vec_each (&errors->list, e)
        kc_buf_printf(out, "%s: %s\n", e->field, e->body);
}

static void assert_errors(const char *metadata, const kc_metadata_rules *rules, const char *wanted)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = view_of(metadata);
    kc_validate_metadata(&errors, kc_view_root(view), rules);
    write_errors(&text, &errors);
    assert_str(kc_buf_str(&text), wanted);
}

static void assert_update_errors(const char *metadata, const char *old, const char *wanted)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = view_of(metadata), *old_view = view_of(old);
    kc_validate_metadata_update(&errors, kc_view_root(view), kc_view_root(old_view), &namespaced);
    write_errors(&text, &errors);
    assert_str(kc_buf_str(&text), wanted);
}

static void valid_metadata_has_no_errors(void **state)
{
    (void)state;
    assert_errors("{'name':'web-1','generateName':'web-','namespace':'prod','generation':3,"
                  "'labels':{'app':'web','example.com/x':''},'annotations':{'Example.com/A':'b'},"
                  "'finalizers':['x.io/f','orphan'],'ownerReferences':[{'apiVersion':'v1',"
                  "'kind':'Node','name':'n','uid':'u','controller':true}],'managedFields':"
                  "[{'manager':'kubectl','operation':'Apply','fieldsType':'FieldsV1'}]}",
                  &namespaced, "");
    assert_errors("{'name':'node','labels':null}", NULL, "");
}

static void name_is_required(void **state)
{
    (void)state;
    assert_errors("{}", NULL, "metadata.name: Required value: name or generateName is required\n");
    assert_errors("null", NULL,
                  "metadata.name: Required value: name or generateName is required\n");
    assert_errors("{'name':''}", &(kc_metadata_rules){.field = "spec.template.metadata"},
                  "spec.template.metadata.name: Required value: name or generateName is "
                  "required\n");
}

static void names_follow_the_rule_of_the_kind(void **state)
{
    (void)state;
    kc_metadata_rules label = {.name = KC_NAME_DNS_LABEL};
    assert_errors("{'name':'a.b'}", NULL, "");
    assert_errors("{'name':'a.b','generateName':'c.d-'}", &label,
                  "metadata.generateName: Invalid value: \"c.d-\": must not contain dots\n"
                  "metadata.name: Invalid value: \"a.b\": must not contain dots\n");
}

static void namespace_is_required_or_forbidden(void **state)
{
    (void)state;
    assert_errors("{'name':'a'}", &namespaced, "metadata.namespace: Required value\n");
    assert_errors("{'name':'a','namespace':'x.y'}", &namespaced,
                  "metadata.namespace: Invalid value: \"x.y\": must not contain dots\n");
    assert_errors("{'name':'a','namespace':'x'}", NULL,
                  "metadata.namespace: Forbidden: not allowed on this type\n");
}

static void negative_generation_is_invalid(void **state)
{
    (void)state;
    assert_errors("{'name':'a','generation':-1}", NULL,
                  "metadata.generation: Invalid value: -1: must be greater than or equal to 0\n");
}

static void label_and_annotation_keys_are_validated(void **state)
{
    (void)state;
    assert_errors("{'name':'a','labels':{'/b':'c'},'annotations':{'/D':'anything at all'}}", NULL,
                  "metadata.labels: Invalid value: \"/b\": prefix part must be non-empty\n"
                  "metadata.annotations: Invalid value: \"/D\": prefix part must be non-empty\n");
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = view_of("{'a':'-'}");
    kc_validate_labels(&errors, "spec.selector.matchLabels", kc_view_root(view));
    assert_int_equal(errors.list.n, 1);
    assert_contains(errors.list.items[0].body, "Invalid value: \"-\": a valid label must be");
}

static void annotations_beyond_256_kib_are_too_long(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{}");
    kc_scoped(kc_buf) value = {0};
    for (size_t i = 0; i < KC_ANNOTATIONS_MAX - 1; i++)
        kc_buf_putc(&value, 'x');
    for (int extra = 0; extra < 2; extra++) {
        kc_scoped(kc_field_errors) errors = {0};
        kc_node_set(edit, kc_edit_root(edit), KC_STR("a"), kc_node_str(edit, kc_buf_str(&value)));
        kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
        kc_validate_annotations(&errors, "metadata.annotations", kc_view_root(view));
        assert_int_equal(errors.list.n, extra);
        if (extra)
            assert_string_equal(errors.list.items[0].body,
                                "Too long: may not be more than 262144 bytes");
        kc_buf_putc(&value, 'x');
    }
}

static void owner_fields_are_required(void **state)
{
    (void)state;
    assert_errors("{'name':'a','ownerReferences':[{'apiVersion':'a/b/c'}]}", NULL,
                  "metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not "
                  "be empty\n"
                  "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty\n"
                  "metadata.ownerReferences.name: Invalid value: \"\": must not be empty\n"
                  "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty\n");
    assert_errors(
        "{'name':'a','ownerReferences':[{'uid':'u','kind':'Event','name':'e',"
        "'apiVersion':'v1','controller':false}]}",
        NULL,
        "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":"
        "\"Event\",\"name\":\"e\",\"uid\":\"u\",\"controller\":false}: /v1, Kind=Event is "
        "disallowed from being an owner\n");
}

static void two_controllers_are_invalid(void **state)
{
    (void)state;
    assert_errors(
        "{'name':'a','ownerReferences':["
        "{'apiVersion':'v1','kind':'A','name':'x','uid':'1','controller':true},"
        "{'apiVersion':'v1','kind':'B','name':'y','uid':'2','controller':true}]}",
        NULL,
        "metadata.ownerReferences: Invalid value: [{\"apiVersion\":\"v1\",\"kind\":\"A\","
        "\"name\":\"x\",\"uid\":\"1\",\"controller\":true},{\"apiVersion\":\"v1\",\"kind\":"
        "\"B\",\"name\":\"y\",\"uid\":\"2\",\"controller\":true}]: Only one reference can "
        "have Controller set to true. Found \"true\" in references for A/x and B/y\n");
}

static void errors_about_many_controllers_are_bounded(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    for (int i = 0; i < 5000; i++)
        kc_buf_printf(&json,
                      "%s{'apiVersion':'v1','kind':'A','name':'x','uid':'1','controller':true}",
                      i ? "," : "[");
    kc_buf_putc(&json, ']');
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&json));
    kc_scoped(kc_field_errors) errors = {0};
    kc_validate_owners(&errors, "metadata.ownerReferences", kc_view_root(view));
    assert_int_equal(errors.list.n, 8);
}

static void finalizers_must_be_qualified_and_consistent(void **state)
{
    (void)state;
    assert_errors("{'name':'a','finalizers':['/x','foregroundDeletion','orphan']}", NULL,
                  "metadata.finalizers: Invalid value: \"/x\": prefix part must be non-empty\n"
                  "metadata.finalizers: Invalid value: [\"/x\",\"foregroundDeletion\",\"orphan\"]: "
                  "finalizer orphan and foregroundDeletion cannot be both set\n");
}

static void managed_fields_are_validated(void **state)
{
    (void)state;
    assert_errors("{'name':'a','managedFields':[{'operation':'Apply'},{'operation':'Merge',"
                  "'fieldsType':'V2','manager':'a\\tb'},{}]}",
                  NULL,
                  "metadata.managedFields[1].operation: Invalid value: \"Merge\": must be `Apply` "
                  "or `Update`\n"
                  "metadata.managedFields[1].fieldsType: Invalid value: \"V2\": must be "
                  "`FieldsV1`\n"
                  "metadata.managedFields[1].manager: Invalid value: \"a\\tb\": invalid character "
                  "U+0009 (at position 1)\n"
                  "metadata.managedFields[2].operation: Invalid value: \"\": must be `Apply` or "
                  "`Update`\n");
}

static void wrong_types_are_errors_and_not_inspected(void **state)
{
    (void)state;
    assert_errors("7", NULL, "metadata: Invalid value: 7: must be of type object: \"integer\"\n");
    assert_errors("{'name':'a','labels':{'x':1},'annotations':[],'finalizers':[2],"
                  "'ownerReferences':'me','generation':'1','managedFields':[null]}",
                  NULL,
                  "metadata.generation: Invalid value: \"1\": must be of type integer: "
                  "\"string\"\n"
                  "metadata.labels: Invalid value: 1: must be of type string: \"integer\"\n"
                  "metadata.annotations: Invalid value: []: must be of type object: \"array\"\n"
                  "metadata.ownerReferences: Invalid value: \"me\": must be of type array: "
                  "\"string\"\n"
                  "metadata.finalizers: Invalid value: 2: must be of type string: \"integer\"\n");
}

#define OLD                                                                       \
    "{'name':'a','namespace':'n','uid':'u','generation':2,'resourceVersion':'5'," \
    "'creationTimestamp':'2024-01-01T00:00:00Z'}"

static void update_without_change_is_valid(void **state)
{
    (void)state;
    assert_update_errors(OLD, OLD, "");
    assert_update_errors("{'name':'a','namespace':'n','uid':'u','generation':3,'resourceVersion':"
                         "'6','creationTimestamp':'2024-01-01T01:00:00+01:00','labels':{'a':'b'}}",
                         OLD, "");
}

static void update_of_identity_is_invalid(void **state)
{
    (void)state;
    assert_update_errors(
        "{'name':'b','uid':'v','generation':1,'creationTimestamp':'2025-01-01T01:00:00+01:00',"
        "'deletionTimestamp':'2025-01-01T00:00:00Z','deletionGracePeriodSeconds':30}",
        OLD,
        "metadata.resourceVersion: Invalid value: \"\": must be specified for an update\n"
        "metadata.generation: Invalid value: 1: must not be decremented\n"
        "metadata.name: Invalid value: \"b\": field is immutable\n"
        "metadata.namespace: Invalid value: \"\": field is immutable\n"
        "metadata.uid: Invalid value: \"v\": field is immutable\n"
        "metadata.creationTimestamp: Invalid value: \"2025-01-01T00:00:00Z\": field is immutable\n"
        "metadata.deletionTimestamp: Invalid value: \"2025-01-01T00:00:00Z\": field is immutable\n"
        "metadata.deletionGracePeriodSeconds: Invalid value: 30: field is immutable\n");
}

static void update_validates_all_parts(void **state)
{
    (void)state;
    assert_update_errors("{'name':'a','namespace':'n','uid':'u','generation':2,'resourceVersion':"
                         "'5','creationTimestamp':'2024-01-01T00:00:00Z','labels':{'/b':'c'}}",
                         OLD,
                         "metadata.labels: Invalid value: \"/b\": prefix part must be non-empty\n");
}

static void new_finalizer_on_deleted_object_is_forbidden(void **state)
{
    (void)state;
    assert_update_errors("{'name':'a','resourceVersion':'1','deletionTimestamp':"
                         "'2024-01-01T00:00:00Z','finalizers':['z','kept','b','z']}",
                         "{'name':'a','deletionTimestamp':'2024-01-01T00:00:00Z',"
                         "'finalizers':['kept','gone']}",
                         "metadata.finalizers: Forbidden: no new finalizers can be added if the "
                         "object is being deleted, found new finalizers []string{\"b\", \"z\"}\n");
    assert_update_errors("{'name':'a','resourceVersion':'1','finalizers':['new']}", "{'name':'a'}",
                         "");
}

TESTS(valid_metadata_has_no_errors, name_is_required, names_follow_the_rule_of_the_kind,
      namespace_is_required_or_forbidden, negative_generation_is_invalid,
      label_and_annotation_keys_are_validated, annotations_beyond_256_kib_are_too_long,
      owner_fields_are_required, two_controllers_are_invalid,
      errors_about_many_controllers_are_bounded, finalizers_must_be_qualified_and_consistent,
      managed_fields_are_validated, wrong_types_are_errors_and_not_inspected,
      update_without_change_is_valid, update_of_identity_is_invalid, update_validates_all_parts,
      new_finalizer_on_deleted_object_is_forbidden)
