/* SPDX-License-Identifier: Apache-2.0 */
#include "scaffold/project.h"
#include "testing.h"

static const kc__scaffold_resource robot = {.group = KC_STR_INIT("apps"),
                                            .version = KC_STR_INIT("v1"),
                                            .kind = KC_STR_INIT("Robot"),
                                            .plural = KC_STR_INIT("robots"),
                                            .domain = KC_STR_INIT("example.io"),
                                            .api = true,
                                            .controller = true};

static kc__scaffold_project_file *parse(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc__scaffold_project_file *project = kc__scaffold_project_parse(kc_cstr(text), &err);
    assert_non_null(project);
    return project;
}

static char *text_of(const kc__scaffold_project_file *project)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(kc__scaffold_project_write(project, &out, NULL), 0);
    return kc_buf_take(&out);
}

static void new_project_has_name_and_domain(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project_new(KC_STR("robots"), KC_STR("example.io"), KC_STR(""));
    kc_autofree char *text = text_of(project);
    assert_contains(text, "domain: example.io\nlayout:\n- c.kubecontroller.io/v1\n"
                          "projectName: robots\nversion: \"3\"\n");
    kc_auto(kc__scaffold_project_file) *read = parse(text);
    assert_str(kc__scaffold_project_name(read), "robots");
    assert_str(kc__scaffold_project_domain(read), "example.io");
    assert_int_equal(kc__scaffold_project_count(read), 0);
}

static void resource_is_found_by_group_version_and_kind(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project_new(KC_STR("a"), KC_STR("b"), KC_STR(""));
    kc__scaffold_project_put(project, &robot);
    kc_autofree char *text = text_of(project);
    kc_auto(kc__scaffold_project_file) *read = parse(text);
    kc__scaffold_resource found;
    assert_true(
        kc__scaffold_project_find(read, KC_STR("apps"), KC_STR("v1"), KC_STR("Robot"), &found));
    assert_str(found.plural, "robots");
    assert_true(found.api && found.controller && !found.cluster_scoped && !found.defaulting);
    assert_false(
        kc__scaffold_project_find(read, KC_STR("apps"), KC_STR("v2"), KC_STR("Robot"), &found));
}

static void existing_resource_is_merged(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project_new(KC_STR("a"), KC_STR("b"), KC_STR(""));
    kc__scaffold_resource more = robot;
    more.controller = false;
    kc__scaffold_project_put(project, &more);
    more.validation = true;
    kc__scaffold_project_put(project, &more);
    assert_int_equal(kc__scaffold_project_count(project), 1);
    kc__scaffold_resource now = kc__scaffold_project_at(project, 0);
    assert_true(now.validation && now.api && !now.controller && !now.conversion);
}

static void lists_grow_without_duplicates(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project_new(KC_STR("a"), KC_STR("b"), KC_STR(""));
    kc__scaffold_resource more = robot;
    more.conversion = true;
    assert_int_equal(kc__scaffold_names_add(&more.spokes, KC_STR("v1beta1"), NULL), 0);
    assert_int_equal(kc__scaffold_names_add(&more.controllers, KC_STR("backup"), NULL), 0);
    kc__scaffold_project_put(project, &more);
    assert_int_equal(kc__scaffold_names_add(&more.spokes, KC_STR("v1alpha1"), NULL), 0);
    assert_int_equal(kc__scaffold_names_add(&more.spokes, KC_STR("v1beta1"), NULL), 0);
    assert_int_equal(more.spokes.n, 2);
    kc__scaffold_project_put(project, &more);
    kc_autofree char *text = text_of(project);
    assert_contains(text, "    spoke:\n    - v1beta1\n    - v1alpha1\n    webhookVersion");
    assert_contains(text, "  controllers:\n  - name: backup\n  domain");
    kc__scaffold_resource now = kc__scaffold_project_at(project, 0);
    assert_int_equal(now.spokes.n, 2);
    assert_str(now.controllers.items[0], "backup");
    assert_true(now.controller);
}

static void number_of_names_is_limited(void **state)
{
    (void)state;
    static const char letters[] = "abcdefghijklmnopq";
    kc__scaffold_names names = {.n = 0};
    kc_scoped(kc_error) err = {0};
    for (size_t i = 0; i < KC__SCAFFOLD_MAX_NAMES; i++)
        assert_int_equal(kc__scaffold_names_add(&names, kc_str_of(letters + i, 1), &err), 0);
    assert_true(
        kc__scaffold_names_add(&names, kc_str_of(letters + KC__SCAFFOLD_MAX_NAMES, 1), &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "limit of 16 reached");
    assert_int_equal(kc__scaffold_names_add(&names, KC_STR("a"), NULL), 0);
}

static void external_resources_have_the_format_of_kubebuilder(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        parse("domain: testproject.org\nprojectName: a\nresources:\n"
              "- {controller: true, domain: io, external: true, group: cert-manager, "
              "kind: Certificate, module: cm@v1.20.2, path: certmanager/v1, version: v1}\n"
              "- {core: true, group: core, kind: Pod, path: k8s.io/api/core/v1, version: v1, "
              "webhooks: {defaulting: true, defaultingPath: /x, webhookVersion: v1}}\n"
              "- {api: {crdVersion: v1, namespaced: true, ssa: true}, group: crew, "
              "kind: Navigator, version: v1}\n");
    kc__scaffold_resource certificate = kc__scaffold_project_at(project, 0),
                          pod = kc__scaffold_project_at(project, 1);
    assert_true(certificate.external && certificate.controller && !certificate.api);
    assert_str(certificate.domain, "io");
    assert_str(certificate.path, "certmanager/v1");
    assert_str(certificate.module, "cm@v1.20.2");
    assert_true(pod.core && pod.defaulting && !pod.validation);
    assert_str(pod.defaulting_path, "/x");
    assert_true(kc__scaffold_project_at(project, 2).ssa);
}

static void unknown_fields_are_kept(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        parse("domain: b\nprojectName: a\nplugins:\n  helm: {dir: x}\nresources:\n"
              "- {group: apps, version: v1, kind: Robot, external: true}\n");
    kc__scaffold_project_put(project, &robot);
    kc__scaffold_project_set_multigroup(project, true);
    kc_autofree char *text = text_of(project);
    assert_contains(text, "plugins:\n  helm:\n    dir: x\n");
    assert_contains(text, "external: true\n");
    assert_contains(text, "multigroup: true\n");
}

static void settings_can_be_turned_off(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        parse("{domain: b, projectName: a, namespaced: true}");
    kc__scaffold_project_set_namespaced(project, false);
    kc_autofree char *text = text_of(project);
    assert_null(strstr(text, "namespaced"));
}

static void invalid_project_file_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "[]",
                                        "a: b",
                                        "domain: b",
                                        "projectName: {}",
                                        "domain: [",
                                        "{projectName: a, domain: 3}"};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc__scaffold_project_parse(kc_cstr(texts[i]), &err));
        assert_contains(kc_error_text(&err), "PROJECT");
    }
}

static void malformed_resources_are_ignored(void **state)
{
    (void)state;
    kc_auto(kc__scaffold_project_file) *project =
        parse("{domain: b, projectName: a, resources: {x: 1}}");
    assert_int_equal(kc__scaffold_project_count(project), 0);
    kc_auto(kc__scaffold_project_file) *odd =
        parse("{domain: b, projectName: a, resources: [1, {kind: []}]}");
    assert_int_equal(kc__scaffold_project_count(odd), 2);
    assert_str(kc__scaffold_project_at(odd, 1).kind, "");
}

TESTS(new_project_has_name_and_domain, resource_is_found_by_group_version_and_kind,
      existing_resource_is_merged, lists_grow_without_duplicates, number_of_names_is_limited,
      external_resources_have_the_format_of_kubebuilder, unknown_fields_are_kept,
      settings_can_be_turned_off, invalid_project_file_is_refused, malformed_resources_are_ignored)
