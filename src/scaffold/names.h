/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: what groups, versions and kinds may be called, and what they are called in C. */
#ifndef KC_SCAFFOLD_NAMES_H
#define KC_SCAFFOLD_NAMES_H

#include "kc/buf.h"
#include "kc/error.h"

/* KC_INVALID with a sentence that says what would do, if something near does. */
int kc__check_domain(const char *text, kc_error *err);
int kc__check_project_name(const char *text, kc_error *err);
int kc__check_group(const char *text, kc_error *err);
int kc__check_version(const char *text, kc_error *err);
int kc__check_kind(const char *text, kc_error *err);
int kc__check_plural(const char *text, kc_error *err);
int kc__check_controller(const char *text, kc_error *err);
/* "registry.example.com/a/b:v1", "memcached,-v", "11211", "1001" */
int kc__check_image(const char *text, kc_error *err);
int kc__check_image_command(const char *text, kc_error *err);
int kc__check_image_port(const char *text, kc_error *err);
int kc__check_image_user(const char *text, kc_error *err);
/* A webhook's, "/mutate-robots". */
int kc__check_hook_path(const char *text, kc_error *err);

/* Each gives a text to free. RobotArm → robot_arm, HTTPProxy → http_proxy. */
char *kc__snake_case(kc_str kind);
char *kc__lower_case(kc_str text);
/* A name of C: frigate-controller → frigate_controller. */
char *kc__identifier(kc_str text);
/* RobotArm → robotarms, Policy → policies. */
char *kc__plural_of(kc_str kind);
/* The struct of a kind: in snake case; with its group before it where that is a word of C. */
char *kc__struct_name(kc_str kind, kc_str group);
/* True if `kc generate` finds the kind in the struct's name; else a marker has to say it. */
bool kc__says_kind(const char *struct_name, kc_str kind);

#endif
