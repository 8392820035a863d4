/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h: a transport that does to requests what networks, servers and crashes do.
 *
 *     kc__faults_connect(faults, kc_embed_transport(server, NULL));
 *     kc_transport *t = kc__faults_transport(faults);
 *     kc__faults_add(faults, &(kc_fault_opts){KC_FAULT_CONFLICT, .chance = 0.1});
 *
 * Everything above it is what runs in production. It also keeps a hash of all that went through, so
 * that two runs can be compared. One set of faults may have several transports; any thread.
 */
#ifndef KC_EMBED_FAULTS_H
#define KC_EMBED_FAULTS_H

#include "kc/testenv.h"

typedef struct kc__faults kc__faults;

kc__faults *kc__faults_new(const kc_clock *clock, kc_rand rand);
/* Its transports are gone. NULL is allowed; returns NULL. */
kc__faults *kc__faults_free(kc__faults *faults);

/* Where requests go from now on; taken over. */
void kc__faults_connect(kc__faults *faults, kc_transport *to);
kc_transport *kc__faults_transport(kc__faults *faults);

void kc__faults_add(kc__faults *faults, const kc_fault_opts *fault);
void kc__faults_clear(kc__faults *faults);
size_t kc__faults_count(const kc__faults *faults, kc_fault fault);

/* After so many more writes nothing gets through any more; what is under way breaks. */
void kc__faults_crash_after(kc__faults *faults, size_t writes);
bool kc__faults_crashed(const kc__faults *faults);

/* Answers and events that are being held back now. */
size_t kc__faults_held(const kc__faults *faults);
/* Of every request but watches: what was asked, what was answered, in the order of answers. */
uint64_t kc__faults_hash(const kc__faults *faults);

#endif
