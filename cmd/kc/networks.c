/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.c: `kc networks` runs a small network service. The reconciler `network` synchronizes it
 * with Network objects, as it would a cloud provider's. The service does not use the Kubernetes
 * API.
 */
#include "command.h"

#include "reconcilers/network/service/service.h"
#include "reconcilers/network/service/token.h"
#include "signals.h"

#include <stddef.h>

typedef struct cli_networks_options {
    const char *address, *file, *token_file;
    int verbosity;
    kc_log_format log_format;
} cli_networks_options;

#define FIELD(name) .offset = offsetof(cli_networks_options, name)

static const kc__cli_flag flags[] = {
    {"listen", .argument = "ADDRESS", .initial = "127.0.0.1:6090", FIELD(address),
     .parse = kc__cli_flag_text, .help = "address and port to serve on; port 0 selects a free one",
     .details = "Standard output shows the port."},
    {"file", .argument = "FILE", FIELD(file), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "file that stores the networks; without it they are kept in memory only",
     .details = "A change is on disk before it is acknowledged. One process at a time can use the "
                "file."},
    {"token-file", .argument = "FILE", FIELD(token_file), .parse = kc__cli_flag_text,
     .values = "FILE",
     .help = "bearer token file for requests; created with mode 0600 if missing; defaults to "
             "FILE.token beside --file, and is required without --file",
     .details = "A file that other users can read, or that belongs to another user, is refused."},
    {"v", 'v', .argument = "N", .initial = "0", FIELD(verbosity),
     .choices = kc__cli_flag_verbosities, .help = "log verbosity"},
    {"log-format", .argument = "FORMAT", .initial = "console", FIELD(log_format),
     .choices = kc__cli_flag_log_formats, .help = "log format"},
};

const kc__cli_flag_set kc__cli_networks_flags = {
    .verb = "networks",
    .synopsis = "Runs a small network service. The reconciler 'network' synchronizes it with "
                "Network objects.",
    .examples = "  kc networks --file=networks.json\n"
                "  curl -s -H \"Authorization: Bearer $(cat networks.json.token)\" "
                "http://127.0.0.1:6090/v1/networks\n"
                "  kc run network -s http://127.0.0.1:6080 -c network.yaml\n"
                "\n"
                "  network.yaml: reconcilers: {network: {token-file: networks.json.token}}\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_networks_options),
};

static void print_usage(const kc__network_service *service, const cli_networks_options *o,
                        const char *token_file)
{
    const char *colon = strrchr(o->address, ':');
    const int host = colon && colon > o->address ? (int)(colon - o->address) : 0;
    kc_autofree char *url =
        kc_asprintf("http://%.*s:%d/v1/networks", host ? host : 9, host ? o->address : "127.0.0.1",
                    kc__network_service_port(service));
    printf("kc: serving networks on %s; stored in %s\n"
           "    try: curl -s -H \"Authorization: Bearer $(cat '%s')\" %s\n",
           url, o->file ? o->file : "memory only", token_file, url);
    fflush(stdout);
}

static char *token_file_of(const cli_networks_options *o)
{
    return o->token_file ? kc_strdup(o->token_file) : kc_asprintf("%s.token", o->file);
}

static int cli_networks_run(const cli_networks_options *o, kc_error *err)
{
    kc_autofree char *token_file = token_file_of(o);
    kc_autofree char *token = kc__network_token_ensure(token_file, err);
    if (!token)
        return kc_error_result(err);
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    kc_auto(kc__cli_stop_signal) *stopper = kc__cli_stop_signal_new(stop, false, err);
    if (!stopper)
        return kc_error_result(err);
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.verbosity = o->verbosity, .format = o->log_format});
    kc_auto(kc__network_service) *service = kc__network_service_start(
        &(kc__network_service_opts){
            .file = o->file, .address = o->address, .token = token, .log = log},
        err);
    if (!service)
        return kc_error_result(err);
    print_usage(service, o, token_file);
    kc_cancel_sleep_until(stop, kc_clock_real(), KC_FOREVER);
    return 0;
}

static int cli_networks_check(const cli_networks_options *o, kc_error *err)
{
    if (o->file || o->token_file)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "--token-file is required without --file: it names the file of the bearer "
                        "token for requests");
}

int kc__cli_command_networks(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    cli_networks_options o;
    const int parsed = kc__cli_flags_parse(&kc__cli_networks_flags, argc, argv, &o, &err);
    if (parsed == 1) {
        kc__cli_flags_help(&kc__cli_networks_flags, stdout);
        return 0;
    }
    if (parsed < 0 || cli_networks_check(&o, &err) < 0)
        return kc__cli_usage_error("networks", &err);
    if (cli_networks_run(&o, &err) == 0)
        return 0;
    fprintf(stderr, "kc networks: %s\n", kc_error_text(&err));
    return 1;
}
