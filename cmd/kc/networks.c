/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.c: `kc networks`, a small network service for the reconciler `network` to keep in step:
 * what a cloud's would be. It is no part of a plane, and knows nothing of one.
 */
#include "verb.h"

#include "reconcilers/network/service/service.h"
#include "signals.h"

#include <stddef.h>

typedef struct options {
    const char *address, *file;
    int verbosity;
    kc_log_format log_format;
} options;

#define FIELD(name) .offset = offsetof(options, name)

static const kc_flag flags[] = {
    {"listen", .argument = "ADDRESS", .initial = "127.0.0.1:6090", FIELD(address),
     .parse = kc_flag_text,
     .help = "where it serves; nobody is asked who he is, so it is for this machine"},
    {"file", .argument = "FILE", FIELD(file), .parse = kc_flag_text, .values = "FILE",
     .help = "where networks are kept; without one they are gone when it ends"},
    {"v", 'v', .argument = "N", .initial = "0", FIELD(verbosity), .parse = kc_flag_verbosity,
     .values = "0 1 2 3 4 5 6 7 8 9 10", .help = "how much to log, from 0 to 10"},
    {"log-format", .argument = "FORMAT", .initial = "console", FIELD(log_format),
     .parse = kc_flag_log_format, .values = "console json", .help = "console, for people, or json"},
};

const kc_flag_set kc_networks_flags = {
    .verb = "networks",
    .synopsis = "Runs a small network service: what the reconciler 'network' keeps in step with "
                "network objects.",
    .examples = "  kc networks --file=networks.json\n"
                "  curl -s http://127.0.0.1:6090/v1/networks\n"
                "  kc run network -s http://127.0.0.1:6080\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

static void say_what_to_try(const kc__network_service *service, const options *o)
{
    const char *colon = strrchr(o->address, ':');
    const int host = colon && colon > o->address ? (int)(colon - o->address) : 0;
    kc_autofree char *url =
        kc_asprintf("http://%.*s:%d/v1/networks", host ? host : 9, host ? o->address : "127.0.0.1",
                    kc__network_service_port(service));
    printf("kc: serving networks on %s; they are kept in %s\n    try: curl -s %s\n", url,
           o->file ? o->file : "memory alone", url);
    fflush(stdout);
}

static int run(const options *o, kc_error *err)
{
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    kc_auto(kc__stopper) *stopper = kc__stopper_new(stop, false, err);
    if (!stopper)
        return -1;
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.verbosity = o->verbosity, .format = o->log_format});
    kc_auto(kc__network_service) *service = kc__network_service_start(
        &(kc__network_service_opts){.file = o->file, .address = o->address, .log = log}, err);
    if (!service)
        return -1;
    say_what_to_try(service, o);
    kc_cancel_sleep_until(stop, kc_clock_real(), KC_FOREVER);
    return 0;
}

int kc_verb_networks(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    options o;
    const int parsed = kc_flags_parse(&kc_networks_flags, argc, argv, &o, &err);
    if (parsed < 0)
        return kc_called_wrongly("networks", &err);
    if (parsed == 1) {
        kc_flags_help(&kc_networks_flags, stdout);
        return 0;
    }
    if (run(&o, &err) == 0)
        return 0;
    fprintf(stderr, "kc networks: %s\n", kc_error_text(&err));
    return 1;
}
