/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver_options.c: the flags of `kc apiserver`, and which of them cannot stand together.
 *
 * A contradiction is a row of `rules`: when it holds and the sentence that says so. Until there is
 * authorization, whoever is let in may do everything; so nobody is let in without credentials
 * unless a flag says so (kube-apiserver turns anonymous requests off under AlwaysAllow for the same
 * reason), and a server that can be reached from elsewhere refuses that flag.
 *
 * To add a flag: a field of the options, a row of `flags`, a paragraph in docs/man/kc-apiserver.8.
 */
#include "apiserver_options.h"

#include "verb.h"

#include "apiserver/storage/storage_file.h"

#include <arpa/inet.h>

/* ---- backends ---- */

static const kc_storage_backend *const backends[] = {&kc_storage_file};

static int parse_backend(const char *text, void *ret, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(backends); i++) {
        if (!strcmp(text, backends[i]->name)) {
            *(const kc_storage_backend **)ret = backends[i];
            return 0;
        }
    }
    return kc_error_set(err, KC_INVALID, "'%s' is not a backend; there is 'file'", text);
}

/* ---- flags ---- */

#define FIELD(name) .offset = offsetof(kc__apiserver_options, name)
#define STORING     "Storing"
#define SERVING     "Serving"
#define CERTS       "Certificates"
#define ACCESS      "Access"
#define LOGGING     "Logging"

static const kc_flag flags[] = {
    {"file-rootpath", .argument = "FOLDER", .group = STORING, FIELD(root), .parse = kc_flag_text,
     .values = "FOLDER",
     .help = "everything the server keeps is in this folder, which is made if it is not there; "
             "required"},
    {"backend", .argument = "NAME", .initial = "file", .group = STORING, FIELD(backend),
     .parse = parse_backend, .values = "file",
     .help = "how objects are stored: 'file' keeps them in one folder of this machine"},

    {"bind-address", .argument = "ADDRESS", .initial = "127.0.0.1", .group = SERVING,
     FIELD(bind_address), .parse = kc_flag_address, .values = "127.0.0.1 0.0.0.0",
     .help = "address for HTTPS; 0.0.0.0 for all of this machine's"},
    {"secure-port", .argument = "PORT", .initial = "6443", .group = SERVING, FIELD(secure_port),
     .parse = kc_flag_port, .help = "port for HTTPS; 0 turns it off"},
    {"insecure-addr", .argument = "ADDRESS", .initial = "127.0.0.1", .group = SERVING,
     FIELD(insecure_addr), .parse = kc_flag_address, .values = "127.0.0.1",
     .help = "address for plain HTTP; beyond loopback only with --token-auth-file, and then tokens "
             "can be read on the way"},
    {"insecure-port", .argument = "PORT", .initial = "6080", .group = SERVING, FIELD(insecure_port),
     .parse = kc_flag_port, .help = "port for plain HTTP; 0 turns it off"},
    {"request-timeout", .argument = "DURATION", .initial = "1m0s", .group = SERVING,
     FIELD(request_timeout), .parse = kc_flag_duration,
     .help = "how long a request other than a watch may take"},

    {"cert-dir", .argument = "FOLDER", .group = CERTS, FIELD(cert_dir), .parse = kc_flag_text,
     .values = "FOLDER",
     .help =
         "where the certificates are that the server makes itself; defaults to the folder certs "
         "in --file-rootpath"},
    {"tls-cert-file", .argument = "FILE", .group = CERTS, FIELD(tls_cert_file),
     .parse = kc_flag_text, .values = "FILE",
     .help = "a serving certificate of your own, with its chain, in PEM; needs "
             "--tls-private-key-file"},
    {"tls-private-key-file", .argument = "FILE", .group = CERTS, FIELD(tls_key_file),
     .parse = kc_flag_text, .values = "FILE", .help = "its private key, in PEM, without password"},
    {"client-ca-file", .argument = "FILE", .group = CERTS, FIELD(client_ca_file),
     .parse = kc_flag_text, .values = "FILE",
     .help = "clients may show certificates of these authorities (PEM), beside those of the "
             "server's own"},

    {"token-auth-file", .argument = "FILE", .group = ACCESS, FIELD(token_file),
     .parse = kc_flag_text, .values = "FILE",
     .help = "bearer tokens, one a line: token,user,uid[,\"group1,group2\"]"},
    {"anonymous-auth", .group = ACCESS, FIELD(anonymous), .parse = kc_flag_switch,
     .help = "let requests without credentials in as system:anonymous, where no other machine can "
             "reach the server; web pages are not let in"},
    {"authn-allow-localhost", .group = ACCESS, FIELD(allow_localhost), .parse = kc_flag_switch,
     .help = "programs of this machine need no credentials and are administrators; web pages and "
             "what comes through a proxy are not"},

    {"v", 'v', .argument = "N", .initial = "0", .group = LOGGING, FIELD(verbosity),
     .parse = kc_flag_verbosity, .values = "0 1 2 3 4 5 6 7 8 9 10",
     .help = "how much to log, from 0 to 10"},
    {"log-format", .argument = "FORMAT", .initial = "console", .group = LOGGING, FIELD(log_format),
     .parse = kc_flag_log_format, .values = "console json", .help = "console, for people, or json"},
};

const kc_flag_set kc_apiserver_flags = {
    .verb = "apiserver",
    .synopsis = "Serves the Kubernetes API from a folder of this machine: kubectl, client-go and "
                "other clients\nwork with it. On its first start it makes certificates, and an "
                "administrator's kubeconfig in\nFOLDER/admin.kubeconfig.",
    .examples = "  kc apiserver --file-rootpath=/var/lib/kc\n"
                "  kubectl --kubeconfig /var/lib/kc/admin.kubeconfig get namespaces\n"
                "\n"
                "  kc apiserver --file-rootpath=/tmp/kc --secure-port=0 --authn-allow-localhost\n"
                "  kubectl -s http://127.0.0.1:6080 get namespaces\n"
                "\n"
                "  kc apiserver --file-rootpath=/var/lib/kc --bind-address=0.0.0.0 "
                "--token-auth-file=tokens.csv\n",
    KC_FLAGS(flags),
    .size = sizeof(kc__apiserver_options),
};

/* ---- contradictions ---- */

bool kc__is_loopback_address(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool plain_is_reachable(const kc__apiserver_options *o)
{
    return o->insecure_port && !kc__is_loopback_address(o->insecure_addr);
}

static bool is_reachable(const kc__apiserver_options *o)
{
    return plain_is_reachable(o) || (o->secure_port && !kc__is_loopback_address(o->bind_address));
}

static bool lacks_root(const kc__apiserver_options *o)
{
    return !o->root;
}

static bool listens_nowhere(const kc__apiserver_options *o)
{
    return !o->secure_port && !o->insecure_port;
}

static bool shares_a_port(const kc__apiserver_options *o)
{
    return o->secure_port && o->secure_port == o->insecure_port;
}

static bool lacks_key(const kc__apiserver_options *o)
{
    return o->tls_cert_file && !o->tls_key_file;
}

static bool lacks_cert(const kc__apiserver_options *o)
{
    return o->tls_key_file && !o->tls_cert_file;
}

static bool has_certs_for_nothing(const kc__apiserver_options *o)
{
    return !o->secure_port && (o->tls_cert_file || o->client_ca_file || o->cert_dir);
}

static bool is_plain_and_open(const kc__apiserver_options *o)
{
    return plain_is_reachable(o) && !o->token_file;
}

static bool is_open_to_all(const kc__apiserver_options *o)
{
    return is_reachable(o) && o->anonymous;
}

static const struct rule {
    bool (*broken)(const kc__apiserver_options *o);
    const char *sentence;
} rules[] = {
    {lacks_root, "--file-rootpath is required and must not be empty: it names the folder for "
                 "everything the server keeps"},
    {listens_nowhere, "--secure-port=0 and --insecure-port=0 leave no port to listen on"},
    {shares_a_port, "--secure-port and --insecure-port must not be the same"},
    {lacks_key, "--tls-cert-file needs --tls-private-key-file beside it"},
    {lacks_cert, "--tls-private-key-file needs --tls-cert-file beside it"},
    {has_certs_for_nothing, "--cert-dir, --tls-cert-file and --client-ca-file are of no use with "
                            "--secure-port=0, which turns TLS off"},
    {is_plain_and_open, "--insecure-addr would listen beyond this machine without any "
                        "authentication; add --token-auth-file, or use --bind-address for HTTPS"},
    {is_open_to_all, "--anonymous-auth=true would let anybody who reaches this machine do "
                     "everything; leave it out, or listen on a loopback address only"},
};

static void drop_empty(const char **text)
{
    if (*text && !**text)
        *text = NULL;
}

int kc__apiserver_options_check(kc__apiserver_options *o, kc_error *err)
{
    const char **texts[] = {&o->root,         &o->cert_dir,       &o->tls_cert_file,
                            &o->tls_key_file, &o->client_ca_file, &o->token_file};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        drop_empty(texts[i]);
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (rules[i].broken(o))
            return kc_error_set(err, KC_INVALID, "%s", rules[i].sentence);
    return 0;
}
