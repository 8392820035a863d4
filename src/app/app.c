/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.c: a program of reconcilers: their registration and selection, and the manager they run in.
 *
 *     with, with_linked, with_plugin ──▶ choose ──▶ setup ──▶ run
 *
 * Entries are sorted by name, so that lists, setups and errors do not depend on link order. All
 * selected reconcilers are validated before the first setup: errors appear before anything has
 * happened.
 */
#include "app/app_internal.h"

#include "kc/kubeconfig.h"
#include "kc/select_names.h"
#include "kc/vec.h"

struct kc_app {
    kc_app_opts opts;
    char *name, *names;
    kc_app_config *defaults; /* Default of the option. */
    const kc_app_config *config;
    KC_VEC(kc_app_entry) entries;
    kc_client *client;               /* NULL: from a kubeconfig. */
    const kc_client_user *act_as;    /* NULL: the client's own. */
    kc_crash_journal *crash_journal; /* Borrowed; NULL: none. */
    kc_manager *manager;             /* Owned; for kc_app_prepare_run. */
    bool chosen;
};

/* Combines "*" and "-robot" to "*,-robot". */
static char *app_join(const char *const *words)
{
    kc_buf out = {0};
    for (; *words; words++)
        kc_buf_printf(&out, "%s%s", out.n ? "," : "", *words);
    return kc_buf_take(&out);
}

kc_app *kc_app_new(const kc_app_opts *opts)
{
    kc_app *app = kc_new(kc_app);
    app->opts = opts ? *opts : (kc_app_opts){0};
    app->name = kc_strdup(app->opts.name ? app->opts.name : "kubecontroller");
    app->config = app->opts.config;
    if (!app->config)
        app->config = app->defaults = kc_app_config_parse(KC_STR(""), NULL);
    app->names =
        app->opts.names ? kc_strdup(app->opts.names) : app_join(app->config->manager.reconcilers);
    return app;
}

kc_app *kc_app_free(kc_app *app)
{
    if (!app)
        return NULL;
    kc_manager_free(app->manager);
    kc_client_unref(app->client);
    kc_app_config_free(app->defaults);
    kc_vec_done(&app->entries);
    free(app->names);
    free(app->name);
    free(app);
    return NULL;
}

/* ---- registration ---- */

void kc_app_set_client(kc_app *app, kc_client *client)
{
    kc_client_unref(app->client);
    app->client = kc_client_ref(client);
}

void kc_app_set_user(kc_app *app, const kc_client_user *user)
{
    app->act_as = user;
}

void kc_app_set_crash_journal(kc_app *app, kc_crash_journal *journal)
{
    app->crash_journal = journal;
}

static int app_by_name(const void *a, const void *b)
{
    return strcmp(((const kc_app_entry *)a)->name, ((const kc_app_entry *)b)->name);
}

/* A definition and where it comes from. */
typedef struct app_definition {
    const char *word; /* The default name; may be NULL. */
    const kc_reconciler *reconciler;
    bool crash_recovery;
} app_definition;

static int app_add(kc_app *app, const app_definition *definition, kc_error *err)
{
    const kc_reconciler *reconciler = definition->reconciler;
    kc_app_entry entry = {.name = reconciler->name ? reconciler->name : definition->word,
                          .reconciler = reconciler,
                          .kind = reconciler->kind,
                          .crash_recovery = definition->crash_recovery};
    if (!entry.name || !*entry.name)
        return kc_error_set(err, KC_INVALID, "reconciler without a name");
    if (entry.name[0] == '-' || strpbrk(entry.name, "*, "))
        return kc_error_set(err, KC_INVALID, "\"%s\" is not a valid reconciler name", entry.name);
    if (kc_app_find(app, entry.name, NULL))
        return kc_error_set(err, KC_ALREADY_EXISTS, "duplicate reconciler \"%s\"", entry.name);
    if (!entry.kind && reconciler->machine)
        entry.kind = reconciler->machine->kind;
    kc_vec_push(&app->entries, entry);
    kc_vec_sort(&app->entries, app_by_name);
    app->chosen = false;
    return 0;
}

int kc_app_add_reconciler(kc_app *app, const kc_reconciler *reconciler, kc_error *err)
{
    return app_add(app, &(app_definition){.reconciler = reconciler}, err);
}

static int add_registrations(kc_app *app, const kc__app_registration *const *begin,
                             const kc__app_registration *const *end, bool crash_recovery,
                             kc_error *err)
{
    for (; begin != end; begin++) {
        if ((*begin)->size != sizeof(kc_reconciler))
            return kc_error_set(err, KC_INVALID,
                                "reconciler \"%s\" was compiled with headers of another version",
                                (*begin)->name);
        const app_definition definition = {.word = (*begin)->name,
                                           .reconciler = (*begin)->reconciler,
                                           .crash_recovery = crash_recovery};
        if (app_add(app, &definition, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

int kc__app_add_section(kc_app *app, const kc__app_registration *const *begin,
                        const kc__app_registration *const *end, kc_error *err)
{
    return add_registrations(app, begin, end, false, err);
}

int kc__app_add_plugin_section(kc_app *app, const kc__app_registration *const *begin,
                               const kc__app_registration *const *end, kc_error *err)
{
    return add_registrations(app, begin, end, app->opts.plugin_crash_recovery, err);
}

/* ---- selection ---- */

const kc_app_entry *kc_app_entry_at(const kc_app *app, size_t i)
{
    return i < app->entries.n ? &app->entries.items[i] : NULL;
}

const char **kc__app_names(const kc_app *app)
{
    const char **names = kc_calloc(app->entries.n + 1, sizeof(*names));
    for (size_t i = 0; i < app->entries.n; i++)
        names[i] = app->entries.items[i].name;
    return names;
}

const kc_app_entry *kc_app_find(const kc_app *app, const char *name, kc_error *err)
{
    kc_vec_each (&app->entries, entry)
        if (!strcmp(entry->name, name))
            return entry;
    kc_autofree const char **names = kc__app_names(app);
    kc_autofree bool *chosen = kc_calloc(app->entries.n + 1, sizeof(*chosen));
    if (kc_select_names(name, "reconciler", names, app->entries.n, chosen, err) == 0)
        kc_error_set(err, KC_INVALID, "expected the name of one reconciler, not \"%s\"", name);
    return NULL;
}

/* Whether a reconciler that is off by default is named, and last so: "*" does not include it. */
static bool app_is_named(const char *names, const char *name)
{
    kc_str rest = kc_cstr(names);
    bool named = false;
    while (rest.p) {
        const kc_str word = kc_str_trim(kc_str_cut(&rest, ','));
        if (kc_str_is(word, name))
            named = true;
        else if (kc_str_starts(word, KC_STR("-")))
            named = named && !kc_str_is(kc_str_sub(word, 1, word.n), name);
    }
    return named;
}

int kc_app_select(kc_app *app, kc_error *err)
{
    const size_t n = app->entries.n;
    kc_autofree const char **names = kc__app_names(app);
    kc_autofree bool *chosen = kc_calloc(n + 1, sizeof(*chosen));
    if (kc_select_names(app->names, "reconciler", names, n, chosen, err) < 0 ||
        kc__app_settings_check(app->config, app, err) < 0)
        return kc_error_result(err);
    kc_vec_each (&app->entries, entry)
        entry->enabled = chosen[entry - app->entries.items] &&
                         (!entry->reconciler->disabled || app_is_named(app->names, entry->name));
    app->chosen = true;
    return 0;
}

/* ---- setup ---- */

static bool sees_all(const kc_reconciler *r)
{
    return !r->key_filter && !r->labels && !r->namespaces;
}

/* Both would write status.phase. With selectors on both, their objects may be disjoint. */
static bool would_meet(const kc_app_entry *a, const kc_app_entry *b)
{
    if (!a->enabled || !b->enabled || !a->reconciler->machine || !b->reconciler->machine)
        return false;
    const kc_gvk one = kc_kind_gvk(a->kind), other = kc_kind_gvk(b->kind);
    return kc_str_eq(one.group, other.group) && kc_str_eq(one.kind, other.kind) &&
           (sees_all(a->reconciler) || sees_all(b->reconciler));
}

static int check_machines(const kc_app *app, kc_error *err)
{
    for (size_t i = 1; i < app->entries.n; i++) {
        const kc_app_entry *b = &app->entries.items[i];
        for (const kc_app_entry *a = app->entries.items; a < b; a++)
            if (would_meet(a, b))
                return kc_error_set(err, KC_INVALID,
                                    "reconcilers %s and %s are both phase machines of %s; "
                                    "disable one, or give each a selector",
                                    a->name, b->name, a->kind->kind);
    }
    return 0;
}

int kc_app_setup(kc_app *app, kc_manager *manager, kc_error *err)
{
    if (!app->chosen && kc_app_select(app, err) < 0)
        return kc_error_result(err);
    kc_vec_each (&app->entries, entry)
        if (entry->enabled && kc__app_reconciler_check(entry, err) < 0)
            return kc_error_wrap(err, "reconciler %s", entry->name);
    if (check_machines(app, err) < 0)
        return kc_error_result(err);
    kc_vec_each (&app->entries, entry)
        if (entry->enabled && kc__app_reconciler_bind(entry, manager, app->config, err) < 0)
            return kc_error_wrap(err, "reconciler %s", entry->name);
    return 0;
}

/* ---- running ---- */

static kc_config *load_config(const kc_app *app, kc_error *err)
{
    const char *path =
        app->opts.kubeconfig ? app->opts.kubeconfig : app->config->manager.kubeconfig;
    return kc_config_load(&(kc_config_opts){.path = path && *path ? path : NULL,
                                            .context = app->opts.context,
                                            .server = app->opts.server},
                          err);
}

/* Without a host: loopback, because there is no authentication. NULL: disabled. */
static char *address_of(const char *flag, const char *text)
{
    text = flag ? flag : text;
    if (!*text || !strcmp(text, "0")) /* "0" disables it, as in controller-runtime. */
        return NULL;
    return text[0] == ':' ? kc_asprintf("127.0.0.1%s", text) : kc_strdup(text);
}

static kc_manager *app_make_manager(const kc_app *app, kc_error *err)
{
    const kc_app_config *c = app->config;
    kc_auto(kc_config) *config = app->client ? NULL : load_config(app, err);
    kc_autofree char *metrics = address_of(app->opts.metrics_address, c->manager.metrics_address);
    kc_autofree char *health = address_of(app->opts.health_address, c->manager.health_address);
    if (!config && !app->client)
        return NULL;
    kc_manager_opts opts = {.name = app->name,
                            .client = app->client,
                            .act_as = app->act_as,
                            .config = config,
                            .no_signal_handlers = app->opts.no_signal_handlers,
                            .crash_journal = app->crash_journal,
                            .log = app->opts.log,
                            .metrics = app->opts.metrics,
                            .metrics_address = metrics,
                            .health_address = health,
                            .no_local_trust = app->opts.no_local_trust};
    if (c->manager.leader_elect)
        opts.election = (kc_election_opts){.name = app->name,
                                           .ns = c->manager.lease_namespace,
                                           .duration = c->manager.lease_duration,
                                           .renew = c->manager.lease_renew,
                                           .retry = c->manager.lease_retry,
                                           .release = true};
    return kc_manager_new(&opts, err);
}

/* A cache would wait for the missing kind; the user should see an error. */
static int check_kinds(kc_app *app, kc_error *err)
{
    kc_vec_each (&app->entries, entry) {
        if (!entry->enabled || !entry->kind)
            continue;
        kc_scoped(kc_error) why = {0};
        const kc_gvk gvk = kc_kind_gvk(entry->kind);
        if (kc_client_kind(kc_manager_live_client(app->manager), gvk, &why))
            continue;
        if (!kc_is_not_found(&why))
            return kc_error_move(err, &why);
        return kc_error_set(err, KC_NOT_FOUND,
                            "reconciler %s: the server has no kind %s of %s/%s; apply its "
                            "CustomResourceDefinition first",
                            entry->name, entry->kind->kind,
                            entry->kind->group ? entry->kind->group : "", entry->kind->version);
    }
    return 0;
}

int kc_app_prepare_run(kc_app *app, kc_error *err)
{
    if (kc_app_select(app, err) < 0)
        return kc_error_result(err);
    kc_manager *manager = app->manager = app_make_manager(app, err);
    if (!manager || check_kinds(app, err) < 0 || kc_app_setup(app, manager, err) < 0) {
        app->manager = kc_manager_free(manager);
        return kc_error_result(err);
    }
    return 0;
}

int kc_app_run(kc_app *app, kc_error *err)
{
    if (!app->manager && kc_app_prepare_run(app, err) < 0)
        return kc_error_result(err);
    return kc_manager_run(app->manager, err);
}

kc_manager *kc_app_manager(kc_app *app)
{
    return app->manager;
}

int kc__app_add_to_manager(kc_manager *manager, const char *names,
                           const kc__app_registration *const *begin,
                           const kc__app_registration *const *end, kc_error *err)
{
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.names = names});
    return kc__app_add_section(app, begin, end, err) < 0 ? kc_error_result(err)
                                                         : kc_app_setup(app, manager, err);
}
