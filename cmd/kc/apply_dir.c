/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_dir.c: `kc apply-dir DIR` applies a directory of manifests, once or after each change.
 *
 * The apply set records which objects came from the directory. Two directories must not share a
 * set: each would delete the objects of the other. So the default name of the set contains a hash
 * of the host's name and the path; --applyset names one explicitly, as kubectl does, for example
 * for the checkouts of a build server.
 *
 * Standard output has a line per object, as kubectl prints it; standard error has the failures.
 */
#include "colour.h"
#include "command.h"
#include "signals.h"

#include "kc/ascii.h"
#include "kc/kinds.h"
#include "runtime/manifests/manifests.h"

#include <openssl/sha.h>
#include <stddef.h>
#include <unistd.h>

/* For Events of a command that is about to end. */
#define EVENTS_TIMEOUT (5 * KC_SECOND)

typedef struct apply_dir_options {
    kc__cli_flag_operands operands;
    const char *kubeconfig, *context, *server, *ns;
    const char *set, *field_manager;
    bool prune, force, dry_run, watch;
    int64_t resync;
    int verbosity;
    kc_log_format log_format;
} apply_dir_options;

#define FIELD(name)   .offset = offsetof(apply_dir_options, name)
#define SERVER        "API server"
#define APPLYING      "Applying"
#define OBSERVABILITY "Observability"

static const kc__cli_flag flags[] = {
    {"watch", 'w', .group = APPLYING, FIELD(watch), .parse = kc__cli_flag_switch,
     .help = "keep running and apply again after each change of the directory"},
    {"prune", .initial = "true", .group = APPLYING, FIELD(prune), .parse = kc__cli_flag_switch,
     .help = "delete objects that were applied before and left the directory",
     .details = "Nothing is deleted while a file is invalid or an object is refused."},
    {"applyset", .argument = "NAME", .group = APPLYING, FIELD(set), .parse = kc__cli_flag_text,
     .help = "parent of the apply set: secrets/NAME, configmaps/NAME, or NAME for a Secret; in "
             "--namespace; defaults to a ConfigMap named after the directory and this host",
     .details = "The set records which objects came from the directory. Two directories must not "
                "share one: each would delete the objects of the other."},
    {"force-conflicts", .initial = "true", .group = APPLYING, FIELD(force),
     .parse = kc__cli_flag_switch,
     .help = "take over fields that other field managers changed; otherwise they are errors"},
    {"field-manager", .argument = "NAME", .initial = "kc-manifests", .group = APPLYING,
     FIELD(field_manager), .parse = kc__cli_flag_text,
     .help = "owner of the applied fields in managedFields"},
    {"dry-run", .group = APPLYING, FIELD(dry_run), .parse = kc__cli_flag_switch,
     .help = "send requests that the server validates and does not store"},
    {"resync", .argument = "DURATION", .initial = "10m0s", .group = APPLYING, FIELD(resync),
     .parse = kc__cli_flag_resync,
     .help = "with --watch, interval at which objects that were changed on the server are "
             "restored; at least 1m"},

    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file; defaults to the one that kubectl uses"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc__cli_flag_text,
     .help = "context of the kubeconfig; defaults to its current context"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc__cli_flag_text,
     .help = "address of the API server, such as http://127.0.0.1:6080; overrides the kubeconfig"},
    {"namespace", 'n', .argument = "NAME", .group = SERVER, FIELD(ns), .parse = kc__cli_flag_text,
     .help = "namespace of objects that state none, and of the apply set; defaults to the "
             "context's"},

    {"v", 'v', .argument = "N", .initial = "0", .group = OBSERVABILITY, FIELD(verbosity),
     .choices = kc__cli_flag_verbosities, .help = "log verbosity; 0 logs warnings only"},
    {"log-format", .argument = "FORMAT", .initial = "console", .group = OBSERVABILITY,
     FIELD(log_format), .choices = kc__cli_flag_log_formats, .help = "log format"},
};

const kc__cli_flag_set kc__cli_apply_dir_flags = {
    .verb = "apply-dir",
    .operands = "DIR",
    .operands_at = offsetof(apply_dir_options, operands),
    .operand_is_dir = true,
    .synopsis = "Applies the manifests of a directory and its subdirectories (*.yaml, *.yml, "
                "*.json) by server-side apply,\nand deletes the objects that it applied before and "
                "that left the directory.",
    .examples = "  # Once; exit code 1 if a file or an object failed\n"
                "  kc apply-dir manifests -s http://127.0.0.1:6080\n"
                "\n"
                "  # After each change, until Ctrl-C\n"
                "  kc apply-dir manifests --kubeconfig=site.yaml --watch\n"
                "\n"
                "  # What would change?\n"
                "  kc apply-dir manifests --dry-run\n"
                "\n"
                "  # From any checkout of a repository: name the apply set, delete nothing\n"
                "  kc apply-dir manifests -n shop --applyset=configmaps/shop --prune=false\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(apply_dir_options),
};

/* ---- output ---- */

typedef struct apply_dir_run {
    const apply_dir_options *options;
    const kc_kind *set_kind;
    char *set_name;
    bool repeated; /* After the first sync: objects that were as stated are not printed. */
} apply_dir_run;

/* "deployment.apps/web", as kubectl prints it. */
static void write_object(kc_buf *out, const kc__manifests_result *r)
{
    for (const char *p = r->kind->kind; *p; p++)
        kc_buf_putc(out, kc_lower(*p));
    if (r->kind->group && *r->kind->group)
        kc_buf_printf(out, ".%s", r->kind->group);
    kc_buf_putc(out, '/');
    kc_buf_append(out, r->key.name);
}

static void print_result(const kc__manifests_result *r, void *user)
{
    const apply_dir_run *run = user;
    const bool pruned = r->action == KC__MANIFESTS_PRUNED;
    kc_scoped(kc_buf) object = {0};
    if (r->action == KC__MANIFESTS_FAILED) {
        if (!r->repeated)
            fprintf(stderr, "%serror:%s %s\n", kc__cli_colour(STDERR_FILENO, KC__CLI_RED),
                    kc__cli_colour(STDERR_FILENO, KC__CLI_PLAIN), r->message);
        return;
    }
    if (r->unchanged && run->repeated)
        return;
    write_object(&object, r);
    printf("%s %s%s%s%s\n", kc_buf_cstr(&object),
           kc__cli_colour(STDOUT_FILENO, pruned         ? KC__CLI_YELLOW
                                         : r->unchanged ? KC__CLI_FAINT
                                                        : KC__CLI_GREEN),
           pruned ? "pruned" : "serverside-applied", kc__cli_colour(STDOUT_FILENO, KC__CLI_PLAIN),
           run->options->dry_run ? " (server dry run)" : "");
    fflush(stdout);
}

/* ---- the apply set ---- */

/* The last component of the path as a name of an object. */
static void write_base_name(kc_buf *out, const char *path)
{
    enum { MAX_NAME = 40 };
    const char *slash = strrchr(path, '/');
    const size_t start = out->n;
    for (const char *p = slash ? slash + 1 : path; *p && out->n - start < MAX_NAME; p++) {
        const char c = kc_lower(*p);
        if (kc_is_alnum(c))
            kc_buf_putc(out, c);
        else if (out->n > start && out->p[out->n - 1] != '-')
            kc_buf_putc(out, '-');
    }
    if (out->n > start && out->p[out->n - 1] != '-')
        kc_buf_putc(out, '-');
}

/* "BASENAME-HASH" of the host's name and the path. */
static char *default_set_name(const char *dir)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char host[256] = "localhost";
    kc_scoped(kc_buf) name = {0}, identity = {0};
    kc_autofree char *path = realpath(dir, NULL);
    gethostname(host, sizeof host - 1);
    kc_buf_printf(&identity, "%s\n%s", host, path ? path : dir);
    SHA256((const unsigned char *)kc_buf_cstr(&identity), identity.n, digest);
    write_base_name(&name, path ? path : dir);
    for (size_t i = 0; i < 5; i++)
        kc_buf_printf(&name, "%02x", digest[i]);
    return kc_buf_take(&name);
}

/* kubectl's syntax: [RESOURCE/]NAME, of a Secret unless stated. */
static int choose_set(apply_dir_run *run, kc_error *err)
{
    const char *set = run->options->set, *slash = set ? strchr(set, '/') : NULL;
    run->set_kind = &kc_kind_config_map;
    if (!set) {
        run->set_name = default_set_name(run->options->operands.items[0]);
        return 0;
    }
    const kc_str resource = slash ? kc_str_of(set, (size_t)(slash - set)) : KC_STR("secrets");
    const char *name = slash ? slash + 1 : set;
    if (kc_str_is(resource, "secrets") || kc_str_is(resource, "secret"))
        run->set_kind = &kc_kind_secret;
    else if (!kc_str_is(resource, "configmaps") && !kc_str_is(resource, "configmap"))
        name = "";
    if (!*name || strchr(name, '/'))
        return kc_error_set(err, KC_INVALID,
                            "--applyset: invalid value '%s': must be NAME, secrets/NAME or "
                            "configmaps/NAME",
                            set);
    run->set_name = kc_strdup(name);
    return 0;
}

/* ---- running ---- */

static kc_client *open_client(const apply_dir_options *o, const kc_config *config, kc_log *log,
                              kc_error *err)
{
    return kc_client_new(&(kc_client_opts){.config = config,
                                           .user_agent = "kc-apply-dir",
                                           .field_manager = o->field_manager,
                                           .log = log},
                         err);
}

static int report_failures(const kc__manifests_summary *s, const char *dir, kc_error *err)
{
    if (s->failed)
        return kc_error_set(err, KC_INVALID,
                            "%zu failed; %zu of %zu objects in %zu files were applied%s", s->failed,
                            s->applied, s->objects, s->files,
                            s->kept ? ", and no object was pruned" : "");
    if (!s->files && !s->pruned)
        return kc_error_set(err, KC_NOT_FOUND, "%s has no file *.yaml, *.yml or *.json", dir);
    return 0;
}

static int apply_directory(apply_dir_run *run, kc__manifests *manifests, kc_cancel *stop,
                           kc_error *err)
{
    const char *dir = run->options->operands.items[0];
    kc__manifests_summary summary;
    if (!run->options->watch)
        return kc__manifests_sync(manifests, stop, &summary, err) < 0
                   ? kc_error_result(err)
                   : report_failures(&summary, dir, err);
    fprintf(stderr, "kc apply-dir: watching %s; press Ctrl-C to stop\n", dir);
    return kc__manifests_run(manifests, stop, err);
}

static void first_sync_done(const kc__manifests_summary *summary, void *user)
{
    apply_dir_run *run = user;
    (void)summary;
    run->repeated = true;
}

static int apply_dir_with(apply_dir_run *run, kc_client *client, const char *ns, kc_log *log,
                          kc_cancel *stop, kc_error *err)
{
    const apply_dir_options *o = run->options;
    kc_recorder *recorder = kc_recorder_new(
        &(kc_recorder_opts){.client = client, .component = "kc-apply-dir", .log = log}, err);
    kc_auto(kc__manifests) *manifests =
        kc__manifests_new(&(kc__manifests_opts){.dir = o->operands.items[0],
                                                .client = client,
                                                .ns = ns,
                                                .set_kind = run->set_kind,
                                                .set_ns = ns,
                                                .set_name = run->set_name,
                                                .tooling = "kc/v" KC_VERSION,
                                                .field_manager = o->field_manager,
                                                .no_force = !o->force,
                                                .no_prune = !o->prune,
                                                .dry_run = o->dry_run,
                                                .resync = o->resync,
                                                .recorder = recorder,
                                                .log = o->verbosity ? log : NULL,
                                                .report = print_result,
                                                .synced = first_sync_done,
                                                .user = run},
                          err);
    const int r = manifests ? apply_directory(run, manifests, stop, err) : kc_error_result(err);
    kc_recorder_stop(recorder, kc_clock_deadline(kc_clock_real(), EVENTS_TIMEOUT));
    return r;
}

static int apply_dir_run_all(apply_dir_run *run, kc_error *err)
{
    const apply_dir_options *o = run->options;
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    kc_auto(kc__cli_stop_signal) *stopper = kc__cli_stop_signal_new(stop, true, err);
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.level = o->verbosity ? KC_LOG_INFO : KC_LOG_WARN,
                                  .verbosity = o->verbosity,
                                  .format = o->log_format});
    if (!stopper)
        return kc_error_result(err);
    kc_auto(kc_config) *config = kc_config_load(
        &(kc_config_opts){
            .path = o->kubeconfig, .context = o->context, .server = o->server, .ns = o->ns},
        err);
    kc_auto(kc_client) *client = config ? open_client(o, config, log, err) : NULL;
    if (!client)
        return kc_error_result(err);
    return apply_dir_with(run, client, config->ns ? config->ns : "default", log, stop, err);
}

int kc__cli_command_apply_dir(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    apply_dir_options o;
    apply_dir_run run = {.options = &o};
    const int parsed = kc__cli_flags_parse(&kc__cli_apply_dir_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_apply_dir_flags, stdout);
        return 0;
    }
    if (parsed == 0 && o.operands.n != 1)
        kc_error_set(&err, KC_INVALID, "expected one directory: kc apply-dir DIR");
    if (err.reason || choose_set(&run, &err) < 0)
        return kc__cli_usage_error("apply-dir", &err);
    const int r = apply_dir_run_all(&run, &err);
    free(run.set_name);
    if (r < 0)
        fprintf(stderr, "kc apply-dir: %s\n", kc_error_text(&err));
    return r < 0 ? 1 : 0;
}
