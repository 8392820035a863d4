/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The typed decoder on the real kinds. The definitions include one sample of every kind with every
 * field set, as Kubernetes writes it: each must stay unchanged. The other tests decode objects as
 * users write them, and compare with the result of Kubernetes before defaulting.
 */
#include "testing.h"

#include "apiserver/codec/typed.h"

#include <dirent.h>
#include <stdio.h>

static const kc__type_message *type_of(const kc_object *object)
{
    return kc__type_lookup_kind(kc_object_api_version(object), kc_object_kind(object));
}

static char *read_all(const char *path)
{
    kc_scoped(kc_buf) text = {0};
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *room;
    size_t n;
    do {
        room = kc_buf_reserve(&text, 65536);
        n = fread(room, 1, 65536, file);
        text.n += n;
    } while (n);
    fclose(file);
    return kc_buf_take(&text);
}

/* Whether a type has a field, at any depth, of a feature that is off. */
static bool has_disabled_fields(const kc__type_message *type, int depth)
{
    for (size_t i = 0; i < type->n_fields && depth; i++) {
        const kc__type_field *field = &type->fields[i];
        if (field->marks & KC__DISABLED ||
            (field->message && has_disabled_fields(field->message, depth - 1)))
            return true;
    }
    return false;
}

/* A sample has every field that its definitions have; those of features that are off go. */
static bool is_expected(const kc__type_message *type, const kc_object *sample,
                        const kc_object *typed)
{
    if (kc_str_eq(kc_object_json(typed), kc_object_json(sample)))
        return true;
    kc_auto(kc_object) *more_writes = kc__typed_decode(type, typed, NULL, NULL);
    return more_writes == typed && has_disabled_fields(type, 12);
}

/* False for a sample of something that is no kind of the tables. */
static bool stays(const char *path)
{
    kc_autofree char *text = read_all(path);
    kc_auto(kc_object) *sample = kc_object_parse(kc_cstr(text), NULL, NULL);
    assert_non_null(sample);
    const kc__type_message *type = type_of(sample);
    if (!type)
        return false;
    kc_scoped(kc_paths) unknown = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(type, sample, &unknown, &err);
    if (!typed || unknown.n || !is_expected(type, sample, typed)) {
        print_error("%s: %s\n%s\n%s\n", path,
                    !typed      ? kc_error_text(&err)
                    : unknown.n ? unknown.items[0]
                                : "differs",
                    kc_object_json(sample).p, typed ? kc_object_json(typed).p : "");
        fail();
    }
    return true;
}

static void samples_of_all_kinds_are_unchanged(void **state)
{
    (void)state;
    const char *folder = KC_DEFINITIONS "/api/testdata/HEAD";
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!kc_str_ends(kc_cstr(entry->d_name), KC_STR(".json")))
            continue;
        kc_autofree char *path = kc_asprintf("%s/%s", folder, entry->d_name);
        n += stays(path);
    }
    closedir(dir);
    assert_true(n >= 150);
}

static void expect(const char *given, const char *expected, int line)
{
    kc_auto(kc_object) *object = object_of(given);
    kc_auto(kc_object) *wanted = object_of(expected);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(type_of(object), object, NULL, &err);
    if (!typed)
        print_error("%s\n", kc_error_text(&err));
    assert_non_null(typed);
    kc__assert_str(kc_object_json(typed), kc_object_json(wanted).p, __FILE__, line);
    kc_auto(kc_object) *more_writes = kc__typed_decode(type_of(typed), typed, NULL, NULL);
    assert_ptr_equal(more_writes, typed);
}
#define assert_decodes(given, expected) expect(given, expected, __LINE__)

static void config_map_is_canonicalized(void **state)
{
    (void)state;
    assert_decodes("{'apiVersion':'v1','data':{'b':'2','a':'1'},'kind':'ConfigMap','metadata':{"
                   "'creationTimestamp':null,'name':'c','foo':1},'binaryData':{}}",
                   "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'c'},'data':{'a':'1',"
                   "'b':'2'}}");
}

static void secret_data_is_canonicalized(void **state)
{
    (void)state;
    assert_decodes("{'apiVersion':'v1','kind':'Secret','data':{'a':'YR==','b':null},'stringData':{"
                   "'c':'d'},'type':'Opaque','immutable':false}",
                   "{'kind':'Secret','apiVersion':'v1','metadata':{},'immutable':false,'data':{"
                   "'a':'YQ==','b':''},'stringData':{'c':'d'},'type':'Opaque'}");
}

static void deployment_has_required_fields(void **state)
{
    (void)state;
    assert_decodes(
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web'},'spec':{'replicas':3,"
        "'template':{'metadata':{'creationTimestamp':null,'labels':{'app':'web'}},'spec':{"
        "'containers':[{'image':'nginx','name':'web'}]}},'selector':{'matchLabels':{'app':'web'}}}}",
        "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'web'},'spec':{'replicas':3,"
        "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},"
        "'spec':{'containers':[{'name':'web','image':'nginx','resources':{}}]}},'strategy':{}},"
        "'status':{}}");
}

static void pod_has_quantities_ports_and_volumes(void **state)
{
    (void)state;
    assert_decodes(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'volumes':[{'emptyDir':{},"
        "'name':'v'}],'containers':[{'name':'c','resources':{'requests':{'memory':'1024Mi',"
        "'cpu':0.1}},'livenessProbe':{'httpGet':{'port':'http'}}}],'restartPolicy':''}}",
        "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p'},'spec':{'volumes':[{'name':'v',"
        "'emptyDir':{}}],'containers':[{'name':'c','resources':{'requests':{'cpu':'100m',"
        "'memory':'1Gi'}},'livenessProbe':{'httpGet':{'port':'http'}}}]},'status':{}}");
}

static void service_ports_have_target_port(void **state)
{
    (void)state;
    assert_decodes("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s'},'spec':{'ports':[{"
                   "'port':80}],'selector':{'b':'1','a':'2'}}}",
                   "{'kind':'Service','apiVersion':'v1','metadata':{'name':'s'},'spec':{'ports':[{"
                   "'port':80,'targetPort':0}],'selector':{'a':'2','b':'1'}},'status':{"
                   "'loadBalancer':{}}}");
}

static void event_times_are_null(void **state)
{
    (void)state;
    assert_decodes("{'apiVersion':'v1','kind':'Event','metadata':{'name':'e'},'involvedObject':{}}",
                   "{'kind':'Event','apiVersion':'v1','metadata':{'name':'e'},'involvedObject':{},"
                   "'source':{},'firstTimestamp':null,'lastTimestamp':null,'eventTime':null,"
                   "'reportingComponent':'','reportingInstance':''}");
}

static void role_without_rules_has_null_rules(void **state)
{
    (void)state;
    assert_decodes("{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'Role','rules':[]}",
                   "{'kind':'Role','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{},"
                   "'rules':null}");
}

static void expect_error(const char *given, const char *expected, int line)
{
    kc_auto(kc_object) *object = object_of(given);
    kc_scoped(kc_error) err = {0};
    assert_null(kc__typed_decode(type_of(object), object, NULL, &err));
    kc__assert_str(kc_cstr(kc_error_text(&err)), expected, __FILE__, line);
}
#define assert_refused(given, expected) expect_error(given, expected, __LINE__)

static void errors_name_the_go_type(void **state)
{
    (void)state;
    assert_refused("{'apiVersion':'v1','kind':'ConfigMap','data':{'a':{}}}",
                   "json: cannot unmarshal object into Go struct field ConfigMap.data of type "
                   "string");
    assert_refused(
        "{'apiVersion':'apps/v1','kind':'Deployment','spec':{'replicas':'3'}}",
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas "
        "of type int32");
    assert_refused("{'apiVersion':'v1','kind':'Pod','spec':{'containers':[{'imagePullPolicy':1}]}}",
                   "json: cannot unmarshal number into Go struct field "
                   "Container.spec.containers.imagePullPolicy of type v1.PullPolicy");
    assert_refused("{'apiVersion':'v1','kind':'Pod','spec':{'containers':{}}}",
                   "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of "
                   "type []v1.Container");
    assert_refused("{'apiVersion':'v1','kind':'Pod','metadata':{'labels':1}}",
                   "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels "
                   "of type map[string]string");
}

static void disabled_fields_are_known_and_dropped(void **state)
{
    (void)state;
    kc_auto(kc_object) *given = object_of(
        "{'kind':'Pod','apiVersion':'v1','spec':{'hostnameOverride':'a','containers':[{'name':'c',"
        "'restartPolicyRules':[{'action':'Restart'}],'lifecycle':{'stopSignal':'SIGINT'}}]},"
        "'status':{'observedGeneration':2,'conditions':[{'type':'Ready','observedGeneration':1,"
        "'status':'True'}],'extendedResourceClaimStatus':{}}}");
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(type_of(given), given, &unknown, NULL);
    assert_non_null(typed);
    assert_int_equal(unknown.n, 0);
    kc_str text = kc_object_json(typed);
    static const char *const gone[] = {"hostnameOverride", "restartPolicyRules", "stopSignal",
                                       "extendedResourceClaimStatus"};
    for (size_t i = 0; i < KC_COUNT(gone); i++)
        assert_false(kc_str_contains(text, kc_cstr(gone[i])));
    assert_contains(text.p, "\"status\":{\"observedGeneration\":2,\"conditions\":[{\"type\":"
                            "\"Ready\",\"observedGeneration\":1,\"status\":\"True\"");
}

static void disabled_field_of_wrong_type_is_refused(void **state)
{
    (void)state;
    assert_refused("{'apiVersion':'v1','kind':'Pod','spec':{'hostnameOverride':1}}",
                   "json: cannot unmarshal number into Go struct field PodSpec.spec."
                   "hostnameOverride of type string");
}

TESTS(samples_of_all_kinds_are_unchanged, config_map_is_canonicalized, secret_data_is_canonicalized,
      deployment_has_required_fields, pod_has_quantities_ports_and_volumes,
      service_ports_have_target_port, event_times_are_null, role_without_rules_has_null_rules,
      errors_name_the_go_type, disabled_fields_are_known_and_dropped,
      disabled_field_of_wrong_type_is_refused)
