/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: the tables of what a project consists of.
 *
 * Paths and lines are templates as files are; values.c has their values. To add a file: its
 * template, and a row. What several kinds share (a list, a function that sets all up) is a file
 * with a marker and rows of lines for it.
 */
#include "scaffold/plan.h"

#include "kc/mem.h"

const kc__planned_file kc__planned_files[] = {
    {KC__PART_PROJECT, "project/gitignore", ".gitignore"},
    {KC__PART_PROJECT, "project/clang-format", ".clang-format"},
    {KC__PART_PROJECT, "project/CMakeLists.txt", "CMakeLists.txt"},
    {KC__PART_PROJECT, "project/Makefile", "Makefile"},
    {KC__PART_PROJECT, "project/Dockerfile", "Dockerfile"},
    {KC__PART_PROJECT, "project/README.md", "README.md"},
    {KC__PART_PROJECT, "project/main.c.in", "cmd/main.c"},
    {KC__PART_PROJECT, "project/crd_kustomization.yaml", "config/crd/kustomization.yaml"},
    {KC__PART_PROJECT, "project/rbac_kustomization.yaml", "config/rbac/kustomization.yaml"},
    {KC__PART_PROJECT, "project/role.yaml", "config/rbac/role.yaml"},
    {KC__PART_PROJECT, "project/role_binding.yaml", "config/rbac/role_binding.yaml"},
    {KC__PART_PROJECT, "project/service_account.yaml", "config/rbac/service_account.yaml"},
    {KC__PART_PROJECT, "project/leader_election_role.yaml",
     "config/rbac/leader_election_role.yaml"},
    {KC__PART_PROJECT, "project/manager_kustomization.yaml", "config/manager/kustomization.yaml"},
    {KC__PART_PROJECT, "project/manager.yaml", "config/manager/manager.yaml"},
    {KC__PART_PROJECT, "project/default_kustomization.yaml", "config/default/kustomization.yaml"},
    {KC__PART_PROJECT, "project/samples_kustomization.yaml", "config/samples/kustomization.yaml"},

    {KC__PART_API, "api/groupversion_info.h.in", "api/{{group}}/{{version}}/groupversion_info.h",
     .shared = true},
    {KC__PART_API, "api/types.h.in", "api/{{group}}/{{version}}/{{file}}_types.h"},
    {KC__PART_API, "api/sample.yaml", "{{sample}}"},
    {KC__PART_API, "api/editor_role.yaml", "config/rbac/{{group}}_{{file}}_editor_role.yaml",
     .shared = true},
    {KC__PART_API, "api/viewer_role.yaml", "config/rbac/{{group}}_{{file}}_viewer_role.yaml",
     .shared = true},

    {KC__PART_CONTROLLER, "controller/controller.h.in", "controllers/{{name}}_controller.h"},
    {KC__PART_CONTROLLER, "controller/controller.c.in", "controllers/{{name}}_controller.c"},
    {KC__PART_CONTROLLER, "controller/test.c.in", "tests/{{name}}_test.c"},
};
const size_t kc__n_planned_files = KC_COUNT(kc__planned_files);

const kc__planned_lines kc__planned_lines_of[] = {
    {KC__PART_API, "config/crd/kustomization.yaml", "crdkustomizeresource",
     "- bases/{{api_group}}_{{plural}}.yaml\n"},
    {KC__PART_API, "config/samples/kustomization.yaml", "manifestskustomizesamples",
     "- {{sample_file}}\n"},
    {KC__PART_API, "config/rbac/kustomization.yaml", "rbackustomizeresource",
     "- {{group}}_{{file}}_editor_role.yaml\n"
     "- {{group}}_{{file}}_viewer_role.yaml\n"},
    {KC__PART_CONTROLLER, "config/rbac/role.yaml", "rules",
     "- apiGroups: [{{api_group}}]\n"
     "  resources: [{{plural}}]\n"
     "  verbs: [get, list, watch, create, update, patch, delete]\n"
     "- apiGroups: [{{api_group}}]\n"
     "  resources: [{{plural}}/status, {{plural}}/finalizers]\n"
     "  verbs: [get, update, patch]\n"},
    {KC__PART_CONTROLLER, "cmd/main.c", "imports",
     "#include \"controllers/{{name}}_controller.h\"\n"},
    {KC__PART_CONTROLLER, "cmd/main.c", "builder",
     "if ({{name}}_setup(manager, &err) < 0)\n"
     "    return kc_manager_exit(&err);\n"},
};
const size_t kc__n_planned_lines = KC_COUNT(kc__planned_lines_of);
