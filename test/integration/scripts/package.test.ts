import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { consumer, PACKAGE_ROOT, runFile } from '../../support/scripts/consumer.ts';
import { TYPED_CONSUMER } from '../../support/scripts/typed-consumer.ts';
import { ROUTER, scriptFilter } from '../../support/scripts/script-server.ts';

describe('the package', () => {
  it('has types for ES modules and CommonJS, which refuse what is wrong', async () => {
    using folder = consumer(TYPED_CONSUMER);
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
  // The next epoch takes over the port that the system chose for the first.
  const port = await server.listenerPort('web');
  const ask = async () => {
    const headers = { connection: 'close' };
    const answer = await fetch('http://127.0.0.1:' + port, { headers });
    return answer.status + ' ' + answer.headers.get('x-mine');
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
      'hosts.ts': `import { defineClusterDiscovery, number, object } from 'sluice/filter';
export default defineClusterDiscovery({
  schema: object({ port: number() }),
  async *discover({ port }) { yield [{ address: '127.0.0.1', port }]; },
});`,
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
        // Each epoch asks the module for its hosts.
        clusters: [
          {
            name: 'up',
            cluster_type: {
              name: 'hosts',
              typed_config: {
                '@type': 'type.googleapis.com/sluice.clusters.script.v1.ScriptCluster',
                file: folder.file('hosts.ts'),
                settings: { port: upstream.port },
              },
            },
          },
        ],
      },
    };
    const { stdout } = await runFile(process.execPath, [
      folder.file('program.cjs'),
      JSON.stringify(config),
    ]);
    const told = JSON.parse(stdout) as { readonly seen: number };
    assert.deepEqual(told, {
      before: '200 yes',
      after: '200 yes',
      seen: told.seen,
      isAnother: true,
    });
    assert.ok(told.seen >= 1);
  });
});
