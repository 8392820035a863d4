/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver_options.c: the flags of `kc apiserver`, and the combinations it refuses.
 *
 * A row of `rules` is a refused combination and its error message. By default every authenticated
 * client may do everything (AlwaysAllow). Anonymous requests are therefore off by default
 * (kube-apiserver does the same under AlwaysAllow), and a server that other machines can reach
 * refuses to enable them, unless the roles of the mode RBAC decide what they may do.
 *
 * To add a flag: a row of `flags`, and a field: of kc__apiserver_opts if the server reads it, else
 * of the options. Then run scripts/man. docs/howto.md has an example.
 */
#include "apiserver_options.h"

#include "command.h"

#include "kc/json.h"

#include <arpa/inet.h>

/* ---- values ---- */

/* Durable backends only, because a server must keep its objects. */
static const kc__storage_backend *durable_backend(size_t i)
{
    const kc__storage_backend *backend = NULL;
    for (size_t at = 0; (backend = kc__storage_backend_at(at)) != NULL; at++)
        if (backend->durable && i-- == 0)
            return backend;
    return NULL;
}

static const char *backend_name(size_t i)
{
    const kc__storage_backend *backend = durable_backend(i);
    return backend ? backend->name : NULL;
}

/* `text` is one of the names. */
static int parse_backend(const char *text, void *ret, kc_error *err)
{
    (void)err;
    *(const kc__storage_backend **)ret = kc__storage_backend_named(text);
    return 0;
}

static int parse_workers(const char *text, void *ret, kc_error *err)
{
    uint64_t number;
    if (!kc_str_to_u64(kc_cstr(text), &number) || number > 16)
        return kc__cli_flag_invalid(text, "an integer from 0 to 16", err);
    *(unsigned *)ret = (unsigned)number;
    return 0;
}

static bool has_authorization_mode(const kc__authz_modes *modes, kc__authz_mode mode)
{
    for (size_t i = 0; i < modes->n; i++)
        if (modes->items[i] == mode)
            return true;
    return false;
}

/* Comma-separated modes, in the order of their evaluation. */
static int parse_authorization(const char *text, void *ret, kc_error *err)
{
    kc__authz_modes modes = {0};
    kc_str rest = kc_cstr(text);
    while (rest.n) {
        const kc_str name = kc_str_cut(&rest, ',');
        size_t mode = 0;
        while (mode < KC__AUTHZ_MODES && !kc_str_is(name, kc__authz_mode_names[mode]))
            mode++;
        if (mode == KC__AUTHZ_MODES || has_authorization_mode(&modes, (kc__authz_mode)mode))
            return kc__cli_flag_invalid(
                text,
                "a list of AlwaysAllow, AlwaysDeny, Node, RBAC and Webhook, each at most once",
                err);
        modes.items[modes.n++] = (kc__authz_mode)mode;
    }
    *(kc__authz_modes *)ret = modes;
    return 0;
}

static const char *authorization_name(size_t i)
{
    return i < KC__AUTHZ_MODES ? kc__authz_mode_names[i] : NULL;
}

/* Adds to the field, so that a flag may be repeated, as in kube-apiserver. */
static int parse_plugins(const char *text, void *ret, kc_error *err)
{
    return kc__admission_selection_parse(text, ret, err);
}

/* ---- flags ---- */

#define FIELD(name) .offset = offsetof(kc__cli_apiserver_options, name)
#define STORAGE     "Storage"
#define SERVING     "Serving"
#define CERTS       "Certificates"
#define ACCESS      "Authentication"
#define ACCOUNTS    "Service accounts"
#define ADMISSION   "Admission"
#define LIMITS      "Limits"
#define LOGGING     "Logging"

static const kc__cli_flag flags[] = {
    {"file-rootpath", .argument = "DIR", .group = STORAGE, FIELD(root), .parse = kc__cli_flag_text,
     .values = "DIR",
     .help = "directory for all data of the server; created with mode 0700 if missing; required",
     .details = "One server at a time can use the directory."},
    {"backend", .argument = "NAME", .initial = "file", .group = STORAGE, FIELD(backend),
     .choice_name = backend_name, .parse = parse_backend, .help = "storage backend",
     .details = "The backend file keeps objects in --file-rootpath. The backend etcd keeps them in "
                "an etcd cluster, which several servers may use at once; --file-rootpath then "
                "holds certificates and keys only."},
    {"encryption-provider-config", .argument = "FILE", .group = STORAGE, FIELD(encryption_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "encryption of stored objects: an EncryptionConfiguration of "
             "apiserver.config.k8s.io/v1; defaults to encryption.yaml in --file-rootpath, if it "
             "exists",
     .details = "Providers are aesgcm, aescbc, secretbox and identity. The first key of the first "
                "provider encrypts, all keys decrypt. Objects that are stored already keep their "
                "form until they are written; kc-store(8) rewrites all. A key of aesgcm must be "
                "replaced before 2^32 writes."},
    {"encryption-provider-config-automatic-reload", .group = STORAGE, FIELD(encryption_reload),
     .parse = kc__cli_flag_switch,
     .help = "read --encryption-provider-config again when it changes, within a minute",
     .details = "A file that is invalid is ignored: the previous configuration stays in use."},
    {"event-ttl", .argument = "DURATION", .initial = "1h0m0s", .group = STORAGE,
     FIELD(server.event_ttl), .parse = kc__cli_flag_duration,
     .help = "lifetime of an Event after its last update"},
    {"max-events-per-namespace", .argument = "N", .initial = "20000", .group = STORAGE,
     FIELD(server.max_namespace_events), .parse = kc__cli_flag_count,
     .help = "maximum number of Events in a namespace; the oldest are deleted first",
     .details = "The server deletes the oldest Events from 90 percent on. It refuses to create an "
                "Event at 100 percent with status 429."},
    {"max-events", .argument = "N", .initial = "60000", .group = STORAGE, FIELD(server.max_events),
     .parse = kc__cli_flag_count,
     .help = "maximum number of Events in all namespaces; the oldest are deleted first",
     .details = "The thresholds are those of --max-events-per-namespace."},

    {"bind-address", .argument = "ADDRESS", .initial = "127.0.0.1", .group = SERVING,
     FIELD(bind_address), .parse = kc__cli_flag_address, .values = "127.0.0.1 0.0.0.0",
     .help = "HTTPS address; 0.0.0.0 listens on all interfaces"},
    {"secure-port", .argument = "PORT", .initial = "6443", .group = SERVING, FIELD(secure_port),
     .parse = kc__cli_flag_port, .help = "HTTPS port; 0 disables HTTPS",
     .details = "Without HTTPS the server creates no serving certificate and no kubeconfig."},
    {"insecure-addr", .argument = "ADDRESS", .initial = "127.0.0.1", .group = SERVING,
     FIELD(insecure_addr), .parse = kc__cli_flag_address, .values = "127.0.0.1",
     .help = "HTTP address; beyond loopback it requires --token-auth-file, and tokens cross the "
             "network unencrypted"},
    {"insecure-port", .argument = "PORT", .initial = "6080", .group = SERVING, FIELD(insecure_port),
     .parse = kc__cli_flag_port, .help = "HTTP port; 0 disables HTTP"},
    {"request-timeout", .argument = "DURATION", .initial = "1m0s", .group = SERVING,
     FIELD(server.request_timeout), .parse = kc__cli_flag_duration,
     .help = "deadline of a request other than a watch"},
    {"shutdown-delay-duration", .argument = "DURATION", .initial = "0s", .group = SERVING,
     FIELD(shutdown_delay), .parse = kc__cli_flag_interval,
     .help =
         "time after SIGTERM during which /readyz fails and everything is still served, so that "
         "load balancers send requests to other servers",
     .details = "In the second half of that time the server sends clients to other connections: "
                "GOAWAY in HTTP/2, Connection: close in HTTP/1.1. Then the server stops to listen, "
                "ends watches, and answers the open requests."},
    {"unrestricted-update", .group = SERVING, FIELD(server.unrestricted_update),
     .parse = kc__cli_flag_switch,
     .help = "an update or patch of an object also writes the status that it contains, without the "
             "permission for the subresource status",
     .details = "An object that contains no status keeps the stored one."},
    {"portable", .group = SERVING, FIELD(server.portable), .parse = kc__cli_flag_switch,
     .help = "do not serve custom resources whose definition has the annotation "
             "kubecontroller.io/not-portable=true"},
    {"request-workers", .argument = "N", .initial = "0", .group = SERVING,
     FIELD(server.request_workers), .parse = parse_workers,
     .help = "number of worker threads for requests with large bodies, objects or responses, 1 to "
             "16; 0 selects half of the CPUs, at least 2 and at most 4",
     .details = "Such requests would delay other clients on the I/O threads. One user never "
                "occupies all workers. A request that uses more than 2 seconds of CPU time on a "
                "worker fails with a Timeout."},

    {"cert-dir", .argument = "DIR", .group = CERTS, FIELD(cert_dir), .parse = kc__cli_flag_text,
     .values = "DIR",
     .help = "directory for the certificates that the server creates; defaults to certs in "
             "--file-rootpath"},
    {"tls-san", .argument = "NAME", .group = CERTS, FIELD(tls_names),
     .parse = kc__cli_flag_repeated,
     .help = "further DNS name or IP address in the serving certificate that the server creates, "
             "such as that of a load balancer; may be repeated"},
    {"tls-cert-file", .argument = "FILE", .group = CERTS, FIELD(tls_cert_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "serving certificate with its chain, PEM; requires --tls-private-key-file",
     .details = "It replaces the certificate that the server creates. The kubeconfig then trusts "
                "this certificate. The server reads certificate and key again when they change."},
    {"tls-private-key-file", .argument = "FILE", .group = CERTS, FIELD(tls_key_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "private key of --tls-cert-file, PEM, without a passphrase"},
    {"client-ca-file", .argument = "FILE", .group = CERTS, FIELD(client_ca_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "certificate authorities for client certificates, PEM; the server's own authority is "
             "always trusted",
     .details = "The common name of a client certificate is the user name, its organizations are "
                "the groups, and the attribute 1.3.6.1.4.1.57683.2 of its subject is the uid. The "
                "server reads the file again when it changes."},

    {"token-auth-file", .argument = "FILE", .group = ACCESS, FIELD(token_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "static bearer tokens, one per line: token,user,uid[,\"group1,group2\"]",
     .details = "The server reads the file again when it changes."},
    {"anonymous-auth", .group = ACCESS, FIELD(anonymous), .parse = kc__cli_flag_switch,
     .help = "accept requests without credentials as system:anonymous; bind to loopback only; "
             "requests from web pages stay refused",
     .details = "The server refuses to start if other machines can reach it, unless "
                "--authorization-mode decides what such requests may do. The paths /healthz, "
                "/livez, /readyz and /version never need credentials."},
    {"authn-allow-localhost", .group = ACCESS, FIELD(allow_localhost), .parse = kc__cli_flag_switch,
     .help = "authenticate loopback clients that run as root or as this process's user as "
             "administrators without credentials; requests from web pages and proxies stay "
             "refused",
     .details = "The user is in the group system:masters. The server refuses a request if the "
                "client has closed its socket before the check, if the Host header is missing or "
                "names another host, if Origin or Sec-Fetch-Site show a web page, and if a proxy "
                "has added a header (Via, Forwarded, X-Forwarded-*, *-IP, X-Original-*, "
                "X-Remote-*, Proxy-*)."},
    {"authn-localhost-users", .argument = "USERS", .group = ACCESS, FIELD(localhost_users),
     .parse = kc__cli_flag_localhost_users,
     .help = "comma-separated list of further users (names or uids) for --authn-allow-localhost; "
             "users that pods run as are refused",
     .details = "Pods run as the account \"nobody\" and the uids from 2000000000 to 2000065535."},

    {"authorization-mode", .argument = "MODES", .initial = "Node,RBAC", .group = ACCESS,
     FIELD(server.authorization), .parse = parse_authorization, .choice_name = authorization_name,
     .is_list = true, .given = offsetof(kc__cli_apiserver_options, authz.given),
     .help = "comma-separated list of authorizers, evaluated in this order until one decides",
     .details =
         "AlwaysAllow allows every authenticated request. AlwaysDeny denies every request. "
         "Node lets the users system:node:NAME of the group system:nodes read what the pods on "
         "that node need. Webhook sends a SubjectAccessReview to another server "
         "(--authorization-webhook-config-file). RBAC decides by the stored Roles, ClusterRoles "
         "and their bindings; at its start the "
         "server creates those that every cluster has, and adds missing rules to them. A "
         "request that no authorizer allows gets 403. Members of the group system:masters "
         "may do everything in every mode."},
    {"kubectl-disabled", .group = ACCESS, FIELD(server.kubectl.disabled),
     .parse = kc__cli_flag_switch,
     .help = "refuse clients whose User-Agent starts with kubectl; a policy, not a boundary",
     .details = "Every client can send another User-Agent. Roles decide what a user may do."},
    {"kubectl-ephemeral-token", .group = ACCESS, FIELD(server.kubectl.ephemeral),
     .parse = kc__cli_flag_switch,
     .help = "refuse static tokens from kubectl, so that it uses temporary ones (kc login, kc "
             "token, kubectl create token); a policy, not a boundary",
     .details = "Static tokens are those of --token-auth-file and tokens of service accounts that "
                "do not expire. Client certificates stay accepted."},
    {"kubectl-ephemeral-duration", .argument = "DURATION", .initial = "1h0m0s", .group = ACCESS,
     FIELD(server.kubectl.duration), .parse = kc__cli_flag_duration,
     .help = "with --kubectl-ephemeral-token, the time that a token of kubectl may have left"},
    {"session-lifetime", .argument = "DURATION", .initial = "12h0m0s", .group = ACCESS,
     FIELD(server.session_lifetime), .parse = kc__cli_flag_duration,
     .help = "time after which users log in again; between 1m and 720h",
     .details = "A session of kc login renews its tokens, which live for 15 minutes, until then. "
                "Existing sessions keep their expiry."},
    {"service-account-issuer", .argument = "URL", .group = ACCOUNTS, FIELD(accounts.issuers),
     .parse = kc__cli_flag_repeated,
     .help =
         "issuer of service-account tokens; may be repeated: the first signs, all are accepted; "
         "defaults to https://kubernetes.default.svc",
     .details = "Tokens carry it as the claim iss. The server serves OIDC discovery at "
                "/.well-known/openid-configuration if the first issuer is an https URL without "
                "query and fragment."},
    {"service-account-signing-key-file", .argument = "FILE", .group = ACCOUNTS,
     FIELD(accounts.signing_key_file), .parse = kc__cli_flag_text, .values = "FILE",
     .help =
         "private key that signs service-account tokens, PEM; defaults to sa.key in --cert-dir, "
         "which the server creates",
     .details = "An RSA key (2048 to 8192 bits) signs with RS256; a key on P-256, P-384 or P-521 "
                "signs with ES256, ES384 or ES512. The same key verifies."},
    {"service-account-key-file", .argument = "FILE", .group = ACCOUNTS, FIELD(accounts.key_files),
     .parse = kc__cli_flag_repeated, .values = "FILE",
     .help = "further keys that verify service-account tokens, PEM: public keys, private keys or "
             "certificates; may be repeated",
     .details =
         "A file may contain several keys. To replace the signing key, first add the new "
         "public key here on all servers, then sign with the new key, and remove the old one "
         "when the last token that it signed has expired."},
    {"api-audiences", .argument = "NAMES", .group = ACCOUNTS, FIELD(accounts.audiences),
     .parse = kc__cli_flag_words,
     .help = "comma-separated audiences of this server: a service-account token must have one of "
             "them; defaults to the issuers"},
    {"service-account-max-token-expiration", .argument = "DURATION", .group = ACCOUNTS,
     FIELD(accounts.max_expiration), .parse = kc__cli_flag_duration,
     .help = "maximum lifetime of a token, from 1h on; a request for more gets a token of this "
             "lifetime and a warning; defaults to no limit"},
    {"service-account-extend-token-expiration", .initial = "true", .group = ACCOUNTS,
     FIELD(accounts.extend_expiration), .parse = kc__cli_flag_switch,
     .help = "extend the tokens that nodes request for pods to a year, with a metric for clients "
             "that do not renew them",
     .details =
         "Only tokens that are bound to a pod, have a requested lifetime of 3607 seconds and "
         "the audiences of this server are extended, whatever "
         "--service-account-max-token-expiration says."},
    {"service-account-jwks-uri", .argument = "URL", .group = ACCOUNTS, FIELD(accounts.jwks_uri),
     .parse = kc__cli_flag_text,
     .help =
         "address of the key set in the OIDC discovery document; defaults to /openid/v1/jwks of "
         "this server"},

    {"enable-admission-plugins", .argument = "NAMES", .group = ADMISSION,
     FIELD(server.enabled_plugins), .choice_name = kc__admission_selectable_plugin, .is_list = true,
     .parse = parse_plugins,
     .help = "comma-separated list of admission plugins to enable besides those that are enabled "
             "by default",
     .details = "The order of the names does not matter. The flag may be repeated."},
    {"disable-admission-plugins", .argument = "NAMES", .group = ADMISSION,
     FIELD(server.disabled_plugins), .choice_name = kc__admission_selectable_plugin,
     .is_list = true, .parse = parse_plugins,
     .help = "comma-separated list of admission plugins to disable",
     .details = "The order of the names does not matter. The flag may be repeated."},
    {"default-not-ready-toleration-seconds", .argument = "SECONDS", .initial = "300",
     .group = ADMISSION, FIELD(not_ready_seconds), .parse = kc__cli_flag_limit,
     .help =
         "seconds that a pod without a toleration of its own stays on a node that is not ready"},
    {"default-unreachable-toleration-seconds", .argument = "SECONDS", .initial = "300",
     .group = ADMISSION, FIELD(unreachable_seconds), .parse = kc__cli_flag_limit,
     .help = "seconds that a pod without a toleration of its own stays on an unreachable node"},
    {"admission-control-config-file", .argument = "FILE", .group = ADMISSION,
     FIELD(admission_config_file), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "configuration of admission plugins: an AdmissionConfiguration of "
             "apiserver.config.k8s.io/v1",
     .details = "Configurable are PodSecurity, ResourceQuota, EventRateLimit, ImagePolicyWebhook, "
                "PodNodeSelector, PodTolerationRestriction and, with the credentials of the "
                "server for webhooks, MutatingAdmissionWebhook and ValidatingAdmissionWebhook. "
                "The server reads the file at startup."},

    {"max-connections", .argument = "N", .initial = "0", .group = LIMITS,
     FIELD(server.max_connections), .parse = kc__cli_flag_limit,
     .help = "maximum number of open connections; beyond it the server closes idle connections, "
             "unauthenticated ones first; 0 derives it from the limits of open files and memory",
     .details =
         "The default is the limit of open files less an eighth (64 to 512), and at most one "
         "connection for each 64 KiB of --memory-soft-limit, or 1024 if that is more. Idle "
         "connections are also closed while memory is above --memory-soft-limit."},
    {"max-unauthenticated-bytes", .argument = "BYTES", .initial = "16Mi", .group = LIMITS,
     FIELD(server.budget.unauthenticated), .parse = kc__cli_flag_bytes,
     .help = "maximum size of all buffered unauthenticated requests; beyond it: 429",
     .details = "Request heads of up to 4 KiB do not count."},
    {"max-request-bytes-in-flight", .argument = "BYTES", .initial = "256Mi", .group = LIMITS,
     FIELD(server.budget.in_flight), .parse = kc__cli_flag_bytes,
     .help = "maximum size of all buffered authenticated requests; beyond it: 429"},
    {"max-request-bytes-per-user", .argument = "BYTES", .initial = "64Mi", .group = LIMITS,
     FIELD(server.budget.per_user), .parse = kc__cli_flag_bytes,
     .help = "maximum size of all buffered requests of one user; beyond it: 429"},
    {"tls-handshake-timeout", .argument = "DURATION", .initial = "10s", .group = LIMITS,
     FIELD(server.tls_handshake_timeout), .parse = kc__cli_flag_duration,
     .help = "deadline of a TLS handshake"},
    {"memory-trim-interval", .argument = "DURATION", .initial = "30s", .group = LIMITS,
     FIELD(server.memory_trim_interval), .parse = kc__cli_flag_duration,
     .help = "interval at which the server returns freed memory to the system"},
    {"max-request-bytes", .argument = "BYTES", .initial = "3Mi", .group = LIMITS,
     FIELD(server.max_request_bytes), .parse = kc__cli_flag_bytes,
     .help = "maximum size of a request body, up to 16Mi; beyond it: 413"},
    {"max-object-bytes", .argument = "BYTES", .initial = "1536Ki", .group = LIMITS,
     FIELD(server.max_object_bytes), .parse = kc__cli_flag_bytes,
     .help = "maximum size of a stored object as JSON, up to 15Mi; beyond it: 413",
     .details = "An object stored under a larger limit can be deleted, and updated without "
                "growing."},
    {"max-watches-per-user", .argument = "N", .initial = "20000", .group = LIMITS,
     FIELD(server.max_watches_per_user), .parse = kc__cli_flag_count,
     .help = "maximum number of open watches of one user; beyond it: 429"},
    {"max-requests-inflight", .argument = "N", .initial = "400", .group = LIMITS,
     FIELD(server.max_reading), .parse = kc__cli_flag_count,
     .help = "maximum number of reads in flight, other than watches; beyond it: 429",
     .details = "On etcd, reads of the latest state are in flight until etcd has returned its "
                "revision."},
    {"max-mutating-requests-inflight", .argument = "N", .initial = "200", .group = LIMITS,
     FIELD(server.max_mutating), .parse = kc__cli_flag_count,
     .help = "maximum number of writes in flight; beyond it: 429"},
    {"history-bytes", .argument = "BYTES", .initial = "128Mi", .group = LIMITS,
     FIELD(server.history_bytes), .parse = kc__cli_flag_bytes,
     .help = "memory for recent events, from which watches resume, and as much again for old "
             "revisions that continue tokens and slow list readers hold; beyond it: 410",
     .details = "The server drops the oldest first. Watches and pages that need it get status "
                "410, lists that read it end aborted."},
    {"conversion-bytes", .argument = "BYTES", .initial = "64Mi", .group = LIMITS,
     FIELD(server.conversion_bytes), .parse = kc__cli_flag_bytes,
     .help = "memory for objects that conversion webhooks have converted; beyond it the server "
             "drops the least used",
     .details = "Each revision of an object is converted once for each version while it is kept. "
                "What responses in progress use is kept beyond this limit."},
    {"memory-soft-limit", .argument = "BYTES", .group = LIMITS, FIELD(server.memory_soft_limit),
     .parse = kc__cli_flag_bytes,
     .help = "resident memory above which the server refuses watches, lists without a limit and "
             "large writes (429); defaults to 50% of the memory available to the process",
     .details = "Large writes are bodies above 64 KiB and writes of definitions. The response "
                "has a Retry-After header. The available memory is the smallest of the machine's "
                "memory, the limits of its control groups, RLIMIT_AS and RLIMIT_DATA."},
    {"memory-hard-limit", .argument = "BYTES", .group = LIMITS, FIELD(server.memory_hard_limit),
     .parse = kc__cli_flag_bytes,
     .help = "resident memory above which the server cancels its largest responses and reports "
             "not ready; defaults to 75% of the memory available to the process",
     .details = "The server then serves reads of single objects, deletions and leases only, and "
                "/readyz returns 500."},

    {"v", 'v', .argument = "N", .initial = "0", .group = LOGGING, FIELD(verbosity),
     .choices = kc__cli_flag_verbosities, .help = "log verbosity; 6 and more log each request",
     .details =
         "A request is logged with its verb, address, duration, user agent, audit ID, source, "
         "user and status, when its response has ended. Bodies and credentials are never "
         "logged."},
    {"log-format", .argument = "FORMAT", .initial = "console", .group = LOGGING, FIELD(log_format),
     .choices = kc__cli_flag_log_formats, .help = "log format"},
};

static const kc__cli_flag_part parts[] = {
    {&kc__cli_authn_part, offsetof(kc__cli_apiserver_options, authn)},
    {&kc__cli_audit_flags, offsetof(kc__cli_apiserver_options, audit)},
    {&kc__cli_etcd_flags, offsetof(kc__cli_apiserver_options, etcd)},
    {&kc__cli_service_flags, offsetof(kc__cli_apiserver_options, services)},
    {&kc__cli_authz_part, offsetof(kc__cli_apiserver_options, authz)},
};

const kc__cli_flag_set kc__cli_apiserver_flags = {
    .verb = "apiserver",
    .synopsis = "Runs the API server: it serves the Kubernetes API to kubectl, client-go and other "
                "clients and keeps\nobjects in a local directory. The first start creates "
                "certificates and an administrator's kubeconfig\n(DIR/admin.kubeconfig).",
    .examples = "  # HTTPS on this machine\n"
                "  kc apiserver --file-rootpath=/var/lib/kc\n"
                "  kubectl --kubeconfig /var/lib/kc/admin.kubeconfig get namespaces\n"
                "\n"
                "  # HTTP without credentials, loopback only\n"
                "  kc apiserver --file-rootpath=/tmp/kc --secure-port=0 --authn-allow-localhost\n"
                "  kubectl -s http://127.0.0.1:6080 get namespaces\n"
                "\n"
                "  # HTTPS for other machines, with bearer tokens\n"
                "  kc apiserver --file-rootpath=/var/lib/kc --bind-address=0.0.0.0 "
                "--token-auth-file=tokens.csv\n"
                "\n"
                "  # Service-account tokens with a key of your own, and the previous key\n"
                "  kc apiserver --file-rootpath=/var/lib/kc "
                "--service-account-signing-key-file=sa.key \\\n"
                "    --service-account-key-file=old.pub\n"
                "  kubectl --kubeconfig /var/lib/kc/admin.kubeconfig create token default\n",
    KC__CLI_FLAGS(flags),
    KC__CLI_FLAG_PARTS(parts),
    .size = sizeof(kc__cli_apiserver_options),
};

/* ---- refused combinations ---- */

bool kc__cli_is_loopback_address(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool plain_is_reachable(const kc__cli_apiserver_options *o)
{
    return o->insecure_port && !kc__cli_is_loopback_address(o->insecure_addr);
}

static bool is_reachable(const kc__cli_apiserver_options *o)
{
    return plain_is_reachable(o) ||
           (o->secure_port && !kc__cli_is_loopback_address(o->bind_address));
}

static bool lacks_root(const kc__cli_apiserver_options *o)
{
    return !o->root;
}

static bool listens_nowhere(const kc__cli_apiserver_options *o)
{
    return !o->secure_port && !o->insecure_port;
}

static bool shares_a_port(const kc__cli_apiserver_options *o)
{
    return o->secure_port && o->secure_port == o->insecure_port;
}

static bool lacks_key(const kc__cli_apiserver_options *o)
{
    return o->tls_cert_file && !o->tls_key_file;
}

static bool lacks_cert(const kc__cli_apiserver_options *o)
{
    return o->tls_key_file && !o->tls_cert_file;
}

static bool has_certs_for_nothing(const kc__cli_apiserver_options *o)
{
    const bool has_dir = o->cert_dir && o->backend->exclusive; /* Others need its keys anyway. */
    return !o->secure_port && (o->tls_cert_file || o->client_ca_file || has_dir);
}

static bool is_plain_and_open(const kc__cli_apiserver_options *o)
{
    return plain_is_reachable(o) && !o->token_file;
}

static bool has_users_for_nothing(const kc__cli_apiserver_options *o)
{
    return o->localhost_users.n && !o->allow_localhost;
}

static bool has_short_tokens(const kc__cli_apiserver_options *o)
{
    const int64_t most = o->accounts.max_expiration;
    return most && (most < KC_HOUR || most > ((int64_t)1 << 32) * KC_SECOND);
}

static bool has_strange_sessions(const kc__cli_apiserver_options *o)
{
    const int64_t lifetime = o->server.session_lifetime;
    return lifetime < KC_MINUTE || lifetime > 720 * KC_HOUR;
}

static bool has_plain_jwks_uri(const kc__cli_apiserver_options *o)
{
    return o->accounts.jwks_uri && strncmp(o->accounts.jwks_uri, "https://", 8) != 0;
}

static bool is_open_to_all(const kc__cli_apiserver_options *o)
{
    const kc__authz_modes *modes = &o->server.authorization;
    const bool allows_all = !modes->n || has_authorization_mode(modes, KC__AUTHZ_ALWAYS_ALLOW);
    return is_reachable(o) && o->anonymous && allows_all;
}

static bool takes_bodies_too_large(const kc__cli_apiserver_options *o)
{
    return o->server.max_request_bytes > KC_JSON_MAX_BYTES;
}

static bool takes_objects_too_large(const kc__cli_apiserver_options *o)
{
    return o->server.max_object_bytes > ((size_t)15 << 20);
}

static bool has_limits_reversed(const kc__cli_apiserver_options *o)
{
    return o->server.memory_hard_limit && o->server.memory_soft_limit > o->server.memory_hard_limit;
}

static bool has_plugins_on_and_off(const kc__cli_apiserver_options *o)
{
    return o->server.enabled_plugins & o->server.disabled_plugins;
}

static bool reloads_nothing(const kc__cli_apiserver_options *o)
{
    return o->encryption_reload && !o->encryption_file;
}

static const struct cli_apiserver_options_rule {
    bool (*broken)(const kc__cli_apiserver_options *o);
    const char *sentence;
} rules[] = {
    {lacks_root, "--file-rootpath is required and must not be empty: it names the directory for "
                 "all data of the server"},
    {listens_nowhere, "--secure-port=0 and --insecure-port=0 leave no port to listen on"},
    {shares_a_port, "--secure-port and --insecure-port must not be the same"},
    {lacks_key, "--tls-cert-file needs --tls-private-key-file"},
    {lacks_cert, "--tls-private-key-file needs --tls-cert-file"},
    {has_certs_for_nothing, "--cert-dir, --tls-cert-file and --client-ca-file have no effect with "
                            "--secure-port=0, which disables HTTPS"},
    {is_plain_and_open, "--insecure-addr would expose the server to other machines without "
                        "authentication; add --token-auth-file, or use --bind-address for HTTPS"},
    {has_users_for_nothing, "--authn-localhost-users needs --authn-allow-localhost"},
    {has_short_tokens, "--service-account-max-token-expiration must be between 1 hour and 2^32 "
                       "seconds"},
    {has_strange_sessions, "--session-lifetime must be between 1m and 720h"},
    {has_plain_jwks_uri, "--service-account-jwks-uri must be an https URL"},
    {is_open_to_all, "--anonymous-auth=true would give every client on the network full access; "
                     "omit it, bind to a loopback address only, or use "
                     "--authorization-mode=Node,RBAC"},
    {has_plugins_on_and_off, "--enable-admission-plugins and --disable-admission-plugins must not "
                             "name the same plugin"},
    {reloads_nothing, "--encryption-provider-config-automatic-reload must be set with "
                      "--encryption-provider-config"},
    {takes_bodies_too_large, "--max-request-bytes must be at most 16Mi"},
    {takes_objects_too_large, "--max-object-bytes must be at most 15Mi"},
    {has_limits_reversed, "--memory-soft-limit must be at most --memory-hard-limit"},
};

static void drop_empty(const char **text)
{
    if (*text && !**text)
        *text = NULL;
}

int kc__cli_apiserver_options_check(kc__cli_apiserver_options *o, kc_error *err)
{
    const char **texts[] = {&o->root,
                            &o->cert_dir,
                            &o->tls_cert_file,
                            &o->tls_key_file,
                            &o->client_ca_file,
                            &o->token_file,
                            &o->admission_config_file,
                            &o->encryption_file,
                            &o->accounts.signing_key_file,
                            &o->accounts.jwks_uri};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        drop_empty(texts[i]);
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (rules[i].broken(o))
            return kc_error_set(err, KC_INVALID, "%s", rules[i].sentence);
    if (kc__cli_authz_options_check(&o->authz, &o->server.authorization, err) < 0)
        return kc_error_result(err);
    if (kc__cli_authn_options_check(&o->authn, err) < 0)
        return kc_error_result(err);
    if (kc__cli_etcd_options_check(&o->etcd, o->backend, err) < 0)
        return kc_error_result(err);
    return kc__cli_audit_options_check(&o->audit, err);
}
