/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_owner_proc.c: looks up a socket in the tables /proc/net/tcp and /proc/net/tcp6
 * (proc_net_tcp in the kernel's documentation), for kernels and sandboxes without
 * NETLINK_SOCK_DIAG. The columns, with padding removed:
 *
 *     sl local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode
 *     0: 0100007F:17C0 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 81539 …
 *
 * An address is printed as 32-bit words in the byte order of the machine, a port as a number. An
 * IPv6 socket with an IPv4 connection is in tcp6, under an IPv4-mapped address. A lookup reads the
 * table from its beginning: linear in the number of sockets of the machine.
 */
#include "http/trust/socket_owner_internal.h"

#include <stdio.h>

enum { MAX_LINE = 512, WORD_DIGITS = 8 };

/* ---- one line ---- */

static bool hex_of(kc_str text, uint64_t *ret)
{
    uint64_t value = 0;
    if (!text.n || text.n > 16)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        const bool digit = c >= '0' && c <= '9', letter = c >= 'A' && c <= 'F';
        if (!digit && !letter)
            return false;
        value = value << 4 | (uint64_t)(digit ? c - '0' : c - 'A' + 10);
    }
    *ret = value;
    return true;
}

/* Parses "0100007F:17C0" with `n_words` words. */
static bool read_end(kc_str text, size_t n_words, uint8_t address[16], uint16_t *port)
{
    kc_str rest = text;
    const kc_str words = kc_str_cut(&rest, ':');
    uint64_t value;
    memset(address, 0, 16);
    if (words.n != n_words * WORD_DIGITS || !hex_of(rest, &value) || value > UINT16_MAX)
        return false;
    *port = (uint16_t)value;
    for (size_t i = 0; i < n_words; i++) {
        if (!hex_of(kc_str_sub(words, i * WORD_DIGITS, (i + 1) * WORD_DIGITS), &value))
            return false;
        const uint32_t word = (uint32_t)value;
        memcpy(address + 4 * i, &word, sizeof(word));
    }
    return true;
}

/* Returns the address as printed in the table of this family. */
static void printed_address(bool v6_table, bool v6, const uint8_t address[16], uint8_t ret[16])
{
    memset(ret, 0, 16);
    if (!v6_table || v6) {
        memcpy(ret, address, v6 ? 16 : 4);
        return;
    }
    ret[10] = ret[11] = 0xff;
    memcpy(ret + 12, address, 4);
}

static bool is_end(kc_str text, bool v6_table, bool v6, const uint8_t address[16], uint16_t port)
{
    uint8_t found[16], wanted[16];
    uint16_t found_port;
    printed_address(v6_table, v6, address, wanted);
    return read_end(text, v6_table ? 4 : 1, found, &found_port) && found_port == port &&
           memcmp(found, wanted, sizeof(found)) == 0;
}

static kc_str next_word(kc_str *rest)
{
    kc_str word = {0};
    while (rest->p && !word.n)
        word = kc_str_cut(rest, ' ');
    return word;
}

bool kc__socket_owner_proc_line(kc_str line, bool v6, const kc__socket_owner_pair *pair,
                                kc__socket_owner_entry *ret)
{
    enum { SLOT, LOCAL, REMOTE, STATE, QUEUES, TIMER, RETRANSMITS, UID, TIMEOUT, INODE, WORDS };
    kc_str words[WORDS], rest = line;
    uint64_t state, uid, inode;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = next_word(&rest);
    if (!is_end(words[LOCAL], v6, pair->v6, pair->local, pair->local_port) ||
        !is_end(words[REMOTE], v6, pair->v6, pair->remote, pair->remote_port) ||
        !hex_of(words[STATE], &state) || state > UINT8_MAX || !kc_str_to_u64(words[UID], &uid) ||
        uid > UINT32_MAX || !kc_str_to_u64(kc_str_trim(words[INODE]), &inode))
        return false;
    *ret = (kc__socket_owner_entry){.state = (int)state, .uid = (uint32_t)uid, .inode = inode};
    return true;
}

/* ---- the tables ---- */

static bool find_in(FILE *table, bool v6, const kc__socket_owner_pair *pair,
                    kc__socket_owner_entry *ret)
{
    char line[MAX_LINE];
    bool found = false;
    while (!found && fgets(line, sizeof(line), table))
        found = kc__socket_owner_proc_line(kc_cstr(line), v6, pair, ret);
    return found;
}

int kc__socket_owner_proc_find(const kc__socket_owner_pair *pair, kc__socket_owner_entry *ret,
                               kc_error *err)
{
    static const char *const paths[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    bool read = false, found = false;
    for (size_t v6 = pair->v6; v6 < KC_COUNT(paths) && !found; v6++) {
        FILE *table = fopen(paths[v6], "re");
        if (!table)
            continue;
        read = true;
        found = find_in(table, v6, pair, ret);
        fclose(table);
    }
    return read ? found : kc_error_set(err, KC_INTERNAL, "cannot read /proc/net/tcp");
}
