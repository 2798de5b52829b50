/** What a refusal of a name that nothing has proposes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meantName } from '../../../../supervisor/resources/meant-name.ts';
import { bootstrapWith } from './bootstrap-with.ts';
import { resolveConfig } from './resolve-text.ts';

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
const HEAP = 'type.googleapis.com/envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig';
const MONITOR = {
  name: 'envoy.resource_monitors.fixed_heap',
  typed_config: { '@type': HEAP, max_heap_size_bytes: 1 },
};

async function hints(bootstrap: object): Promise<readonly (readonly [string, unknown])[]> {
  const outcome = await resolveConfig(bootstrap);
  assert.equal(outcome.kind, 'invalid');
  return outcome.problems.map(({ message, suggestion }) => [message, suggestion]);
}

test('the nearest name is proposed, else the first ones, never the name itself', () => {
  assert.equal(meantName('fronted', ['backend', 'frontend']), 'did you mean frontend?');
  assert.equal(meantName('other', ['aa', 'bb']), 'there are aa, bb');
  assert.equal(
    meantName('other', ['a', 'b', 'c', 'd', 'e', 'f']),
    'there are a, b, c, d, e and others',
  );
  assert.equal(meantName('a', ['a', 'b']), undefined);
  assert.equal(meantName('x', []), undefined);
});

test('unknown secrets, actions and triggers of overload propose what is there', async () => {
  const context = {
    '@type': TLS,
    common_tls_context: { tls_certificate_sds_secret_configs: [{ name: 'edgecert' }] },
  };
  const withTls = bootstrapWith('cluster', {
    transport_socket: { name: 'tls', typed_config: context },
  });
  const { static_resources: resources } = withTls as { static_resources: { secrets?: object[] } };
  resources.secrets = [{ name: 'edge_cert', generic_secret: { secret: { inline_string: 'x' } } }];
  assert.deepEqual(await hints(withTls), [
    ['Unknown static secret: edgecert', 'did you mean edge_cert?'],
  ]);

  const trigger = { name: 'envoy.resource_monitors.fixed_haep', threshold: { value: 1 } };
  const name = 'envoy.overload_actions.stop_accepting_request';
  const manager = { resource_monitors: [MONITOR], actions: [{ name, triggers: [trigger] }] };
  assert.deepEqual(await hints(bootstrapWith('bootstrap', { overload_manager: manager })), [
    [`Unknown Overload Manager Action ${name}`, `did you mean ${name}s?`],
    [
      `Unknown trigger resource ${trigger.name} for overload action ${name}`,
      'did you mean envoy.resource_monitors.fixed_heap?',
    ],
  ]);
});
