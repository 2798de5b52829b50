import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { after, describe, it } from 'node:test';
import type { TlsSecret } from '../../../../shared/resources/tls.ts';
import {
  ResourceStore,
  type ResourceVersion,
} from '../../../../supervisor/store/resource-store.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { CertificateStats } from '../../../../supervisor/tls/certificate-stats.ts';
import { makeAuthority } from '../../../support/parts/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
after(() => rmSync(folder, { recursive: true }));
const authority = makeAuthority(folder);
const issued = authority.issue('client', 'DNS:c.test');

const RENEWALS = 'cluster.c.client_ssl_socket_factory.ssl_context_update_by_sds';
const EXPIRY = 'cluster.c.ssl.certificate.cli.expiration_unix_time_seconds';

function versionOf<Kind extends 'cluster' | 'secret'>(resolved: unknown): ResourceVersion<Kind> {
  return { message: {}, versionInfo: '1', lastUpdatedMs: 1, resolved } as ResourceVersion<Kind>;
}

/** A cluster whose certificate and authority are both secrets. */
const cluster = (): ResourceVersion<'cluster'> =>
  versionOf({
    resource: {
      statName: 'c',
      tls: { certificates: [], certificateSecrets: ['cli'], validationSecret: 'ca' },
    },
  });

const certificate = {
  kind: 'certificate',
  certificate: { chain: issued.cert, key: issued.key, path: '', secretName: 'cli' },
} as unknown as TlsSecret;
const validation = {
  kind: 'validation',
  validation: { trustedCa: authority.cert, caPath: '', sanMatchers: [] },
} as unknown as TlsSecret;

function watched(): {
  readonly store: ResourceStore;
  readonly arrive: (key: string, secret: TlsSecret) => void;
  readonly values: () => Map<string, number>;
} {
  const store = new ResourceStore();
  const stats = new StatStore();
  const certificates = new CertificateStats(store, stats, { setFirstExpiration: () => undefined });
  return {
    store,
    arrive: (key, secret) => {
      store.putActive('secret', key, versionOf<'secret'>(secret));
      certificates.secretChanged(key);
    },
    values: () =>
      new Map(
        [...stats.definitions()].flatMap(({ name, base, template }) =>
          template === undefined
            ? [[name, stats.valueOf(base)] as const]
            : Object.entries(template.index).map(
                ([each, offset]) => [`${name}${each}`, stats.valueOf(base + offset)] as const,
              ),
        ),
      ),
  };
}

describe('statistics of a cluster whose certificates are secrets', () => {
  it('has those of handshakes from the last secret on, and each arrival counted, while it warms', () => {
    const { store, arrive, values } = watched();
    store.putWarming('cluster', 'c', cluster());
    arrive('cli', certificate);
    assert.equal(values().get(RENEWALS), 1);
    assert.equal(values().has('cluster.c.ssl.handshake'), false);
    arrive('ca', validation);
    assert.equal(values().get(RENEWALS), 2);
    assert.equal(values().get('cluster.c.ssl.handshake'), 0);
    store.promote('cluster', 'c');
    assert.equal(values().get(RENEWALS), 2);
  });

  it('counts secrets that were there before it and says when they expire; none stays when it goes', async () => {
    const { store, arrive, values } = watched();
    arrive('cli', certificate);
    arrive('ca', validation);
    assert.equal(values().has(RENEWALS), false);
    store.putWarming('cluster', 'c', cluster());
    store.promote('cluster', 'c');
    await setImmediate();
    assert.equal(values().get(RENEWALS), 2);
    assert.ok((values().get(EXPIRY) ?? 0) > 0);
    store.remove('cluster', 'c');
    await setImmediate();
    assert.deepEqual([...values().keys()], []);
  });

  it('parses a certificate for its expiration once, however many secrets arrive', (context) => {
    const { store, arrive, values } = watched();
    store.putWarming('cluster', 'c', cluster());
    store.promote('cluster', 'c');
    const own = Object.getOwnPropertyDescriptor(X509Certificate.prototype, 'validTo');
    let parsed = 0;
    context.mock.getter(X509Certificate.prototype, 'validTo', function (this: X509Certificate) {
      parsed += 1;
      return own?.get?.call(this) as string;
    });
    for (let arrival = 0; arrival < 10; arrival++) {
      arrive('cli', certificate);
      arrive('ca', validation);
    }
    assert.ok((values().get(EXPIRY) ?? 0) > 0);
    assert.equal(parsed, 2);
  });
});
