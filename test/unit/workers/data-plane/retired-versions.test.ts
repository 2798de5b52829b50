import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import type { ListenerResource } from '../../../../shared/resources/listener.ts';
import { ALL_TEMPLATES } from '../../../../shared/stats/templates/all-templates.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { WorkerShare } from '../../../../supervisor/stats/worker-share.ts';
import type { DataPlane } from '../../../../workers/data-plane/data-plane-commands.ts';
import { createDataPlane } from '../../../../workers/data-plane/data-plane.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { HERITAGE, listener } from '../../../support/parts/data-plane.ts';
import { stillThere } from '../../../support/peers/hostile/garbage.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { makeScratch, type Scratch } from '../../../support/scratch.ts';
import { waitUntil } from '../../../support/wait.ts';

const VERSIONS = 50;
const DRAIN_S = 600;

interface Running {
  readonly plane: DataPlane;
  readonly clock: ManualClock;
  /** Prefixes and names of all statistics, as the supervisor has them. */
  readonly names: () => readonly string[];
}

function start(): Running {
  const clock = new ManualClock();
  const stats = new WorkerStatStore();
  const plane = createDataPlane({
    heritage: { ...HERITAGE, drainTimeS: DRAIN_S },
    stats,
    clock,
    exceptions: { note: assert.fail },
    notify: () => undefined,
    log: () => undefined,
  });
  const store = new StatStore();
  const share = new WorkerShare(store, new Map(ALL_TEMPLATES.map((each) => [each.id, each])));
  const names = (): readonly string[] => {
    share.apply(stats.takeReport());
    return [...store.definitions()].map(({ name }) => name).toSorted();
  };
  return { plane, clock, names };
}

function versionOf(version: number, scratch: Scratch): ListenerResource {
  const sink = { kind: 'file', path: scratch.file(`${version}.log`) } as const;
  const format = { kind: 'text', format: 'line\n', omitEmptyValues: false } as const;
  return listener(
    {
      manager: { statPrefix: `web_${version}` },
      listener: { accessLogs: [{ kind: 'lines', sink, format }] },
    },
    [],
  );
}

function openLogs(scratch: Scratch): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(scratch.path) ? [basename(target)] : [];
    } catch {
      return []; // of the listing itself
    }
  });
}

/** Puts all versions one after the other; those that could be gone. */
function putAll({ plane }: Running, scratch: Scratch): readonly WeakRef<object>[] {
  return Array.from({ length: VERSIONS }, (_, version) => {
    const resource = versionOf(version, scratch);
    void plane.apply([{ op: 'put_listener', listener: resource }]);
    return new WeakRef(resource);
  });
}

describe('versions of a listener that were replaced', () => {
  it('keep without connections what they count alone, until their drain is over', async () => {
    using scratch = makeScratch();
    const running = start();
    const { plane, clock, names } = running;
    const resources = putAll(running, scratch);
    // The present one, and at most one that a register of V8 remembers.
    assert.ok((await stillThere(resources)) <= 2);
    await waitUntil('the files of replaced versions to close', () => openLogs(scratch).length <= 1);
    assert.deepEqual(openLogs(scratch), [`${VERSIONS - 1}.log`]);
    assert.ok(names().includes('http.web_0.'));
    clock.pass(DRAIN_S * 1000);
    const left = names();
    assert.ok(left.includes(`http.web_${VERSIONS - 1}.`));
    const ofOthers = left.filter(
      (name) => /web_\d/.test(name) && !name.includes(`web_${VERSIONS - 1}.`),
    );
    assert.deepEqual(ofOthers, []);
    await plane.close();
  });

  it('leave nothing when their listener is removed and its drain is over', async () => {
    using scratch = makeScratch();
    const running = start();
    const { plane, clock, names } = running;
    const before = names();
    const resources = putAll(running, scratch);
    void plane.apply([{ op: 'remove_listener', name: 'web' }]);
    assert.ok((await stillThere(resources)) <= 1);
    await waitUntil('all files to close', () => openLogs(scratch).length === 0);
    assert.ok(names().includes(`http.web_${VERSIONS - 1}.`));
    clock.pass(DRAIN_S * 1000);
    assert.deepEqual(names(), before);
    await plane.close();
  });
});
