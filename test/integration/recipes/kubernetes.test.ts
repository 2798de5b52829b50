/** The bootstraps of docs/kubernetes/: what the probes of a pod ask is answered, and nothing else of the administration. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { freePort } from '../../support/free-port.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const deploy = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'kubernetes');
const read = (path: string): string => readFileSync(join(deploy, path), 'utf8');

interface Config {
  readonly kind: string;
  readonly data?: { readonly 'envoy.yaml'?: string };
}

/** The bootstrap in the manifest's configuration. */
function inManifest(path: string): string {
  const parts = parseAllDocuments(read(path)).map((each) => each.toJS() as Config);
  return parts.find(({ kind }) => kind === 'ConfigMap')?.data?.['envoy.yaml'] ?? '';
}

const BOOTSTRAPS = {
  'the gateway': inManifest('gateway.yaml'),
  'the sidecar': inManifest('sidecar.yaml'),
  'the Helm chart': read('chart/files/bootstrap.yaml'),
};

describe('in a cluster', () => {
  for (const [what, text] of Object.entries(BOOTSTRAPS)) {
    it(`${what} answers probes and says no more of itself`, async () => {
      const admin = await freePort();
      const bootstrap = text
        .replace('address: app,', 'address: localhost,')
        .replaceAll('port_value: 9901', `port_value: ${admin}`)
        .replaceAll(/port_value: (?:8080|9902)/g, 'port_value: 0')
        .replaceAll('0.0.0.0', '127.0.0.1');
      await using sluice = await startSluice({ bootstrap });
      const port = await sluice.listenerPort('probes');
      const ready = await fetchOnce({ port, path: '/ready', headers: { host: '10.1.2.3:9902' } });
      assert.equal(`${ready.status} ${ready.body}`, '200 LIVE\n');
      assert.match((await fetchOnce({ port, path: '/stats/prometheus' })).body, /^# TYPE envoy_/m);
      for (const path of ['/', '/quitquitquit', '/ready/../quitquitquit', '/config_dump']) {
        assert.equal((await fetchOnce({ port, path, method: 'POST' })).status, 404, path);
      }
    });
  }
});
