/* SPDX-License-Identifier: Apache-2.0 */
/* service_options.h: the flags of Services: the numbers that they get, and the address of this
 * server as an endpoint of the Service "kubernetes". */
#ifndef KC_CMD_SERVICE_OPTIONS_H
#define KC_CMD_SERVICE_OPTIONS_H

#include "flags.h"

#include "apiserver/services/node_ports.h"

typedef struct kc__cli_service_options {
    const char *range; /* CIDR notation. */
    kc__node_port_range node_ports;
    const char *advertise_address; /* NULL: derived from the address of HTTPS. */
} kc__cli_service_options;

/* A part of the flags of `kc apiserver` and `kc up`. */
extern const kc__cli_flag_set kc__cli_service_flags;

/* The address that the server publishes, which the caller frees. NULL: none, because it listens on
 * loopback only, or the machine has no route to others. `bind_address` is that of HTTPS. */
char *kc__cli_service_advertised(const kc__cli_service_options *options, const char *bind_address);

#endif
