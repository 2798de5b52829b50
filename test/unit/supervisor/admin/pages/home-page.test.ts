/** The smaller pages: state, help, certificates, runtime, logging, profilers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statsForm } from '../../../../../supervisor/admin/home/stats-form.ts';
import { parseQuery } from '../../../../../supervisor/http-pages/query.ts';
import type { AdminContext, HostStatus } from '../../../../../supervisor/admin/admin-context.ts';
import { NO_HOST_STATS } from '../../../../../supervisor/admin/endpoints/host-stats.ts';
import { answerHome } from '../../../../../supervisor/admin/home/answer-home.ts';
import { ask } from '../ask.ts';
import { fakeContext } from '../fake-context.ts';

test('the home page offers each endpoint, escapes what it shows and lets only its own script run', async () => {
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: '<script>alert(1)</script>', addresses: [{ kind: 'pipe', path: "a'b" }] },
      ],
    },
  });
  const page = await ask(context, '/');
  assert.equal(page.contentType, 'text/html; charset=UTF-8');
  assert.match(
    page.body,
    /<form action="quitquitquit" method="post" id="quitquitquit" data-confirm>/,
  );
  assert.match(page.body, /<form action="stats" method="get" id="stats">/);
  assert.match(page.body, /<a href="ready">ready<\/a>/);
  assert.ok(!page.body.includes('<script>alert') && !page.body.includes("a'b"));
  assert.match(
    String(page.headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-/,
  );
  assert.doesNotMatch(page.body, /\son\w+=/);
  // A browser sends its true Origin with the page's forms only under such a policy.
  assert.match(page.body, /<meta name="referrer" content="same-origin">/);
});

test('the home page says how many connections listeners and workers have', async () => {
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: 'web', addresses: [{ kind: 'ip', family: 'v4', address: '::', port: 1 }] },
      ],
    },
  });
  const open = { name: 'web', open: 31, idle: 0, active: 31, streams: 17, percent: 0 } as const;
  const page = await ask(
    {
      ...context,
      recent: {
        ...context.recent,
        *openByWorker() {
          yield undefined;
          return new Map([[0, 42]]);
        },
      },
      commands: {
        ...context.commands,
        drainStatus: async () =>
          await Promise.resolve({ isComplete: true, listeners: [{ ...open, state: 'draining' }] }),
      },
    },
    '/',
  );
  assert.match(
    page.body,
    /<td><span class="host fair">draining<\/span><\/td><td>31<\/td><td>17<\/td>/,
  );
  assert.match(page.body, /<td>running<\/td><td>42<\/td><td>0<\/td>/);
});

function hostAt(port: number): HostStatus {
  return {
    address: { kind: 'ip', family: 'v4', address: '10.0.0.1', port },
    hostname: '',
    healthFlags: [],
    edsHealth: 'HEALTHY',
    weight: 1,
    region: '',
    zone: '',
    subZone: '',
    canary: false,
    priority: 0,
    successRate: -1,
    localOriginSuccessRate: -1,
    stats: NO_HOST_STATS,
  } as HostStatus;
}

/** Two clusters of two hosts each; the second host of `<b>` fails `errors` of 100 requests. */
function troubled(errors: number): AdminContext {
  const hosts = [hostAt(1), hostAt(2)];
  return fakeContext({
    clusters: {
      refresh: async () => await Promise.resolve(),
      names: () => ['fine', '<b>'],
      certificates: () => [],
      status: (name) => ({
        name,
        observabilityName: name,
        addedViaApi: false,
        circuitBreakers: { DEFAULT: NO_LIMITS, HIGH: NO_LIMITS },
        hosts: { length: hosts.length, at: (index) => hosts[index] },
      }),
    },
    recent: {
      intervals: () => [INTERVAL, { ...INTERVAL, requests: 50 }],
      *activeHosts() {
        const counts = { requests: 100, errors, connectFailures: 0, meanMs: 12.34 };
        yield { cluster: '<b>', host: '10.0.0.1:2', ...counts };
      },
      *openByWorker() {
        yield undefined;
        return new Map();
      },
      sickClusters: () => [],
      exemplars: async () => [],
      refusals: async () => [
        { unrouted: { atMs: 1, status: 404, authority: 'a', path: '/old' } },
        { unrouted: { atMs: Date.now(), status: 404, authority: 'a.test', path: '/"new"' } },
      ],
    },
  }).context;
}

const NO_LIMITS = { maxConnections: 1, maxPendingRequests: 1, maxRequests: 1, maxRetries: 1 };
const INTERVAL = {
  seconds: 5,
  requests: 100,
  clientErrors: 10,
  serverErrors: 0,
  unrouted: 3,
  connections: 2,
};

async function overview(context: AdminContext, query: string, isReadOnly = false): Promise<string> {
  const asked = { query: parseQuery(`part=overview&${query}`) };
  const { body } = await answerHome(asked, [], context, isReadOnly);
  let page = '';
  for await (const chunk of body as AsyncIterable<string>) page += chunk;
  return page;
}

test('the home page puts the worst host first, red from 5 %, with what it can be ordered', async () => {
  const red = await overview(troubled(5), '');
  const first = /<tr class="row">.*/.exec(red)?.[0] ?? '';
  assert.match(first, />&#60;b&#62;<\/a>.*>10\.0\.0\.1:2<\/a>/);
  assert.match(first, /<span class="host bad">5 \(5\.0 %\)<\/span>.*<td>12 ms<\/td>/);
  assert.match(first, /<a href="clusters\?filter=%5E%3Cb%3E%24">/);
  assert.match(
    first,
    /name="host" value="10\.0\.0\.1:2"><button class="post" name="state" value="drain"/,
  );
  assert.match(await overview(troubled(4), ''), /<span>4 \(4\.0 %\)<\/span>/);
});

test('the home page charts two minutes and names the last request without a route', async () => {
  const page = await overview(troubled(0), '');
  assert.match(page, /aria-label="Requests: 10\/s, at most 20\/s in two minutes"/);
  assert.match(
    page,
    /<b>6<\/b> without a route, the last 404 .*a\.test\/&#34;new&#34;<\/a> 0 s ago/,
  );
  assert.ok(!page.includes('/old'));
});

test('the home page finds clusters by a part of their name, and offers no order when read only', async () => {
  const found = await overview(troubled(9), 'find=FIN', true);
  assert.ok(found.includes('>fine</a>') && !found.includes('&#60;b&#62;'));
  assert.ok(found.includes('read only') && !found.includes('hosts/state'));
  const { body } = await answerHome({ query: parseQuery('find=%22%3E') }, [], troubled(9), true);
  let page = '';
  for await (const chunk of body as AsyncIterable<string>) page += chunk;
  assert.match(page, /value="&#34;&#62;"/);
  assert.match(page, /<button class="post" disabled>Set<\/button>/);
  assert.ok(!page.includes('data-runtime hidden'));
});

test('the statistics form keeps what was asked and escapes the listing', async () => {
  const query = parseQuery('format=active-html&usedonly&filter=%22%3E%3Cb%3E');
  const { body, headers } = statsForm(query, ['a<b>: 1\n']);
  let page = '';
  for await (const chunk of body as AsyncIterable<string>) page += chunk;
  assert.match(page, /<meta http-equiv="refresh" content="5">/);
  assert.match(page, /name="usedonly" id="stats-usedonly" form="stats" checked>/);
  assert.match(page, /<option value="active-html" selected>/);
  assert.match(page, /value="&#34;&#62;&#60;b&#62;"/);
  assert.match(page, /<pre>\na&#60;b&#62;: 1\n<\/pre>/);
  assert.match(String(headers?.['content-security-policy']), /default-src 'none'/);
});
