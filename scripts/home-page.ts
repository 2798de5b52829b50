/**
 * Opens the admin's home page of a real server under traffic in a real browser: what is live moves,
 * search narrows, a destructive command asks first and is sent, the table works without scripts.
 * Writes the screenshots of docs/images. Needs Chromium: node dist/scripts/home-page.js [chromium]
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { bootstrap, httpListener, staticCluster } from '../test/support/parts/bootstrap.ts';
import { makeAuthority } from '../test/support/parts/certificates.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { startSluice } from '../test/support/programs/sluice.ts';
import { certificateFiles, secureListener, tlsSocket } from '../test/support/parts/tls.ts';
import { startHttpUpstream } from '../test/support/peers/upstream.ts';
import { waitUntil } from '../test/support/wait.ts';
import { type Browser, startBrowser } from './support/browser.ts';

/** Long enough for the charts to have lines. */
const WATCHING_MS = 25_000;
const images = join(import.meta.dirname, '../../docs/images');

const upstream = await startHttpUpstream();
using scratch = makeScratch();
const certificate = makeAuthority(scratch.path).issue('shop', 'DNS:shop.test,DNS:www.shop.test');
const tls = tlsSocket('Downstream', {
  common_tls_context: { tls_certificates: [certificateFiles(certificate)] },
});
const routes = [{ match: { prefix: '/' }, route: { cluster: 'backend' } }];
/** Nobody listens on port 9, so that one host fails its checks. */
const health_checks = [
  {
    timeout: '1s',
    interval: '1s',
    unhealthy_threshold: 1,
    healthy_threshold: 1,
    tcp_health_check: {},
  },
];
const sluice = await startSluice({
  concurrency: 2,
  bootstrap: bootstrap({
    listeners: [httpListener(routes), { ...secureListener(routes, tls), name: 'web_secure' }],
    clusters: [
      staticCluster('backend', [upstream.port]),
      staticCluster('with_checks', [upstream.port, 9], { health_checks }),
    ],
  }),
});
await using running = startBrowser(scratch.path, process.argv[2]);
const { browser } = running;
const port = await sluice.listenerPort('web');
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const traffic = setInterval(() => {
  const requests = 1 + Math.round(4 * (1 + Math.sin(performance.now() / 1500)));
  for (let count = 0; count < requests; count++) {
    get({ port, agent }, (answer) => answer.resume()).on('error', () => undefined);
  }
}, 50);
try {
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await see(browser);
} finally {
  clearInterval(traffic);
  agent.destroy();
  await sluice.stop();
  await upstream.close();
}

async function see(browser: Browser): Promise<void> {
  const shown = async (text: string): Promise<true | undefined> =>
    (await browser.evaluate(`document.body?.innerText.includes(${JSON.stringify(text)})`)) === true
      ? true
      : undefined;
  await waitUntil('the table', async () => await shown('print server state'));
  await waitUntil('the charts', async () => await shown('Latency: p50'));
  await new Promise((resolve) => setTimeout(resolve, WATCHING_MS));
  assert.match(String(await browser.evaluate('document.body.innerText')), /Requests: [1-9]/);
  for (const width of [1280, 400]) {
    writeFileSync(join(images, `admin-home-${width}.png`), await browser.screenshot(width));
  }
  const rows = `[...document.querySelectorAll('.commands form')].filter((form) => form.checkVisibility()).length`;
  const all = Number(await browser.evaluate(rows));
  await browser.evaluate(
    `{ const box = document.querySelector('input[type=search]'); box.value = 'drain'; box.dispatchEvent(new Event('input', { bubbles: true })); }`,
  );
  const found = Number(await browser.evaluate(rows));
  assert.ok(found > 0 && found < all, `search shows ${found} of ${all}`);
  await browser.evaluate(`document.querySelector('#reset_counters button').click()`);
  await waitUntil('the answer of the command', async () => await shown('OK'));
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await waitUntil('the table', async () => await shown('print server state'));
  await seeWithoutScripts(browser);
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await waitUntil('the table', async () => await shown('print server state'));
  void browser.evaluate(`document.querySelector('#quitquitquit button').click()`);
  await waitUntil('a question before the end', () => browser.dialogs.length > 0 || undefined);
  assert.equal((await sluice.exited()).code, 0);
  console.log(`the page asked: ${browser.dialogs.join(' ')}; ${all} forms, ${found} about drains`);
}

/** The table is there and its commands are sent although the page's script never ran. */
async function seeWithoutScripts(browser: Browser): Promise<void> {
  const drawn = 'class="chart"';
  await browser.allowScripts(false);
  await browser.reload();
  await waitUntil('the table without scripts', async () => {
    const page = await browser.markup();
    // Until the page is there again, the one with the script's charts is.
    return page.includes('print server state') && !page.includes(drawn) ? true : undefined;
  });
  await browser.press('#stats button');
  await waitUntil('the statistics without scripts', async () =>
    (await browser.markup()).includes('server.live: 1') ? true : undefined,
  );
  await browser.back();
  await waitUntil('the table again', async () =>
    (await browser.markup()).includes('print server state') ? true : undefined,
  );
  await browser.press('#reset_counters button');
  await waitUntil('the answer of the command without scripts', async () =>
    /<pre[^>]*>OK\n<\/pre>/.test(await browser.markup()) ? true : undefined,
  );
  await browser.allowScripts(true);
}
