import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepPorts } from '../../../../src/library/keep-ports.ts';

const PORTS = new Map([['web', 41_001]]);
const at = (place: object, name: string | undefined = 'web'): object => ({
  static_resources: { listeners: [{ name, address: { socket_address: place } }] },
});

const ROWS: readonly [what: string, given: object, kept: object][] = [
  ['a port of 0', at({ address: '::', port_value: 0 }), at({ address: '::', port_value: 41_001 })],
  ['no port', at({ address: '::' }), at({ address: '::', port_value: 41_001 })],
  ['a port of its own', at({ port_value: 80 }), at({ port_value: 80 })],
  ['a listener that is unknown', at({ port_value: 0 }, 'other'), at({ port_value: 0 }, 'other')],
  [
    'the names of the JSON form',
    {
      staticResources: {
        listeners: [{ name: 'web', address: { socketAddress: { portValue: 0 } } }],
      },
    },
    {
      staticResources: {
        listeners: [{ name: 'web', address: { socketAddress: { port_value: 41_001 } } }],
      },
    },
  ],
  [
    'a pipe',
    { static_resources: { listeners: [{ name: 'web', address: { pipe: { path: '/x' } } }] } },
    { static_resources: { listeners: [{ name: 'web', address: { pipe: { path: '/x' } } }] } },
  ],
  ['nothing', {}, {}],
];

for (const [what, given, kept] of ROWS) {
  test(`the next epoch has the port of ${what}`, () => {
    const before = JSON.stringify(given);
    assert.deepEqual(keepPorts(given, PORTS), kept);
    assert.equal(JSON.stringify(given), before);
  });
}
