# SPDX-License-Identifier: Apache-2.0
"""
etcd_values.py: reads values as Kubernetes stores them in etcd, without the decoder of the server: `k8s` and a zero byte, then protobuf: an
envelope whose field 2 is the object. Field 2 of a ConfigMap is a list of entries with a key (1) and a value (2).
"""
MAGIC = b"k8s\0"


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def fields(message):
    """(number, value) of each field: an int or bytes."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        assert tag & 7 in (0, 2), "wire type %d" % (tag & 7)
        value, at = varint(message, at)
        if tag & 7 == 2:
            at, value = at + value, message[at:at + value]
        yield tag >> 3, value


def config_map_data(value):
    """The member `data` of a ConfigMap."""
    assert value.startswith(MAGIC), "a ConfigMap in etcd is not in protobuf: %s" % value[:40]
    raw = dict(fields(value[len(MAGIC):]))[2]
    entries = [dict(fields(entry)) for number, entry in fields(raw) if number == 2]
    return {entry[1].decode(): entry[2].decode() for entry in entries}
