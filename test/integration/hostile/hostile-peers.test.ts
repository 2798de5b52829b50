/** What is left behind by peers that stop, stall and flood: nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import {
  abandonResponses,
  abortRequestsEverywhere,
  flood,
  meetAbortedResponses,
  stall,
  startHostileUpstream,
} from '../../support/peers/hostile/hostile-peers.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil, within } from '../../support/wait.ts';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const SHORT_IDLE = {
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: {
      '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
      common_http_protocol_options: { idle_timeout: '0.2s' },
      explicit_http_config: { http_protocol_options: {} },
    },
  },
};

function hostileBootstrap(upstreamPort: number): object {
  const hcm = {
    request_headers_timeout: '0.3s',
    request_timeout: '0.8s',
    stream_idle_timeout: '0.5s',
    delayed_close_timeout: '0.1s',
    http_protocol_options: { enable_trailers: true },
  };
  const route = { match: { prefix: '/' }, route: { cluster: 'up', timeout: '1s' } };
  return bootstrap({
    listeners: [httpListener([route], { hcm })],
    clusters: [staticCluster('up', [upstreamPort], SHORT_IDLE)],
  });
}

/**
 * Gauges of what is open, waiting or buffered that are not 0, apart from the admin interface's own.
 */
async function leftovers(sluice: Sluice): Promise<readonly string[]> {
  const { body } = await sluice.admin('/stats?filter=_active$|_buffered$|_open$');
  return body.split('\n').filter((line) => {
    const isOwn = /admin|total_listeners_active|^runtime|\.membership|^workers/.test(line);
    return line !== '' && !isOwn && !line.endsWith(': 0');
  });
}

describe('peers that stop, stall and flood', () => {
  it('leave no connection, request or byte behind in any gauge, and service goes on', async () => {
    await using upstream = await startHostileUpstream();
    await using sluice = await startSluice({ bootstrap: hostileBootstrap(upstream.port) });
    const port = await sluice.listenerPort('web');
    const peers = Promise.all([
      abortRequestsEverywhere(port, 'end'),
      abortRequestsEverywhere(port, 'reset'),
      meetAbortedResponses(port, 'end'),
      meetAbortedResponses(port, 'reset'),
      abandonResponses(port, 'end'),
      abandonResponses(port, 'reset'),
      stall(port),
      flood(port, 200),
    ]);
    await within('the end of all peers', peers);
    const left = await waitUntil(
      'all gauges at 0',
      async () => (await leftovers(sluice)).length === 0 && 'none',
    ).catch(() => leftovers(sluice));
    assert.deepEqual(left, 'none');
    const answer = await fetchOnce({ port, path: '/' });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, 'ok');
  });
});
