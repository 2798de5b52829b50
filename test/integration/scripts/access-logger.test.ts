import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ROUTER } from '../../support/scripts/script-server.ts';
import { waitUntil } from '../../support/wait.ts';

/** Sends what it is given to a cluster; a path may be a fault. */
const MODULE = `
import { defineAccessLogger, object, string } from 'sluice/filter';

export default defineAccessLogger({
  schema: object({ cluster: string() }),
  create({ cluster }, context) {
    const slow = context.counter('bytes');
    return {
      async onLog(entry) {
        slow.add(entry.bytesSent);
        if (entry.path === '/throw') throw new Error('in the logger');
        const { method, path, status, flags, attempts, route, upstreamHost } = entry;
        await context.fetch(cluster, {
          path: '/entry',
          body: JSON.stringify({
            method, path, status, flags, attempts, route, upstreamHost,
            agent: entry.request?.get('X-Agent'),
            type: entry.response?.get('content-type'),
            tookSome: entry.durationMs >= 0 && entry.startTime.getTime() > 0,
            listener: entry.connection.listener,
          }),
        });
      },
    };
  },
});
`;

function configuration(path: string, upstreamPort: number, settings: object): object {
  const type = 'type.googleapis.com/sluice.access_loggers.script.v1.ScriptAccessLog';
  const log = {
    name: 'mine',
    filter: { not_health_check_filter: {} },
    typed_config: { '@type': type, file: path, settings, stat_prefix: 'mine' },
  };
  const routes = [
    { match: { path: '/none' }, route: { cluster: 'nobody' } },
    { match: { prefix: '/' }, name: 'all', route: { cluster: 'up' } },
  ];
  return bootstrap({
    listeners: [httpListener(routes, { hcm: { access_log: [log], http_filters: [ROUTER] } })],
    clusters: [staticCluster('up', [upstreamPort]), staticCluster('nobody', [])],
  });
}

describe('an access logger that is a module', () => {
  it('is given what is known of requests, and may send it on; its faults are counted', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume();
      response.setHeader('content-type', 'text/x').end('hello');
    });
    const scratch = makeScratch();
    writeFileSync(scratch.file('logger.ts'), MODULE);
    const settings = { cluster: 'up' };
    await using sluice = await startSluice({
      bootstrap: configuration(scratch.file('logger.ts'), upstream.port, settings),
      scratch,
    });
    const port = await sluice.listenerPort('web');
    await fetchOnce({ port, path: '/a?b', headers: { 'x-agent': 'me' } });
    assert.equal((await fetchOnce({ port, path: '/throw' })).status, 200);
    await fetchOnce({ port, path: '/none' });
    const entries = (): unknown[] =>
      upstream.requests
        .filter(({ path }) => path === '/entry')
        .map(({ body }) => JSON.parse(body) as unknown);
    await waitUntil('two entries', () => entries().length === 2);
    const common = { method: 'GET', tookSome: true, listener: 'web' };
    assert.deepEqual(entries(), [
      {
        ...common,
        path: '/a?b',
        status: 200,
        flags: [],
        attempts: 1,
        route: { name: 'all', virtualHost: 'all', cluster: 'up' },
        upstreamHost: `127.0.0.1:${upstream.port}`,
        agent: 'me',
        type: 'text/x',
      },
      {
        ...common,
        path: '/none',
        status: 503,
        flags: ['UH'],
        attempts: 1,
        route: { name: '', virtualHost: 'all', cluster: 'nobody' },
        upstreamHost: '',
        type: 'text/plain',
      },
    ]);
    const stat = async (name: string): Promise<number> =>
      await sluice.stat(`access_logs.script.mine.${name}`);
    assert.deepEqual(
      [await stat('entries'), await stat('errors'), await stat('dropped')],
      [3, 1, 0],
    );
    assert.ok((await stat('bytes')) >= 10);
    await waitUntil('the stack', () =>
      /Error: in the logger\\n +at .*logger\.ts:11:/.test(sluice.stderr()),
    );
  });

  it('is refused where its settings are wrong, or the module is a filter', async () => {
    using scratch = makeScratch();
    const told = async (module: string, settings: object): Promise<string> => {
      writeFileSync(scratch.file('logger.ts'), module);
      const config = scratch.file('config.json');
      writeFileSync(config, JSON.stringify(configuration(scratch.file('logger.ts'), 1, settings)));
      const { code, stderr } = await runSluice(['--mode', 'validate', '-c', config]);
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(await told(MODULE, { cluster: 1 }), /settings\.cluster: must be a string/);
    const filter = `import { defineFilter } from 'sluice/filter';
export default defineFilter({ create: () => ({}) });`;
    assert.match(await told(filter, {}), /not made by defineAccessLogger\(\)/);
  });
});
