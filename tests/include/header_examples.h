/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_examples.h: names that the examples of public headers use without declaring them.
 * scripts/check-headers includes it after kc/NAME.h, with OF_NAME defined. Nothing here is defined:
 * examples are compiled, not linked.
 *
 * To write an example with a new name: add the name to the section of its header, or to the common
 * names if it means the same in every header.
 */
#ifndef KC_TEST_HEADER_EXAMPLES_H
#define KC_TEST_HEADER_EXAMPLES_H

#include <stdio.h>

#include "kc/controller.h"
#include "kc/controllers.h"
#include "kc/create_or_update.h"
#include "kc/kinds.h"
#include "kc/manager.h"
#include "kc/thread.h"

/* ---- common names ---- */

extern kc_client *client;
extern kc_context *ctx;
extern kc_error *err;
extern kc_key key;
extern kc_manager *manager;
extern kc_object *object, *pod;
extern const kc_kind robot_kind;
extern kc_view *view;
extern void *user;
#ifndef OF_RECONCILE
kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err);
#endif

/* ---- by header ---- */

#ifdef OF_API
typedef struct robot_arm {
    char *side;
} robot_arm;
typedef struct robot_status {
    int32_t ready;
} robot_status;
#endif

#ifdef OF_APP
#include "kc/phase.h"
extern const kc_phase_machine redismigration_machine;
extern const kc_app_config *config;
#endif

#ifdef OF_ARENA
extern const char *base;
extern int i;
#endif

#if defined(OF_BASE64) || defined(OF_YAML)
extern kc_buf out;
extern kc_str bytes, text, manifests;
int apply_one(kc_view *document, void *user);
#endif

#ifdef OF_BUF
extern const char *name;
extern kc_str value;
#endif

#ifdef OF_CLIENT
extern const kc_object *changed, *wanted;
#endif

#ifdef OF_CLOCK
extern kc_cond cond;
extern kc_mutex mutex;
extern bool ready;
extern int64_t start;
#endif

#ifdef OF_CONTROLLER
kc_map_to_keys_fn robots_of_config;
#endif

#ifdef OF_CRASH_JOURNAL
extern const char *dir;
#endif

#if defined(OF_CREATE_OR_UPDATE) || defined(OF_FINALIZER)
#include "kc/finalizer.h"
#define EXAMPLE_RESULT kc_result
extern kc_object *robot;
kc_finalize_fn switch_off;
#endif

#ifdef OF_DIFF
extern const kc_object *old, *now;
extern kc_view *a, *b;
extern kc_buf text;
#endif

#ifdef OF_DLIST
struct waiter;
void wake(void *waiter);
#endif

#ifdef OF_EDIT
extern const kc_object *deployment;
#endif

#ifdef OF_ELECTION
extern kc_cancel *cancel;
void start(void *user);
void stop(void *user);
#endif

#ifdef OF_CEL_RULES
extern const kc_value *openapi, *old;
extern const kc_schema *schema;
extern const kc_value *value;
extern kc_str group, kind, name;
#endif

#ifdef OF_ERROR
extern const char *path;
extern FILE *file;
int load(const char *path, kc_error *err);
int parse(FILE *file, kc_error *err);
int check(FILE *file, kc_error *err);
#endif

#ifdef OF_FIELD_SELECTOR
extern const kc_fields *pod_fields;
#endif

#ifdef OF_FILE
extern kc_buf json;
#endif

#ifdef OF_INT_OR_STRING
extern const kc_value *rolling;
extern int64_t replicas;
#endif

#if defined(OF_JSON_PATCH) || defined(OF_OBJECT)
extern kc_str body;
#endif

#ifdef OF_JSONPATH
extern kc_buf out;
#endif

#ifdef OF_LOG
extern const char *name, *node, *kind;
extern kc_log *parent;
extern int64_t took;
#define key KC_STR("default/web")
#endif

#if defined(OF_MANAGER) || defined(OF_TESTENV)
extern const kc_controller_opts robot_controller;
void assert_non_null(const void *pointer);
#endif

#if defined(OF_METADATA_VALIDATION) || defined(OF_NAMES) || defined(OF_SCHEMA)
#include "kc/field_error.h"
extern const kc_value *root, *openapi, *value;
extern kc_str group, kind, name;
extern kc_field_errors errors;
#endif

#ifdef OF_METRICS
extern kc_metrics *metrics;
extern kc_str resource;
#endif

#ifdef OF_PATH
extern kc_edit *edit;
#endif

#ifdef OF_PHASE
extern const kc_kind redismigration_kind;
kc_phase_handler collect, copy_keys, verify;
static kc_phase_handler precheck;
const char *source_of(const kc_object *object);
int redis_ping(const char *address, kc_error *err);
#endif

#ifdef OF_QUEUE
extern kc_queue *queue;
#endif

#ifdef OF_RECONCILE
kc_mutate_fn web;
#endif

#ifdef OF_RECORDER
extern kc_object *robot;
extern int n;
#endif

#ifdef OF_REF
typedef struct kc_thing {
    kc_ref refs;
} kc_thing;
kc_thing *kc_thing_unref(kc_thing *t);
#endif

#ifdef OF_SIM
extern int64_t start;
#endif

#if defined(OF_STRUCT) || defined(OF_TYPED)
#include "kc/typed.h"
typedef struct robot {
    kc_object_meta metadata;
    struct {
        int32_t *replicas;
    } spec;
} robot;
typedef struct robot_spec_apply_config {
    int32_t *replicas;
} robot_spec_apply_config;
typedef struct robot_apply_config {
    kc_object_meta metadata;
    robot_spec_apply_config *spec;
} robot_apply_config;
extern const kc_typed robot_type;
extern int32_t three;
KC_TYPED_KIND(robot)
KC_TYPED_APPLY(robot)
#endif

#ifdef OF_THREAD
extern struct {
    kc_mutex mutex;
    kc_cond more;
    size_t n;
} *queue;
extern int64_t deadline;
extern kc_latch latch;
#endif

#ifdef OF_THREAD_POOL
void bind_pod(kc_job *job, void *local);
#endif

#ifdef OF_TRANSPORT
extern const kc_config *config;
extern kc_transport *t;
extern kc_http_request request;
void on_head(kc_stream *stream, const kc_http_response *head, void *user);
bool on_body(kc_stream *stream, kc_str bytes, void *user);
bool on_object(kc_stream *stream, kc_stream_item item, const kc_object *object, void *user);
void on_end(kc_stream *stream, const kc_error *err, void *user);
#endif

#ifdef OF_WEBHOOK
kc_webhook_default_fn set_defaults;
kc_webhook_validate_fn check;
#endif

/* ---- the function around an example ---- */

/* Common names that are functions of libc at file scope. */
#define EXAMPLE_PARAMETERS const kc_clock *clock, kc_log *log, kc_rand *rand

/* Any integer or pointer that an example returns is converted. */
#ifndef EXAMPLE_RESULT
#define EXAMPLE_RESULT intptr_t
#endif

#endif
