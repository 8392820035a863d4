/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login.c: `kc login` and `kc logout`.
 *
 *     kc login ── password ──▶ POST /people/login ──▶ session file (0600), kubeconfig
 *     kubectl ──▶ kc login --exec-credential FILE ── session key ──▶ POST /people/renew
 *     kc logout ── session key ──▶ POST /people/logout
 *
 * kubectl and every other client of the kubeconfig run the second line when they need a token. It
 * prints the token of the file while that is valid for some minutes, and a new one otherwise, so
 * that nothing asks for a password until the session ends.
 */
#include "command.h"
#include "login_session.h"
#include "password_prompt.h"
#include "people_client.h"

#include "kc/file.h"
#include "kc/json.h"
#include "kc/time.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* A token that ends sooner is renewed. */
#define RENEW_BEFORE (2 * KC_MINUTE)

typedef struct login_options {
    kc__cli_server_options server;
    const char *username, *authority, *exec_credential;
    bool insecure;
} login_options;

#define FIELD(name) .offset = offsetof(login_options, name)
#define LOGIN       "Login"

static const kc__cli_flag flags[] = {
    {"username", 'u', .argument = "NAME", .group = LOGIN, FIELD(username),
     .parse = kc__cli_flag_text,
     .help = "name of the user; defaults to that of the operating system"},
    {"certificate-authority", .argument = "FILE", .group = LOGIN, FIELD(authority),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "CA certificate of the server of --server, PEM"},
    {"insecure-skip-tls-verify", .group = LOGIN, FIELD(insecure), .parse = kc__cli_flag_switch,
     .help = "skip verification of the server's certificate; vulnerable to interception of the "
             "password"},
    {"exec-credential", .argument = "FILE", .group = LOGIN, FIELD(exec_credential),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "print the credential of a session file; the kubeconfig runs this"},
};

static const kc__cli_flag_part parts[] = {{&kc__cli_server_flags, offsetof(login_options, server)}};

const kc__cli_flag_set kc__cli_login_flags = {
    .verb = "login",
    .synopsis = "Logs in with a password and writes a context into the kubeconfig whose tokens are "
                "short-lived and renew\nthemselves until the session ends. The password is read "
                "from the terminal, or as a line of standard input.",
    .examples = "  kc login --server=https://plane.example:6443 --certificate-authority=ca.crt "
                "--username=ann\n"
                "  kubectl get pods\n"
                "  kc logout\n",
    KC__CLI_FLAGS(flags),
    KC__CLI_FLAG_PARTS(parts),
    .size = sizeof(login_options),
};

/* ---- the server ---- */

/* The cluster of --server, or that of the kubeconfig. */
static int find_cluster(const login_options *o, const char *kubeconfig, kc_buf *ret, kc_error *err)
{
    if (o->server.server) {
        const kc_config config = {
            .server = o->server.server, .insecure = o->insecure, .ca_file = o->authority};
        return kc__cli_session_cluster(&config, ret, err);
    }
    kc_auto(kc_config) *config =
        kc_config_load(&(kc_config_opts){.path = kubeconfig, .context = o->server.context}, err);
    return config ? kc__cli_session_cluster(config, ret, err) : kc_error_result(err);
}

static kc_client *client_of_cluster(kc_str cluster, kc_error *err)
{
    kc_auto(kc_config) *config = kc__cli_session_config(cluster, err);
    return config ? kc_client_new(&(kc_client_opts){.config = config, .user_agent = "kc"}, err)
                  : NULL;
}

/* ---- login ---- */

typedef struct login_run {
    const login_options *o;
    const char *username;
    char *kubeconfig, *session_file, *server;
    kc_buf cluster;
    kc_client *client;
} login_run;

static void login_run_done(login_run *run)
{
    free(run->kubeconfig);
    free(run->session_file);
    free(run->server);
    kc_buf_done(&run->cluster);
    kc_client_unref(run->client);
}

static int open_login(login_run *run, kc_error *err)
{
    const char *user = getenv("USER");
    run->username = run->o->username ? run->o->username : user;
    if (!run->username || !*run->username)
        return kc_error_set(err, KC_INVALID, "--username is required");
    run->kubeconfig = kc__cli_kubeconfig_path(run->o->server.kubeconfig, err);
    if (!run->kubeconfig || find_cluster(run->o, run->kubeconfig, &run->cluster, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_view) *cluster = kc_view_parse(kc_buf_str(&run->cluster), NULL, err);
    run->server = kc_str_dup(kc_value_as_str(kc_value_get(kc_view_root(cluster), "server")));
    run->session_file = kc__cli_session_path(run->kubeconfig, run->server, run->username);
    run->client = client_of_cluster(kc_buf_str(&run->cluster), err);
    return run->client ? 0 : kc_error_result(err);
}

static int send_login(login_run *run, kc_view **ret, kc_error *err)
{
    kc_buf password = {0};
    kc_autofree char *prompt = kc_asprintf("Password of %s at %s", run->username, run->server);
    int status = kc__cli_password_read(prompt, false, &password, err);
    const kc__cli_people_member members[] = {{"username", kc_cstr(run->username)},
                                             {"password", kc_buf_str(&password)}};
    if (status == 0)
        status =
            kc__cli_people_post(run->client, "/people/login", members, KC_COUNT(members), ret, err);
    kc_buf_wipe(&password);
    return status;
}

static int login(login_run *run, kc_error *err)
{
    kc_auto(kc_view) *answer = NULL;
    if (open_login(run, err) < 0 || send_login(run, &answer, err) < 0)
        return kc_error_result(err);
    const kc_value *root = kc_view_root(answer);
    if (kc__cli_session_write(run->session_file, kc_buf_str(&run->cluster), run->username,
                              kc_value_as_str(kc_value_get(root, "session")), root, err) < 0 ||
        kc__cli_session_add_to_kubeconfig(run->kubeconfig, kc_buf_str(&run->cluster), run->server,
                                          run->username, run->session_file, err) < 0)
        return kc_error_result(err);
    printf("logged in to %s as %s until %.*s\n", run->server, run->username,
           KC_ARG(kc_value_as_str(kc_value_get(root, "sessionExpirationTimestamp"))));
    return 0;
}

/* ---- credential plugin ---- */

static bool is_fresh(const kc_value *session)
{
    kc_time expires = 0;
    const kc_str text = kc_value_as_str(kc_value_get(session, KC__CLI_SESSION_EXPIRES));
    return kc_time_parse(text, &expires, NULL) == 0 &&
           expires > kc_clock_wall(kc_clock_real()) + RENEW_BEFORE;
}

static void print_credential(const kc_value *session)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out, "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
                      "\"ExecCredential\",\"status\":{\"expirationTimestamp\":");
    kc_json_quote(&out, kc_value_as_str(kc_value_get(session, KC__CLI_SESSION_EXPIRES)));
    kc_buf_puts(&out, ",\"token\":");
    kc_json_quote(&out, kc_value_as_str(kc_value_get(session, KC__CLI_SESSION_TOKEN)));
    kc_buf_puts(&out, "}}");
    puts(kc_buf_cstr(&out));
    kc_buf_wipe(&out);
}

static int renew(const char *path, const kc_value *session, kc_view **ret, kc_error *err)
{
    kc_scoped(kc_buf) cluster = {0};
    kc_json_write(&cluster, kc_value_get(session, KC__CLI_SESSION_CLUSTER));
    const kc_str key = kc_value_as_str(kc_value_get(session, KC__CLI_SESSION_KEY));
    const kc__cli_people_member members[] = {{"session", key}};
    kc_auto(kc_client) *client = client_of_cluster(kc_buf_str(&cluster), err);
    if (!client || kc__cli_people_post(client, "/people/renew", members, 1, ret, err) < 0)
        return kc_error_result(err);
    kc_autofree char *username =
        kc_str_dup(kc_value_as_str(kc_value_get(session, KC__CLI_SESSION_USER)));
    return kc__cli_session_write(path, kc_buf_str(&cluster), username, key, kc_view_root(*ret),
                                 err);
}

static int give_credential(const char *path, kc_error *err)
{
    kc_auto(kc_view) *renewed = NULL;
    kc_auto(kc_view) *session = kc__cli_session_read(path, err);
    if (!session)
        return kc_error_result(err);
    if (!is_fresh(kc_view_root(session)) && renew(path, kc_view_root(session), &renewed, err) < 0)
        return kc_error_result(err);
    print_credential(kc_view_root(renewed ? renewed : session));
    return 0;
}

int kc__cli_command_login(int argc, char **argv)
{
    login_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_login_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_login_flags, stdout);
        return 0;
    }
    if (parsed < 0)
        return kc__cli_usage_error("login", &err);
    login_run run = {.o = &o};
    const int status =
        o.exec_credential ? give_credential(o.exec_credential, &err) : login(&run, &err);
    login_run_done(&run);
    if (status < 0)
        fprintf(stderr, "kc login: %s\n", kc_error_text(&err));
    return status < 0 ? 1 : 0;
}

/* ---- logout ---- */

typedef struct logout_options {
    const char *kubeconfig, *context;
    bool all;
} logout_options;

static const kc__cli_flag logout_flags[] = {
    {"all", .group = "Logout", .offset = offsetof(logout_options, all),
     .parse = kc__cli_flag_switch,
     .help = "end all sessions and tokens of the user, on every machine"},
    {"kubeconfig", .argument = "FILE", .group = "Logout",
     .offset = offsetof(logout_options, kubeconfig), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file that kc login wrote; defaults to the one that kubectl uses"},
    {"context", .argument = "NAME", .group = "Logout", .offset = offsetof(logout_options, context),
     .parse = kc__cli_flag_text,
     .help = "context of the kubeconfig; defaults to its current context"},
};

const kc__cli_flag_set kc__cli_logout_flags = {
    .verb = "logout",
    .synopsis = "Ends the session that kc login began: its token is invalid at once.",
    .examples = "  kc logout\n"
                "  kc logout --all\n",
    KC__CLI_FLAGS(logout_flags),
    .size = sizeof(logout_options),
};

/* A session that the server no longer has is ended, too. */
static int end_session(const logout_options *o, const kc_value *session, kc_error *err)
{
    kc_scoped(kc_buf) cluster = {0};
    kc_scoped(kc_error) failed = {0};
    kc_json_write(&cluster, kc_value_get(session, KC__CLI_SESSION_CLUSTER));
    const kc__cli_people_member members[] = {
        {"session", kc_value_as_str(kc_value_get(session, KC__CLI_SESSION_KEY))},
        {"everywhere", .is_true = true}};
    kc_auto(kc_client) *client = client_of_cluster(kc_buf_str(&cluster), err);
    if (!client)
        return kc_error_result(err);
    if (kc__cli_people_post(client, "/people/logout", members, o->all ? 2 : 1, NULL, &failed) < 0 &&
        (failed.reason != KC_UNAUTHORIZED || o->all))
        return kc_error_move(err, &failed);
    return 0;
}

static int logout(const logout_options *o, kc_error *err)
{
    kc_autofree char *kubeconfig = kc__cli_kubeconfig_path(o->kubeconfig, err);
    kc_autofree char *path =
        kubeconfig ? kc__cli_session_of_kubeconfig(kubeconfig, o->context, err) : NULL;
    kc_auto(kc_view) *session = path ? kc__cli_session_read(path, err) : NULL;
    if (!session || end_session(o, kc_view_root(session), err) < 0 || kc_file_remove(path, err) < 0)
        return kc_error_result(err);
    puts(o->all ? "logged out everywhere" : "logged out");
    return 0;
}

int kc__cli_command_logout(int argc, char **argv)
{
    logout_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_logout_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_logout_flags, stdout);
        return 0;
    }
    if (parsed < 0)
        return kc__cli_usage_error("logout", &err);
    if (logout(&o, &err) == 0)
        return 0;
    fprintf(stderr, "kc logout: %s\n", kc_error_text(&err));
    return 1;
}
