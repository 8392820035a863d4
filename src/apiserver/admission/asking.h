/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.h: all webhooks that are concerned are asked about one request: those that may change it,
 * one after the other; those that may only refuse it, at once.
 *
 *     kc__asking *asking = kc__asking_new(call, &attributes, &call->proposed, done, user);
 *     kc__verdict verdict = kc__asking_mutate(asking);
 *
 * Each returns KC__NEXT or KC__FAIL (call->error), or KC__LATER: then `done` is called with one of
 * them, on the call's loop. An asking lives in the call's arena, and is over when that has said so.
 */
#ifndef KC_APISERVER_ASKING_H
#define KC_APISERVER_ASKING_H

#include "apiserver/admission/hook_ask.h"

typedef struct kc__asking kc__asking;

typedef void kc__asking_done(kc__asking *asking, kc__verdict verdict);

struct kc__asking {
    kc__call *call;
    kc__attributes about; /* References its objects. */
    /* What hooks change, in the form in which it is stored; NULL: nothing can be changed. */
    kc_object **target;
    kc__asking_done *done;
    void *user;
    kc__hook_set *set;

    /* Of those that change: how far it is, and who is asked again. */
    kc__question question;
    size_t at;
    bool second, changed;
    bool *asked_before, *again;
    kc_object *output;

    /* Of those that refuse. */
    kc__question *questions;
    size_t left;
};

/* Takes over a reference to the set; `about` is copied, with references to its objects. */
kc__asking *kc__asking_new(kc__call *call, kc__hook_set *set, const kc__attributes *about);
kc__verdict kc__asking_mutate(kc__asking *asking);
kc__verdict kc__asking_validate(kc__asking *asking);

/* Whether a hook is to be asked, and about what; KC__FAIL (call->error) where that cannot be said.
 */
kc__verdict kc__asking_match(kc__asking *asking, const kc__hook *hook, const kc__resource **ret_as,
                             bool *ret_concerned);
/* KC__FAIL when the client's patience has ended meanwhile. */
kc__verdict kc__asking_in_time(kc__asking *asking);
/* Releases what it holds. Returns the verdict. */
kc__verdict kc__asking_end(kc__asking *asking, kc__verdict verdict);

/* The phases' part: whom a call concerns is asked. Nothing happens where nobody is. */
kc__phase_fn kc__admit_mutating_hooks, kc__admit_validating_hooks;
/* The same for what is sent in an object's place (a Binding, an Eviction), once, before anything is
 * proposed: ends with KC__PROPOSE. */
kc__phase_fn kc__admit_sent;

/* The same for an object that goes with others: KC__NEXT, KC__FAIL (call->error) or KC__LATER;
 * `done` then hears one of the others. */
typedef void kc__departure_done(void *user, kc__verdict verdict);
kc__verdict kc__admit_departure(kc__call *call, const kc_object *current, kc__departure_done *done,
                                void *user);
/* Whether anybody might have to be asked. */
bool kc__asks_hooks(kc__call *call);

#endif
