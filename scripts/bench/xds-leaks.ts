/**
 * What is left of a thousand updates: listeners, listeners over TLS, chains of one listener and routes,
 * each changed so often, four times. After each thousand all garbage is collected; what the supervisor and the
 * worker then hold outside of V8's heap and in descriptors is to be what it was before, and so is the
 * number of objects of each kind; the heap itself grows by code that V8 compiles. Anonymous memory is
 * printed beside it: allocators keep what they got. Three minutes:
 * `node dist/scripts/bench/xds-leaks.js [updates]`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { httpListener } from '../../test/support/bootstrap.ts';
import { resource } from '../../test/support/discovery-files.ts';
import { certificateFiles } from './certificates.ts';
import { heapObjects, objectsMore, snapshotArguments } from './heap-objects.ts';
import { heldBy, probeArguments } from './held-memory.ts';
import { treeOf } from './processes.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { acknowledged, ADS, drained, LISTENER, programs, startFleet } from './xds-fleet.ts';

const updates = Number(process.argv[2] ?? 1000);
const TLS_CONTEXT =
  'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
const ROUTES = 'route.v3.RouteConfiguration';

interface Question {
  readonly name: string;
  readonly kind: string;
  /** What is sent before the first update. */
  readonly first?: object;
  readonly make: (version: number) => object;
}

using folder = makeScratch();
const certificates = (['rsa', 'ecdsa'] as const).map((kind) => certificateFiles(folder.path, kind));
for (const question of questions()) await measure(question);

async function measure({ name, kind, first, make }: Question): Promise<void> {
  const [program] = programs([...probeArguments(folder.path), ...snapshotArguments(folder.path)]);
  if (program === undefined) return;
  await using fleet = await startFleet(program, 1);
  const { control, admin, pid } = fleet;
  if (first !== undefined) await acknowledged(control, () => control.set(LISTENER, '1', [first]));
  let version = 0;
  const update = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      version += 1;
      await acknowledged(control, () => control.set(kind, `${version}`, [make(version)]));
    }
    await drained(admin);
  };
  // What is made once, compiled code among it, is there before the first count.
  await update(updates);
  const rows = [await held(pid)];
  for (let turn = 0; turn < 2; turn += 1) {
    await update(updates);
    rows.push(await held(pid));
  }
  // Writing a snapshot takes memory itself.
  const before = await objects(pid);
  await update(updates);
  const after = await objects(pid);
  console.log(`${name}: after ${updates}, ${2 * updates} and ${3 * updates} updates`);
  for (const [index, process] of ['supervisor', 'worker'].entries()) {
    const column = (field: keyof Held): string =>
      rows
        .map((row) => (row[index]?.[field] ?? 0).toFixed(field === 'descriptors' ? 0 : 2))
        .join(' ');
    console.log(
      `  ${process.padEnd(10)} heap ${column('heap')} MiB, outside ${column('external')} MiB, ` +
        `anonymous ${column('anonymous')} MiB, descriptors ${column('descriptors')}`,
    );
    const more = objectsMore(before[index] ?? new Map(), after[index] ?? new Map());
    const most = more.slice(0, 5).map(([what, count]) => `${count} ${what}`);
    console.log(`    objects more after ${updates} updates: ${most.join(', ') || 'none'}`);
  }
}

async function objects(root: number): Promise<readonly ReadonlyMap<string, number>[]> {
  const all: ReadonlyMap<string, number>[] = [];
  for (const pid of treeOf(root)) all.push(await heapObjects(folder.path, pid));
  return all;
}

interface Held {
  readonly heap: number;
  readonly external: number;
  readonly anonymous: number;
  readonly descriptors: number;
}

async function held(root: number): Promise<readonly Held[]> {
  const all: Held[] = [];
  for (const pid of treeOf(root)) {
    const { heapUsed, external } = await heldBy(folder.path, pid);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    all.push({
      heap: heapUsed / 2 ** 20,
      external: external / 2 ** 20,
      anonymous: Number(/RssAnon:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
    });
  }
  return all;
}

function questions(): readonly Question[] {
  const rds = {
    route_config: undefined,
    rds: { config_source: ADS, route_config_name: 'routes' },
  };
  return [
    { name: 'listeners', kind: LISTENER, make: (version) => listenerOf(version, whole(version)) },
    {
      name: 'listeners over TLS',
      kind: LISTENER,
      make: (version) => listenerOf(version, { ...whole(version), chain: tls(version) }),
    },
    {
      name: 'chains over TLS',
      kind: LISTENER,
      make: (version) => listenerOf(version, { chain: tls(version) }),
    },
    {
      name: 'routes',
      kind: ROUTES,
      first: resource.listener(httpListener([], { hcm: rds })),
      make: (version) => resource.routes('routes', [routeSaying(version)]),
    },
  ];
}

/** More than chains changes, so that the listener drains as a whole. */
function whole(version: number): { readonly listener: object } {
  return { listener: { per_connection_buffer_limit_bytes: 100_000 + (version % 2) } };
}

function tls(version: number): object {
  const files = certificates[version % 2];
  const text = (path = ''): object => ({ inline_string: readFileSync(path, 'utf8') });
  const certificate = { certificate_chain: text(files?.chain), private_key: text(files?.key) };
  return {
    transport_socket: {
      name: 'tls',
      typed_config: {
        '@type': TLS_CONTEXT,
        common_tls_context: { tls_certificates: [certificate] },
      },
    },
  };
}

function listenerOf(
  version: number,
  { listener = {}, chain = {} }: { readonly listener?: object; readonly chain?: object },
): object {
  const message = httpListener([routeSaying(version)], { listener }) as {
    readonly filter_chains: readonly object[];
  };
  const chains = message.filter_chains.map((each) => ({ ...each, ...chain }));
  return resource.listener({ ...message, filter_chains: chains });
}

function routeSaying(version: number): object {
  const body = { inline_string: `${version}` };
  return { match: { prefix: '/' }, direct_response: { status: 200, body } };
}
