/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h: programs that run many reconcilers. One definition describes a reconciler. Linking the
 * file of the definition registers the reconciler:
 *
 *     KC_RECONCILER(robot) = {
 *         .description = "keeps a deployment for every robot",
 *         .kind = &robot_kind, .owns = KC_KINDS(&kc_kind_deployment),
 *         .reconcile = reconcile, .workers = 2,
 *     };
 *     KC_RECONCILER(redismigration) = {.machine = &redismigration_machine};      phase.h
 *
 * A program that runs all registered reconcilers except some:
 *
 *     kc_scoped(kc_error) err = {0};
 *     kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = "*,-robot"});
 *     if (kc_app_add_linked(app, &err) < 0 || kc_app_run(app, &err) < 0)
 *         return kc_manager_exit(&err);
 *
 * `kc hub` is such a program. In a test: kc_reconcilers_add(kc_testenv_manager(env), "robot",
 * &err).
 *
 * Linking. KC_RECONCILER puts a pointer into the linker section kc_reconcilers; the library reads
 * the section. A linker takes an object file out of a static library only if another file refers to
 * one of its symbols, and no file refers to a reconciler. Link such a library whole
 * ($<LINK_LIBRARY:WHOLE_ARCHIVE,reconcilers> in CMake, -Wl,--whole-archive), as this project does.
 * A shared object has its own section, which kc_app_add_plugin reads when it loads the object.
 *
 * Threads. Use a kc_app from one thread until it runs. Definitions are constant and must live as
 * long as the app.
 */
#ifndef KC_APP_H
#define KC_APP_H

#include "kc/app_config.h"
#include "kc/controller.h"
#include "kc/phase.h"

/* A setting that the config file may contain for a reconciler, under reconcilers.NAME. */
typedef struct kc_setting {
    const char *name;
    const char *default_value; /* Not NULL. */
    const char *help;          /* One line. */
} kc_setting;
#define KC_SETTINGS(...) ((const kc_setting[]){__VA_ARGS__, {0}})

/* Arguments of a reconciler's setup function. */
typedef struct kc_reconciler_setup {
    kc_manager *manager;
    const char *const *settings; /* Values, in the order of kc_reconciler.settings. They live as
                                  * long as the manager. */
    /* Keys sent to this channel are reconciled like keys of changed objects. For keys that
     * after_sync or another component finds. Lives as long as the manager. */
    kc_channel *channel;
} kc_reconciler_setup;

typedef struct kc_reconciler {
    const char *name;        /* Unique in a program. Defaults to the argument of KC_RECONCILER. */
    const char *description; /* One line. */
    const kc_kind *kind;     /* The kind to reconcile. Defaults to the machine's. */

    /* The implementation: one of these two. With neither, `setup` does all the work. */
    kc_reconcile_fn *reconcile;
    /* Validated at setup. The handlers' context is a kc_context. */
    const kc_phase_machine *machine;

    const kc_kind *const *owns;   /* KC_KINDS(…) */
    const kc_watch_spec *watches; /* KC_WATCHES(…) */
    /* Called at setup; filters the events of all kinds. May be NULL. */
    kc_predicate *(*predicate)(kc_error *err);
    int workers;                /* Defaults to the app's. */
    int64_t timeout;            /* Of one reconcile. Defaults to none. */
    int64_t resync;             /* Period after which all objects are reconciled again. 0: never. */
    const kc_setting *settings; /* KC_SETTINGS(…) */

    /* The objects to reconcile. Each may be NULL: all objects. */
    bool (*key_filter)(kc_key key);
    const char *labels;            /* A label selector. */
    const char *const *namespaces; /* KC_NAMES(…) */

    /* Called before the controller is created: adds further controllers, indexes, state. *ret_user
     * becomes ctx->user of all reconciles; free it with kc_manager_defer. May be NULL. */
    int (*setup)(const kc_reconciler_setup *setup, void **ret_user, kc_error *err);
    /* Called on its own thread once the caches have synced. An error ends the program. */
    int (*after_sync)(kc_manager *manager, void *user, kc_error *err);

    bool disabled; /* Runs only if named explicitly; "*" does not include it. */
} kc_reconciler;

typedef struct kc__app_registration kc__app_registration;
/* Defines and registers `word_reconciler`. */
#define KC_RECONCILER(word)                                                               \
    extern const kc_reconciler word##_reconciler;                                         \
    static const kc__app_registration word##_registered_ = {#word, &word##_reconciler,    \
                                                            sizeof(kc_reconciler)};       \
    static const kc__app_registration *const word##_entry_ KC__APP_REGISTRATION_SECTION = \
        &word##_registered_;                                                              \
    const kc_reconciler word##_reconciler

/* ---- the program ---- */

typedef struct kc_app kc_app;

typedef struct kc_app_opts {
    const char *name;             /* Of the program. Defaults to "kubecontroller". */
    const kc_app_config *config;  /* Borrowed. Defaults to the default configuration. */
    const char *names;            /* Which reconcilers run: "*,-robot". Overrides the config. */
    const char *kubeconfig;       /* Overrides the config. */
    const char *context, *server; /* See kubeconfig.h. */
    const char *metrics_address, *health_address; /* Override the config. "": no server. */
    bool no_local_trust;                          /* See kc_manager_opts. */
    bool no_signal_handlers;                      /* The caller handles SIGINT and SIGTERM. */
    /* Crash recovery (controller.h) for the reconcilers of plugins. Controllers and webhook servers
     * that a plugin's setup creates set their own option. Defaults to off. */
    bool plugin_crash_recovery;
    kc_log *log;         /* Defaults to standard error. */
    kc_metrics *metrics; /* Defaults to a new registry. */
} kc_app_opts;

/* opts may be NULL. */
kc_app *kc_app_new(const kc_app_opts *opts);
/* Stops the app if it runs. NULL is allowed; returns NULL. */
kc_app *kc_app_free(kc_app *app);
KC_AUTO_DEFINE(kc_app, kc_app_free)

/* Sets the client. Defaults to a new client from the kubeconfig. Call before the app is prepared.
 */
void kc_app_set_client(kc_app *app, kc_client *client);
/* The user that reconcilers act as; the cache reads as the client's own (kc_manager_opts).
 * Borrowed. Call before the app is prepared. */
void kc_app_set_user(kc_app *app, const kc_client_user *user);
/* Keeps crash records across restarts (crash_journal.h). Borrowed. Call before the app is prepared.
 */
void kc_app_set_crash_journal(kc_app *app, kc_crash_journal *journal);
/* Adds a reconciler. KC_ALREADY_EXISTS when the name is taken, KC_INVALID when the definition is
 * not valid. */
int kc_app_add_reconciler(kc_app *app, const kc_reconciler *reconciler, kc_error *err);
/* Adds all reconcilers that are linked into the program or shared object that calls this function.
 */
static inline int kc_app_add_linked(kc_app *app, kc_error *err);
/* Loads a shared object, which stays loaded, and adds its reconcilers. Fails if it has none. */
int kc_app_add_plugin(kc_app *app, const char *path, kc_error *err);

/* The reconcilers of an app, sorted by name. */
typedef struct kc_app_entry {
    const char *name;
    const kc_reconciler *reconciler;
    const kc_kind *kind; /* May be NULL. */
    bool enabled;
    bool crash_recovery; /* See kc_app_opts.plugin_crash_recovery. */
} kc_app_entry;

/* The entry at index i; NULL past the last. No entry is enabled before kc_app_select. */
const kc_app_entry *kc_app_entry_at(const kc_app *app, size_t i);
/* Fails with NULL and KC_INVALID, and suggests the nearest name, when no reconciler has this name.
 */
const kc_app_entry *kc_app_find(const kc_app *app, const char *name, kc_error *err);
/* Selects the reconcilers to run. KC_INVALID, with the nearest name, for an unknown name. */
int kc_app_select(kc_app *app, kc_error *err);

/* Setup: validates all selected reconcilers and adds them to a manager that has not started. The
 * manager keeps what it needs of the app. The error names the reconciler. */
int kc_app_setup(kc_app *app, kc_manager *manager, kc_error *err);
/* PrepareRun: creates the manager from the configuration, checks that the server serves all kinds,
 * and calls kc_app_setup. Blocks. */
int kc_app_prepare_run(kc_app *app, kc_error *err);
/* Prepares the app if needed and runs it until a signal or a failure, as kc_manager_run does. */
int kc_app_run(kc_app *app, kc_error *err);
/* The manager; NULL before the app is prepared. */
kc_manager *kc_app_manager(kc_app *app);

/* Adds the linked reconcilers that `names` selects to a manager. For tests, and for programs that
 * create their own manager. */
static inline int kc_reconcilers_add(kc_manager *manager, const char *names, kc_error *err);

/* ---- implementation of the macro ---- */

#if defined(__has_attribute) && __has_attribute(retain)
#define KC__APP_RETAIN , retain
#else
#define KC__APP_RETAIN
#endif
#define KC__APP_REGISTRATION_SECTION __attribute__((section("kc_reconcilers"), used KC__APP_RETAIN))

struct kc__app_registration {
    const char *name;
    const kc_reconciler *reconciler;
    size_t size; /* Of a kc_reconciler when its file was compiled. */
};

/* Start and end of the section in the program or shared object that includes this header; the
 * linker defines these symbols. The functions that read them are inline because a shared libkc has
 * a section of its own. */
extern const kc__app_registration *const __start_kc_reconcilers[]
    __attribute__((weak, visibility("hidden")));
extern const kc__app_registration *const __stop_kc_reconcilers[]
    __attribute__((weak, visibility("hidden")));

int kc__app_add_section(kc_app *app, const kc__app_registration *const *begin,
                        const kc__app_registration *const *end, kc_error *err);
static inline KC_UNUSED int kc_app_add_linked(kc_app *app, kc_error *err)
{
    return kc__app_add_section(app, __start_kc_reconcilers, __stop_kc_reconcilers, err);
}

int kc__app_add_to_manager(kc_manager *manager, const char *names,
                           const kc__app_registration *const *begin,
                           const kc__app_registration *const *end, kc_error *err);
static inline KC_UNUSED int kc_reconcilers_add(kc_manager *manager, const char *names,
                                               kc_error *err)
{
    return kc__app_add_to_manager(manager, names, __start_kc_reconcilers, __stop_kc_reconcilers,
                                  err);
}

/* Symbol by which the library finds the section of a shared object. Every file of the object has a
 * copy of the function; the linker keeps one. */
#define KC__APP_PLUGIN_FUNCTION "kc_plugin_reconcilers"
typedef void kc__app_plugin_fn(const kc__app_registration *const **ret_begin,
                               const kc__app_registration *const **ret_end);
__attribute__((weak, visibility("default"))) void kc_plugin_reconcilers(
    const kc__app_registration *const **ret_begin, const kc__app_registration *const **ret_end);
__attribute__((weak, visibility("default"))) void kc_plugin_reconcilers(
    const kc__app_registration *const **ret_begin, const kc__app_registration *const **ret_end)
{
    *ret_begin = __start_kc_reconcilers;
    *ret_end = __stop_kc_reconcilers;
}

#endif
