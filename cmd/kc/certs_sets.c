/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certs_sets.c: sets of certificates for several machines that serve one store.
 *
 *     OUT/NAME/ca.crt, ca.key, node-client-ca.crt, node-client-ca.key,
 *              sa.key, encryption.yaml                                   the same everywhere
 *     OUT/NAME/apiserver.crt, …                                          of the machine
 *     OUT/admin.kubeconfig                                               of the administrator
 *
 * Clients of one machine must be valid on all of them, so they share the authorities, the key of
 * service-account tokens, and the key that encrypts Secrets. The authorities have names of their
 * own: a server that found them expiring would otherwise replace them on its machine only. Each
 * server renews its other certificates.
 */
#include "certs_sets.h"

#include "encryption_file.h"

#include "kc/file.h"

#include "apiserver/serving/account_key.h"
#include "apiserver/serving/certificates.h"
#include "apiserver/serving/kubeconfig.h"

#include <unistd.h>

typedef struct machine {
    char *name;
    char *names[KC__SERVING_MAX_NAMES];
    size_t n_names;
} machine;

static void machine_done(machine *m)
{
    free(m->name);
    for (size_t i = 0; i < m->n_names; i++)
        free(m->names[i]);
}

static int add_machine_name(machine *m, kc_str name, kc_error *err)
{
    if (kc_str_empty(name))
        return 0;
    if (m->n_names == KC__SERVING_MAX_NAMES)
        return kc_error_set(err, KC_INVALID, "machine '%s' has more than %d names", m->name,
                            KC__SERVING_MAX_NAMES);
    m->names[m->n_names++] = kc_str_dup(name);
    return 0;
}

/* The host of "https://HOST:PORT/…"; empty if there is none. */
static kc_str host_of_url(const char *url)
{
    const char *host = url ? strstr(url, "://") : NULL;
    kc_str rest = kc_cstr(host ? host + 3 : "");
    rest = kc_str_cut(&rest, '/');
    if (!kc_str_starts(rest, KC_STR("[")))
        return kc_str_cut(&rest, ':');
    rest = kc_str_sub(rest, 1, rest.n);
    return kc_str_cut(&rest, ']');
}

/* "NAME=ADDRESS[,ADDRESS…]" */
static int parse_machine(const char *text, const char *server, machine *ret, kc_error *err)
{
    kc_str names = kc_cstr(text);
    const kc_str name = kc_str_cut(&names, '=');
    if (kc_str_empty(name) || kc_str_empty(names) || memchr(name.p, '/', name.n) ||
        name.p[0] == '.')
        return kc_error_set(err, KC_INVALID,
                            "invalid machine '%s': must be NAME=ADDRESS[,ADDRESS…]", text);
    ret->name = kc_str_dup(name);
    while (!kc_str_empty(names))
        if (add_machine_name(ret, kc_str_cut(&names, ','), err) < 0)
            return kc_error_result(err);
    return add_machine_name(ret, host_of_url(server), err);
}

/* ---- files ---- */

static const struct {
    const char *name;
    unsigned mode;
} shared_files[] = {{"ca.crt", 0644},
                    {"ca.key", 0600},
                    {"node-client-ca.crt", 0644},
                    {"node-client-ca.key", 0600},
                    {"sa.key", 0600},
                    {"encryption.yaml", 0600}};

static int copy_shared(const char *from, const char *to, kc_error *err)
{
    int result = kc_dir_create(to, 0700, err);
    for (size_t i = 0; !result && i < KC_COUNT(shared_files); i++) {
        kc_buf text = {0};
        kc_autofree char *source = kc_asprintf("%s/%s", from, shared_files[i].name);
        kc_autofree char *target = kc_asprintf("%s/%s", to, shared_files[i].name);
        result = kc_file_read(source, KC_FILE_MAX, &text, err);
        if (!result)
            result = kc_file_write(target, shared_files[i].mode, kc_buf_str(&text), err);
        kc_buf_wipe(&text);
    }
    return result;
}

static int create_set(const char *dir, const machine *m, kc__serving_certificates *ret,
                      kc_error *err)
{
    const kc__serving_certificates_opts opts = {.dir = dir,
                                                .host_name = m->name,
                                                .names = (const char *const *)m->names,
                                                .n_names = m->n_names,
                                                .shared_ca = true};
    kc_autofree char *key = NULL;
    if (kc__serving_certificates_prepare(&opts, ret, err) < 0)
        return kc_error_result(err);
    key = kc__serving_account_key_prepare(dir, NULL, err);
    if (!key)
        return kc_error_result(err);
    kc_autofree char *encryption = kc__cli_encryption_path(NULL, dir);
    return encryption ? 0 : kc__cli_encryption_write(dir, err);
}

static int write_admin(const kc__cli_certs_options *o, const machine *first,
                       const kc__serving_certificates *certs, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s/admin.kubeconfig", o->out);
    const char *host = first->names[0];
    const bool v6 = strchr(host, ':') != NULL;
    kc_autofree char *server =
        o->server ? kc_strdup(o->server)
                  : kc_asprintf("https://%s%s%s:6443", v6 ? "[" : "", host, v6 ? "]" : "");
    return kc__serving_kubeconfig_write(
        path,
        &(kc__serving_kubeconfig_opts){.server = server,
                                       .ca_file = certs->ca_cert,
                                       .cert_file = certs->admin_cert,
                                       .key_file = certs->admin_key},
        err);
}

/* ---- all sets ---- */

static int create_machine(const kc__cli_certs_options *o, size_t i, char **first_dir, kc_error *err)
{
    machine m = {0};
    kc_scoped(kc__serving_certificates) certs = {0};
    int result = parse_machine(o->operands.items[i], o->server, &m, err);
    char *dir = kc_asprintf("%s/%s", o->out, m.name ? m.name : "");
    if (!result && *first_dir)
        result = copy_shared(*first_dir, dir, err);
    if (!result)
        result = create_set(dir, &m, &certs, err);
    if (!result && !*first_dir)
        result = write_admin(o, &m, &certs, err);
    if (!result)
        printf("%s\n", dir);
    machine_done(&m);
    if (!*first_dir)
        *first_dir = kc_take(dir);
    free(dir);
    return result;
}

static int check_machines(const kc__cli_certs_options *o, kc_error *err)
{
    if (!o->out)
        return kc_error_set(err, KC_INVALID, "--out is required: the directory of the sets");
    if (o->operands.n < 2)
        return kc_error_set(err, KC_INVALID, "name the machines: NAME=ADDRESS[,ADDRESS…]");
    if (access(o->out, F_OK) == 0)
        return kc_error_set(err, KC_ALREADY_EXISTS, "%s exists already", o->out);
    for (size_t i = 1; i < o->operands.n; i++) {
        machine m = {0};
        const int failed = parse_machine(o->operands.items[i], o->server, &m, err);
        machine_done(&m);
        if (failed)
            return failed;
    }
    return 0;
}

int kc__cli_certs_create(const kc__cli_certs_options *o, kc_error *err)
{
    kc_autofree char *first_dir = NULL;
    int result = check_machines(o, err);
    if (!result)
        result = kc_dir_create(o->out, 0700, err);
    for (size_t i = 1; !result && i < o->operands.n; i++)
        result = create_machine(o, i, &first_dir, err);
    if (!result)
        printf("copy each directory to --cert-dir of its machine; %s/admin.kubeconfig is the "
               "administrator's\n",
               o->out);
    return result;
}
