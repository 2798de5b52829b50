import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { bootstrap, GREETING, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const GAUGE = 'sluice.runtime.plain_handles';
/** As a runtime would be that no longer gives its bindings away. */
const WITHOUT_BINDINGS = '--import=data:text/javascript,process.binding%3Dundefined';

async function start(env: Record<string, string> = {}): Promise<Sluice> {
  return await startSluice({
    bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }),
    concurrency: 2,
    args: ['--log-level', 'debug'],
    env,
  });
}

describe('the way of plain connections', () => {
  it("is over the runtime's handles in every worker, whichever runtime this is", async () => {
    await using sluice = await start();
    assert.equal(await sluice.stat(GAUGE), 2);
    assert.match(sluice.stderr(), /Node\.js v[\d.]+: plain connections use the runtime's handles/);
  });

  it('is over node:net where there are none, and both log and gauge say so', async () => {
    await using sluice = await start({ NODE_OPTIONS: WITHOUT_BINDINGS });
    assert.match(await sluice.stats(`filter=${GAUGE}`), /plain_handles: 0\n/);
    assert.match(sluice.stderr(), /\[warning\].* plain connections use node:net/);
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).body, 'hi');
  });
});
