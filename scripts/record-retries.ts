/**
 * Records which answers Envoy (`envoy` on PATH) tries again for which `retry_on`, into the data of
 * test/data-plane/router/retry-matrix.test.ts: node dist/scripts/record-retries.js. Run it when the
 * table of test/support/parts/retry-matrix.ts has grown; the recording is reviewed and committed.
 */
import { writeFileSync } from 'node:fs';
import { fetchOnce } from '../test/support/peers/http-client.ts';
import {
  answerByPath,
  RECORDED_PATH,
  retryBootstrap,
  runRetries,
} from '../test/support/parts/retry-matrix.ts';
import { startHttpUpstream } from '../test/support/peers/upstream.ts';
import { startReference } from './start-reference.ts';

interface ListenersPage {
  readonly listener_statuses: readonly {
    readonly local_address: { readonly socket_address: { readonly port_value: number } };
  }[];
}

await using upstream = await startHttpUpstream(answerByPath);
const reference = await startReference(retryBootstrap(upstream.port));
try {
  const page = await fetchOnce({ port: reference.adminPort, path: '/listeners?format=json' });
  const [listener] = (JSON.parse(page.body) as ListenersPage).listener_statuses;
  if (listener === undefined) throw new Error('Envoy has no listener');
  const matrix = await runRetries(listener.local_address.socket_address.port_value);
  writeFileSync(RECORDED_PATH, `${JSON.stringify(matrix, null, 1)}\n`);
  console.log(`recorded ${Object.keys(matrix).length} values of retry_on`);
} finally {
  await reference.stop();
}
