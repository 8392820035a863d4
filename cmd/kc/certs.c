/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certs.c: `kc certs list|renew-leaves|renew-ca|create`: the certificates of a server.
 *
 * A running server renews its certificates itself; these commands are for people who want to look,
 * to renew early (after a key was exposed, for example), or to run several machines. A running
 * server reads changed files within seconds.
 */
#include "certs_sets.h"
#include "colour.h"
#include "command.h"

#include "kc/duration.h"
#include "kc/file.h"
#include "kc/time.h"

#include "apiserver/serving/certificates.h"
#include "apiserver/serving/pem_files.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#define DAY (24 * KC_HOUR)

enum { LIST, RENEW_LEAVES, RENEW_CA, CREATE };

static const kc__cli_flag_choice certs_commands[] = {
    {"list", LIST, "list the certificates of a directory and when they expire"},
    {"renew-leaves", RENEW_LEAVES, "replace all certificates except the authorities"},
    {"renew-ca", RENEW_CA, "take the next of two steps of replacing the authorities"},
    {"create", CREATE, "create sets for several machines that share their authorities"},
    {NULL}};

#define CERTS_AT(field) offsetof(kc__cli_certs_options, field)

static const kc__cli_flag certs_flags[] = {
    {"cert-dir", .argument = "DIR", .initial = "data/certs", .parse = kc__cli_flag_text,
     .offset = CERTS_AT(dir), .values = "DIR", .group = "Certificates",
     .help = "directory with the certificates"},
    {"shared", .parse = kc__cli_flag_switch, .offset = CERTS_AT(shared), .group = "Certificates",
     .help = "with renew-ca: the authorities are those of 'kc certs create'; copy the files to all "
             "machines afterwards"},
    {"out", 'o', .argument = "DIR", .parse = kc__cli_flag_text, .offset = CERTS_AT(out),
     .values = "DIR", .group = "Sets",
     .help = "with create: directory that gets a directory for each machine; must not exist"},
    {"server", .argument = "URL", .parse = kc__cli_flag_text, .offset = CERTS_AT(server),
     .group = "Sets",
     .help =
         "with create: address of the API servers in admin.kubeconfig, such as that of a load "
         "balancer; its host is a name of every certificate; defaults to port 6443 of the first "
         "machine"},
};

const kc__cli_flag_set kc__cli_certs_flags = {
    .verb = "certs",
    .operands = "list | renew-leaves | renew-ca | create NAME=ADDRESS[,ADDRESS…]…",
    .operands_at = CERTS_AT(operands),
    .commands = certs_commands,
    .synopsis = "Lists, renews and creates the certificates of API servers."
                "\nA running server renews its own certificates in time and reads changed files.",
    .examples = "  # Which certificates are there, and when do they expire?\n"
                "  kc certs list --cert-dir=/var/lib/kc/certs\n"
                "\n"
                "  # New keys for the server and the administrator\n"
                "  kc certs renew-leaves\n"
                "\n"
                "  # Sets for three machines behind a load balancer\n"
                "  kc certs create --out=sets --server=https://plane.example:6443 "
                "a=10.0.0.1 b=10.0.0.2 c=10.0.0.3,c.example\n",
    KC__CLI_FLAGS(certs_flags),
    .size = sizeof(kc__cli_certs_options),
};

/* ---- list ---- */

static void write_name(kc_buf *out, X509_NAME *name)
{
    char common[128] = "", organization[128] = "";
    X509_NAME_get_text_by_NID(name, NID_commonName, common, sizeof(common));
    X509_NAME_get_text_by_NID(name, NID_organizationName, organization, sizeof(organization));
    kc_buf_printf(out, "%s%s%s", common, *organization ? "/" : "", organization);
}

typedef struct certs_listing {
    const char *file;
    int64_t now;
    bool any;
} certs_listing;

static const char *colour_of_time(int64_t left)
{
    const char *colour = left < 0 ? KC__CLI_RED : left < 30 * DAY ? KC__CLI_YELLOW : KC__CLI_GREEN;
    return kc__cli_colour(STDOUT_FILENO, colour);
}

static bool print_cert(X509 *cert, void *user)
{
    certs_listing *listing = user;
    kc_scoped(kc_buf) subject = {0}, issuer = {0};
    char age[KC_DURATION_TEXT], time[KC_TIME_TEXT];
    const int64_t left = kc__cert_not_after(cert) * KC_SECOND - listing->now;
    write_name(&subject, X509_get_subject_name(cert));
    write_name(&issuer, X509_get_issuer_name(cert));
    const kc_str end = kc_time_print(kc__cert_not_after(cert) * KC_SECOND, time);
    const kc_str text = left < 0 ? KC_STR("expired") : kc_duration_human_short(left, age);
    if (!listing->any)
        printf("%-30s %-36s %-36s %-21s %s\n", "FILE", "SUBJECT", "ISSUER", "EXPIRES", "LEFT");
    listing->any = true;
    printf("%-30s %-36s %-36s %-21.*s %s%.*s%s\n", listing->file, kc_buf_cstr(&subject),
           kc_buf_cstr(&issuer), KC_ARG(end), colour_of_time(left), KC_ARG(text),
           kc__cli_colour(STDOUT_FILENO, KC__CLI_PLAIN));
    return true;
}

static int is_cert_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".crt");
}

static int list_certs(const kc__cli_certs_options *o, kc_error *err)
{
    struct dirent **entries = NULL;
    certs_listing listing = {.now = kc_clock_wall(kc_clock_real())};
    const int n = scandir(o->dir, &entries, is_cert_file, alphasort);
    int result =
        n < 0 ? kc_error_set(err, KC_NOT_FOUND, "cannot read %s: %s", o->dir, strerror(errno)) : 0;
    for (int i = 0; i < n; i++) {
        kc_scoped(kc_buf) text = {0};
        kc_autofree char *path = kc_asprintf("%s/%s", o->dir, entries[i]->d_name);
        listing.file = entries[i]->d_name;
        if (!result)
            result = kc_file_read(path, KC_FILE_MAX, &text, err);
        if (!result)
            kc__cert_each(kc_buf_str(&text), print_cert, &listing);
        free(entries[i]);
    }
    free(entries);
    return result || listing.any
               ? result
               : kc_error_set(err, KC_NOT_FOUND, "there is no certificate in %s", o->dir);
}

/* ---- renew ---- */

static char *text_of_cert(const char *path)
{
    kc_buf text = {0};
    kc_file_read(path, KC_FILE_MAX, &text, NULL);
    return kc_buf_take(&text);
}

/* The host name is not required: the directory may be that of another machine. */
static int renew_files(const kc__cli_certs_options *o, bool authorities, kc_error *err)
{
    kc_scoped(kc__serving_certificates) certs = {0};
    kc_autofree char *server = kc_asprintf("%s/apiserver.crt", o->dir);
    return kc__serving_certificates_prepare(
        &(kc__serving_certificates_opts){.dir = o->dir,
                                         .host_name = "localhost",
                                         .without_server = access(server, F_OK) < 0,
                                         .shared_ca = o->shared,
                                         .renew_leaves = !authorities,
                                         .renew_ca = authorities},
        &certs, err);
}

static int renew_certs(const kc__cli_certs_options *o, bool authorities, kc_error *err)
{
    kc_autofree char *ca = kc_asprintf("%s/ca.crt", o->dir);
    if (access(ca, F_OK) < 0)
        return kc_error_set(err, KC_NOT_FOUND, "there is no %s: name the directory with --cert-dir",
                            ca);
    kc_autofree char *before = text_of_cert(ca);
    if (renew_files(o, authorities, err) < 0)
        return kc_error_result(err);
    kc_autofree char *after = text_of_cert(ca);
    if (authorities && !strcmp(before, after))
        return kc_error_set(err, KC_INVALID, "the authorities of %s are not %s", o->dir,
                            o->shared ? "those of 'kc certs create'"
                                      : "a server's own; for those of 'kc certs create' use "
                                        "--shared");
    printf("renewed the certificates of %s; a running server reads them within seconds\n", o->dir);
    return 0;
}

/* ---- the verb ---- */

static int run_certs(const kc__cli_certs_options *o, int command, kc_error *err)
{
    switch (command) {
    case LIST: return list_certs(o, err);
    case CREATE: return kc__cli_certs_create(o, err);
    default: return renew_certs(o, command == RENEW_CA, err);
    }
}

/* NULL, with an error, if the operands are not those of a command. */
static const kc__cli_flag_choice *certs_command_of(const kc__cli_certs_options *o, kc_error *err)
{
    if (!o->operands.n) {
        kc_error_set(err, KC_INVALID, "expected a command: list, renew-leaves, renew-ca or create");
        return NULL;
    }
    const kc__cli_flag_choice *command =
        kc__cli_flag_choose(certs_commands, "command", o->operands.items[0], err);
    if (command && command->value != CREATE && o->operands.n > 1) {
        kc_error_set(err, KC_INVALID, "unexpected argument '%s'", o->operands.items[1]);
        return NULL;
    }
    return command;
}

int kc__cli_command_certs(int argc, char **argv)
{
    kc__cli_certs_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_certs_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_certs_flags, stdout);
        return 0;
    }
    const kc__cli_flag_choice *command = parsed < 0 ? NULL : certs_command_of(&o, &err);
    if (!command)
        return kc__cli_usage_error("certs", &err);
    if (run_certs(&o, command->value, &err) < 0) {
        fprintf(stderr, "kc certs: %s\n", kc_error_text(&err));
        return 1;
    }
    return 0;
}
