/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of containers: environment variables, and files of volumes. */
#include "pods_testing.h"

#include "pods/pod_inputs.h"

typedef struct fixture {
    kc_testenv *env;
    kc_pod *pod;
    kc__pod_record *record;
    kc__pods_nodes nodes;
    kc__pods_node node;
    kc_arena arena;
    kc__pod_inputs in;
} fixture;

#define CONFIG                                                                             \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':'default'}," \
    "'data':{'one':'1','two':'2'},'binaryData':{'raw':'AAEC'}}"
#define SECRET                                                                          \
    "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'default'}," \
    "'data':{'password':'aHVudGVyMg=='}}"

/* With a ConfigMap m and a Secret s. */
static void begin(fixture *s, const char *spec)
{
    kc_autofree char *text = kc_asprintf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'default','uid':'u',"
        "'labels':{'z':'last','app':'web'},'annotations':{'note':'say \\'hi\\''}},'spec':{"
        "'nodeName':'n','serviceAccountName':'sa',%s}}",
        spec);
    *s = (fixture){.env = plane(1)};
    kc_auto(kc_object) *map = make(s->env, CONFIG);
    kc_auto(kc_object) *secret = make(s->env, SECRET);
    kc_auto(kc_object) *object = object_of(text);
    s->pod = kc_pod_of(object, NULL);
    assert_non_null(s->pod);
    s->record = kc__pod_record_new(s->pod);
    s->record->node = &s->node;
    strcpy(s->record->ip, "10.0.0.9");
    strcpy(s->node.ip, "172.16.0.1");
    s->node.nodes = &s->nodes;
    s->nodes.cpu = 8000;
    s->nodes.memory = INT64_C(1) << 30;
    s->in = (kc__pod_inputs){
        .client = kc_testenv_client(s->env), .pod = s->pod, .state = s->record, .arena = &s->arena};
}

static void end(fixture *s)
{
    kc__pod_record_free(s->record);
    kc_pod_free(s->pod);
    kc_arena_done(&s->arena);
    kc_testenv_stop(s->env);
}

/* "A=1 B=2", or the error. */
static char *env_of(fixture *s)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_string_pair *env;
    size_t n;
    if (kc__pod_env_make(&s->in, &s->pod->spec.containers[0], &env, &n, &err) < 0)
        return kc_asprintf("error: %s", kc_error_text(&err));
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&out, "%s%s=%s", i ? " " : "", env[i].key, env[i].value);
    return kc_buf_take(&out);
}

static void expect_env(const char *env, const char *expected)
{
    fixture s;
    kc_autofree char *spec = kc_asprintf(
        "'containers':[{'name':'main',%s,'resources':{'requests':{'cpu':'250m','memory':'64Mi'},"
        "'limits':{'memory':'128Mi'}}}]",
        env);
    begin(&s, spec);
    kc_autofree char *text = env_of(&s);
    assert_string_equal(text, expected);
    end(&s);
}

static void env_values_expand_earlier_variables(void **state)
{
    (void)state;
    expect_env("'env':[{'name':'A','value':'1'},{'name':'B','value':'$(A)$(C)$$(A)$(A'},"
               "{'name':'C','value':'3'},{'name':'E'}]",
               "A=1 B=1$(C)$(A)$(A C=3 E=");
}

static void command_and_arguments_expand_variables(void **state)
{
    (void)state;
    fixture s;
    kc_string_pair *env;
    size_t n;
    begin(&s,
          "'containers':[{'name':'main','command':['run','$(A)'],'args':['--x=$(A)$(B)','$$(A)',"
          "'$(date)'],'env':[{'name':'A','value':'1'}]}]");
    kc_container c = s.pod->spec.containers[0];
    assert_int_equal(kc__pod_env_make(&s.in, &c, &env, &n, NULL), 0);
    assert_int_equal(kc__pod_env_expand(&s.in, &c, env, n, NULL), 0);
    assert_string_equal(c.command[1], "1");
    assert_string_equal(c.args[0], "--x=1$(B)");
    assert_string_equal(c.args[1], "$(A)");
    assert_string_equal(c.args[2], "$(date)");
    assert_string_equal(s.pod->spec.containers[0].command[1], "$(A)");
    end(&s);
}

#define SUB_PATHS(a, b)                                                                           \
    "'containers':[{'name':'main','volumeMounts':[{'name':'v','mountPath':'/a','subPathExpr':'" a \
    "'},{'name':'v','mountPath':'/b','subPath':'" b "'}],"                                        \
    "'env':[{'name':'A','value':'x'},{'name':'UP','value':'..'},{'name':'ROOT','value':'/etc'},"  \
    "{'name':'E','value':''}]}]"

/* What the two subPaths come to, or the error. */
static void expect_sub_path(const char *spec, const char *path, const char *error)
{
    fixture s;
    kc_string_pair *env;
    size_t n;
    kc_scoped(kc_error) err = {0};
    begin(&s, spec);
    kc_container c = s.pod->spec.containers[0];
    assert_int_equal(kc__pod_env_make(&s.in, &c, &env, &n, NULL), 0);
    const int done = kc__pod_env_expand(&s.in, &c, env, n, &err);
    if (error)
        assert_error(&err, KC_INVALID, error);
    else
        assert_string_equal(c.volume_mounts[0].sub_path, path);
    assert_int_equal(done < 0, error != NULL);
    if (!error)
        assert_string_equal(c.volume_mounts[1].sub_path, "$(A)");
    assert_null(s.pod->spec.containers[0].volume_mounts[0].sub_path);
    end(&s);
}

static void sub_path_expr_is_expanded_from_the_environment(void **state)
{
    (void)state;
    expect_sub_path(SUB_PATHS("logs/$(A)/$$(A)", "$(A)"), "logs/x/$(A)", NULL);
    expect_sub_path(SUB_PATHS("plain", "$(A)"), "plain", NULL);
}

static void sub_path_expr_without_value_or_outside_the_volume_is_refused(void **state)
{
    (void)state;
    expect_sub_path(SUB_PATHS("$(Z)/$(E)/$(B)/$(Z)", "$(A)"), NULL, "missing value for B, E, Z");
    expect_sub_path(SUB_PATHS("$(ROOT)", "$(A)"), NULL,
                    "error SubPath `/etc` must not be an absolute path");
    expect_sub_path(SUB_PATHS("a/$(UP)/$(UP)", "$(A)"), NULL,
                    "unable to provision SubPath `a/../..`: must not contain '..'");
}

static void env_from_takes_all_keys(void **state)
{
    (void)state;
    expect_env("'envFrom':[{'configMapRef':{'name':'m'}},{'prefix':'S_','secretRef':{'name':'s'}}],"
               "'env':[{'name':'two','value':'$(one)!'}]",
               "one=1 two=1! S_password=hunter2");
}

static void value_from_takes_single_keys(void **state)
{
    (void)state;
    expect_env("'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'m','key':'one'}}},"
               "{'name':'B','valueFrom':{'secretKeyRef':{'name':'s','key':'password'}}}]",
               "A=1 B=hunter2");
}

static void missing_source_is_error_unless_optional(void **state)
{
    (void)state;
    expect_env("'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'x','key':'k'}}}]",
               "error: configmap \"x\" not found");
    expect_env("'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}]",
               "error: couldn't find key k in Secret default/s");
    expect_env("'envFrom':[{'secretRef':{'name':'x'}}]", "error: secret \"x\" not found");
    expect_env("'envFrom':[{'secretRef':{'name':'x','optional':true}}],'env':[{'name':'A',"
               "'valueFrom':{'configMapKeyRef':{'name':'m','key':'k','optional':true}}},"
               "{'name':'B','value':'b'}]",
               "B=b");
}

static void field_ref_reads_pod_fields(void **state)
{
    (void)state;
    static const char *const fields[][2] = {
        {"metadata.name", "a"},          {"metadata.namespace", "default"},
        {"metadata.uid", "u"},           {"metadata.labels['app']", "web"},
        {"metadata.labels['none']", ""}, {"metadata.annotations['note']", "say \"hi\""},
        {"spec.nodeName", "n"},          {"spec.serviceAccountName", "sa"},
        {"status.podIP", "10.0.0.9"},    {"status.hostIP", "172.16.0.1"},
    };
    fixture s;
    begin(&s, "'containers':[{'name':'main'}]");
    for (size_t i = 0; i < KC_COUNT(fields); i++) {
        const char *value;
        assert_int_equal(kc__pod_field_value(&s.in, fields[i][0], &value, NULL), 0);
        assert_string_equal(value, fields[i][1]);
    }
    const char *value;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__pod_field_value(&s.in, "metadata.labels", &value, NULL), 0);
    assert_string_equal(value, "app=\"web\"\nz=\"last\"");
    assert_true(kc__pod_field_value(&s.in, "spec.nothing", &value, &err) < 0);
    s.pod->metadata.labels = (kc_string_map){0};
    assert_int_equal(kc__pod_field_value(&s.in, "metadata.labels", &value, NULL), 0);
    assert_string_equal(value, "");
    end(&s);
}

#define RESOURCE(name, more) \
    "{'name':'A','valueFrom':{'resourceFieldRef':{'resource':'" name "'" more "}}}"

static void resource_field_ref_reads_resources(void **state)
{
    (void)state;
    expect_env("'env':[" RESOURCE("requests.cpu", "") "]", "A=1");
    expect_env("'env':[" RESOURCE("requests.cpu", ",'divisor':'1m'") "]", "A=250");
    expect_env("'env':[" RESOURCE("limits.memory", ",'divisor':'1Mi'") "]", "A=128");
    expect_env("'env':[" RESOURCE("limits.memory", "") "]", "A=134217728");
    expect_env("'env':[" RESOURCE("limits.cpu", "") "]", "A=8");
}

/* "path:mode=bytes …", or the error. */
static char *files_of(fixture *s)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc__pod_volume_file *files = NULL;
    size_t n = 0;
    const int ours = kc__pod_volume_files(&s->in, &s->pod->spec.volumes[0], &files, &n, &err);
    if (ours < 0)
        return kc_asprintf("error: %s", kc_error_text(&err));
    if (!ours)
        return kc_strdup("not ours");
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&out, "%s%s:%o=%.*s", i ? " " : "", files[i].path, (unsigned)files[i].mode,
                      files[i].bytes.n == 3 ? 0 : (int)files[i].bytes.n, files[i].bytes.p);
    return kc_buf_take(&out);
}

static void expect_files(const char *volume, const char *expected)
{
    fixture s;
    kc_autofree char *spec =
        kc_asprintf("'containers':[{'name':'main'}],'volumes':[{'name':'v',%s}]", volume);
    begin(&s, spec);
    kc_autofree char *text = files_of(&s);
    assert_string_equal(text, expected);
    end(&s);
}

static void volumes_have_all_keys_or_the_listed_items(void **state)
{
    (void)state;
    expect_files("'configMap':{'name':'m'}", "one:644=1 raw:644= two:644=2");
    expect_files("'configMap':{'name':'m','defaultMode':256,'items':[{'key':'two','path':'d/f'},"
                 "{'key':'one','path':'e','mode':511}]}",
                 "d/f:400=2 e:777=1");
    expect_files("'secret':{'secretName':'s'}", "password:644=hunter2");
    expect_files("'emptyDir':{}", "not ours");
}

static void missing_volume_sources_are_errors_unless_optional(void **state)
{
    (void)state;
    expect_files("'secret':{'secretName':'x'}", "error: secret \"x\" not found");
    expect_files("'secret':{'secretName':'x','optional':true}", "");
    expect_files("'configMap':{'name':'m','items':[{'key':'x','path':'f'}]}",
                 "error: configmap references non-existent config key: x");
    expect_files("'configMap':{'name':'m','optional':true,'items':[{'key':'x','path':'f'},{'key':"
                 "'one','path':'o'}]}",
                 "o:644=1");
    expect_files("'configMap':{'name':'m','items':[{'key':'one','path':'../f'}]}",
                 "error: invalid path, must not contain '..': ../f");
}

static void projected_volumes_combine_several_sources(void **state)
{
    (void)state;
    expect_files("'projected':{'defaultMode':292,'sources':[{'configMap':{'name':'m','items':[{"
                 "'key':'one','path':'f'}]}},{'secret':{'name':'s','items':[{'key':'password',"
                 "'path':'f','mode':384}]}},{'serviceAccountToken':{'path':'token'}},{"
                 "'downwardAPI':{'items':[{'path':'name','fieldRef':{'fieldPath':"
                 "'metadata.name'}}]}}]}",
                 "f:600=hunter2 name:444=a");
    expect_files("'downwardAPI':{'items':[{'path':'cpu','resourceFieldRef':{'containerName':'main',"
                 "'resource':'limits.cpu'}}]}",
                 "cpu:644=8");
}

static void api_server_is_in_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *url, *expected;
    } cases[] = {
        {"https://10.0.0.7:6443", "KUBERNETES_SERVICE_HOST=10.0.0.7 KUBERNETES_SERVICE_PORT=6443 "
                                  "KUBERNETES_SERVICE_PORT_HTTPS=6443 A=1"},
        {"https://[::1]:6443/", "KUBERNETES_SERVICE_HOST=::1 KUBERNETES_SERVICE_PORT=6443 "
                                "KUBERNETES_SERVICE_PORT_HTTPS=6443 A=1"},
        {"https://api.x.io", "KUBERNETES_SERVICE_HOST=api.x.io KUBERNETES_SERVICE_PORT=443 "
                             "KUBERNETES_SERVICE_PORT_HTTPS=443 A=1"},
        {"http://10.0.0.7:6080", "A=1"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        fixture s;
        begin(&s, "'containers':[{'name':'main','env':[{'name':'A','value':'1'}]}]");
        s.in.api_server = cases[i].url;
        kc_autofree char *text = env_of(&s);
        assert_string_equal(text, cases[i].expected);
        end(&s);
    }
}

TESTS(api_server_is_in_the_environment, env_values_expand_earlier_variables,
      command_and_arguments_expand_variables, sub_path_expr_is_expanded_from_the_environment,
      sub_path_expr_without_value_or_outside_the_volume_is_refused, env_from_takes_all_keys,
      value_from_takes_single_keys, missing_source_is_error_unless_optional,
      field_ref_reads_pod_fields, resource_field_ref_reads_resources,
      volumes_have_all_keys_or_the_listed_items, missing_volume_sources_are_errors_unless_optional,
      projected_volumes_combine_several_sources)
