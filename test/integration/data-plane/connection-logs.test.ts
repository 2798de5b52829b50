/** Access logs of a listener: one line per connection, whatever served it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { AccessLogConfig } from '../../../shared/resources/access-log.ts';
import { startDataPlane } from '../../support/data-plane.ts';
import { openRaw } from '../../support/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startHttpUpstream } from '../../support/upstream.ts';

const FORMAT =
  '%ACCESS_LOG_TYPE% %PROTOCOL% %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %LISTENER_NAME%\n';

function logTo(path: string): AccessLogConfig {
  return {
    sink: { kind: 'file', path },
    format: { kind: 'text', format: FORMAT, omitEmptyValues: false },
  };
}

describe('an access log of a listener', () => {
  it('has one line for a connection, however many requests it carried', async () => {
    using scratch = makeScratch();
    await using upstream = await startHttpUpstream();
    const path = scratch.file('connections.log');
    const plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      listener: { accessLogs: [logTo(path)] },
    });
    const client = await openRaw(plane.port);
    const request = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';
    for (let round = 1; round <= 3; round++) {
      client.send(request);
      await client.until((text) => text.split('hello').length - 1 === round);
    }
    client.send('BROKEN\r\n\r\n');
    await client.closed();
    client.destroy();
    await plane.close();
    const length = 3 * request.length + 'BROKEN\r\n\r\n'.length;
    assert.equal(readFileSync(path, 'utf8'), `NotSet HTTP/1.1 0 DPE ${length} web\n`);
  });
});
