/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h: YAML or JSON to objects at a server, as kubectl apply -f does it for people.
 *
 *     static void tell(const kc_apply_report *r, void *user)
 *     {
 *         printf("%s %.*s %s\n", r->kind->plural, KC_ARG(r->key.name), kc_applied_text(r->what));
 *     }
 *
 *     if (kc_apply_folder(client, "manifests/robot", &(kc_apply_opts){.report = tell}, err) < 0)
 *         …
 *
 * A text has any number of documents, each an object or a list of them (anything with `items`).
 * What is not there is created. What is there gets what the text says, by a merge patch: fields
 * that the text does not name stay as they are. Nothing is sent when that changes nothing.
 *
 * Everything is read before anything is sent, so a text that cannot be read changes nothing. Then
 * definitions go first, and are waited for until the server serves what they define; then
 * namespaces; then all the rest, each in the order of the texts. So the order of documents and
 * files does not matter. The first object that is refused ends it; what came before stays.
 *
 * Errors say where: "robots.yaml: document 2: Robot default/one: …". Documents are counted from 1,
 * empty ones not. All functions block; any thread. opts may be NULL.
 */
#ifndef KC_APPLY_H
#define KC_APPLY_H

#include "kc/client.h"

/* Bytes of one text or file, and of all files of a folder. */
#define KC_APPLY_MAX_TEXT   ((size_t)16 << 20)
#define KC_APPLY_MAX_FOLDER ((size_t)64 << 20)
/* Objects in one call, and files in one folder. */
#define KC_APPLY_MAX_OBJECTS 100000u
#define KC_APPLY_MAX_FILES   10000u

typedef enum kc_applied {
    KC_APPLIED_CREATED,
    KC_APPLIED_CONFIGURED, /* It was there, and is another now. */
    KC_APPLIED_UNCHANGED,  /* It was as the text says. */
    KC_APPLIED_KEPT,       /* It was there, and was to be left as it is. */
} kc_applied;

/* "created", "configured", "unchanged", "kept". */
const char *kc_applied_text(kc_applied what);

/* What became of one object. Lives during the call of the callback. */
typedef struct kc_apply_report {
    kc_applied what;
    const kc_kind *kind;
    kc_key key;
    const kc_object *object; /* As the server has it. */
    const kc_object *text;   /* As it stands in the text. */
    const char *source;      /* The file, or the name of the text; NULL if it has none. */
    size_t document;
} kc_apply_report;

/* What is done with an object of the text. */
typedef enum kc_apply_how {
    KC_APPLY_MERGE, /* If it is there, it gets what the text says. */
    KC_APPLY_KEEP,  /* If it is there, it is left as it is. */
    KC_APPLY_SKIP,  /* Nothing, and nothing is reported. */
} kc_apply_how;

typedef struct kc_apply_opts {
    const char *ns;   /* Of namespaced objects that say none. Defaults to "default". */
    kc_apply_how how; /* All of them. Defaults to KC_APPLY_MERGE. */
    int64_t timeout;  /* How long new kinds are waited for. Defaults to ten seconds. */
    /* Instead of `how`, for each object by itself, as it stands in the text. */
    kc_apply_how (*choose)(const kc_object *object, void *user);
    /* After each object. Defaults to none. */
    void (*report)(const kc_apply_report *report, void *user);
    void *user; /* Of both. */
    const char *field_manager;
    /* What is written remembers the text, as kubectl apply has it: who applies a later text with
     * kubectl is not warned, and what that lacks is removed. */
    bool last_applied;
} kc_apply_opts;

/* A text, and its name for errors and reports (may be NULL). */
typedef struct kc_apply_source {
    const char *name;
    kc_str text;
} kc_apply_source;

int kc_apply_text(kc_client *client, kc_str text, const kc_apply_opts *opts, kc_error *err);
/* Several texts, as if they were one. */
int kc_apply_sources(kc_client *client, const kc_apply_source *sources, size_t n,
                     const kc_apply_opts *opts, kc_error *err);
int kc_apply_file(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err);
/* All *.yaml, *.yml and *.json of a folder, by name; not those of its subfolders, and none that
 * starts with a dot. None at all is KC_NOT_FOUND. */
int kc_apply_folder(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err);

#endif
