import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accept, errorsOf } from './load.ts';

const text = { format: 'pb_text' } as const;

describe('The text format', () => {
  for (const [what, source, message] of [
    [
      'comments and separators',
      'node { # c\n id: "a"; cluster: "c", }',
      { node: { id: 'a', cluster: 'c' } },
    ],
    ['both brackets', 'node < id: "a" > admin { }', { node: { id: 'a' }, admin: {} }],
    [
      'adjacent and escaped texts',
      'node { id: \'a\' "b" cluster: "\\x41\\101\\n\\"" }',
      { node: { id: 'ab', cluster: 'AA\n"' } },
    ],
    [
      'repeated fields and lists',
      'node { client_features: "x" client_features: ["y", "z"] }',
      { node: { client_features: ['x', 'y', 'z'] } },
    ],
    [
      'enums by name and number',
      'static_resources { clusters: [{ name: "a" lb_policy: 3 }, < name: "b" lb_policy: MAGLEV >] }',
      {
        static_resources: {
          clusters: [
            { name: 'a', lb_policy: 'RANDOM' },
            { name: 'b', lb_policy: 'MAGLEV' },
          ],
        },
      },
    ],
    [
      'maps and Structs',
      'static_resources { clusters { name: "a" metadata { filter_metadata { key: "f" value { fields { key: "s" value { number_value: 1.5 } } } } } } }',
      {
        static_resources: {
          clusters: [{ name: 'a', metadata: { filter_metadata: { f: { s: 1.5 } } } }],
        },
      },
    ],
    [
      'expanded Any',
      'static_resources { clusters { name: "a" typed_extension_protocol_options { key: "k" value { [type.googleapis.com/envoy.config.core.v3.Node] { id: "n" } } } } }',
      {
        static_resources: {
          clusters: [
            {
              name: 'a',
              typed_extension_protocol_options: {
                k: { '@type': 'type.googleapis.com/envoy.config.core.v3.Node', id: 'n' },
              },
            },
          ],
        },
      },
    ],
    [
      'durations, wrappers and bytes as messages',
      'stats_flush_interval { seconds: 1 nanos: 5000000 } stats_server_version_override { value: 0x10 } static_resources { secrets { generic_secret { secret { inline_bytes: "\\000\\377" } } } }',
      {
        stats_flush_interval: '1.005s',
        stats_server_version_override: '16',
        static_resources: { secrets: [{ generic_secret: { secret: { inline_bytes: 'AP8=' } } }] },
      },
    ],
  ] as const) {
    it(`has ${what}`, async () => {
      assert.deepEqual(await accept(source, text), message);
    });
  }

  for (const source of [
    'nosuch: 1',
    'node { id: "a',
    'node { id: "\\q" }',
    'node { id: "a" } }',
    'node { id: 5 }',
    'node: "a"',
    'flags_path: "a" flags_path: "b"',
    'static_resources { clusters { lb_policy: BEST } }',
    'node { id: "x" cluster 3',
  ]) {
    it(`refuses ${source}`, async () => {
      const errors = await errorsOf(source, text);
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? '', /^test\.pb_text:1:/);
    });
  }

  it('gives broken constraints their line and column', async () => {
    const source = [
      'static_resources {',
      '  clusters { name: "a" }',
      '  clusters {',
      '    name: ""',
      '    load_assignment { cluster_name: "x" named_endpoints { key: "e" value {',
      '      address { }',
      '    } } }',
      '    typed_extension_protocol_options { key: "k" value {',
      '      [type.googleapis.com/envoy.config.core.v3.Pipe] {',
      '        mode: 9999',
      '      }',
      '    } }',
      '  }',
      '}',
    ].join('\n');
    assert.deepEqual(await errorsOf(source, text), [
      'test.pb_text:4:11: static_resources.clusters[1].name: value length must be at least 1 characters',
      'test.pb_text:6:7: static_resources.clusters[1].load_assignment.named_endpoints.e.address: one of socket_address, pipe, envoy_internal_address is required',
      'test.pb_text:8:49: static_resources.clusters[1].typed_extension_protocol_options.k.path: value length must be at least 1 characters',
      'test.pb_text:10:15: static_resources.clusters[1].typed_extension_protocol_options.k.mode: value must be less than or equal to 511',
    ]);
  });
});

describe('The binary form', () => {
  it('is refused when it is none', async () => {
    const [error] = await errorsOf(Buffer.from('garbage!!'), { format: 'pb' });
    assert.match(error ?? '', /^test\.pb:1:1: not a envoy\.config\.bootstrap\.v3\.Bootstrap/);
  });

  it('has unknown fields named by their number', async () => {
    assert.deepEqual(await errorsOf(Buffer.from('a20603616263', 'hex'), { format: 'pb' }), [
      'test.pb:1:1: unknown field number 100 in envoy.config.bootstrap.v3.Bootstrap',
    ]);
  });
});
