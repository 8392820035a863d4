/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c: `kc store` maintains stored objects: the flags of its commands, and which command they
 * belong to.
 *
 *     store_rewrite.c    rewrite: encryption keys
 *     store_objects.c    check, export, import: objects
 *     store_copies.c     backup, restore, migrate: whole stores
 *
 * To add a command: a row of `store_commands` and `actions`, and the flags that it accepts in
 * `flag_uses`.
 */
#include "store.h"

#include "command.h"

#include "kc/buf.h"

#include <stddef.h>

#define FIELD(name)                                  \
    .offset = offsetof(kc__cli_store_options, name), \
    .given = offsetof(kc__cli_store_options, given.name)
#define FILES    "Files of a stopped server"
#define ETCD     "Stores in etcd"
#define SERVER   "Running server (rewrite)"
#define OBJECTS  "Objects (export, import)"
#define COPIES   "Copies (backup, restore, migrate)"
#define LOCATION "file:DIR or DIR, the data directory of a server, or etcd:URL[,URL...]"

enum { REWRITE, CHECK, EXPORT, IMPORT, BACKUP, RESTORE, MIGRATE };

static const kc__cli_flag_choice store_commands[] = {
    {"rewrite", REWRITE, "rewrite all objects with the current encryption key"},
    {"check", CHECK, "LOCATION: read everything; report what a server could not use"},
    {"export", EXPORT, "LOCATION: write the objects as lines of JSON"},
    {"import", IMPORT, "LOCATION: store the objects of a file of JSON lines"},
    {"backup", BACKUP, "LOCATION: copy the store to a file, also while its server runs"},
    {"restore", RESTORE, "FILE LOCATION: fill an empty location with a backup"},
    {"migrate", MIGRATE, "copy a store to another location"},
    {0},
};

static const kc__cli_flag flags[] = {
    {"file-rootpath", .argument = "DIR", .group = FILES, FIELD(root), .parse = kc__cli_flag_text,
     .values = "DIR", .help = "data directory of the server; for rewrite",
     .details = "The server must not run. Revisions that watches could resume from are dropped, "
                "and old values are removed from the files: LMDB does not clear the pages that it "
                "frees."},
    {"encryption-provider-config", .argument = "FILE", .group = FILES, FIELD(encryption),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "encryption configuration; defaults to encryption.yaml in the data directory",
     .details = "For rewrite, check, export and import."},

    {"etcd-prefix", .argument = "PATH", .initial = "/registry", .group = ETCD, FIELD(etcd_prefix),
     .parse = kc__cli_flag_text, .values = "PATH",
     .help = "prefix of all keys in etcd; the one that the servers have",
     .details = "The flags of this section apply to both locations of a migration."},
    {"etcd-cafile", .argument = "FILE", .group = ETCD, FIELD(etcd_ca), .parse = kc__cli_flag_text,
     .values = "FILE", .help = "CA bundle (PEM) that verifies the servers of etcd"},
    {"etcd-certfile", .argument = "FILE", .group = ETCD, FIELD(etcd_cert),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "client certificate (PEM) for etcd; needs --etcd-keyfile"},
    {"etcd-keyfile", .argument = "FILE", .group = ETCD, FIELD(etcd_key), .parse = kc__cli_flag_text,
     .values = "FILE", .help = "key (PEM) of --etcd-certfile"},
    {"event-ttl", .argument = "DURATION", .initial = "1h", .group = ETCD, FIELD(event_ttl),
     .parse = kc__cli_flag_duration,
     .help = "time after which etcd deletes the Events that import, restore and migrate store"},

    {"output", 'o', .argument = "FILE", .group = OBJECTS, FIELD(output), .parse = kc__cli_flag_text,
     .values = "FILE",
     .help = "file to write, with mode 0600; required by backup, and standard output for export"},
    {"resource", .argument = "RESOURCE", .group = OBJECTS, FIELD(resource),
     .parse = kc__cli_flag_text,
     .help = "export only this resource, such as pods, deployments.apps or robots.example.com"},
    {"namespace", 'n', .argument = "NAMESPACE", .group = OBJECTS, FIELD(namespace),
     .parse = kc__cli_flag_text, .help = "export only objects of this namespace"},
    {"with-secrets", .group = OBJECTS, FIELD(with_secrets), .parse = kc__cli_flag_switch,
     .help = "export Secrets and encrypted objects, too, as plain text"},
    {"for-apply", .group = OBJECTS, FIELD(for_apply), .parse = kc__cli_flag_switch,
     .help = "export for kubectl apply: without uid, status and whatever else a server sets",
     .details = "Objects with owners are left out and counted: their owners create them again. "
                "Without this flag the lines are for import, and kubectl can only create objects "
                "from them."},
    {"filename", 'f', .argument = "FILE", .group = OBJECTS, FIELD(file), .parse = kc__cli_flag_text,
     .values = "FILE", .help = "file to import; - is standard input",
     .details = "A regular file is checked as a whole before anything is stored; standard input is "
                "checked group by group."},
    {"overwrite", .group = OBJECTS, FIELD(overwrite), .parse = kc__cli_flag_switch,
     .help = "import replaces objects that exist"},
    {"skip-existing", .group = OBJECTS, FIELD(skip_existing), .parse = kc__cli_flag_switch,
     .help = "import keeps objects that exist; continues an import that was interrupted"},

    {"from", .argument = "LOCATION", .group = COPIES, FIELD(from), .parse = kc__cli_flag_text,
     .values = "DIR", .help = "store to migrate: " LOCATION},
    {"to", .argument = "LOCATION", .group = COPIES, FIELD(to), .parse = kc__cli_flag_text,
     .values = "DIR", .help = "location to fill: " LOCATION},
    {"revision-bump", .argument = "N", .group = COPIES, FIELD(revision_bump),
     .parse = kc__cli_flag_limit,
     .help =
         "raise the revision by this number; defaults to 1000000 for restore, 1 for migrate; in "
         "etcd a million takes one to three minutes",
     .details = "The revision of a restored store must be above every revision that the old store "
                "reached after the backup: clients compare them. Older revisions answer 410, so "
                "that clients list again. etcd counts its transactions, so each number takes one."},

    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file; defaults to the one that kubectl uses"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc__cli_flag_text,
     .help = "context of the kubeconfig; defaults to its current context"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc__cli_flag_text,
     .help = "address of the API server, such as http://127.0.0.1:6080; overrides the kubeconfig"},
};

const kc__cli_flag_set kc__cli_store_flags = {
    .verb = "store",
    .operands = "COMMAND [ARGUMENT…]",
    .operands_at = offsetof(kc__cli_store_options, operands),
    .commands = store_commands,
    .synopsis =
        "Maintains stored objects. A LOCATION is " LOCATION ".\n"
        "Of a store in files, only rewrite (through the API) and backup work while the server "
        "runs.\nA store in etcd is shared: check, export, import and backup work beside its "
        "servers; stop them to migrate.",
    .examples =
        "  # A backup while the server runs; the key of encrypted Secrets is not part of it\n"
        "  kc store backup /var/lib/kc -o backup.kc\n"
        "  kc store restore backup.kc /var/lib/kc-new\n"
        "\n"
        "  # Is a store complete and readable?\n"
        "  kc store check file:/var/lib/kc\n"
        "\n"
        "  # Objects as text, for people, kubectl and another store\n"
        "  kc store export /var/lib/kc --for-apply -n default | kubectl apply -f -\n"
        "  kc store export /var/lib/kc --with-secrets -o objects.jsonl\n"
        "  kc store import /var/lib/kc-new -f objects.jsonl --skip-existing\n"
        "\n"
        "  # To another directory; an interrupted run is continued\n"
        "  kc store migrate --from=file:/var/lib/kc --to=file:/srv/kc\n"
        "\n"
        "  # From files to etcd, and back; all servers are stopped\n"
        "  kc store migrate --from=file:/var/lib/kc --to=etcd:http://10.0.0.1:2379\n"
        "  kc store migrate --from=etcd:https://10.0.0.1:2379,https://10.0.0.2:2379 \\\n"
        "      --etcd-cafile=ca.crt --etcd-certfile=client.crt --etcd-keyfile=client.key "
        "--to=/var/lib/kc\n"
        "\n"
        "  # A snapshot of etcd while servers run; etcdutl restores it\n"
        "  kc store backup etcd:http://10.0.0.1:2379 -o etcd.snapshot\n"
        "\n"
        "  # After a new first key was added to the configuration of a running server\n"
        "  kc store rewrite --kubeconfig=admin.kubeconfig\n"
        "\n"
        "  # The files of a stopped server; old values are removed from them, too\n"
        "  kc store rewrite --file-rootpath=/var/lib/kc "
        "--encryption-provider-config=encryption.yaml\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(kc__cli_store_options),
};

/* ---- commands ---- */

#define BIT(command) (1u << (command))
#define IN_ETCD      (BIT(CHECK) | BIT(EXPORT) | BIT(IMPORT) | BIT(BACKUP) | BIT(RESTORE) | BIT(MIGRATE))

/* In the order of the enum. */
static const struct {
    const char *arguments;
    size_t n_arguments;
    int (*run)(const kc__cli_store_options *o, kc_error *err);
} actions[] = {
    {"", 0, kc__cli_store_rewrite},
    {" LOCATION", 1, kc__cli_store_check},
    {" LOCATION", 1, kc__cli_store_export},
    {" LOCATION -f FILE", 1, kc__cli_store_import},
    {" LOCATION -o FILE", 1, kc__cli_store_backup},
    {" FILE LOCATION", 2, kc__cli_store_restore},
    {" --from=LOCATION --to=LOCATION", 0, kc__cli_store_migrate},
};

#define USE(name, flag, ...) {name, offsetof(kc__cli_store_options, given.flag), __VA_ARGS__}

static const struct {
    const char *flag;
    size_t given;
    unsigned commands;
} flag_uses[] = {
    USE("file-rootpath", root, BIT(REWRITE)),
    USE("encryption-provider-config", encryption,
        BIT(REWRITE) | BIT(CHECK) | BIT(EXPORT) | BIT(IMPORT)),
    USE("etcd-prefix", etcd_prefix, IN_ETCD),
    USE("etcd-cafile", etcd_ca, IN_ETCD),
    USE("etcd-certfile", etcd_cert, IN_ETCD),
    USE("etcd-keyfile", etcd_key, IN_ETCD),
    USE("event-ttl", event_ttl, BIT(IMPORT) | BIT(RESTORE) | BIT(MIGRATE)),
    USE("kubeconfig", kubeconfig, BIT(REWRITE)),
    USE("context", context, BIT(REWRITE)),
    USE("server", server, BIT(REWRITE)),
    USE("output", output, BIT(EXPORT) | BIT(BACKUP)),
    USE("resource", resource, BIT(EXPORT)),
    USE("namespace", namespace, BIT(EXPORT)),
    USE("with-secrets", with_secrets, BIT(EXPORT)),
    USE("for-apply", for_apply, BIT(EXPORT)),
    USE("filename", file, BIT(IMPORT)),
    USE("overwrite", overwrite, BIT(IMPORT)),
    USE("skip-existing", skip_existing, BIT(IMPORT)),
    USE("from", from, BIT(MIGRATE)),
    USE("to", to, BIT(MIGRATE)),
    USE("revision-bump", revision_bump, BIT(RESTORE) | BIT(MIGRATE)),
};

static int refuse_flag(size_t use, const kc__cli_flag_choice *command, kc_error *err)
{
    kc_scoped(kc_buf) names = {0};
    for (const kc__cli_flag_choice *row = store_commands; row->name; row++)
        if (flag_uses[use].commands & BIT(row->value))
            kc_buf_printf(&names, "%s%s", names.n ? ", " : "", row->name);
    return kc_error_set(err, KC_INVALID, "--%s does not apply to '%s'; it is for: %s",
                        flag_uses[use].flag, command->name, kc_buf_cstr(&names));
}

static int check_flags(const kc__cli_store_options *o, const kc__cli_flag_choice *command,
                       kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(flag_uses); i++)
        if (*(const bool *)((const char *)o + flag_uses[i].given) &&
            !(flag_uses[i].commands & BIT(command->value)))
            return refuse_flag(i, command, err);
    return 0;
}

/* What is required, and what excludes each other. */
static int check_combination(const kc__cli_store_options *o, int command, kc_error *err)
{
    const struct {
        int command;
        bool wrong;
        const char *text;
    } rules[] = {
        {REWRITE, o->root && (o->server || o->kubeconfig || o->context),
         "--file-rootpath is for a stopped server; it excludes --server, --kubeconfig and "
         "--context"},
        {REWRITE, o->encryption && !o->root, "--encryption-provider-config needs --file-rootpath"},
        {IMPORT, !o->file, "name the file to import with -f FILE"},
        {IMPORT, o->overwrite && o->skip_existing, "--overwrite excludes --skip-existing"},
        {BACKUP, !o->output, "name the file to write with -o FILE"},
        {MIGRATE, !o->from || !o->to, "name both locations: --from=LOCATION --to=LOCATION"},
    };
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (rules[i].command == command && rules[i].wrong)
            return kc_error_set(err, KC_INVALID, "%s", rules[i].text);
    return 0;
}

static int check_usage(const kc__cli_store_options *o, const kc__cli_flag_choice **ret_command,
                       kc_error *err)
{
    if (!o->operands.n)
        return kc_error_set(err, KC_INVALID,
                            "expected a command: rewrite, check, export, import, backup, restore "
                            "or migrate");
    const kc__cli_flag_choice *command =
        kc__cli_flag_choose(store_commands, "command", o->operands.items[0], err);
    if (!command)
        return kc_error_result(err);
    if (o->operands.n != actions[command->value].n_arguments + 1)
        return kc_error_set(err, KC_INVALID, "usage: kc store %s%s", command->name,
                            actions[command->value].arguments);
    *ret_command = command;
    const int failed = check_flags(o, command, err);
    return failed ? failed : check_combination(o, command->value, err);
}

int kc__cli_command_store(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__cli_store_options o;
    const kc__cli_flag_choice *command = NULL;
    const int parsed = kc__cli_flags_parse(&kc__cli_store_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_store_flags, stdout);
        return 0;
    }
    if (parsed < 0 || check_usage(&o, &command, &err) < 0)
        return kc__cli_usage_error("store", &err);
    const int result = actions[command->value].run(&o, &err);
    if (result < 0 && fflush(stdout) == 0)
        fprintf(stderr, "kc store: %s\n", kc_error_text(&err));
    return result ? 1 : 0;
}
