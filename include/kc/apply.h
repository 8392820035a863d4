/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h: applies YAML or JSON manifests to a server, as kubectl apply -f does.
 *
 *     static void print_result(const kc_apply_report *r, void *user)
 *     {
 *         printf("%s %.*s %s\n", r->kind->plural, KC_ARG(r->key.name),
 *                kc_apply_result_text(r->what));
 *     }
 *
 *     const kc_apply_opts opts = {.report = print_result};
 *     if (kc_apply_dir(client, "manifests/robot", &opts, err) < 0)
 *         …
 *
 * A text contains any number of documents, each an object or a list of objects (anything with
 * `items`). Objects that do not exist are created. Existing objects are changed by a merge patch:
 * fields that the text does not contain keep their values. No request is sent if nothing changes.
 *
 * All texts are parsed before the first request is sent, so a text with a syntax error changes
 * nothing. CRDs are applied first, and the function waits until the server serves the new kinds;
 * then namespaces; then all other objects, each in the order of the texts. So the order of
 * documents and files does not matter. The first rejected object ends the call (unless `failed` is
 * set); objects before it stay applied.
 *
 * With `server_side` the objects are sent as server-side apply requests: the server merges them by
 * the schema of the kind, tracks the fields that belong to the field manager, and removes those
 * that a later text lacks.
 *
 * Errors name the position: "robots.yaml: line 12: Robot default/one: …", with the first line of
 * the document. All functions block and may be called from any thread. opts may be NULL.
 */
#ifndef KC_APPLY_H
#define KC_APPLY_H

#include "kc/client.h"

/* Bytes of one text or file, and of all files of a directory. */
#define KC_APPLY_MAX_TEXT ((size_t)16 << 20)
#define KC_APPLY_MAX_DIR  ((size_t)64 << 20)
/* Objects in one call, and files in one directory. */
#define KC_APPLY_MAX_OBJECTS 100000u
#define KC_APPLY_MAX_FILES   10000u

typedef enum kc_apply_result {
    KC_APPLY_CREATED,
    KC_APPLY_CONFIGURED, /* It existed and was changed. */
    KC_APPLY_UNCHANGED,  /* It existed and already matched the text. */
    KC_APPLY_KEPT,       /* It existed and was left unchanged (KC_APPLY_KEEP). */
} kc_apply_result;

/* "created", "configured", "unchanged", "kept". */
const char *kc_apply_result_text(kc_apply_result what);

/* The result for one object. Valid during the callback. */
typedef struct kc_apply_report {
    kc_apply_result what;
    const kc_kind *kind;
    kc_key key;
    const kc_object *object; /* As the server returned it. */
    const kc_object *text;   /* As in the text. */
    const char *source;      /* The file, or the name of the text; NULL if it has none. */
    size_t document, line;   /* From 1: of documents that are not empty; its first line. */
} kc_apply_report;

/* An object that could not be applied. Valid during the callback. */
typedef struct kc_apply_failure {
    const kc_kind *kind;   /* NULL if the server does not serve it. */
    const kc_object *text; /* As in the text, with its namespace if `kind` is known. */
    const char *source;
    size_t document, line;
    const kc_error *err; /* Without the position and the name of the object. */
} kc_apply_failure;

/* How an object of the text is applied. */
typedef enum kc_apply_mode {
    KC_APPLY_MERGE, /* Create it, or merge the text into the existing object. */
    KC_APPLY_KEEP,  /* Create it, or leave the existing object unchanged. */
    KC_APPLY_SKIP,  /* Skip it, without a report. */
} kc_apply_mode;

typedef struct kc_apply_opts {
    const char *ns;    /* Of namespaced objects without a namespace. Defaults to "default". */
    kc_apply_mode how; /* For all objects. Defaults to KC_APPLY_MERGE. */
    int64_t timeout;   /* For new kinds to be served. Defaults to ten seconds. */
    /* Overrides `how` for each object, as it is in the text. */
    kc_apply_mode (*choose)(const kc_object *object, void *user);
    /* Called after each object. Defaults to none. */
    void (*report)(const kc_apply_report *report, void *user);
    /* Called for each object that could not be applied; the call continues with the other objects
     * and returns 0. Defaults to none: the first such object ends the call. */
    void (*failed)(const kc_apply_failure *failure, void *user);
    void *user; /* For all callbacks. */
    const char *field_manager;
    const char *field_validation; /* Strict, Warn, Ignore. Defaults to the server's. */
    bool dry_run;                 /* The server validates the writes and stores nothing. */
    bool server_side;             /* Server-side apply instead of create and merge patch. */
    bool force; /* server_side: take fields of other managers, without conflict. */
    /* server_side: the apply set (KEP-3659) of which the objects become members: the value of their
     * label applyset.kubernetes.io/part-of. Members of another set are refused (KC_CONFLICT).
     * Defaults to none. */
    const char *part_of;
    /* Sets the last-applied annotation, as kubectl apply does. A later kubectl apply then prints
     * no warning and removes the fields that its text lacks. */
    bool last_applied;
} kc_apply_opts;

/* A text, and its name for errors and reports (may be NULL). */
typedef struct kc_apply_source {
    const char *name;
    kc_str text;
} kc_apply_source;

int kc_apply_text(kc_client *client, kc_str text, const kc_apply_opts *opts, kc_error *err);
/* Applies several texts as if they were one. */
int kc_apply_sources(kc_client *client, const kc_apply_source *sources, size_t n,
                     const kc_apply_opts *opts, kc_error *err);
int kc_apply_file(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err);
/* Applies all *.yaml, *.yml and *.json files of a directory, by name; without subdirectories and
 * files whose names start with a dot. KC_NOT_FOUND when there is no such file. */
int kc_apply_dir(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err);

#endif
