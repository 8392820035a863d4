/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h: a transport that injects the faults of networks, servers and crashes.
 *
 *     kc__faults_connect(faults, kc_embedded_server_transport(server, NULL));
 *     kc_transport *t = kc__faults_transport(faults);
 *     kc__faults_add(faults, &(kc_fault_opts){KC_FAULT_CONFLICT, .chance = 0.1});
 *
 * Everything above the transport is production code. It also keeps a hash of all requests and
 * responses, so that two runs can be compared. One set of faults may have several transports; any
 * thread.
 */
#ifndef KC_EMBED_FAULTS_H
#define KC_EMBED_FAULTS_H

#include "kc/testenv.h"

typedef struct kc__faults kc__faults;

kc__faults *kc__faults_new(const kc_clock *clock, kc_rand rand);
/* Its transports must be freed. NULL is allowed; returns NULL. */
kc__faults *kc__faults_free(kc__faults *faults);

/* Sets the transport that receives requests from now on; takes it over. */
void kc__faults_connect(kc__faults *faults, kc_transport *to);
kc_transport *kc__faults_transport(kc__faults *faults);

void kc__faults_add(kc__faults *faults, const kc_fault_opts *fault);
void kc__faults_clear(kc__faults *faults);
size_t kc__faults_count(const kc__faults *faults, kc_fault fault);

/* After this many more writes every request fails, and requests in flight are cancelled. */
void kc__faults_crash_after(kc__faults *faults, size_t writes);
bool kc__faults_crashed(const kc__faults *faults);

/* Number of responses and events that are currently held back. */
size_t kc__faults_held(const kc__faults *faults);
/* Hash of every request except watches, and its response, in the order of the responses. */
uint64_t kc__faults_hash(const kc__faults *faults);

#endif
