/** Values of HTTP/2 requests as they reach a host. */
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { GET, headersFrame, openFrames } from '../../support/peers/http2-client.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { Flag } from '../../../workers/http2/frames.ts';

describe('an HTTP/2 request', () => {
  it('may have blanks around its values, which are passed on as they are', async () => {
    await using upstream = await startRawUpstream(() => undefined);
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openFrames(plane.port);
    client.send(headersFrame(1, [...GET, ['x-a', ' b'], ['x-c', 'd\t']], Flag.endStream));
    const written = (): boolean => /\r\nx-a:  b\r\nx-c: d\t\r\n/.test(upstream.received[0] ?? '');
    await waitUntil('both fields', written);
    client.destroy();
  });
});
