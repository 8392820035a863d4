/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h: programs of many reconcilers. A reconciler says what it is in one definition, and is there
 * wherever it is linked in:
 *
 *     KC_RECONCILER(robot) = {
 *         .description = "keeps a deployment for every robot",
 *         .kind = &robot_kind, .owns = KC_KINDS(&kc_kind_deployment),
 *         .reconcile = reconcile, .workers = 2,
 *     };
 *     KC_RECONCILER(redismigration) = {.machine = &redismigration_machine};      phase.h
 *
 * and a program of all there are, some of them switched off:
 *
 *     kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = "*,-robot"});
 *     if (kc_app_with_linked(app, &err) < 0 || kc_app_run(app, &err) < 0)
 *         return kc_manager_exit(&err);
 *
 * `kc hub` is that program. In a test, kc_reconcilers_add(kc_testenv_manager(env), "robot", &err).
 *
 * Linking. Definitions are found through a section of the program (kc_reconcilers), which the
 * linker makes of what every object file has in it. A file of a static library is only linked if
 * somebody needs one of its names, and nobody names a reconciler: such a library is to be linked
 * whole ($<LINK_LIBRARY:WHOLE_ARCHIVE,reconcilers> of CMake, -Wl,--whole-archive), as the project's
 * own are. A shared object has a section of its own, found when it is loaded: kc_app_with_plugin.
 *
 * A kc_app is for one thread, until it runs; definitions are constant, and live as long as it.
 */
#ifndef KC_APP_H
#define KC_APP_H

#include "kc/app_config.h"
#include "kc/controller.h"
#include "kc/phase.h"

/* What the config file may say to a reconciler: under reconcilers.NAME. */
typedef struct kc_setting {
    const char *name, *initial; /* Its value where the file says none. Not NULL. */
    const char *help;           /* For people; one line. */
} kc_setting;
#define KC_SETTINGS(...) ((const kc_setting[]){__VA_ARGS__, {0}})

/* What a reconciler is set up with. */
typedef struct kc_setup {
    kc_manager *manager;
    const char *const
        *settings;       /* Values, in the order of its rows; live as long as the manager. */
    kc_channel *channel; /* Keys sent there come to it, as those of objects do: what after_sync
                          * finds, what others tell. Lives as long as the manager. */
} kc_setup;

typedef struct kc_reconciler {
    const char *name;        /* Unique in a program. Defaults to the word of KC_RECONCILER. */
    const char *description; /* For people; one line. */
    const kc_kind *kind;     /* Whose objects it is for. Defaults to the machine's. */

    /* What it does, one of them; with neither, `setup` does it all. */
    kc_reconcile_fn *reconcile;
    const kc_phase_machine *machine; /* Checked at setup. Handlers' context is a kc_context. */

    const kc_kind *const *owns;                /* KC_KINDS(…) */
    const kc_watch_kind *watches;              /* KC_WATCHES(…) */
    kc_predicate *(*predicate)(kc_error *err); /* Made at setup: for all kinds. May be NULL. */
    int workers;                               /* Defaults to the program's. */
    int64_t timeout;                           /* Of one call. Defaults to none. */
    int64_t resync;                            /* All objects come by again so often. 0: never. */
    const kc_setting *settings;                /* KC_SETTINGS(…) */

    /* Which objects it sees; both may be NULL: all. */
    bool (*key_filter)(kc_key key);
    const char *labels;            /* A selector. */
    const char *const *namespaces; /* KC_NAMES(…) */

    /* Anything special, before its controller is made: further controllers, indexes, state. What it
     * leaves in *ret_user is ctx->user of its calls; kc_manager_keep frees it. May be NULL. */
    int (*setup)(const kc_setup *setup, void **ret_user, kc_error *err);
    /* Once its objects are in the cache, on a thread of its own; an error ends the program. */
    int (*after_sync)(kc_manager *manager, void *user, kc_error *err);

    bool disabled; /* Only runs where somebody names it: "*" does not mean it. */
} kc_reconciler;

typedef struct kc__registered kc__registered;
/* Defines `word_reconciler`, and has it found. */
#define KC_RECONCILER(word)                                                      \
    extern const kc_reconciler word##_reconciler;                                \
    static const kc__registered word##_registered_ = {#word, &word##_reconciler, \
                                                      sizeof(kc_reconciler)};    \
    static const kc__registered *const word##_entry_ KC__REGISTERED_ATTRIBUTES = \
        &word##_registered_;                                                     \
    const kc_reconciler word##_reconciler

/* ---- the program ---- */

typedef struct kc_app kc_app;

typedef struct kc_app_opts {
    const char *name;             /* Of the program. Defaults to "kubecontroller". */
    const kc_app_config *config;  /* Borrowed. Defaults to the defaults. */
    const char *names;            /* Which reconcilers, instead of the config's: "*,-robot". */
    const char *kubeconfig;       /* Instead of the config's. */
    const char *context, *server; /* See kubeconfig.h. */
    const char *metrics_address, *health_address; /* Instead of the config's. "": nowhere. */
    bool leave_signals;                           /* SIGINT and SIGTERM are the caller's. */
    kc_log *log;                                  /* Defaults to standard error. */
    kc_metrics *metrics;                          /* Defaults to a registry of its own. */
} kc_app_opts;

/* opts may be NULL. */
kc_app *kc_app_new(const kc_app_opts *opts);
/* Stops it if it runs. NULL is allowed; returns NULL. */
kc_app *kc_app_free(kc_app *app);
KC_AUTO_DEFINE(kc_app, kc_app_free)

/* Its requests go by this client, instead of one by a kubeconfig. Before it is prepared. */
void kc_app_with_client(kc_app *app, kc_client *client);
/* With: one more. KC_ALREADY_EXISTS when its name is taken, KC_INVALID when it is none. */
int kc_app_with(kc_app *app, const kc_reconciler *reconciler, kc_error *err);
/* All that are linked in: into the program or shared object that calls it. */
static inline int kc_app_with_linked(kc_app *app, kc_error *err);
/* Those of a shared object, which stays loaded; one that has none is an error. */
int kc_app_with_plugin(kc_app *app, const char *path, kc_error *err);

/* What is there, in the order of names. */
typedef struct kc_app_entry {
    const char *name;
    const kc_reconciler *reconciler;
    const kc_kind *kind; /* May be NULL. */
    bool enabled;
} kc_app_entry;

/* By number; NULL behind the last. The choice is made (kc_app_choose) or none is enabled. */
const kc_app_entry *kc_app_at(const kc_app *app, size_t i);
/* NULL with KC_INVALID, and the nearest name, when it is not there. */
const kc_app_entry *kc_app_find(const kc_app *app, const char *name, kc_error *err);
/* Makes the choice among them: KC_INVALID, with the nearest name, for one that there is not. */
int kc_app_choose(kc_app *app, kc_error *err);

/* Setup: checks all that are chosen, then adds them to a manager, which has not started yet; what
 * is needed of the app lives with the manager from then on. The error names the reconciler. */
int kc_app_setup(kc_app *app, kc_manager *manager, kc_error *err);
/* PrepareRun: makes the manager of the configuration, sees that the server has all kinds, and sets
 * up. Blocks. */
int kc_app_prepare_run(kc_app *app, kc_error *err);
/* Prepares if that was not done, and runs until a signal or a failure, as kc_manager_run. */
int kc_app_run(kc_app *app, kc_error *err);
/* Once it is prepared; NULL before. */
kc_manager *kc_app_manager(kc_app *app);

/* All that are linked in and named by `names`, added to a manager. For tests, and programs that
 * have a manager of their own. */
static inline int kc_reconcilers_add(kc_manager *manager, const char *names, kc_error *err);

/* ---- behind the macro ---- */

#if defined(__has_attribute) && __has_attribute(retain)
#define KC__RETAIN , retain
#else
#define KC__RETAIN
#endif
#define KC__REGISTERED_ATTRIBUTES __attribute__((section("kc_reconcilers"), used KC__RETAIN))

struct kc__registered {
    const char *name;
    const kc_reconciler *reconciler;
    size_t size; /* Of a kc_reconciler, as its file was compiled. */
};

/* The section's two ends in the program or shared object that this is linked into: the linker makes
 * these names. So what asks for them stands here and not in the library, which has a section of its
 * own where it is shared. */
extern const kc__registered *const __start_kc_reconcilers[]
    __attribute__((weak, visibility("hidden")));
extern const kc__registered *const __stop_kc_reconcilers[]
    __attribute__((weak, visibility("hidden")));

int kc__app_with_section(kc_app *app, const kc__registered *const *begin,
                         const kc__registered *const *end, kc_error *err);
static inline KC_UNUSED int kc_app_with_linked(kc_app *app, kc_error *err)
{
    return kc__app_with_section(app, __start_kc_reconcilers, __stop_kc_reconcilers, err);
}

int kc__reconcilers_add(kc_manager *manager, const char *names, const kc__registered *const *begin,
                        const kc__registered *const *end, kc_error *err);
static inline KC_UNUSED int kc_reconcilers_add(kc_manager *manager, const char *names,
                                               kc_error *err)
{
    return kc__reconcilers_add(manager, names, __start_kc_reconcilers, __stop_kc_reconcilers, err);
}

/* A shared object is asked for its section by this name: of the copies that its files have of it,
 * the linker keeps one. */
#define KC__PLUGIN_FUNCTION "kc_plugin_reconcilers"
typedef void kc__plugin_fn(const kc__registered *const **ret_begin,
                           const kc__registered *const **ret_end);
__attribute__((weak, visibility("default"))) void kc_plugin_reconcilers(
    const kc__registered *const **ret_begin, const kc__registered *const **ret_end);
__attribute__((weak, visibility("default"))) void kc_plugin_reconcilers(
    const kc__registered *const **ret_begin, const kc__registered *const **ret_end)
{
    *ret_begin = __start_kc_reconcilers;
    *ret_end = __stop_kc_reconcilers;
}

#endif
