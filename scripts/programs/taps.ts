/** Records of `/tap/listen` in the hands of those who know the formats: har-validator, Chromium, tshark. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { buffer } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { proxyTo } from '../../test/support/parts/bootstrap.ts';
import { fetchOnce } from '../../test/support/peers/http-client.ts';
import { startHttpUpstream } from '../../test/support/peers/upstream.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { type Sluice, startSluice } from '../../test/support/programs/sluice.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { startBrowser } from '../support/browser.ts';
import { check, passed, runProgram, type Trial, trialOf } from './trial.ts';

const REQUESTS = 20;
/** Several packets. */
const BODY = 'x'.repeat(100_000);

async function recorded(query: string): Promise<Buffer> {
  await using upstream = await startHttpUpstream((asked, answer) => asked.pipe(answer));
  await using sluice: Sluice = await startSluice({ bootstrap: proxyTo(upstream.port) });
  const port = await sluice.listenerPort('web');
  const path = `/tap/listen?for=3&${query}`;
  const outgoing = request({ host: '127.0.0.1', port: sluice.adminPort, path, method: 'POST' });
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  await sluice.settled();
  for (let count = 0; count < REQUESTS; count++) {
    const headers = { 'content-type': count % 2 === 0 ? 'text/plain' : 'application/octet-stream' };
    const body = count % 2 === 0 ? BODY : Buffer.from([0, 255, 128, count]);
    await fetchOnce({ port, path: `/a/${count}?b=c&b=d`, method: 'POST', headers, body });
  }
  return await buffer(answer);
}

const har: Trial = {
  name: 'har-validator reads what /tap/listen records',
  run: async () => {
    const require = createRequire(import.meta.url);
    const validator = require('har-validator/lib/promise') as {
      readonly har: (data: unknown) => Promise<unknown>;
    };
    const text = (await recorded('format=har&count=1000')).toString();
    const parsed = JSON.parse(text) as { log: { entries: unknown[] } };
    await validator.har(parsed);
    check(parsed.log.entries.length === REQUESTS, `${parsed.log.entries.length} entries`);
    return passed(`${REQUESTS} entries, ${text.length} bytes`);
  },
};

/** What DevTools do with a file that somebody drops on their network panel. */
const IMPORT_HAR = `(async () => {
  const { NetworkPanel } = await import('./panels/network/network.js');
  const { NetworkLog } = await import('./models/logs/logs.js');
  const file = new File([HAR], 'record.har', { type: 'application/json' });
  await NetworkPanel.NetworkPanel.instance().networkLogView.onLoadFromFile(file);
  const shown = NetworkLog.NetworkLog.instance().requests();
  return JSON.stringify(shown.map((one) => [one.requestMethod, one.statusCode, new URL(one.url()).pathname]));
})().catch(() => undefined)`;

const devTools = trialOf(
  'chromium',
  'the developer tools of Chromium open what /tap/listen records',
  async () => {
    using scratch = makeScratch();
    const text = JSON.stringify((await recorded('format=har&count=1000')).toString());
    const more = ['--remote-debugging-port=0', '--remote-allow-origins=*'];
    await using running = startBrowser(scratch.file('profile'), 'chromium', more);
    const { browser } = running;
    const portFile = join(scratch.file('profile'), 'DevToolsActivePort');
    await waitUntil('the port of the browser', () => existsSync(portFile));
    const [port = ''] = readFileSync(portFile, 'utf8').split('\n');
    const page = `ws=localhost:${port}/devtools/page/${await browser.openEmpty()}`;
    await browser.open(`http://localhost:${port}/devtools/devtools_app.html?${page}&panel=network`);
    const shown = await waitUntil('the requests', async () => {
      const found = await browser.evaluate(IMPORT_HAR.replace('HAR', () => text));
      return typeof found === 'string' && found !== '[]' ? found : undefined;
    });
    const expected = Array.from({ length: REQUESTS }, (_, count) => ['POST', 200, `/a/${count}`]);
    const requests = (JSON.parse(shown) as unknown[]).slice(0, REQUESTS);
    check(isDeepStrictEqual(requests, expected), `it shows ${shown.slice(0, 500)}`);
    return passed(`${REQUESTS} requests on the network panel`);
  },
);

const pcap = trialOf('tshark', 'tshark follows the connections of /tap/listen', async () => {
  using scratch = makeScratch();
  const file = scratch.file('all.pcap');
  writeFileSync(file, await recorded('format=pcap&count=10000&body=1000000'));
  const checked = ['-o', 'tcp.check_checksum:TRUE', '-o', 'ip.check_checksum:TRUE'];
  const port = await runProgram('tshark', [
    '-r',
    file,
    '-T',
    'fields',
    '-e',
    'tcp.dstport',
    '-c',
    '1',
  ]);
  const decoded = ['-d', `tcp.port==${port.trim().split('\n').at(-1) ?? ''},http`];
  const filter = (text: string): string[] => ['-r', file, ...checked, ...decoded, '-Y', text];
  const count = async (text: string): Promise<number> => {
    const output = await runProgram('tshark', [
      ...filter(text),
      '-T',
      'fields',
      '-e',
      'frame.number',
    ]);
    return output.split('\n').filter((line) => /^\d+$/.test(line)).length;
  };
  const requests = await count('http.request');
  const wrong = await count(
    'tcp.analysis.flags || tcp.checksum.status == "Bad" || ip.checksum.status == "Bad" || _ws.malformed',
  );
  check(requests === REQUESTS, `${requests} requests`);
  check(wrong === 0, `${wrong} packets that tshark finds wrong`);
  return passed(`${requests} requests, ${await count('tcp')} packets, none of them wrong`);
});

export const taps: readonly Trial[] = [har, devTools, pcap];
