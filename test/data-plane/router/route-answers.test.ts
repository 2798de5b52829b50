/** What logs and statistics say of routes that are answered here. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Route } from '../../../shared/resources/routes/route.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { prefix, redirect, route } from '../../support/parts/routes.ts';
import { makeScratch } from '../../support/scratch.ts';

const FORMAT =
  '%REQ(:PATH)% %REQ(X-ENVOY-ORIGINAL-PATH)% %RESPONSE_CODE% %RESPONSE_CODE_DETAILS% %RESPONSE_FLAGS%\n';

async function logOf(routes: readonly Route[], path: string) {
  using scratch = makeScratch();
  const file = scratch.file('access.log');
  const format = { kind: 'text', format: FORMAT, omitEmptyValues: false } as const;
  const plane = await startDataPlane({
    routes,
    manager: {
      normalizePath: true,
      accessLogs: [{ kind: 'lines', sink: { kind: 'file', path: file }, format }],
    },
  });
  const client = await openRaw(plane.port);
  client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
  await client.closed();
  client.destroy();
  const stats = plane.stats();
  await plane.close();
  return { line: readFileSync(file, 'utf8'), stats };
}

describe('a route that is answered here', () => {
  it('shows a redirect’s rewritten path in logs, and the path before it', async () => {
    const path = { kind: 'prefix', value: '/new' } as const;
    const routes = [route(prefix('/old'), redirect({ path, stripQuery: true }))];
    const { line } = await logOf(routes, '/old/a?q');
    assert.equal(line, '/new/a?q /old/a?q 301 direct_response -\n');
  });

  it('is a missing cluster where no filter answers for a route that forwards nothing', async () => {
    const { line, stats } = await logOf([route(prefix('/'), { kind: 'none' })], '/');
    assert.equal(line, '/ - 503 cluster_not_found NC\n');
    assert.equal(stats.get('http.web.no_cluster'), 1);
  });

  it('counts paths that cannot be normalised', async () => {
    const { line, stats } = await logOf([], '/a%00');
    assert.match(line, / 400 path_normalization_failed /);
    assert.equal(stats.get('http.web.downstream_rq_failed_path_normalization'), 1);
  });
});
