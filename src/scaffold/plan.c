/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: the tables of a project's files.
 *
 * Paths and lines are templates like files; values.c has their values. To add a file: its template,
 * and a row. What several kinds share (a list, a common setup function) is a file with a marker and
 * rows of lines for it.
 */
#include "scaffold/plan.h"

#include "kc/mem.h"

const kc__scaffold_planned_file kc__scaffold_planned_files[] = {
    {KC__SCAFFOLD_PART_PROJECT, "project/gitignore", ".gitignore"},
    {KC__SCAFFOLD_PART_PROJECT, "project/dockerignore", ".dockerignore"},
    {KC__SCAFFOLD_PART_PROJECT, "project/clang-format", ".clang-format"},
    {KC__SCAFFOLD_PART_PROJECT, "project/CMakeLists.txt", "CMakeLists.txt"},
    {KC__SCAFFOLD_PART_PROJECT, "project/Makefile", "Makefile"},
    {KC__SCAFFOLD_PART_PROJECT, "project/Dockerfile", "Dockerfile"},
    {KC__SCAFFOLD_PART_PROJECT, "project/README.md", "README.md"},
    {KC__SCAFFOLD_PART_PROJECT, "project/main.c.in", "cmd/main.c"},
    {KC__SCAFFOLD_PART_PROJECT, "project/crd_kustomization.yaml", "config/crd/kustomization.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/rbac_kustomization.yaml",
     "config/rbac/kustomization.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/role.yaml", "config/rbac/role.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/service_account.yaml", "config/rbac/service_account.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/leader_election_role.yaml",
     "config/rbac/leader_election_role.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/manager_kustomization.yaml",
     "config/manager/kustomization.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/manager.yaml", "config/manager/manager.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/default_kustomization.yaml",
     "config/default/kustomization.yaml"},
    {KC__SCAFFOLD_PART_PROJECT, "project/samples_kustomization.yaml",
     "config/samples/kustomization.yaml"},
    {KC__SCAFFOLD_PART_ALL_NAMESPACES, "project/role_binding.yaml", "config/rbac/role_binding.yaml",
     .former = "namespaced/role_binding.yaml"},
    {KC__SCAFFOLD_PART_NAMESPACED, "namespaced/role_binding.yaml", "config/rbac/role_binding.yaml",
     .former = "project/role_binding.yaml"},
    {KC__SCAFFOLD_PART_CLUSTER_BINDING, "namespaced/cluster_role_binding.yaml",
     "config/rbac/cluster_role_binding.yaml", .shared = true},

    {KC__SCAFFOLD_PART_API, "api/groupversion_info.h.in",
     "api/{{group}}/{{version}}/groupversion_info.h", .shared = true},
    {KC__SCAFFOLD_PART_TYPES, "api/types.h.in", "api/{{group}}/{{version}}/{{file}}_types.h"},
    {KC__SCAFFOLD_PART_TYPES, "api/sample.yaml", "{{sample}}"},
    {KC__SCAFFOLD_PART_TYPES_IMAGE, "api/image_types.h.in",
     "api/{{group}}/{{version}}/{{file}}_types.h"},
    {KC__SCAFFOLD_PART_TYPES_IMAGE, "api/image_sample.yaml", "{{sample}}"},
    {KC__SCAFFOLD_PART_API, "api/editor_role.yaml",
     "config/rbac/{{group}}_{{file}}_editor_role.yaml", .shared = true},
    {KC__SCAFFOLD_PART_API, "api/viewer_role.yaml",
     "config/rbac/{{group}}_{{file}}_viewer_role.yaml", .shared = true},

    {KC__SCAFFOLD_PART_CONTROLLER, "controller/controller.h.in",
     "{{controllers}}/{{id}}_controller.h"},
    {KC__SCAFFOLD_PART_CONTROLLER_OWN, "controller/controller.c.in",
     "{{controllers}}/{{id}}_controller.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_OWN, "controller/test.c.in", "{{tests}}/{{id}}_test.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_SSA, "controller/ssa.c.in",
     "{{controllers}}/{{id}}_controller.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_SSA, "controller/ssa_test.c.in", "{{tests}}/{{id}}_test.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_IMAGE, "controller/image.c.in",
     "{{controllers}}/{{id}}_controller.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_IMAGE, "controller/image_test.c.in", "{{tests}}/{{id}}_test.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_OTHER, "controller/other.c.in",
     "{{controllers}}/{{id}}_controller.c"},
    {KC__SCAFFOLD_PART_CONTROLLER_CORE, "controller/core.c.in",
     "{{controllers}}/{{id}}_controller.c"},

    {KC__SCAFFOLD_PART_WEBHOOK, "webhook/webhook.h.in", "{{webhooks}}/{{hook}}_webhook.h",
     .shared = true},
    {KC__SCAFFOLD_PART_WEBHOOK, "webhook/webhook.c.in", "{{webhooks}}/{{hook}}_webhook.c",
     .shared = true},
    {KC__SCAFFOLD_PART_WEBHOOK, "webhook/kustomization.yaml", "config/webhook/kustomization.yaml",
     .shared = true},
    {KC__SCAFFOLD_PART_WEBHOOK, "webhook/kustomizeconfig.yaml",
     "config/webhook/kustomizeconfig.yaml", .shared = true},
    {KC__SCAFFOLD_PART_WEBHOOK, "webhook/service.yaml", "config/webhook/service.yaml",
     .shared = true},
    {KC__SCAFFOLD_PART_WEBHOOK, "webhook/manifests.yaml", "config/webhook/manifests.yaml",
     .shared = true},
    {KC__SCAFFOLD_PART_CONVERSION, "webhook/crd_patch.yaml",
     "config/crd/patches/webhook_in_{{group}}_{{plural}}.yaml", .shared = true},
};
const size_t kc__scaffold_n_planned_files = KC_COUNT(kc__scaffold_planned_files);

#define WEBHOOK_SOURCE "{{webhooks}}/{{hook}}_webhook.c"

const kc__scaffold_planned_lines kc__scaffold_planned_lines_of[] = {
    {KC__SCAFFOLD_PART_NAMESPACED, "cmd/main.c", "options", .source = "namespaced/main.c.in",
     .once = true},
    {KC__SCAFFOLD_PART_NAMESPACED, "config/manager/manager.yaml", "env",
     .source = "namespaced/env.yaml", .once = true},
    {KC__SCAFFOLD_PART_CLUSTER_BINDING, "config/rbac/kustomization.yaml", "rbackustomizeresource",
     "- cluster_role_binding.yaml\n"},

    {KC__SCAFFOLD_PART_API, "config/crd/kustomization.yaml", "crdkustomizeresource",
     "- bases/{{api_group}}_{{plural}}.yaml\n"},
    {KC__SCAFFOLD_PART_API, "config/samples/kustomization.yaml", "manifestskustomizesamples",
     "- {{sample_file}}\n"},
    {KC__SCAFFOLD_PART_API, "config/rbac/kustomization.yaml", "rbackustomizeresource",
     "- {{group}}_{{file}}_editor_role.yaml\n"
     "- {{group}}_{{file}}_viewer_role.yaml\n"},
    {KC__SCAFFOLD_PART_CONTROLLER, "cmd/main.c", "imports",
     "#include \"{{controllers}}/{{id}}_controller.h\"\n"},
    {KC__SCAFFOLD_PART_CONTROLLER, "cmd/main.c", "builder",
     "if ({{id}}_setup(manager, &err) < 0)\n"
     "    return kc_manager_exit(&err);\n"},
    {KC__SCAFFOLD_PART_CONTROLLER_IMAGE, "config/manager/manager.yaml", "env",
     "- name: {{id_guard}}_IMAGE\n"
     "  value: {{image}}\n",
     .once = true},
    {KC__SCAFFOLD_PART_MODULE, "CMakeLists.txt", "modules",
     "find_package({{module}}{{module_version}} REQUIRED)\n"
     "list(APPEND modules {{module}}::{{module}})\n",
     .once = true},
    {KC__SCAFFOLD_PART_SOURCES, "CMakeLists.txt", "modules",
     "file(GLOB external CONFIGURE_DEPENDS {{types_folder}}/*.c)\n"
     "list(APPEND sources ${external})\n"},

    {KC__SCAFFOLD_PART_WEBHOOK, "cmd/main.c", "imports",
     "#include \"{{webhooks}}/{{hook}}_webhook.h\"\n"},
    {KC__SCAFFOLD_PART_WEBHOOK, "cmd/main.c", "webhook", .source = "webhook/main.c.in",
     .once = true},
    {KC__SCAFFOLD_PART_WEBHOOK, "cmd/main.c", "builder",
     "if ({{hook}}_webhook_setup(hooks, &err) < 0)\n"
     "    return kc_manager_exit(&err);\n"},
    {KC__SCAFFOLD_PART_WEBHOOK, "config/default/kustomization.yaml", "defaultkustomizeresource",
     "- ../webhook\n"},
    {KC__SCAFFOLD_PART_DEFAULTING, WEBHOOK_SOURCE, "webhookfunctions",
     .source = "webhook/defaulting.c.in", .once = true},
    {KC__SCAFFOLD_PART_DEFAULTING, WEBHOOK_SOURCE, "webhooksetup",
     "if ({{defaulting_call}} set_defaults, NULL, err) < 0)\n"
     "    return -1;\n"},
    {KC__SCAFFOLD_PART_VALIDATION, WEBHOOK_SOURCE, "webhookfunctions",
     .source = "webhook/validation.c.in", .once = true},
    {KC__SCAFFOLD_PART_VALIDATION_CORE, WEBHOOK_SOURCE, "webhookfunctions",
     .source = "webhook/validation_core.c.in", .once = true},
    {KC__SCAFFOLD_PART_VALIDATION | KC__SCAFFOLD_PART_VALIDATION_CORE, WEBHOOK_SOURCE,
     "webhooksetup",
     "if ({{validation_call}} validate, NULL, err) < 0)\n"
     "    return -1;\n"},
    {KC__SCAFFOLD_PART_CONVERSION, WEBHOOK_SOURCE, "webhookfunctions",
     .source = "webhook/conversion.c.in", .once = true},
    {KC__SCAFFOLD_PART_CONVERSION, WEBHOOK_SOURCE, "webhooksetup",
     "kc_group_kind kind = {KC_STR(\"{{api_group}}\"), KC_STR(\"{{kind}}\")};\n"
     "if (kc_webhook_add_converter(hooks, kind, convert, NULL, err) < 0)\n"
     "    return -1;\n"},
    {KC__SCAFFOLD_PART_SPOKE, WEBHOOK_SOURCE, "spokefunctions", .source = "webhook/spoke.c.in",
     .once = true},
    {KC__SCAFFOLD_PART_SPOKE, WEBHOOK_SOURCE, "spokes",
     "{KC_STR_INIT(\"{{api_group}}/{{spoke}}\"), hub_of_{{spoke}}, {{spoke}}_of_hub},\n"},
    {KC__SCAFFOLD_PART_CONVERSION, "cmd/main.c", "conversions", "\"{{plural}}.{{api_group}}\",\n"},
    {KC__SCAFFOLD_PART_CONVERSION, "config/crd/kustomization.yaml", "crdkustomizewebhookpatch",
     "- path: patches/webhook_in_{{group}}_{{plural}}.yaml\n"},
};
const size_t kc__scaffold_n_planned_lines = KC_COUNT(kc__scaffold_planned_lines_of);
