/**
 * The certificates that clusters and listeners have loaded: for `/certs`, and as gauges of the moments
 * at which they expire. Reads resources; loads nothing itself.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { TlsContext } from '../shared/resources/tls.ts';
import type { StatWriter } from '../shared/stats/stat-writer.ts';
import { parseSubjectAltNames } from '../shared/tls/subject-alt-names.ts';
import type { CertificateDetails, CertificateStatus } from './admin/admin-context.ts';
import type { ResourceStore } from './resources/resource-store.ts';

/** One TLS context with what stands before `ssl.` in its statistics. */
interface OwnedContext {
  readonly owner: string;
  readonly context: TlsContext;
}

/** What the reference shows of a file with several certificates: the first. */
interface LoadedCertificate {
  readonly role: 'ca' | 'chain';
  readonly path: string;
  readonly certificate: X509Certificate;
}

/** Clusters, then listeners, each in the order of the configuration. */
export function certificateStatuses(store: ResourceStore): readonly CertificateStatus[] {
  return contextsOf(store).map(({ context }) => {
    const loaded = loadedIn(context);
    const of = (wanted: LoadedCertificate['role']): readonly CertificateDetails[] =>
      loaded.filter(({ role }) => role === wanted).map(detailsOf);
    return { ca: of('ca'), chain: of('chain') };
  });
}

/** Sets a gauge per context; the result is when the first certificate expires, in Unix milliseconds. */
export function publishExpirations(store: ResourceStore, stats: StatWriter): number | undefined {
  let first: number | undefined;
  for (const { owner, context } of contextsOf(store)) {
    for (const { role, certificate } of loadedIn(context)) {
      const expiresMs = Date.parse(certificate.validTo);
      const kind = role === 'ca' ? 'ca_cert' : 'cert';
      const name = `${owner}ssl.certificate.unnamed_${kind}_${UNNAMED}.expiration_unix_time_seconds`;
      const index = stats.defineGauge(name);
      const seconds = Math.floor(expiresMs / 1000);
      const earlier = stats.valueOf(index);
      stats.setGauge(index, earlier > 0 ? Math.min(earlier, seconds) : seconds);
      first = Math.min(first ?? expiresMs, expiresMs);
    }
  }
  return first;
}

/** The reference names certificates that have no name by the hash of nothing. */
const UNNAMED = createHash('sha256').digest('hex').slice(0, 8);

function contextsOf(store: ResourceStore): readonly OwnedContext[] {
  const contexts: OwnedContext[] = [];
  for (const { active } of store.list('cluster')) {
    const resource = active?.resolved.resource;
    if (resource?.tls === undefined) continue;
    contexts.push({ owner: `cluster.${resource.statName}.`, context: resource.tls });
  }
  for (const { active } of store.list('listener')) {
    const resource = active?.resolved.resource;
    if (resource === undefined) continue;
    const { filterChains, defaultFilterChain: last } = resource;
    for (const { tls } of last === undefined ? filterChains : [...filterChains, last]) {
      if (tls !== undefined)
        contexts.push({ owner: `listener.${resource.statName}.`, context: tls });
    }
  }
  return contexts;
}

function loadedIn(context: TlsContext): readonly LoadedCertificate[] {
  const loaded: LoadedCertificate[] = [];
  const { validation } = context;
  if (validation?.trustedCa !== undefined) {
    const certificate = new X509Certificate(validation.trustedCa);
    loaded.push({ role: 'ca', path: validation.caPath, certificate });
  }
  for (const { chain, path } of context.certificates) {
    loaded.push({ role: 'chain', path, certificate: new X509Certificate(chain) });
  }
  return loaded;
}

function detailsOf({ path, certificate }: LoadedCertificate): CertificateDetails {
  const names = parseSubjectAltNames(certificate.subjectAltName).flatMap(({ kind, value }) =>
    kind === 'dns' || kind === 'uri' || kind === 'ip' ? [{ kind, value }] : [],
  );
  return {
    path,
    serialNumber: certificate.serialNumber.toLowerCase(),
    subjectAltNames: names,
    validFromMs: Date.parse(certificate.validFrom),
    expiresMs: Date.parse(certificate.validTo),
  };
}
