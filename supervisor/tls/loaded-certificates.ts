/**
 * The certificates that clusters and listeners have loaded, in their configuration or as secrets:
 * for `/certs` and for statistics. Reads resources; loads nothing itself.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { TlsContext, TlsSecret } from '../../shared/resources/tls.ts';
import { completeTls, secretKeysOf } from '../../shared/tls/complete-tls.ts';
import { subjectAltNames } from '../../shared/tls/certificate-names.ts';
import type { CertificateDetails, CertificateStatus } from './certificate-status.ts';
import type { ResolvedCluster, ResolvedListener } from '../resolved/resolved-bootstrap.ts';
import type { ResourceStore } from '../store/resource-store.ts';

/** One TLS context with what stands before `ssl.` in its statistics. */
export interface OwnedContext {
  readonly owner: string;
  /** What the process is in its handshakes. */
  readonly side: 'client' | 'server';
  readonly context: TlsContext;
}

/** What Envoy shows of a file with several certificates: the first. */
interface LoadedCertificate {
  readonly role: 'ca' | 'chain';
  readonly path: string;
  /** The name of its secret. */
  readonly name: string | undefined;
  /** PEM. */
  readonly text: string;
}

/**
 * Clusters, then listeners, each in the order of the configuration. Read one by one: each costs the
 * parsing of its certificates.
 */
export function* certificateStatuses(store: ResourceStore): Generator<CertificateStatus> {
  for (const { context } of contextsOf(store)) {
    const loaded = textsIn(context, store);
    if (loaded === undefined) continue;
    const of = (wanted: LoadedCertificate['role']): readonly CertificateDetails[] =>
      loaded.filter(({ role }) => role === wanted).map(detailsOf);
    yield { ca: of('ca'), chain: of('chain') };
  }
}

/**
 * When the certificates expire that were loaded at the last look, by their texts: parsing one takes
 * a hundred times as long as all else that is looked at.
 */
export class KnownExpirations {
  #known = new Map<string, number>();

  /** Unix seconds at which the first certificate of each name expires, by the name of the gauge. */
  present(store: ResourceStore): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    const texts = new Map<string, number>();
    for (const { owner, context } of contextsOf(store)) {
      for (const { role, name: given, text } of textsIn(context, store) ?? []) {
        const shown = given ?? `unnamed_${role === 'ca' ? 'ca_cert' : 'cert'}_${UNNAMED}`;
        const name = `${owner}ssl.certificate.${shown}.expiration_unix_time_seconds`;
        const seconds = texts.get(text) ?? this.#known.get(text) ?? expirationOf(text);
        texts.set(text, seconds);
        found.set(name, Math.min(seconds, found.get(name) ?? seconds));
      }
    }
    this.#known = texts;
    return found;
  }
}

function expirationOf(text: string): number {
  return Math.floor(Date.parse(new X509Certificate(text).validTo) / 1000);
}

/** Owners of contexts that use this secret, complete or not: Envoy counts each of its arrivals. */
export function* contextsWith(key: string, store: ResourceStore): Generator<OwnedContext> {
  for (const owned of [...contextsOf(store), ...contextsOf(store, 'warming')]) {
    if (secretKeysOf(owned.context).includes(key)) yield owned;
  }
}

/** Before the names of what Envoy counts of the sockets of one owner. */
export function factoryOf(owner: string, side: OwnedContext['side']): string {
  return `${owner}${side}_ssl_socket_factory.`;
}

/** The factories of all owners that are used or warm. */
export function factoriesOf(store: ResourceStore): ReadonlySet<string> {
  const contexts = [...contextsOf(store), ...contextsOf(store, 'warming')];
  return new Set(contexts.map(({ owner, side }) => factoryOf(owner, side)));
}

/** What stands before `ssl.` for clusters whose secrets are all there, used or still warming. */
export function completeClusters(store: ResourceStore): ReadonlySet<string> {
  const owners = new Set<string>();
  for (const { owner, side, context } of [...contextsOf(store), ...contextsOf(store, 'warming')]) {
    if (side !== 'client' || secretKeysOf(context).length === 0 || owners.has(owner)) continue;
    if (completeTls(context, secretsOf(store)) !== undefined) owners.add(owner);
  }
  return owners;
}

/** Envoy names certificates that have no name by the hash of nothing. */
const UNNAMED = createHash('sha256').digest('hex').slice(0, 8);

function* contextsOf(
  store: ResourceStore,
  version: 'active' | 'warming' = 'active',
): Generator<OwnedContext> {
  for (const { [version]: given } of store.list('cluster')) {
    if (given !== undefined) yield* contextsOfCluster(given.resolved);
  }
  for (const { [version]: given } of store.list('listener')) {
    if (given !== undefined) yield* contextsOfListener(given.resolved);
  }
}

export function* contextsOfListener({ resource }: ResolvedListener): Generator<OwnedContext> {
  const { filterChains, defaultFilterChain: last, statName } = resource;
  for (const { tls } of last === undefined ? filterChains : [...filterChains, last]) {
    if (tls === undefined) continue;
    yield { owner: `listener.${statName}.`, side: 'server', context: tls };
  }
}

export function* contextsOfCluster({ resource }: ResolvedCluster): Generator<OwnedContext> {
  for (const { tls } of [resource, ...(resource.socketMatches ?? [])]) {
    if (tls === undefined) continue;
    yield { owner: `cluster.${resource.statName}.`, side: 'client', context: tls };
  }
}

/** The secret of a key as it is now, where it has come. */
export function secretsOf(store: ResourceStore): (key: string) => TlsSecret | undefined {
  return (key) => store.get('secret', key)?.active?.resolved;
}

/** Undefined while a secret is missing. */
function textsIn(
  context: TlsContext,
  store: ResourceStore,
): readonly LoadedCertificate[] | undefined {
  const complete = completeTls(context, secretsOf(store));
  if (complete === undefined) return undefined;
  const { certificates, validation } = complete;
  const loaded: LoadedCertificate[] = certificates.map(({ chain, path, secretName: name }) => ({
    role: 'chain',
    path,
    name,
    text: chain,
  }));
  if (validation?.trustedCa === undefined) return loaded;
  const { caPath: path, secretName: name, trustedCa } = validation;
  return [{ role: 'ca', path, name, text: trustedCa }, ...loaded];
}

function detailsOf({ path, text }: LoadedCertificate): CertificateDetails {
  const certificate = new X509Certificate(text);
  const names = subjectAltNames(certificate).flatMap(({ kind, value }) =>
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
