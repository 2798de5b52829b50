/** Static listeners of one name: the first one serves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, GREETING, httpListener } from '../../../support/parts/bootstrap.ts';
import { resolveConfig } from './resolve-text.ts';

const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
const proxy = {
  '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
  stat_prefix: 'tcp',
  cluster: 'none',
};
/** A filter that ends a chain, in front of another one. */
const broken = {
  name: 'web',
  address,
  filter_chains: [{ filters: ['one', 'two'].map((name) => ({ name, typed_config: proxy })) }],
};

describe('a second static listener of the same name', () => {
  // The warning is the file reader's: test/integration/commands/hints.test.ts.
  it('is ignored, whatever is in it, as in Envoy', async () => {
    const outcome = await resolveConfig(bootstrap({ listeners: [httpListener(GREETING), broken] }));
    assert.equal(outcome.kind, 'resolved');
    assert.deepEqual(outcome.resolution.problems, []);
  });

  it('is looked at where the first one has another name', async () => {
    const other = httpListener(GREETING, { name: 'other' });
    const outcome = await resolveConfig(bootstrap({ listeners: [other, broken] }));
    assert.equal(outcome.kind, 'invalid');
  });
});
