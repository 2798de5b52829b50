/** Access logs of a listener: one line per connection, whatever served it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { AccessLogConfig } from '../../../shared/resources/access-loggers/access-loggers.ts';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { fileLog, filterListener, networkFilter } from '../../support/parts/tcp-listener.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const FORMAT =
  '%ACCESS_LOG_TYPE% %PROTOCOL% %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %LISTENER_NAME%\n';

function logTo(path: string): AccessLogConfig {
  return {
    kind: 'lines',
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

  it('shows the local address of a connection that is closed, on a wildcard address too', async () => {
    using scratch = makeScratch();
    const path = scratch.file('local.log');
    const response = { inline_string: 'hi' };
    const listener = {
      ...filterListener([
        networkFilter('direct_response', 'direct_response.v3.Config', { response }),
      ]),
      address: { socket_address: { address: '0.0.0.0', port_value: 0 } },
      access_log: [fileLog(path, '%DOWNSTREAM_LOCAL_ADDRESS%')],
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener] }),
      args: ['--file-flush-interval-msec', '10'],
    });
    const port = await sluice.listenerPort('tcp');
    const client = await openRaw(port);
    assert.equal(await client.closed(), 'hi');
    const line = await waitUntil('the line', () => readFileSync(path, 'utf8') || undefined);
    assert.equal(line, `127.0.0.1:${port}\n`);
  });
});
