/** What an operator ordered, as it comes from an epoch before, which may be anybody. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { HostOrders, ORDERS_MAX } from '../../../../supervisor/upstreams/hosts/host-orders.ts';
import { host } from '../../../support/parts/data-plane.ts';

function makeOrders(): HostOrders {
  return new HostOrders({ clock: systemClock, changed: () => undefined, counted: () => undefined });
}

describe('orders for hosts', () => {
  it('come over as they were told', () => {
    const before = makeOrders();
    assert.equal(before.export(), undefined);
    before.put({ cluster: '__proto__', host: 'constructor', state: 'drain' });
    before.put({ cluster: 'a', host: 'b', weight: 7, untilMs: systemClock.wallMs() + 60_000 });
    const after = makeOrders();
    after.import(before.export() ?? '');
    assert.deepEqual([...after.list()], [...before.list()]);
    for (const each of [before, after]) each.close();
  });

  const odd = [
    '',
    '{',
    'null',
    '{}',
    '[1, null, "a", []]',
    '[{"cluster": 1, "host": "b", "state": "drain"}]',
    '[{"cluster": "a", "host": "b", "state": "constructor"}]',
    '[{"cluster": "a", "host": "b", "weight": 0}]',
    '[{"cluster": "a", "host": "b", "weight": 1.5}]',
    '[{"cluster": "a", "host": "b", "untilMs": "soon"}]',
    `[{"cluster": "a", "host": "${'b'.repeat(2000)}", "state": "down"}]`,
  ];
  for (const text of odd) {
    it(`are not taken from ${text.slice(0, 60)}`, () => {
      const orders = makeOrders();
      orders.import(text);
      assert.deepEqual([...orders.list()], []);
    });
  }

  it('are bounded', () => {
    const orders = makeOrders();
    for (let at = 0; at < ORDERS_MAX; at++) {
      assert.ok(orders.put({ cluster: 'a', host: String(at), state: 'down' }));
    }
    assert.ok(!orders.put({ cluster: 'a', host: 'more', state: 'down' }));
    assert.ok(orders.put({ cluster: 'a', host: '0', state: 'drain' }));
    assert.ok(orders.takeBack('a', '0'));
    assert.ok(orders.put({ cluster: 'a', host: 'more', state: 'down' }));
  });

  it('leave the list of hosts alone where they say nothing', () => {
    const orders = makeOrders();
    const hosts = [host(1), host(2)];
    assert.equal(orders.apply('a', hosts), hosts);
    orders.put({ cluster: 'a', host: hosts[0]?.id ?? '', state: 'down', weight: 4 });
    const [changed, same] = orders.apply('a', hosts);
    assert.equal(same, hosts[1]);
    assert.equal(changed?.health, 'unhealthy');
    assert.equal(changed?.weight, 4);
    assert.equal(orders.apply('b', hosts), hosts);
  });
});
