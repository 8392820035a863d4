# SPDX-License-Identifier: Apache-2.0
"""
cel_expressions.py: random CEL expressions over a typed object, for scripts/cel-oracle.

The grammar is a table: for each type of result, expressions without operands (LEAVES) and templates (RULES). In a
template `{int}` is an operand of that type, and `@int` declares a variable of that type that later operands of the
template may use:

    '{ints}.all(@int, {bool})'      [1, 2].all(v0, v0 > self.i)

Now and then an operand has a wrong type, a token is damaged, or a function gets an argument too many: refusals are
compared, too. To cover a function, add a template; `Generator.coverage` counts which ones were used.
"""
import json
import random
import re

SCHEMA = {'type': 'object', 'required': ['name'], 'properties': {
    'name': {'type': 'string', 'maxLength': 10}, 'free': {'type': 'string'}, 'mode': {'type': 'string', 'enum': ['a', 'bbbb']},
    'i': {'type': 'integer'}, 'j': {'type': 'integer'}, 'd': {'type': 'number'}, 'b': {'type': 'boolean'},
    'when': {'type': 'string', 'format': 'date-time'}, 'day': {'type': 'string', 'format': 'date'},
    'wait': {'type': 'string', 'format': 'duration'}, 'data': {'type': 'string', 'format': 'byte'},
    'port': {'x-kubernetes-int-or-string': True}, 'in': {'type': 'string'}, 'a-b': {'type': 'string'},
    'tags': {'type': 'array', 'maxItems': 5, 'x-kubernetes-list-type': 'set', 'items': {'type': 'string', 'maxLength': 3}},
    'nums': {'type': 'array', 'items': {'type': 'integer'}},
    'items': {'type': 'array', 'maxItems': 3, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'],
              'items': {'type': 'object', 'required': ['k'], 'properties': {'k': {'type': 'string'}, 'v': {'type': 'integer'}}}},
    'labels': {'type': 'object', 'additionalProperties': {'type': 'string', 'maxLength': 5}},
    'limits': {'type': 'object', 'maxProperties': 4, 'additionalProperties': {'type': 'integer'}},
    'maybe': {'type': 'string', 'nullable': True}, 'inner': {'type': 'object', 'properties': {'x': {'type': 'integer'}, 's': {'type': 'string'}}},
    'text': {'type': 'string', 'maxLength': 40}, 'big': {'type': 'integer', 'format': 'int64'}, 'reals': {'type': 'array', 'items': {'type': 'number'}},
    'matrix': {'type': 'array', 'maxItems': 4, 'items': {'type': 'array', 'maxItems': 4, 'items': {'type': 'integer'}}},
    'groups': {'type': 'object', 'additionalProperties': {'type': 'array', 'items': {'type': 'string'}}},
    'amount': {'type': 'string', 'maxLength': 20}, 'address': {'type': 'string', 'format': 'ipv4'}, 'network': {'type': 'string', 'format': 'cidr'},
    'link': {'type': 'string', 'format': 'uri'}, 'version': {'type': 'string'},
    'any': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True},
    'pod': {'type': 'object', 'x-kubernetes-embedded-resource': True, 'properties': {'spec': {'type': 'object', 'properties': {'host': {'type': 'string'}}}}},
    'atoms': {'type': 'array', 'x-kubernetes-list-type': 'atomic', 'maxItems': 10, 'items': {'type': 'string', 'enum': ['on', 'off']}}}}
# Lists have 1, 2 or 4 elements. Kubernetes appends to the Go slice of a list of a schema: two sums of one list share what the
# slice has room for, and the second one overwrites the first. How much room there is depends on how the object was made (a
# decoder doubles it, a copy has none), so no answer to such an expression is a fact about the object.
OBJECT = {'name': 'abc', 'mode': 'a', 'i': 3, 'j': -7, 'd': 1.5, 'b': True, 'when': '2020-01-02T03:04:05.25Z', 'day': '2021-03-04', 'wait': '90s',
          'data': 'YWJj', 'port': 8080, 'in': 'x', 'a-b': 'y', 'tags': ['a', 'b'], 'nums': [3, 1, 2, 7], 'items': [{'k': 'p', 'v': 1}, {'k': 'q', 'v': 2}],
          'labels': {'l': 'm'}, 'limits': {'cpu': 3}, 'maybe': None, 'inner': {'x': 1}, 'text': 'héllo ✓ 😀 Wörld', 'big': 9007199254740993,
          'reals': [1.5, -2, 1e10, 0.5], 'matrix': [[1, 2], [], [3], [4]], 'groups': {'g': ['x', 'y'], 'h': []}, 'amount': '1.5Gi', 'address': '10.0.0.7',
          'network': '10.0.0.0/8', 'link': 'https://u:p@Example.com:8443/a%20b/c?x=1&y=2&x=3#f', 'version': '1.2.3-beta.1+build5',
          'any': {'n': 1, 'list': [1, 'a', None], 'map': {'k': True}},
          'pod': {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {'host': 'h'}}, 'atoms': ['on', 'off', 'on', 'on']}

LEAVES = {
    'bool': ['true', 'false', 'self.b', 'has(self.name)', 'has(self.free)', 'has(self.maybe)', 'has(self.inner.s)', 'has(self.labels.l)', 'has(self.any.n)',
             '1 / 0 > 0', 'self.nums[9] > 0', "self.limits['no'] > 1", 'dyn(1)', "dyn('x')", 'self.free.size() > 0', 'self.maybe == null', 'has({"a": 1}.a)'],
    'int': ['0', '1', '-1', '7', '2', '10', '9223372036854775807', '-9223372036854775808', '0x7fffffffffffffff', '-0x8000000000000000', '0xFF', '4294967296',
            'self.i', 'self.j', 'self.big', 'self.inner.x', 'self.limits.cpu', 'self.nums[0]', 'self.nums[9]', "self.limits['no']", 'self.matrix[0][1]',
            'self.items[1].v', 'int(self.d)', '9223372036854775808', '-(-9223372036854775808)'],
    'uint': ['0u', '1u', '7U', '18446744073709551615u', '0xFFu', '9223372036854775808u', '42u', '18446744073709551616u', 'uint(self.i)'],
    'double': ['0.0', '-0.0', '1.5', '-2.25', '1e300', '-1e-300', '5e-324', '1.7976931348623157e308', '9.223372036854775e18', '-9.3e18', '1.8446744073709552e19', '.5', '0.1', '1e21',
               '123456789.125', 'self.d', 'self.reals[1]', "double('NaN')", "double('Infinity')", "double('-inf')", '2e400'],
    'string': ["''", "'a'", "'abc'", "'hello world'", "'é\\u20ac'", "'\\U0001F600x'", "'\\x41\\101\\n\\t\\\\'", "r'\\n\\d'", "'''tri'ple'''", '"dq\\"s"', "'\\u0001z'", "'ÀÉßfi'", "'  pad\\u00a0 '",
               'self.name', 'self.free', 'self.mode', 'self.__in__', 'self.a__dash__b', 'self.labels.l', "self.labels['z']", 'self.items[0].k', 'self.tags[1]', 'self.text', 'self.groups.g[1]', 'self.atoms[0]',
               'self.pod.metadata.name', 'self.pod.kind', 'self.pod.spec.host', 'self.maybe', "'a,b,,c'", "'TrUe'", "'12'", "'-9223372036854775808'", "'1e3'", "'0x10'", "'+5'", "' 1'", 'self.inner.s'],
    'amount': ["'1'", "'1.5Gi'", "'500m'", "'-2Ki'", "'1e3'", "'1E'", "'12.345'", "'0'", "'9223372036854775807'", "'9223372036854775808'", "'1.5'", "'100n'", "'1Mi1'", "'Ki'", "'+1'", "'.5'", "'5.'", "''",
               'self.amount', "'1000000000000000000000000'", "'0.0000000001'", "'1e-9'", "'1Ei'", "'9Ei'", "'1k'", "'-1.5M'"],
    'address': ["'127.0.0.1'", "'10.0.0.1'", "'::1'", "'2001:db8::1'", "'::ffff:1.2.3.4'", "'fe80::1%eth0'", "'0.0.0.0'", "'::'", "'224.0.0.5'", "'ff02::1'", "'169.254.1.1'", "'fe80::1'", "'010.0.0.1'",
                "'256.1.1.1'", "'1.2.3'", "'2001:DB8::1'", "'2001:0db8::0001'", "''", "'x'", 'self.address', "'255.255.255.255'", "'1.2.3.4.5'", "'::1::2'", "'fc00::1'"],
    'network': ["'10.0.0.0/8'", "'10.1.2.3/24'", "'::/0'", "'2001:db8::/32'", "'2001:db8:1::/48'", "'192.168.0.0/33'", "'10.0.0.0/08'", "'10.0.0.0'", "'::ffff:1.2.3.0/120'", "'0.0.0.0/0'", "'fe80::1%e/64'", "''", "'10.0.0.0/-1'", "'1.2.3.4/32'", 'self.network', "'a/b'"],
    'release': ["'1.2.3'", "'1.2.3-alpha'", "'1.2.3-alpha.1'", "'1.2.3-beta.11'", "'1.2.3+build'", "'v1.2.3'", "'1.2'", "'01.2.3'", "'1.2.3-01'", "'1.2.3-'", "'1.2.3+'", "'18446744073709551615.0.0'", "'18446744073709551616.0.0'",
                "'1.2.3-x-y-z.--'", "''", "'v1'", "'1.a.3'", "'V1.2.3'", "'1.2.3-é'", "' 1.2.3'", 'self.version', "'1.02.3'", "'1.2.3.4'", "'10.0.0'", "'-1.2.3'", "'1..3'"],
    'link': ["'https://example.com'", "'https://user:pa%20ss@example.com:8080/p/a t/%2fh?q=1&q=2&x=%zz&y=a+b&;z#frag%20ment'", "'/path'", "'//host/path'", "'///x'", "'mailto:a@b.c'", "'http://[::1]:80/'", "'http://[fe80::1%25en0]/'",
             "'http://[::1'", "'http://a:b'", "'http://a b/'", "'http://a/%zz'", "'http://%41/'", "'http://%C3%A9.de/é?é=ü'", "':x'", "'*'", "''", "'relative'", "'a:b'", "'1a:b'", "'HTTP://EXAMPLE.com/'", "'http://a?b?c'", "'http://a/?'",
             "'http://a/b;c,d=e&f$g+h:i@j!k(l)m*n[o]p\\'q'", "'http://u@@h/'", "'http://ü@h/'", "'http://%a:b@h/'", "'http://h:/'", "'http://h:80:90/'", "'/a\\tb'", "'http://a\\\"b/'", "'http://a/#%zz'", "'http://<a>/'", "'file:/etc'", "'file:///etc'",
             "'http:'", "'http:?x'", "'http://@/'", "'http://a/%41 b'", "'//a b'", "'http://a/\\u00a0\\u200b'", 'self.link'],
    'strings': ['self.tags', "['a', 'b']", "['x']", '[self.name]', 'self.labels.map(k, k)', 'self.atoms', 'self.groups.g', "['b', 'a', 'b']", "['é', '😀', 'z']", "['']", 'self.groups.h', "self.groups['no']"],
    'ints': ['self.nums', '[1, 2, 3]', '[self.i]', '[0]', 'self.items.map(x, x.v)', 'self.matrix[0]', '[3, 1, 2, 1]', 'self.matrix[1]', '[9223372036854775807, 1]'],
    'doubles': ['self.reals', '[1.0, 2.5]', "[double('NaN'), 1.0]", '[0.0, -0.0]'],
    'nested': ['self.matrix', '[[1], [2, 3]]', '[[1], []]', '[[1, 1], [1, 1]]', '[self.nums]'],
    'bools': ['[true, false]', '[self.b]', '[true]', '[1 / 0 > 1, true]'],
    'items': ['self.items', 'self.items.filter(x, x.v > 1)', 'self.items + self.items'],
    'item': ['self.items[0]', 'self.items[5]', 'self.inner', 'self.pod', 'self.pod.metadata'],
    'time': ['self.when', 'self.day', "timestamp('2024-02-29T12:00:00Z')", "timestamp('1999-12-31T23:59:59.5+02:00')", 'timestamp(0)', "timestamp('9999-12-31T23:59:59.999999999Z')", "timestamp('0001-01-01T00:00:00Z')",
             'timestamp(-62135596801)', 'timestamp(253402300799)', "timestamp('2020-06-30T12:34:56.789012345-11:30')", "timestamp('1969-12-31T23:59:59.999Z')", "timestamp('2020-02-30T00:00:00Z')", "timestamp('2020-1-1T00:00:00Z')",
             "timestamp('2020-01-01 00:00:00Z')", "timestamp('2020-01-01T24:00:00Z')", "timestamp('2020-01-01T00:00:60Z')", "timestamp('2020-01-01t00:00:00z')", "timestamp('2024-03-10T09:30:00Z')", "timestamp('2024-11-03T06:30:00Z')"],
    'span': ['self.wait', "duration('1h30m')", "duration('-1.5s')", "duration('0s')", "duration('1ns')", "duration('1.000000001s')", "duration('2562047h47m16.854775807s')", "duration('-2562047h47m16.854775808s')", "duration('2562048h')",
             "duration('1us')", "duration('1µs')", "duration('1d')", "duration('')", "duration('1')", "duration('+5m')", "duration('.5h')", "duration('1h-1m')", 'duration(5)', "duration('0')", "duration('315576000001s')"],
    'zone': ["'America/New_York'", "'Europe/London'", "'UTC'", "'+02:00'", "'-05:30'", "'02:00'", "'Asia/Kolkata'", "'Nowhere/City'", "''", "'+25:00'", "'Local'", "'America/Sao_Paulo'", "'Australia/Sydney'", "'-00:30'", "'z'", "'+2'"],
    'bytes': ['self.data', "b'\\xff\\x00a'", "b''", "b'abc'", "b'é'", "b'\\303\\251'", "b'\\u00e9'", 'rb\'\\n\'', 'b"""x"y"""', "b'\\xe2\\x82'"],
    'counts': ['self.limits', "{'a': 1, 'b': 2}", '{}', "{'a': 1, 'a': 2}", "{'é': 3}"],
    'words': ['self.labels', "{'a': 'b'}", "{'x': self.name}"],
    'keyed': ['{1: 2}', '{1: 2, 2: 3}', '{-1: 0, 1: 1}', '{1: 1, 1: 2}'],
    'odd': ['null', 'self.port', 'self.maybe', "{1u: 'a'}", "{true: 1}", '{1.5: 1}', '[]', 'self.any', 'self.any.n', 'self.any.list', 'self.any.list[2]', "{null: 1}", 'type(1)', 'int', 'nope', 'duration', 'timestamp', 'dyn(self).size()', 'dyn(self.inner).transformList(k, v, v)', 'optional.of(optional.none())', 'optional.of(optional.of(1))', 'self.nope', '[null]', '[self.maybe]',
            'google.protobuf.Timestamp', 'self.port + 1', "self.port == '8080'", 'oldSelf', 'self.name.nope', 'self.items.k', 'self.pod.nope', 'self.pod.metadata.labels', 'cel.bind(x, 1, x)', 'TestType{}', 'self.`name`'],
    'maybe_string': ['optional.none()', "optional.of('a')", 'self.?name', 'self.?free', 'self.?maybe', "self.labels[?'l']", "self.labels[?'z']", 'self.tags[?0]', 'self.tags[?9]', 'self.?inner.?s', 'self.?pod.metadata.name', "optional.ofNonZeroValue('')"],
    'maybe_int': ['optional.none()', 'optional.of(1)', 'self.?i', 'self.limits[?"cpu"]', 'self.limits[?"no"]', 'self.nums[?1]', 'self.?inner.x', 'optional.ofNonZeroValue(0)', '[1, 2][?5]', '{1: 2}[?1]', 'self.?items[?0].?v'],
    'kind': ['int', 'uint', 'double', 'string', 'bytes', 'bool', 'list', 'map', 'null_type', 'type', 'google.protobuf.Timestamp', 'google.protobuf.Duration', 'net.IP', 'net.CIDR', 'kubernetes.Quantity', 'kubernetes.URL', 'optional_type', 'type(self)', 'type(self.items)'],
    'named': ['format.%s()' % f for f in ('dns1123Label', 'dns1123Subdomain', 'dns1035Label', 'qualifiedName', 'dns1123LabelPrefix', 'dns1123SubdomainPrefix', 'dns1035LabelPrefix', 'labelValue', 'uri', 'uuid', 'byte', 'date', 'datetime')],
    'sample': ["'abc'", "'-a'", "'a.b'", "'A'", "'a/b'", "'é'", "''", "'a-'", "'1a'", "'" + 'a' * 64 + "'", "'" + 'a.' * 130 + "'", "'01234567-89ab-cdef-0123-456789abcdef'", "'YWJj'", "'YW Jj'", "'2020-01-02'", "'2020-13-02'", "'2020-01-02T03:04:05Z'",
               "'2020-01-02 03:04:05'", "'example.com/a_b'", "'a_b'", "'http://x'", "'a b'", "'x/y/z'", "'_a'"],
    'cmp': ['<', '<=', '>', '>=', '==', '!='],
    'sum': ['+', '-', '*', '/', '%'],
    'and': ['&&', '||'],
    'macro': ['all', 'exists', 'exists_one', 'existsOne'],
    'verb': ['s', 's', 'd', 'f', 'e', 'b', 'o', 'x', 'X', '.2f', '.0f', '.10e', '.3s', 'c', '%', '', '.f', '.101f', '1$s', ' d'],
    'pattern': ["'^[a-z]+$'", "'a|b'", "'[0-9]{2,}'", "'(?i)ABC'", "'.*x'", "''", "'('", "'\\\\d+'", "r'\\pL+'", "'[^a]'", "'(a)(b)?'", "'é+'", "'l*'", "'.'", "'^'", "'\\\\bw'", "'(?s).+'"],
    'clock': ['getHours', 'getDayOfYear', 'getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getMinutes', 'getSeconds', 'getMilliseconds'],
}

NUMBERS = ('int', 'uint', 'double')
TYPES = 'bool int uint double string strings ints doubles nested bools items item time span bytes counts words keyed odd maybe_string maybe_int kind'.split()

RULES = {
    'bool': ['{int} {cmp} {int}', '{string} {cmp} {string}', '{double} {cmp} {double}', '{uint} {cmp} {uint}', '{int} {cmp} {double}', '{uint} {cmp} {int}', '{double} {cmp} {uint}', '{time} {cmp} {time}', '{span} {cmp} {span}',
             '{bytes} {cmp} {bytes}', '{bool} {cmp} {bool}', 'dyn({any}) {cmp} dyn({any})', 'dyn({int}) {cmp} dyn({double})', '{any} == {any}', 'dyn({any}) != {any}', '{kind} == {kind}', 'type({any}) == {kind}',
             '({bool} {and} {bool})', '({bool} {and} {bool})', '({bool} {and} {bool} {and} {bool})', '!({bool})', '!{bool}', '({bool} ? {bool} : {bool})', '(dyn({any}) {and} {bool})',
             '{strings}.{macro}(@string, {bool})', '{ints}.{macro}(@int, {bool})', '{counts}.{macro}(@string, {bool})', '{keyed}.{macro}(@int, {bool})', '{nested}.{macro}(@ints, {bool})', '{doubles}.{macro}(@double, {bool})',
             '{bools}.{macro}(@bool, {bool})', '{ints}.{macro}(@int, @int, {bool})', '{words}.{macro}(@string, @string, {bool})', '{counts}.{macro}(@string, @int, {bool})', 'dyn({any}).{macro}(@string, {bool})', 'self.items.{macro}(x, x.v {cmp} {int})',
             'self.items.all(x, self.items.exists_one(y, x.k == y.k && x.v {cmp} y.v))', '{ints}.all(@int, {ints}.exists(@int, {bool}))',
             '{string} in {strings}', '{int} in {ints}', '{string} in {counts}', '{int} in {keyed}', '{int} in [1, 2, 3]', '{string} in {words}', '{double} in {doubles}', '{ints} in {nested}', 'dyn({any}) in {strings}', '{int} in dyn({any})', "{string} in ['a', 'abc']", '{double} in {ints}',
             '{string}.startsWith({string})', '{string}.endsWith({string})', '{string}.contains({string})', '{string}.matches({pattern})', 'matches({string}, {pattern})', '{string}.matches({string})',
             '{strings} {cmp} {strings}', '{ints} == {ints}', '{doubles} == {ints}', '{nested} == {nested}', '{counts} == {counts}', '{words} != {words}', '{item} == {item}', '{items} == {items}', '{maybe_string} == {maybe_string}', '{maybe_int} != {maybe_int}', '{counts} == {keyed}',
             '{ints}.isSorted()', '{strings}.isSorted()', '{doubles}.isSorted()', '{bools}.isSorted()', '{nested}.isSorted()',
             'sets.contains({strings}, {strings})', 'sets.intersects({ints}, {ints})', 'sets.equivalent({strings}, {strings})', 'sets.equivalent({ints}, {doubles})', 'sets.contains({nested}, {nested})', 'sets.contains({items}, {items})', 'sets.intersects({doubles}, {doubles})',
             'isQuantity({amount})', 'isQuantity({string})', '{quantity}.isLessThan({quantity})', '{quantity}.isGreaterThan({quantity})', '{quantity}.isInteger()', '{quantity} == {quantity}', '{quantity}.add({quantity}).isGreaterThan({quantity})',
             'isIP({address})', 'isIP({string})', 'ip.isCanonical({address})', '{ip} == {ip}', '{ip}.isLoopback()', '{ip}.isUnspecified()', '{ip}.isLinkLocalMulticast()', '{ip}.isLinkLocalUnicast()', '{ip}.isGlobalUnicast()',
             'isCIDR({network})', '{cidr}.containsIP({address})', '{cidr}.containsIP({ip})', '{cidr}.containsCIDR({network})', '{cidr}.containsCIDR({cidr})', '{cidr} == {cidr}', '{cidr}.ip() == {ip}',
             'isSemver({release})', 'isSemver({release}, true)', 'isSemver({release}, {bool})', '{semver}.isLessThan({semver})', '{semver}.isGreaterThan({semver})', '{semver} == {semver}',
             'isURL({link})', 'isURL({string})', '{url} == {url}', '{named}.validate({sample}).hasValue()', '{named}.validate({string}).hasValue()', 'format.named({string}).hasValue()', '{named} == {named}',
             '{maybe_string}.hasValue()', '{maybe_int}.hasValue()', 'has(self.inner.x) && self.inner.x > {int}', 'has({item}.k)', 'has(dyn({item}).x)', "has({{'a': {int}}}.a)", 'has({counts}.cpu)', 'has({words}.l)', 'has(self.labels.l) ? {bool} : {bool}',
             "bool('true')", 'bool({string})', 'bool({bool})', 'dyn({bool})', "self.port == {int}", "type(self.port) == string ? {bool} : self.port > {int}", '{bytes} == bytes({string})', 'duration({string}) == {span}',
             'dyn({any}) == dyn({any})', 'dyn({any}) in dyn({any})', '{cidr} != {cidr}', '{ip} != {ip}', '{quantity} != {quantity}', '{quantity} in [{quantity}]', '[{quantity}].exists(q, q == {quantity})', 'optional.of({any}) == optional.of({any})',
             'has(({bool} ? {item} : {item}).v)', 'has(({bool} ? dyn({any}) : {item}).x)', '[{cidr}] == [{cidr}]'],
    'int': ['({int} {sum} {int})', '({int} {sum} {int})', '({int} {sum} {int} {sum} {int})', '-({int})', '-{int}', '(dyn({int}) {sum} {any})', '(dyn({any}) {sum} dyn({any}))', 'size({string})', 'size({strings})', 'size({bytes})', 'size({counts})', 'size({nested})', 'size(dyn({any}))', '{string}.size()', '{strings}.size()', '{bytes}.size()', '{words}.size()', '{items}.size()',
            'int({double})', 'int({string})', 'int({int})', 'int({uint})', 'int({time})', 'int({span})', 'int(dyn({any}))', '{ints}.sum()', '{ints}.min()', '{ints}.max()', '{time}.{clock}()', '{time}.{clock}({zone})', '{span}.{clock}()',
            '{string}.indexOf({string})', '{string}.indexOf({string}, {int})', '{string}.lastIndexOf({string})', '{string}.lastIndexOf({string}, {int})', '{ints}[{int}]', '{counts}[{string}]', '{keyed}[{int}]', '{nested}[{int}][{int}]', '{ints}[{uint}]', '{ints}[{double}]', '{keyed}[dyn({double})]',
            '{ints}.indexOf({int})', '{ints}.lastIndexOf({int})', '{strings}.indexOf({string})', '{nested}.indexOf({ints})', '({bool} ? {int} : {int})', '{maybe_int}.orValue({int})', '{maybe_int}.value()', '{quantity}.sign()', '{quantity}.asInteger()', '{quantity}.compareTo({quantity})', '{ip}.family()',
            '{cidr}.prefixLength()', '{semver}.major()', '{semver}.minor()', '{semver}.patch()', '{semver}.compareTo({semver})', '{ints}.first().orValue({int})', '{ints}.last().value()', '{time}.getFullYear() - {int}', 'self.items.filter(x, x.v > {int})[0].v', '{url}.getQuery().size()', 'self.?items[?{int}].?v.orValue({int})'],
    'uint': ['({uint} {sum} {uint})', 'uint({int})', 'uint({double})', 'uint({string})', 'uint({uint})', '({bool} ? {uint} : {uint})', '-{uint}'],
    'double': ['({double} {sum} {double})', 'double({int})', 'double({string})', 'double({uint})', 'double({double})', '({bool} ? {double} : {double})', '-({double})', '{doubles}.sum()', '{doubles}.min()', '{doubles}.max()', '{doubles}[{int}]', '{quantity}.asApproximateFloat()', '(dyn({double}) + dyn({int}))'],
    'string': ['({string} + {string})', '({string} + {string})', 'string({int})', 'string({uint})', 'string({double})', 'string({bool})', 'string({string})', 'string({time})', 'string({span})', 'string({bytes})', 'string({ip})', 'string({cidr})', 'string({cidr}.masked())', 'string(dyn({any}))', '{string}.lowerAscii()', '{string}.upperAscii()', '{string}.trim()',
               '{string}.replace({string}, {string})', '{string}.replace({string}, {string}, {int})', '{string}.substring({int})', '{string}.substring({int}, {int})', '{strings}.join()', '{strings}.join({string})', "'{{{verb}}}'.format([{any}])", "'%{verb}'.format([{any}])", "'%{verb} a %{verb}'.format([{any}, {any}])", "'%s'.format([{any}])", "'%d'.format([{int}])",
               "'%f %e'.format([{double}, {double}])", "'%.3f|%x'.format([{double}, {int}])", "'%X'.format([{string}])", "'%x'.format([{bytes}])", "'%b %o'.format([{int}, {uint}])", "'%s'.format([{counts}])", "'%s %s'.format([{strings}, {time}])", "{string}.format([{string}])", "'%%%s'.format([])", '{string}.find({pattern})', '{string}.charAt({int})', '{strings}[{int}]', '{words}[{string}]', '{maybe_string}.orValue({string})', '{maybe_string}.value()',
               '{strings}.min()', '{strings}.max()', '({bool} ? {string} : {string})', 'strings.quote({string})', '{url}.getScheme()', '{url}.getHost()', '{url}.getHostname()', '{url}.getPort()', '{url}.getEscapedPath()', '{named}.validate({sample}).value()[0]', '{string}.split({string})[{int}]', "{string}.reverse()", 'self.?{word}.orValue({string})', '{strings}.first().orValue({string})', '{cidr}.masked().ip() == {ip} ? {string} : {string}'],
    'strings': ['[{string}, {string}]', '[{string}]', '{strings}.filter(@string, {bool})', '{ints}.map(@int, {string})', '{strings}.map(@string, {string})', '{strings}.map(@string, {bool}, {string})', '({strings} + {strings})', '{string}.split({string})', '{string}.split({string}, {int})', '{string}.findAll({pattern})', '{string}.findAll({pattern}, {int})',
                '{strings}.sort()', '{strings}.reverse()', '{strings}.distinct()', '{strings}.slice({int}, {int})', '{words}.map(@string, {string})', '{words}.transformList(@string, @string, {string})', '{words}.transformList(@string, @string, {bool}, {string})', '{strings}.sortBy(@string, {int})', '{strings}.sortBy(@string, {string})', '[{maybe_string}.orValue({string})]', "[?{maybe_string}, {string}]", '{named}.validate({sample}).value()', '({bool} ? {strings} : {strings})', '{url}.getQuery()[{string}]',
                '[{strings}, {strings}].flatten()', 'optional.unwrap([{maybe_string}, {maybe_string}])', '[{maybe_string}].unwrapOpt()', '{ints}.map(@int, {maybe_string}).unwrapOpt()'],
    'ints': ['[{int}, {int}]', '{ints}.filter(@int, {bool})', '{ints}.map(@int, {int})', '{ints}.map(@int, {bool}, {int})', '({ints} + {ints})', '{ints}.transformList(@int, @int, {int})', '{ints}.transformList(@int, @int, {bool}, {int})', '{ints}.sort()', '{ints}.reverse()', '{ints}.distinct()', '{ints}.slice({int}, {int})', 'lists.range({small})', 'lists.range(5)', '{nested}.flatten()', '{nested}.flatten({int})', '{nested}[{int}]',
             '{counts}.map(@string, {int})', '{ints}.sortBy(@int, {int})', '{items}.map(x, x.v)', '{items}.sortBy(x, x.v).map(x, x.v)', '[?{maybe_int}, {int}]', '({bool} ? {ints} : {ints})', '{strings}.map(@string, {string}.size())'],
    'doubles': ['[{double}, {double}]', '{ints}.map(@int, {double})', '{doubles}.sort()', '{doubles}.filter(@double, {bool})', '{doubles}.distinct()'],
    'nested': ['[{ints}, {ints}]', '{ints}.map(@int, {ints})', '{nested}.filter(@ints, {bool})', '{nested}.map(@ints, {ints})', '{nested}.distinct()', '{nested}.reverse()'],
    'bools': ['[{bool}, {bool}]', '{ints}.map(@int, {bool})', '{bools}.sort()', '{bools}.distinct()'],
    'items': ['{items}.filter(x, x.v {cmp} {int})', '{items}.sortBy(x, x.k)', '{items}.reverse()', '{items}.distinct()', '{items}.slice({int}, {int})'],
    'item': ['{items}[{int}]', '({bool} ? {item} : {item})', '{items}.first().value()'],
    'time': ['({time} + {span})', '({time} - {span})', '({span} + {time})', 'timestamp({int})', 'timestamp({string})', 'timestamp({time})', 'timestamp(string({time}))', '({bool} ? {time} : {time})', '[{time}, {time}].max()'],
    'span': ['({span} + {span})', '({span} - {span})', '({time} - {time})', 'duration({string})', 'duration({int})', 'duration(string({span}))', '({bool} ? {span} : {span})', '-{span}'],
    'bytes': ['bytes({string})', '({bytes} + {bytes})', '({bool} ? {bytes} : {bytes})', 'bytes({bytes})'],
    'counts': ["{{'a': {int}, {string}: {int}}}", "{{'a': {int}}}", '{counts}.transformMap(@string, @int, {int})', '{counts}.transformMap(@string, @int, {bool}, {int})', '{ints}.transformMapEntry(@int, @int, {{string({int}): {int}}})', "{{?'x': {maybe_int}, 'y': {int}}}", '({bool} ? {counts} : {counts})'],
    'words': ["{{'a': {string}, {string}: {string}}}", '{words}.transformMap(@string, @string, {string})', '{words}.transformMapEntry(@string, @string, {{{string}: {string}}})'],
    'keyed': ['{{{int}: {int}}}', '{{1: {int}, {int}: 2}}', '{ints}.transformMap(@int, @int, {int})', '{keyed}.transformMap(@int, @int, {int})'],
    'odd': ['dyn({any})', 'type({any})', '[dyn({any}), {any}]', '[{any}, {any}]', '{{{string}: dyn({any}), {string}: {any}}}', '{any}.nope()', 'nope({any})', '{any}[{any}]', '{any}.name', 'dyn({any}).name', 'dyn({any})[{any}]', '{named}.validate({sample})', '{quantity}', '{semver}', '{ip}', '{cidr}', '{url}', '{url}.getQuery()', 'optional.of({any})', '({bool} ? {any} : {any})', '({any} {sum} {any})', 'size({any})', '{any}.size()', '{string}.find({any})', 'has({any})', '{any}.all({any}, {any})', '[{any}].map(x, {any})', '{nested}.map(@ints, @int, {any})', '{string}({any})', 'dyn({any}).map(x, x)', 'self.?{word}', '[1, {any}]', '-{any}', '!{any}', '{any} in {any}', '[optional.of({any})].map(x, x.value())', '({bool} ? optional.of({any}) : optional.none()).value()',
            'optional.of({any}).optMap(x, x)', '({bool} ? {any} : {any}).name', '({bool} ? {maybe_int} : {maybe_string})', '[optional.of(self)].map(x, x.value().{word})', '.size({any})', '[[], {any}].map(x, {any})', '[].map(x, {any}) + {any}'],
    'maybe_string': ['{maybe_string}.or({maybe_string})', 'optional.of({string})', 'optional.ofNonZeroValue({string})', '{maybe_string}.optMap(@string, {string})', '{maybe_string}.optFlatMap(@string, {maybe_string})', '{strings}[?{int}]', '{words}[?{string}]', '{strings}.first()', '{strings}.last()', '{maybe_int}.optMap(@int, {string})', '({bool} ? {maybe_string} : {maybe_string})'],
    'maybe_int': ['{maybe_int}.or({maybe_int})', 'optional.of({int})', 'optional.ofNonZeroValue({int})', '{maybe_int}.optMap(@int, {int})', '{maybe_int}.optFlatMap(@int, {maybe_int})', '{ints}[?{int}]', '{counts}[?{string}]', '{ints}.last()', '{keyed}[?{int}]', 'optional.of({counts}).a', 'optional.of({counts}).?a', 'optional.of({ints})[0]', 'optional.of({ints})[?{int}]'],
    'kind': ['type({any})'],
    'quantity': ['quantity({amount})', 'quantity({amount})', '{quantity}.add({quantity})', '{quantity}.sub({quantity})', '{quantity}.add({int})', '{quantity}.sub({int})', 'quantity({string})'],
    'ip': ['ip({address})', 'ip({address})', '{cidr}.ip()', '{cidr}.masked().ip()'],
    'cidr': ['cidr({network})', 'cidr({network})', '{cidr}.masked()'],
    'semver': ['semver({release})', 'semver({release})', 'semver({release}, true)', 'semver({release}, {bool})'],
    'url': ['url({link})', 'url({link})', 'url({string})'],
}
LEAVES.update({'quantity': ["quantity('1Gi')", "quantity('0')"], 'ip': ["ip('10.0.0.1')", "ip('::1')"], 'cidr': ["cidr('10.0.0.0/8')", "cidr('::/0')"], 'semver': ["semver('1.2.3')"],
               'url': ["url('https://a/b')"], 'small': ['0', '1', '-1', 'self.i', 'self.nums[0]', '20'], 'word': ['name', 'free', 'maybe', 'mode', 'nope', 'i']})

# ---- patterns: valid ones, and some that are not ----

ATOMS = [*'abcx09 .^$éλk', *r'\b \B \d \w \s \D \W \S [a-c] [^a] []a] [a-] [[:alpha:]] [[:^digit:]] [\d-z] \pL \p{Greek} \PN \p{^Lu} \x41 \x{3bb} \101 \n \t \. \- [^\w] [α-ω] [\pL\d] (?:) [[:word:]x] \p{Han} [^[:^alpha:]]'.split(), r'\Qa.b\E']
ODD = r'\A \z (?i) (?s) (?m) (?U) (?-i) [b-a] [[:foo:]] \8 \p{Foo} \C (?P<n (?= [ ( ) { } {,2} {1001} \Z (?i-s) (?P<g>a)(?P<g>b) (?<n>x) *a a** [a (?P=g) \K \xZZ \x{110000} {2,1} (?# \u00e9 \c'.split()
TEXTS = [*'abcxAK09 .-éλſ\n\u212a\U0001F600', 'ab', 'ΑΩ', '漢']


class Generator:
    """The same seed makes the same expressions."""

    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.variables = []
        self.coverage = {}

    def operand(self, kind, depth):
        if kind == 'any' or self.rnd.random() < 0.015:
            kind = self.rnd.choice(TYPES)
        local = [name for name, of in self.variables if of == kind]
        if local and self.rnd.random() < 0.45:
            return self.rnd.choice(local)
        if depth <= 0 or kind not in RULES or self.rnd.random() < 0.12:
            return self.rnd.choice(LEAVES[kind])
        return self.expand(self.rnd.choice(RULES[kind]), depth - 1)

    def expand(self, template, depth):
        self.coverage[template] = self.coverage.get(template, 0) + 1
        declared, out, at = len(self.variables), [], 0
        for m in re.finditer(r'\{\{|\}\}|\{([a-z_]+)\}|@([a-z_]+)', template):
            out.append(template[at:m.start()])
            at = m.end()
            if m.group(1):
                out.append(self.operand(m.group(1), depth))
            elif m.group(2):
                self.variables.append(('v%d' % len(self.variables), m.group(2)))
                out.append(self.variables[-1][0])
            else:
                out.append(m.group()[0])
        del self.variables[declared:]
        return ''.join(out) + template[at:]

    def pattern(self, depth=0):
        out, pick = '', self.rnd.choice
        for _ in range(self.rnd.randrange(1, 7)):
            r = self.rnd.random()
            if r < 0.55:
                out += pick(ATOMS)
            elif r < 0.7 and depth < 3:
                out += pick(('(', '(?:', '(?i:', '(?P<g>', '(?s-i:', '(?m:')) + self.pattern(depth + 1) + ')'
            elif r < 0.85:
                out += pick(('*', '+', '?', '{2}', '{1,3}', '*?', '+?', '??', '{2,}', '{0,2}?'))
            else:
                out += '|' if r < 0.95 else pick(ODD)
        return out

    def matching(self):
        text = json.dumps(''.join(self.rnd.choice(TEXTS) for _ in range(self.rnd.randrange(12))))
        pattern = json.dumps(self.pattern())
        r = self.rnd.random()
        if r < 0.8:
            return '%s.%s(%s)' % (text, self.rnd.choice(('find', 'findAll')), pattern)
        return '[%s].map(p, %s.matches(p))' % (pattern, text) if r < 0.9 else '%s.matches(%s)' % (text, pattern)

    def damage(self, text):
        """Removes, doubles or exchanges a token."""
        parts = re.findall(r'''[\w.]+|'[^']*'|"[^"]*"|\s+|.''', text)
        at = self.rnd.randrange(len(parts))
        change = self.rnd.randrange(4)
        if change == 0:
            del parts[at]
        elif change == 1:
            parts.insert(at, parts[at])
        elif change == 2:
            parts.insert(at, self.rnd.choice([*'()[]{},.:?!-+', '&&', '"', '0x', 'in', 'a', '$', '1.', '\n', 'é', '@']))
        else:
            parts[at] = self.rnd.choice(parts)
        return ''.join(parts)

    def expression(self):
        while True:
            if self.rnd.random() < 0.08:
                return self.matching()
            text = self.operand(self.rnd.choice(TYPES), self.rnd.randrange(1, 5))
            if len(text) > 1500:
                continue
            return self.damage(text) if self.rnd.random() < 0.02 else text
