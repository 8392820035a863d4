/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.c: `kc hub`, every reconciler there is in one process, and `kc run NAME`, one of them:
 * against any server a kubeconfig names.
 *
 * Both are the same program (kc/app.h) with another choice; so their flags are one table, of which
 * the hub has the rows at its beginning more.
 */
#include "hub.h"
#include "verb.h"

#include "kc/json.h"

#include <stddef.h>

typedef struct options {
    kc_flag_operands operands;
    const char *config;
    const char *kubeconfig, *context, *server;
    const char *names, *plugins;
    bool list, settings;
    const char *graph;
    kc_phase_graph_form graph_form;
    const char *metrics_address, *health_address;
    int verbosity;
} options;

#define FIELD(name) .offset = offsetof(options, name)
#define CHOICE      "Reconcilers"
#define SERVER      "Server"
#define WATCHING    "Watching it"

static int parse_form(const char *text, void *ret, kc_error *err)
{
    if (strcmp(text, "dot") != 0 && strcmp(text, "mermaid") != 0)
        return kc_error_set(err, KC_INVALID, "'%s' is neither dot nor mermaid", text);
    *(kc_phase_graph_form *)ret = *text == 'd' ? KC_PHASE_DOT : KC_PHASE_MERMAID;
    return 0;
}

/* As controller-runtime has it: a word, or a number. */
static int parse_zap_level(const char *text, void *ret, kc_error *err)
{
    if (!strcmp(text, "info") || !strcmp(text, "debug")) {
        *(int *)ret = *text == 'd';
        return 0;
    }
    return kc_flag_verbosity(text, ret, err);
}

static const kc_flag flags[] = {
    {"controllers", .argument = "NAMES", .group = CHOICE, FIELD(names), .parse = kc_flag_text,
     .help = "which, with commas between them: '*' is all, '-name' not this one; defaults to the "
             "config file's"},
    {"list", .group = CHOICE, FIELD(list), .parse = kc_flag_switch,
     .help = "print which there are, their kinds and whether they are enabled, and end"},
    {"settings", .group = CHOICE, FIELD(settings), .parse = kc_flag_switch,
     .help = "print what the config file may say to single reconcilers, with the defaults, and "
             "end"},
    {"graph", .argument = "NAME", .group = CHOICE, FIELD(graph), .parse = kc_flag_text,
     .help = "print a diagram of a reconciler's phases, and end"},
    {"format", .argument = "FORMAT", .initial = "dot", .group = CHOICE, FIELD(graph_form),
     .parse = parse_form, .values = "dot mermaid", .help = "of the diagram: dot or mermaid"},

#define N_HUB_FLAGS 5
    {"config", 'c', .argument = "FILE", .group = CHOICE, FIELD(config), .parse = kc_flag_text,
     .values = "FILE", .help = "the config file; without one, its defaults"},
    {"plugin", .argument = "FILES", .group = CHOICE, FIELD(plugins), .parse = kc_flag_text,
     .values = "FILE", .help = "shared objects with further reconcilers, ':' between them"},

    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig), .parse = kc_flag_text,
     .values = "FILE",
     .help = "where the server is; defaults to the config file's, then kubectl's"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc_flag_text,
     .help = "which context of it; defaults to its current one"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc_flag_text,
     .help = "another address of the server: http://127.0.0.1:6080"},

    {"metrics-bind-address", .argument = "ADDRESS", .group = WATCHING, FIELD(metrics_address),
     .parse = kc_flag_text,
     .help = "where /metrics is: 127.0.0.1:18001; '' is nowhere; defaults to the config file's"},
    {"health-probe-bind-address", .argument = "ADDRESS", .group = WATCHING, FIELD(health_address),
     .parse = kc_flag_text,
     .help = "where /healthz, /readyz and /debug/queue are; defaults to the config file's"},
    {"zap-log-level", .argument = "LEVEL", .initial = "0", .group = WATCHING, FIELD(verbosity),
     .parse = parse_zap_level, .values = "0 1 2 3 4 5 6 7 8 9 10 info debug",
     .help = "how much to log, beside the config file's level: from 0 to 10, info or debug"},
};

const kc_flag_set kc_hub_flags = {
    .verb = "hub",
    .synopsis = "Runs every reconciler, or some of them, in one process, against any server of the "
                "Kubernetes API.",
    .examples = "  kc hub -c configs/kubecontroller.yaml\n"
                "  kc hub -s http://127.0.0.1:6080 --controllers='*,-banana'\n"
                "  kc hub --plugin=robot.so --list\n"
                "  kc hub --graph=banana | dot -Tsvg > banana.svg\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

const kc_flag_set kc_run_flags = {
    .verb = "run",
    .operands = "NAME",
    .operands_at = offsetof(options, operands),
    .synopsis = "Runs one reconciler. 'kc hub --list' says which there are.",
    .examples = "  kc run banana -c configs/kubecontroller.yaml\n"
                "  kc run dummy --kubeconfig=site.yaml --zap-log-level=4\n",
    .flags = flags + N_HUB_FLAGS,
    .n_flags = KC_COUNT(flags) - N_HUB_FLAGS,
    .size = sizeof(options),
};

/* ---- what there is ---- */

static void print_kind(const kc_kind *kind, kc_buf *out)
{
    if (kind)
        kc_group_kind_write(out, (kc_group_kind){kc_cstr(kind->group), kc_cstr(kind->kind)});
    else
        kc_buf_puts(out, "-");
}

/* How wide its columns are. */
static void measure(const kc_app_entry *entry, int *name, int *kind)
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
    if (kc_app_choose(app, err) < 0)
        return -1;
    int name = 0, kind = 0;
    for (size_t i = 0; (entry = kc_app_at(app, i)); i++)
        measure(entry, &name, &kind);
    printf("%-*s   %-*s   PHASES   ENABLED   DESCRIPTION\n", name, "NAME", kind, "KIND");
    for (size_t i = 0; (entry = kc_app_at(app, i)); i++)
        print_row(entry, name, kind);
    return 0;
}

/* A part of a config file: all settings there are, with their defaults. */
static int print_settings(kc_app *app)
{
    const kc_app_entry *entry;
    puts("reconcilers:");
    for (size_t i = 0; (entry = kc_app_at(app, i)); i++) {
        const kc_setting *row = entry->reconciler->settings;
        if (row && row->name)
            printf("  %s:\n", entry->name);
        for (; row && row->name; row++) {
            kc_scoped(kc_buf) value = {0};
            kc_json_quote(&value, kc_cstr(row->initial));
            printf("    # %s\n    %s: %s\n", row->help, row->name, kc_buf_cstr(&value));
        }
    }
    return 0;
}

static int print_graph(kc_app *app, const options *o, kc_error *err)
{
    const kc_app_entry *entry = kc_app_find(app, o->graph, err);
    kc_scoped(kc_buf) out = {0};
    if (!entry)
        return -1;
    if (!entry->reconciler->machine)
        return kc_error_set(err, KC_INVALID, "reconciler \"%s\" has no phases", o->graph);
    kc_phase_graph(entry->reconciler->machine, o->graph_form, &out);
    fputs(kc_buf_cstr(&out), stdout);
    return 0;
}

/* ---- running ---- */

int kc__load_plugins(kc_app *app, const char *plugins, kc_error *err)
{
    kc_str rest = kc_cstr(plugins);
    while (rest.p) {
        kc_autofree char *path = kc_str_dup(kc_str_cut(&rest, ':'));
        if (kc_app_with_plugin(app, path, err) < 0)
            return -1;
    }
    return 0;
}

static int run(const char *name, const options *o, kc_error *err)
{
    kc_auto(kc_app_config) *config =
        o->config ? kc_app_config_load(o->config, err) : kc_app_config_parse(KC_STR(""), err);
    kc_auto(kc_log) *log = config ? kc_app_config_log(config, o->verbosity, err) : NULL;
    if (!log)
        return -1;
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.name = name,
                                                     .config = config,
                                                     .names = o->names,
                                                     .kubeconfig = o->kubeconfig,
                                                     .context = o->context,
                                                     .server = o->server,
                                                     .metrics_address = o->metrics_address,
                                                     .health_address = o->health_address,
                                                     .log = log});
    if (kc_app_with_linked(app, err) < 0 || kc__load_plugins(app, o->plugins, err) < 0)
        return -1;
    if (o->list)
        return print_list(app, err);
    if (o->settings)
        return print_settings(app);
    return o->graph ? print_graph(app, o, err) : kc_app_run(app, err);
}

static int finish(const char *verb, const options *o, const char *name)
{
    kc_scoped(kc_error) err = {0};
    if (run(name, o, &err) == 0)
        return 0;
    fprintf(stderr, "kc %s: %s\n", verb, kc_error_text(&err));
    return 1;
}

/* The exit code, or -1: go on. */
static int parse(const kc_flag_set *set, int argc, char **argv, options *ret)
{
    kc_scoped(kc_error) err = {0};
    const int parsed = kc_flags_parse(set, argc, argv, ret, &err);
    if (parsed < 0)
        return kc_called_wrongly(set->verb, &err);
    if (parsed == 1)
        kc_flags_help(set, stdout);
    return parsed == 1 ? 0 : -1;
}

int kc_verb_hub(int argc, char **argv)
{
    options o;
    const int code = parse(&kc_hub_flags, argc, argv, &o);
    return code >= 0 ? code : finish("hub", &o, "kc-hub");
}

int kc_verb_run(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    options o;
    const int code = parse(&kc_run_flags, argc, argv, &o);
    if (code >= 0)
        return code;
    if (o.operands.n != 1 || strpbrk(o.operands.items[0], "*,-")) {
        kc_error_set(&err, KC_INVALID, "name one reconciler ('kc hub --list' shows them)");
        return kc_called_wrongly("run", &err);
    }
    kc_autofree char *name = kc_asprintf("kc-run-%s", o.operands.items[0]);
    o.names = o.operands.items[0];
    return finish("run", &o, name);
}
