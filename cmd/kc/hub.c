/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.c: `kc hub` runs all reconcilers in one process, `kc run NAME` one of them, against the API
 * server of a kubeconfig.
 *
 * Both run the same app (kc/app.h) with a different selection. Their flags are one table; `kc hub`
 * has the first N_HUB_FLAGS rows in addition. Only reconcilers of plugins have crash recovery.
 */
#include "hub.h"
#include "command.h"

#include "kc/json.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct cli_hub_options {
    kc__cli_flag_operands operands;
    const char *config;
    const char *kubeconfig, *context, *server;
    const char *names, *plugins;
    bool list, settings;
    const char *graph;
    kc_phase_graph_form graph_form;
    const char *metrics_address, *health_address, *state_dir;
    int verbosity;
} cli_hub_options;

#define FIELD(name)   .offset = offsetof(cli_hub_options, name)
#define RECONCILERS   "Reconcilers"
#define SERVER        "API server"
#define OBSERVABILITY "Observability"

static const kc__cli_flag_choice graph_formats[] = {
    {"dot", KC_PHASE_DOT, "Graphviz"},
    {"mermaid", KC_PHASE_MERMAID, "Mermaid"},
    {NULL},
};

/* As in controller-runtime: a word or a number. */
static const kc__cli_flag_choice zap_levels[] = {
    {"info", 0}, {"debug", 1}, {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3},   {"4", 4},
    {"5", 5},    {"6", 6},     {"7", 7}, {"8", 8}, {"9", 9}, {"10", 10}, {NULL},
};

static const kc__cli_flag flags[] = {
    {"controllers", .argument = "NAMES", .group = RECONCILERS, FIELD(names),
     .parse = kc__cli_flag_text,
     .help = "comma-separated list of reconcilers to run; '*' selects all, '-NAME' excludes one; "
             "defaults to the config file's list"},
    {"list", .group = RECONCILERS, FIELD(list), .parse = kc__cli_flag_switch,
     .help = "print the reconcilers, their kinds and whether they are enabled, and exit"},
    {"settings", .group = RECONCILERS, FIELD(settings), .parse = kc__cli_flag_switch,
     .help = "print the settings of the reconcilers with their defaults, as a part of the config "
             "file, and exit"},
    {"graph", .argument = "NAME", .group = RECONCILERS, FIELD(graph), .parse = kc__cli_flag_text,
     .help = "print a diagram of the phases of reconciler NAME and exit"},
    {"format", .argument = "FORMAT", .initial = "dot", .group = RECONCILERS, FIELD(graph_form),
     .choices = graph_formats, .help = "format of the --graph diagram"},

#define N_HUB_FLAGS 5
    {"config", 'c', .argument = "FILE", .group = RECONCILERS, FIELD(config),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "config file; without one its defaults apply",
     .details = "An example with all keys is configs/kubecontroller.yaml. Settings of single "
                "reconcilers are under the key reconcilers, for example "
                "reconcilers: {network: {service: http://127.0.0.1:6090}}. An unknown key is an "
                "error that names its line and the nearest key."},
    {"plugin", .argument = "FILES", .group = RECONCILERS, FIELD(plugins),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "colon-separated list of shared objects with further reconcilers",
     .details = "The files and the directories above them must belong to root or to the user that "
                "runs kc, and no other user may write to them. A reconcile of a plugin that "
                "crashes counts as failed; any other crash ends the process."},

    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file; defaults to the config file's, then to the one that kubectl uses"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc__cli_flag_text,
     .help = "context of the kubeconfig; defaults to its current context"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc__cli_flag_text,
     .help = "address of the API server, such as http://127.0.0.1:6080; overrides the kubeconfig"},

    {"metrics-bind-address", .argument = "ADDRESS", .group = OBSERVABILITY, FIELD(metrics_address),
     .parse = kc__cli_flag_text,
     .help = "address and port of /metrics, such as 127.0.0.1:18001; 0 or '' disables it; defaults "
             "to the config file's",
     .details = "An address without a host is on loopback. The default of the config file is "
                ":18001."},
    {"health-probe-bind-address", .argument = "ADDRESS", .group = OBSERVABILITY,
     FIELD(health_address), .parse = kc__cli_flag_text,
     .help = "address and port of /healthz, /readyz and /debug/queue; 0 or '' disables it; "
             "defaults to the config file's",
     .details = "The default of the config file is :18002. /healthz and /readyz need no "
                "authentication. The other pages, and /metrics, accept loopback clients that run "
                "as root or as this process's user, and bearer tokens that the API server accepts "
                "(TokenReview) for the path (SubjectAccessReview). Requests from web pages and "
                "proxies are refused."},
    {"state-dir", .argument = "DIR", .group = OBSERVABILITY, FIELD(state_dir),
     .parse = kc__cli_flag_text, .values = "DIR",
     .help = "directory that keeps quarantined keys (their reconcile crashed) across restarts; "
             "defaults to $STATE_DIRECTORY (systemd), then to memory only"},
    {"zap-log-level", .argument = "LEVEL", .initial = "0", .group = OBSERVABILITY, FIELD(verbosity),
     .choices = zap_levels, .help = "log verbosity, in addition to the config file's level"},
};

const kc__cli_flag_set kc__cli_hub_flags = {
    .verb = "hub",
    .synopsis = "Runs all reconcilers, or a selection, in one process, against any server of the "
                "Kubernetes API.",
    .examples = "  # With a config file\n"
                "  kc hub -c configs/kubecontroller.yaml\n"
                "\n"
                "  # All reconcilers except one\n"
                "  kc hub -s http://127.0.0.1:6080 --controllers='*,-banana'\n"
                "\n"
                "  # List reconcilers, those of a plugin included\n"
                "  kc hub --plugin=robot.so --list\n"
                "\n"
                "  # Draw a phase machine\n"
                "  kc hub --graph=banana | dot -Tsvg > banana.svg\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_hub_options),
};

const kc__cli_flag_set kc__cli_run_flags = {
    .verb = "run",
    .operands = "NAME",
    .operands_at = offsetof(cli_hub_options, operands),
    .synopsis = "Runs one reconciler. 'kc hub --list' prints their names.",
    .examples = "  kc run banana -c configs/kubecontroller.yaml\n"
                "  kc run dummy --kubeconfig=site.yaml --zap-log-level=4\n",
    .flags = flags + N_HUB_FLAGS,
    .n_flags = KC_COUNT(flags) - N_HUB_FLAGS,
    .size = sizeof(cli_hub_options),
};

/* ---- listing ---- */

static void print_kind(const kc_kind *kind, kc_buf *out)
{
    if (kind)
        kc_group_kind_write(out, (kc_group_kind){kc_cstr(kind->group), kc_cstr(kind->kind)});
    else
        kc_buf_puts(out, "-");
}

/* Widens the columns to fit the entry. */
static void cli_hub_measure(const kc_app_entry *entry, int *name, int *kind)
{
    kc_scoped(kc_buf) text = {0};
    print_kind(entry->kind, &text);
    *name = KC_MAX(*name, (int)strlen(entry->name));
    *kind = KC_MAX(*kind, (int)text.n);
}

static void print_row(const kc_app_entry *entry, int name, int kind)
{
    kc_scoped(kc_buf) text = {0};
    const char *description = entry->reconciler->description;
    print_kind(entry->kind, &text);
    printf("%-*s   %-*s   %-6s   %-7s   %s\n", name, entry->name, kind, kc_buf_cstr(&text),
           entry->reconciler->machine ? "yes" : "no", entry->enabled ? "yes" : "no",
           description ? description : "");
}

static int print_list(kc_app *app, kc_error *err)
{
    const kc_app_entry *entry;
    if (kc_app_select(app, err) < 0)
        return kc_error_result(err);
    int name = 0, kind = 0;
    for (size_t i = 0; (entry = kc_app_entry_at(app, i)); i++)
        cli_hub_measure(entry, &name, &kind);
    printf("%-*s   %-*s   PHASES   ENABLED   DESCRIPTION\n", name, "NAME", kind, "KIND");
    for (size_t i = 0; (entry = kc_app_entry_at(app, i)); i++)
        print_row(entry, name, kind);
    return 0;
}

/* Prints all settings with their defaults, as a part of a config file. */
static int print_settings(kc_app *app)
{
    const kc_app_entry *entry;
    puts("reconcilers:");
    for (size_t i = 0; (entry = kc_app_entry_at(app, i)); i++) {
        const kc_setting *row = entry->reconciler->settings;
        if (row && row->name)
            printf("  %s:\n", entry->name);
        for (; row && row->name; row++) {
            kc_scoped(kc_buf) value = {0};
            kc_json_quote(&value, kc_cstr(row->default_value));
            printf("    # %s\n    %s: %s\n", row->help, row->name, kc_buf_cstr(&value));
        }
    }
    return 0;
}

static int print_graph(kc_app *app, const cli_hub_options *o, kc_error *err)
{
    const kc_app_entry *entry = kc_app_find(app, o->graph, err);
    kc_scoped(kc_buf) out = {0};
    if (!entry)
        return kc_error_result(err);
    if (!entry->reconciler->machine)
        return kc_error_set(err, KC_INVALID, "reconciler \"%s\" has no phases", o->graph);
    kc_phase_graph(entry->reconciler->machine, o->graph_form, &out);
    fputs(kc_buf_cstr(&out), stdout);
    return 0;
}

/* ---- running ---- */

int kc__cli_load_plugins(kc_app *app, const char *plugins, kc_error *err)
{
    kc_str rest = kc_cstr(plugins);
    while (rest.p) {
        kc_autofree char *path = kc_str_dup(kc_str_cut(&rest, ':'));
        if (kc_app_add_plugin(app, path, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* Leaves *ret NULL if no state directory is set or nothing will run. */
static int open_journal(const cli_hub_options *o, kc_log *log, kc_crash_journal **ret,
                        kc_error *err)
{
    const char *dir = o->state_dir ? o->state_dir : getenv("STATE_DIRECTORY");
    if (!dir || !*dir || o->list || o->settings || o->graph)
        return 0;
    *ret = kc_crash_journal_open(dir, log, err);
    return *ret ? 0 : kc_error_wrap(err, "--state-dir");
}

static int cli_hub_run(const char *name, const cli_hub_options *o, kc_error *err)
{
    kc_auto(kc_crash_journal) *journal = NULL;
    kc_auto(kc_app_config) *config =
        o->config ? kc_app_config_load(o->config, err) : kc_app_config_parse(KC_STR(""), err);
    kc_auto(kc_log) *log = config ? kc_app_config_log(config, o->verbosity, err) : NULL;
    if (!log || open_journal(o, log, &journal, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.name = name,
                                                     .config = config,
                                                     .names = o->names,
                                                     .kubeconfig = o->kubeconfig,
                                                     .context = o->context,
                                                     .server = o->server,
                                                     .metrics_address = o->metrics_address,
                                                     .health_address = o->health_address,
                                                     .plugin_crash_recovery = true,
                                                     .log = log});
    kc_app_set_crash_journal(app, journal);
    if (kc_app_add_linked(app, err) < 0 || kc__cli_load_plugins(app, o->plugins, err) < 0)
        return kc_error_result(err);
    if (o->list)
        return print_list(app, err);
    if (o->settings)
        return print_settings(app);
    return o->graph ? print_graph(app, o, err) : kc_app_run(app, err);
}

static int cli_hub_finish(const char *verb, const cli_hub_options *o, const char *name)
{
    kc_scoped(kc_error) err = {0};
    if (cli_hub_run(name, o, &err) == 0)
        return 0;
    fprintf(stderr, "kc %s: %s\n", verb, kc_error_text(&err));
    return 1;
}

/* Returns the exit code, or -1 to continue. */
static int cli_hub_parse(const kc__cli_flag_set *set, int argc, char **argv, cli_hub_options *ret)
{
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(set, argc, argv, ret, &err);
    if (parsed < 0)
        return kc__cli_usage_error(set->verb, &err);
    if (parsed == 1)
        kc__cli_flags_help(set, stdout);
    return parsed == 1 ? 0 : -1;
}

int kc__cli_command_hub(int argc, char **argv)
{
    cli_hub_options o;
    const int code = cli_hub_parse(&kc__cli_hub_flags, argc, argv, &o);
    return code >= 0 ? code : cli_hub_finish("hub", &o, "kc-hub");
}

int kc__cli_command_run(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    cli_hub_options o;
    const int code = cli_hub_parse(&kc__cli_run_flags, argc, argv, &o);
    if (code >= 0)
        return code;
    if (o.operands.n != 1 || strpbrk(o.operands.items[0], "*,-")) {
        kc_error_set(&err, KC_INVALID,
                     "expected the name of one reconciler ('kc hub --list' prints them)");
        return kc__cli_usage_error("run", &err);
    }
    kc_autofree char *name = kc_asprintf("kc-run-%s", o.operands.items[0]);
    o.names = o.operands.items[0];
    return cli_hub_finish("run", &o, name);
}
