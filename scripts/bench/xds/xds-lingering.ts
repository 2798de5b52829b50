/**
 * What a listener costs that was replaced and drains, without connections and with one that is
 * idle: two hundred versions of one listener while none of them may go. Bytes for each version in
 * the supervisor and in a worker once all garbage is collected, by class of object; resident memory
 * beside it, and beside Envoy. `node dist/scripts/bench/xds/xds-lingering.js [versions]`
 */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { httpListener } from '../../../test/support/parts/bootstrap.ts';
import { resource } from '../../../test/support/peers/discovery-files.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { heapObjects, objectsMore, snapshotArguments, type Held } from '../heap-objects.ts';
import { heldBy, probeArguments } from '../support/held-memory.ts';
import { treeDescriptors, treeOf, treePssKib } from '../support/processes.ts';
import { LISTENER, listenerPort, programs, startFleet, type Fleet } from './xds-fleet.ts';

const versions = Number(process.argv[2] ?? 200);
const LIMIT_MS = 20_000;
const PRINTED = 20;
const DRAIN_S = '600';

for (const hasConnections of [false, true]) {
  for (const program of programs()) await resident(program, hasConnections);
  await held(hasConnections);
}

async function resident(
  program: ReturnType<typeof programs>[number],
  hasConnections: boolean,
): Promise<void> {
  await using fleet = await startFleet(program, 1, { drainTimeS: DRAIN_S });
  await change(fleet, 0, 20, []);
  const [memory, descriptors] = [treePssKib(fleet.pid), treeDescriptors(fleet.pid)];
  const open: Socket[] = [];
  await change(fleet, 20, versions, hasConnections ? open : undefined);
  const [memoryAfter, descriptorsAfter] = [treePssKib(fleet.pid), treeDescriptors(fleet.pid)];
  for (const socket of open) socket.destroy();
  console.log(
    `${program.name}${hasConnections ? ', a connection each' : ''}: ${memoryAfter - memory} KiB resident ` +
      `more after ${versions} versions, ${descriptorsAfter - descriptors} descriptors more`,
  );
}

async function held(hasConnections: boolean): Promise<void> {
  using folder = makeScratch();
  const [program] = programs([...probeArguments(folder.path), ...snapshotArguments(folder.path)]);
  if (program === undefined) return;
  await using fleet = await startFleet(program, 1, { drainTimeS: DRAIN_S });
  const open: Socket[] = [];
  const sockets = hasConnections ? open : undefined;
  await change(fleet, 0, versions, sockets);
  await states(folder.path, fleet.pid);
  await change(fleet, versions, 20, sockets);
  const before = await states(folder.path, fleet.pid);
  await change(fleet, versions + 20, versions, sockets);
  const after = await states(folder.path, fleet.pid);
  for (const socket of open) socket.destroy();
  for (const [index, name] of ['supervisor', 'worker'].entries()) {
    const [then, now] = [before[index], after[index]];
    if (then === undefined || now === undefined) continue;
    const each = (bytes: number): string => (bytes / versions).toFixed(0);
    const more = objectsMore(then.objects, now.objects);
    const most = more
      .slice(0, PRINTED)
      .map(([what, { count, bytes }]) => `${(count / versions).toFixed(1)} ${what} ${each(bytes)}`);
    const sum = more.reduce((total, [, { bytes }]) => total + bytes, 0);
    console.log(
      `  ${name}: ${each(sum)} bytes of objects, ${each(now.heap - then.heap)} of heap, ` +
        `${each(now.external - then.external)} outside for each version, ` +
        `${now.descriptors - then.descriptors} descriptors more; ${most.join(', ')}`,
    );
  }
}

async function change(
  { control, admin }: Fleet,
  from: number,
  count: number,
  open: Socket[] | undefined,
): Promise<void> {
  for (let version = from; version < from + count; version += 1) {
    control.set(LISTENER, `${version}`, [listenerOf(version)]);
    await control.quiet(LIMIT_MS);
    if (open === undefined) continue;
    const socket = connect((await listenerPort(admin)) ?? 0, '127.0.0.1');
    await once(socket, 'connect');
    open.push(socket);
  }
}

function listenerOf(version: number): object {
  const body = { inline_string: `${version}` };
  const route = { match: { prefix: '/' }, direct_response: { status: 200, body } };
  const listener = { per_connection_buffer_limit_bytes: 100_000 + (version % 2) };
  return resource.listener(httpListener([route], { listener }));
}

interface State {
  readonly heap: number;
  readonly external: number;
  readonly descriptors: number;
  readonly objects: ReadonlyMap<string, Held>;
}

async function states(folder: string, root: number): Promise<readonly State[]> {
  const all: State[] = [];
  for (const pid of treeOf(root)) {
    const objects = await heapObjects(folder, pid);
    const { heapUsed, external } = await heldBy(folder, pid);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    all.push({ heap: heapUsed, external, descriptors, objects });
  }
  return all;
}
