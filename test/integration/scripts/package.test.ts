import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { consumer, PACKAGE_ROOT, runFile } from '../../support/scripts/consumer.ts';
import { ROUTER, scriptFilter } from '../../support/scripts/script-server.ts';

const FILTER = `
  schema: object({ header: string(), times: number().optional(1) }),
  state: () => ({ began: 0 }),
  create(settings, context) {
    const seen = context.counter('seen');
    return {
      async onRequestHeaders(headers, stream) {
        stream.state.began += settings.times;
        seen.add();
        const answer = await stream.fetch('up', { path: '/x', retries: 1 });
        if (answer.status !== 200) return { status: 503, body: answer.body };
        headers.set(settings.header, String(stream.connection.tls?.peer?.subject));
        return undefined;
      },
    };
  },
`;

describe('the package', () => {
  it('has types for ES modules and CommonJS, which refuse what is wrong', async () => {
    const options = {
      module: 'node16',
      strict: true,
      noEmit: true,
      target: 'es2022',
      types: ['node'],
    };
    using folder = consumer({
      'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['*.mts', '*.cts'] }),
      'module.mts': `import { defineFilter, number, object, string } from 'sluice/filter';
import { createSluice, type Sluice } from 'sluice';
export const server = (config: object): Sluice => createSluice({ config });
export default defineFilter({${FILTER}});`,
      'common.cts': `import { defineFilter, number, object, string } from 'sluice/filter';
import sluice = require('sluice');
export const make: typeof sluice.createSluice = sluice.createSluice;
export = defineFilter({${FILTER}});`.replace('export const make', 'const make'),
      'wrong.mts': `import { defineFilter, object, string } from 'sluice/filter';
export default defineFilter({
  schema: object({ header: string() }),
  create: (settings) => ({
    // @ts-expect-error there is no such setting
    onRequestHeaders: (headers) => headers.set(settings.heder, 'x'),
    // @ts-expect-error a number is no body
    onResponseBody: () => 5,
  }),
});`,
    });
    const tsc = join(PACKAGE_ROOT, 'node_modules', '.bin', 'tsc');
    const { stdout } = await runFile(tsc, ['-p', folder.path]).catch((error: unknown) => ({
      stdout: (error as { readonly stdout: string }).stdout,
    }));
    assert.equal(stdout, '');
  });

  it('starts a server in a program, restarts it and ends it', async () => {
    await using upstream = await startHttpUpstream();
    using folder = consumer({
      'program.cjs': `const { createSluice } = require('sluice');
(async () => {
  const server = createSluice({ config: JSON.parse(process.argv[2]) });
  await server.ready();
  const first = server.pid;
  // An address with port 0 is another one in each epoch.
  const ask = async () => {
    const port = await server.listenerPort('web');
    return (await fetch('http://127.0.0.1:' + port)).headers.get('x-mine');
  };
  const before = await ask();
  await server.restart();
  const after = await ask();
  const stats = await server.stats('script');
  const seen = stats.get('http.web.script.mine.requests');
  const isAnother = server.pid !== first;
  await server.close();
  console.log(JSON.stringify({ before, after, seen, isAnother }));
})();`,
      'filter.ts': `import { defineFilter } from 'sluice/filter';
export default defineFilter({ create: () => ({
  onResponseHeaders(headers) { headers.set('x-mine', 'yes'); },
}) });`,
    });
    const config = {
      static_resources: {
        listeners: [
          httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }], {
            hcm: { http_filters: [scriptFilter(folder.file('filter.ts')), ROUTER] },
          }),
        ],
        clusters: [staticCluster('up', [upstream.port])],
      },
    };
    const { stdout } = await runFile(process.execPath, [
      folder.file('program.cjs'),
      JSON.stringify(config),
    ]);
    const told = JSON.parse(stdout) as { readonly seen: number };
    assert.deepEqual(told, { before: 'yes', after: 'yes', seen: told.seen, isAnother: true });
    assert.ok(told.seen >= 1);
  });
});
