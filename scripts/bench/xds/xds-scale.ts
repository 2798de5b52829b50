/**
 * What many clusters by a control plane cost: CDS and EDS over one incremental stream, from the
 * start to LIVE; the change of one endpoint until it is acknowledged; memory; and listeners changed
 * a thousand times: `node dist/scripts/bench/xds/xds-scale.js [clusters] [listener updates]`. With
 * `envoy` on the path the same is measured there, within the same run.
 */
import { typeUrlOf, type ControlPlane } from '../../../test/support/peers/control-plane.ts';
import { resource } from '../../../test/support/peers/discovery-files.ts';
import { treeDescriptors, treePssKib } from '../support/processes.ts';
import {
  acknowledged,
  drained,
  ENDPOINTS,
  LISTENER,
  listenerSaying,
  programs,
  startFleet,
  type Fleet,
} from './xds-fleet.ts';

const clusters = Number(process.argv[2] ?? 10_000);
const listenerUpdates = Number(process.argv[3] ?? 1000);
const CHANGES = 50;

for (const program of programs()) {
  await using fleet = await startFleet(program, clusters);
  const changeMs = await changeEndpoints(fleet.control);
  const memory = treePssKib(fleet.pid) / 1024;
  const leaks = await changeListeners(fleet);
  console.log(
    `${program.name}: ${clusters} clusters LIVE in ${fleet.liveMs.toFixed(0)} ms, one endpoint ` +
      `changed in ${changeMs.toFixed(1)} ms (median of ${CHANGES}), ${memory.toFixed(0)} MiB; ${leaks}`,
  );
}

/** From the change to its acknowledgement; the median in milliseconds. */
async function changeEndpoints(control: ControlPlane): Promise<number> {
  const times: number[] = [];
  const one = 'service_7';
  for (let change = 1; change <= CHANGES; change += 1) {
    const startedMs = performance.now();
    await acknowledged(control, () =>
      control.sendRaw({
        type_url: typeUrlOf(ENDPOINTS),
        resources: [
          {
            name: one,
            version: String(change),
            resource: resource.endpoints(one, [20_000 + change]),
          },
        ],
      }),
    );
    times.push(performance.now() - startedMs);
  }
  times.sort((left, right) => left - right);
  return times[CHANGES >> 1] ?? 0;
}

/** What is open and used before and after. */
async function changeListeners({ control, admin, pid }: Fleet): Promise<string> {
  const update = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      const version = `${count} ${each}`;
      await acknowledged(control, () => control.set(LISTENER, version, [listenerSaying(version)]));
    }
    await drained(admin);
  };
  await update(Math.ceil(listenerUpdates / 10));
  const [descriptors, memory] = [treeDescriptors(pid), treePssKib(pid)];
  await update(listenerUpdates);
  const [descriptorsAfter, memoryAfter] = [treeDescriptors(pid), treePssKib(pid)];
  return (
    `${listenerUpdates} listener updates: ${descriptors} descriptors before, ${descriptorsAfter} after, ` +
    `${((memoryAfter - memory) / 1024).toFixed(1)} MiB more`
  );
}
