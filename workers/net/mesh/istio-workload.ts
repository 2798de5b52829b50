/**
 * A workload of Istio's mesh, and its forms: members of a node's metadata and of the header
 * x-envoy-peer-metadata, the header baggage, and what filter state says of a peer.
 */
import { dictionary, memberOf, type Struct } from '../../../shared/text/dictionary.ts';

/** Texts are empty where they are not known. */
export interface Workload {
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly workload: string;
  readonly type: WorkloadType | '';
  readonly service: string;
  readonly revision: string;
  readonly app: string;
  readonly version: string;
  readonly identity: string;
  readonly region: string;
  readonly availability_zone: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
}

const TYPES = ['pod', 'deployment', 'job', 'cronjob'] as const;
type WorkloadType = (typeof TYPES)[number];

type Text = Exclude<keyof Workload, 'labels' | 'type'>;

/** Members of metadata, by what they say. */
const MEMBERS = {
  name: 'NAME',
  namespace: 'NAMESPACE',
  workload: 'WORKLOAD_NAME',
  cluster: 'CLUSTER_ID',
  identity: 'IDENTITY',
  region: 'REGION',
  availability_zone: 'AVAILABILITY_ZONE',
} as const;
const OWNER = 'OWNER';
const LABELS = 'LABELS';
const OWNER_PREFIX = 'kubernetes://apis/apps/v1/namespaces/';

/** Labels with a meaning, as they are told to others; of what several say the first counts. */
const LABELS_OF = {
  service: ['service.istio.io/canonical-name'],
  revision: ['service.istio.io/canonical-revision'],
  app: ['app.kubernetes.io/name', 'app'],
  version: ['app.kubernetes.io/version', 'version'],
} as const;
const TOLD_LABELS = {
  service: 'service.istio.io/canonical-name',
  revision: 'service.istio.io/canonical-revision',
  app: 'app',
  version: 'version',
} as const;
const KNOWN_LABELS: ReadonlySet<string> = new Set(Object.values(LABELS_OF).flat());

const BAGGAGE_TEXTS: ReadonlyMap<string, Text> = new Map([
  ['k8s.namespace.name', 'namespace'],
  ['k8s.cluster.name', 'cluster'],
  ['service.name', 'service'],
  ['service.version', 'revision'],
  ['app.name', 'app'],
  ['app.version', 'version'],
  ['k8s.instance.name', 'name'],
  ['cloud.region', 'region'],
  ['cloud.availability_zone', 'availability_zone'],
]);
const BAGGAGE_WORKLOAD = /^k8s\.(pod|deployment|job|cronjob)\.name$/;

/** Where a node is, for what its metadata does not say. */
interface Place {
  readonly region?: string | undefined;
  readonly zone?: string | undefined;
}

export function workloadOf(
  metadata: unknown,
  additionalLabels: ReadonlySet<string>,
  place: Place = {},
): Workload {
  const text = (key: string): string => textOf(memberOf(metadata, key));
  const labels = memberOf(metadata, LABELS);
  const label = (kind: keyof typeof LABELS_OF): string =>
    LABELS_OF[kind].map((key) => textOf(memberOf(labels, key))).find((value) => value !== '') ?? '';
  const workload = text(MEMBERS.workload);
  return {
    name: text(MEMBERS.name),
    cluster: text(MEMBERS.cluster),
    namespace: text(MEMBERS.namespace),
    workload,
    type: typeOf(text(OWNER), workload),
    service: label('service'),
    revision: label('revision'),
    app: label('app'),
    version: label('version'),
    identity: text(MEMBERS.identity),
    region: text(MEMBERS.region) || (place.region ?? ''),
    availability_zone: text(MEMBERS.availability_zone) || (place.zone ?? ''),
    labels: [...additionalLabels]
      .filter((key) => !KNOWN_LABELS.has(key) && memberOf(labels, key) !== undefined)
      .map((key) => [key, textOf(memberOf(labels, key))] as const),
  };
}

/** An owner ends in `<type>s/<workload>`. */
function typeOf(owner: string, workload: string): WorkloadType | '' {
  const rest = owner.length > workload.length + 2 ? owner.slice(0, -workload.length - 2) : '';
  const name = rest.slice(rest.lastIndexOf('/') + 1);
  return rest.includes('/') ? (TYPES.find((type) => type === name) ?? '') : '';
}

/** What peers are told, in the order of its keys. */
export function metadataOf(workload: Workload): Struct {
  const labels: [string, string][] = [...workload.labels].map(([key, value]) => [key, value]);
  for (const [kind, key] of Object.entries(TOLD_LABELS)) {
    const value = workload[kind as keyof typeof TOLD_LABELS];
    if (value !== '') labels.push([key, value]);
  }
  const members: [string, unknown][] = [[LABELS, sorted(labels)]];
  for (const [kind, key] of Object.entries(MEMBERS)) {
    const value = workload[kind as keyof typeof MEMBERS];
    if (value !== '') members.push([key, value]);
  }
  const { type, namespace } = workload;
  if (type !== '') {
    members.push([OWNER, `${OWNER_PREFIX}${namespace}/${type}s/${workload.workload}`]);
  }
  return sorted(members);
}

function sorted(members: readonly (readonly [string, unknown])[]): Struct {
  return dictionary(
    [...members].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
}

export function baggageOf(workload: Workload): string {
  const { app, version } = workload;
  const service = workload.service || app;
  const revision = workload.revision || version;
  const type = workload.type || 'pod';
  const pairs: readonly (readonly [string, string])[] = [
    [`k8s.${type}.name`, workload.workload],
    ['service.name', service],
    ['app.name', app === service ? '' : app],
    ['service.version', revision],
    ['app.version', version === revision ? '' : version],
    ['k8s.namespace.name', workload.namespace],
    ['k8s.cluster.name', workload.cluster],
    ['k8s.instance.name', workload.name],
    ['cloud.region', workload.region],
    ['cloud.availability_zone', workload.availability_zone],
  ];
  return pairs
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

export function workloadOfBaggage(baggage: string): Workload {
  const found: { -readonly [Member in Text]?: string } = {};
  let type: WorkloadType | '' = '';
  for (const property of baggage.split(',')) {
    const [key = '', value = ''] = property.split('=');
    const kind = BAGGAGE_TEXTS.get(key);
    const [, named] = BAGGAGE_WORKLOAD.exec(key) ?? [];
    if (kind !== undefined) found[kind] = value;
    if (named === undefined) continue;
    found.workload = value;
    type = TYPES.find((each) => each === named) ?? '';
  }
  const none = workloadOf(undefined, new Set());
  return { ...none, ...found, type, ...paired(found) };
}

/** Of a service and its app, and of their versions, one that is not told is the other. */
function paired({
  service,
  revision,
  app,
  version,
}: Partial<Workload>): Pick<Workload, 'service' | 'revision' | 'app' | 'version'> {
  return {
    service: service ?? app ?? '',
    app: app || (service ?? ''),
    revision: revision ?? version ?? '',
    version: version || (revision ?? ''),
  };
}

/** What expressions and logs see of a peer. */
export function shownWorkload(workload: Workload): Struct {
  const { labels, name, ...texts } = workload;
  const members: [string, unknown][] = Object.entries(texts).filter(([, value]) => value !== '');
  // The name is shown, also where it is empty, with the name of its cluster.
  if (workload.cluster !== '') members.push(['name', name]);
  if (labels.length > 0) members.push(['labels', sorted(labels)]);
  return sorted(members);
}

/** In Envoy's order. */
const PAIRS = [
  'type',
  'workload',
  'name',
  'cluster',
  'namespace',
  'service',
  'revision',
  'app',
  'version',
  'region',
  'availability_zone',
] as const;

export function workloadText(workload: Workload): string {
  const pairs = PAIRS.filter((key) => workload[key] !== '').map((key) => `${key}=${workload[key]}`);
  return [...pairs, ...workload.labels.map(([key, value]) => `labels[]${key}=${value}`)].join(',');
}

/** What may be asked for by name. */
export function workloadFields(workload: Workload): ReadonlyMap<string, string> {
  return new Map(PAIRS.map((key) => [key, workload[key] || (key === 'type' ? 'unknown' : '')]));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
