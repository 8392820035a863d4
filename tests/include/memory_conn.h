/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_conn.h: a connection without a socket, for tests of a protocol: bytes go in by a call,
 * what would be sent is in conn.out. Its loop runs in a thread of its own and has nothing to do;
 * the protocol runs in the test's thread, as if it were the loop's.
 */
#ifndef MEMORY_CONN_H
#define MEMORY_CONN_H

#include "http/conn.h"
#include "http/transport.h"

typedef struct memory_conn {
    kc__conn conn; /* First. */
    kc__http_limits limits;
    bool changed;
    bool closed;
} memory_conn;

static inline void memory_conn_changed(kc__conn *conn)
{
    ((memory_conn *)conn)->changed = true;
}

/* The loop is the caller's, and so are limits that were set before. */
static inline void memory_conn_open(memory_conn *m, kc__loop *loop, const kc__protocol *protocol,
                                    kc__handler *handle, void *user)
{
    kc__http_limits_default(&m->limits);
    m->conn.loop = loop;
    m->conn.protocol = protocol;
    m->conn.deadline = KC_FOREVER;
    m->conn.limits = &m->limits;
    m->conn.handle = handle;
    m->conn.user = user;
    m->conn.changed = memory_conn_changed;
    protocol->open(&m->conn);
}

/* Gives the protocol bytes, in a block of their own so that looking beyond them is seen. */
static inline void memory_conn_receive(memory_conn *m, kc_str bytes)
{
    char *alone = kc_alloc(bytes.n);
    if (bytes.n)
        memcpy(alone, bytes.p, bytes.n);
    m->conn.protocol->receive(&m->conn, kc_str_of(alone, bytes.n));
    free(alone);
}

/* Lets it append whatever has room. */
static inline void memory_conn_fill(memory_conn *m)
{
    do {
        m->changed = false;
        if (m->conn.wish == KC__CONN_OPEN && kc__conn_room(&m->conn))
            m->conn.protocol->fill(&m->conn);
    } while (m->changed && m->conn.wish == KC__CONN_OPEN && kc__conn_room(&m->conn));
}

static inline void memory_conn_close(memory_conn *m)
{
    if (!m->closed)
        m->conn.protocol->close(&m->conn);
    m->closed = true;
    kc_buf_done(&m->conn.out);
}

#endif
