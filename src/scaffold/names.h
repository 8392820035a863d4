/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: validation of groups, versions and kinds, and their names in C. */
#ifndef KC_SCAFFOLD_NAMES_H
#define KC_SCAFFOLD_NAMES_H

#include "kc/buf.h"
#include "kc/error.h"

/* KC_INVALID with a suggestion, if a valid name is near. */
int kc__scaffold_check_domain(const char *text, kc_error *err);
int kc__scaffold_check_project_name(const char *text, kc_error *err);
int kc__scaffold_check_group(const char *text, kc_error *err);
int kc__scaffold_check_version(const char *text, kc_error *err);
int kc__scaffold_check_kind(const char *text, kc_error *err);
int kc__scaffold_check_plural(const char *text, kc_error *err);
int kc__scaffold_check_controller(const char *text, kc_error *err);
/* "registry.example.com/a/b:v1", "memcached,-v", "11211", "1001" */
int kc__scaffold_check_image(const char *text, kc_error *err);
int kc__scaffold_check_image_command(const char *text, kc_error *err);
int kc__scaffold_check_image_port(const char *text, kc_error *err);
int kc__scaffold_check_image_user(const char *text, kc_error *err);
/* Path of a webhook, "/mutate-robots". */
int kc__scaffold_check_hook_path(const char *text, kc_error *err);

/* Each returns a text to free. RobotArm → robot_arm, HTTPProxy → http_proxy. */
char *kc__scaffold_snake_case(kc_str kind);
char *kc__scaffold_lower_case(kc_str text);
/* A C identifier: frigate-controller → frigate_controller. */
char *kc__scaffold_identifier(kc_str text);
/* RobotArm → robotarms, Policy → policies. */
char *kc__scaffold_plural_of(kc_str kind);
/* The struct of a kind: snake case; prefixed by its group if it is a C keyword. */
char *kc__scaffold_struct_name(kc_str kind, kc_str group);
/* True if `kc generate` derives the kind from the struct's name; else a marker is needed. */
bool kc__scaffold_names_kind(const char *struct_name, kc_str kind);

#endif
