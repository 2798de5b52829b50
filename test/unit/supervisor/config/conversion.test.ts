import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accept, errorsOf, load } from './load.ts';

const options = (value: string): string =>
  `{"static_resources":{"clusters":[{"name":"a","typed_extension_protocol_options":{"a":${value}}}]}}`;

/** Follows field names and indices. */
function pick(message: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<string | number, unknown> | undefined)?.[key],
    message,
  );
}

async function json(text: string): Promise<unknown> {
  return accept(text, { format: 'json' });
}

async function refused(text: string): Promise<string> {
  return (await errorsOf(text, { format: 'json' })).join('\n');
}

describe('messages', () => {
  it('take field names in snake_case and lowerCamelCase', async () => {
    const text = '{"admin": {"address": {"socketAddress": {"address": "a", "portValue": 0}}}}';
    assert.deepEqual(await json(text), {
      admin: { address: { socket_address: { address: 'a', port_value: 0 } } },
    });
  });
  it('drop default values unless the field knows whether it was set', async () => {
    assert.deepEqual(
      await json(
        '{"node": {"id": ""}, "admin": {"address": {"socket_address": {"address": "a", "port_value": 0, "protocol": "TCP", "ipv4_compat": false}}}, "flags_path": ""}',
      ),
      {
        node: {},
        admin: { address: { socket_address: { address: 'a', port_value: 0 } } },
      },
    );
  });
  it('refuse two fields of a oneof', async () => {
    assert.match(
      await refused(
        '{"admin": {"address": {"socket_address": {"address": "a", "port_value": 1, "named_port": "x"}}}}',
      ),
      /named_port: 'named_port' has already been set as 'port_value'/,
    );
  });
  it('treat null as absent, and as a default value in lists and maps', async () => {
    assert.deepEqual(await json('{"node": null, "flags_path": null}'), {});
    assert.deepEqual(
      await json('{"node": {"client_features": ["a", null], "dynamic_parameters": {"d": null}}}'),
      {
        node: { client_features: ['a', ''], dynamic_parameters: { d: {} } },
      },
    );
  });
  it('take one value where a list is expected', async () => {
    assert.deepEqual(await json('{"node": {"client_features": "a"}}'), {
      node: { client_features: ['a'] },
    });
  });
  it('keep a key that is dangerous in JavaScript an ordinary key', async () => {
    const message = await json('{"node": {"metadata": {"__proto__": {"a": 1}, "constructor": 2}}}');
    const metadata = pick(message, 'node', 'metadata') as object;
    assert.deepEqual(Object.keys(metadata), ['__proto__', 'constructor']);
    assert.equal(Object.getPrototypeOf(metadata), Object.prototype);
  });
  it('refuse what is no object', async () => {
    assert.match(
      await refused('{"node": []}'),
      /node: expected an object of type envoy\.config\.core\.v3\.Node, found a list/,
    );
    assert.match(await refused('[]'), /1:1: expected an object/);
  });
  it('refuse more than a hundred levels', async () => {
    const nested = (depth: number): string =>
      `{"static_resources":{"listeners":[{"name":"l","filter_chain_matcher":${'{"on_no_match":{"matcher":'.repeat(depth)}{}${'}}'.repeat(depth)}}]}}`;
    assert.match(await refused(nested(90)), /nested too deeply/);
  });
});

describe('unknown fields', () => {
  it('are refused with a suggestion, all at once', async () => {
    assert.deepEqual(
      await errorsOf('nodes: {}\nadmin:\n  address:\n    socket_address: {address: a, port: 1}\n'),
      [
        "test.yaml:1:1: nodes: no such field: 'nodes' in envoy.config.bootstrap.v3.Bootstrap (did you mean node?)",
        "test.yaml:4:34: admin.address.socket_address.port: no such field: 'port' in envoy.config.core.v3.SocketAddress (did you mean port_value?)",
      ],
    );
  });
  it('are counted and warned of when they are allowed', async () => {
    const result = await load(
      'nosuch: 1\nnode: {foo: 1, id: a}\nstatic_resources: {clusters: [{name: a, lb_policy: BEST}]}',
      { unknownFields: 'warn' },
    );
    assert.deepEqual(result.message, {
      node: { id: 'a' },
      static_resources: { clusters: [{ name: 'a' }] },
    });
    assert.equal(result.unknownFieldCount, 3);
    assert.deepEqual(
      result.problems.map((problem) => problem.severity),
      ['warning', 'warning', 'warning'],
    );
  });
  it('do not hide a wrong value', async () => {
    const result = await load('nosuch: 1\nnode: {id: 5}', { unknownFields: 'warn' });
    assert.deepEqual(
      result.problems.map((problem) => problem.severity),
      ['error', 'warning'],
    );
  });
});

describe('google.protobuf.Any', () => {
  it('is expanded in place, whatever the order of its fields', async () => {
    const message = await json(
      options('{"id": "5", "@type": "type.googleapis.com/envoy.config.core.v3.Node"}'),
    );
    assert.deepEqual(
      pick(message, 'static_resources', 'clusters', 0, 'typed_extension_protocol_options', 'a'),
      {
        '@type': 'type.googleapis.com/envoy.config.core.v3.Node',
        id: '5',
      },
    );
  });
  it('holds well-known types in value', async () => {
    const message = await json(
      options('{"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1.5s"}'),
    );
    assert.deepEqual(
      pick(message, 'static_resources', 'clusters', 0, 'typed_extension_protocol_options', 'a'),
      {
        '@type': 'type.googleapis.com/google.protobuf.Duration',
        value: '1.500s',
      },
    );
  });
  for (const [text, message] of [
    ['{"@type": "foo"}', /@type must contain at least one \/ and a nonempty host; got: foo/],
    [
      '{"@type": "type.googleapis.com/nosuch.Type"}',
      /unknown type 'type\.googleapis\.com\/nosuch\.Type'/,
    ],
    [
      '{"@type": "type.googleapis.com/envoy.config.core.v3.Nod"}',
      /did you mean type\.googleapis\.com\/envoy\.config\.core\.v3\.Node\?/,
    ],
    ['{"@type": "type.googleapis.com/envoy.api.v2.Cluster"}', /the v2 API is no longer served/],
    ['{"id": "5"}', /missing @type/],
    ['{"@type": 5}', /expected a type URL, found the number 5/],
    ['{"@type": "type.googleapis.com/google.protobuf.Struct", "a": 1}', /must be @type or value/],
    [
      '{"@type": "type.googleapis.com/envoy.config.core.v3.Node", "foo": 1}',
      /no such field: 'foo'/,
    ],
    [
      '{"@type": "type.googleapis.com/envoy.config.core.v3.Address"}',
      /one of socket_address, pipe, envoy_internal_address is required/,
    ],
    ['5', /expected an object with @type/],
  ] as const) {
    it(`refuses ${text}`, async () => {
      assert.match(await refused(options(text)), message);
    });
  }
});
