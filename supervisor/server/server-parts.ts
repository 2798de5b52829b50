/**
 * The parts of a server that exist once its configuration is known, put together in tiers, each of
 * which needs only those below it; and what all of them do at the steps of a server's life.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getLogger } from '../../shared/logging/process-log.ts';
import { LoopDelay } from '../loop/loop-delay.ts';
import type { Configuration } from '../start/load-configuration.ts';
import { TapSessions } from '../tap/tap-sessions.ts';
import { makeBaseParts, type BaseParts, type ServerPartsInput } from './base-parts.ts';
import { ServerCommands } from './server-commands.ts';
import { makeTellingParts, type TellingParts } from './telling-parts.ts';
import { makeUpstreamParts, type UpstreamParts } from './upstream-parts.ts';

export interface ServerParts extends BaseParts, UpstreamParts, TellingParts {
  readonly configuration: Configuration;
  readonly commands: ServerCommands;
  readonly taps: TapSessions;
  /** Counts what was bound. */
  listenersBound(): void;
  /** Counts what workers made, and begins what needs a live server. */
  workersStarted(): void;
  /** Cancels every timer and watch. */
  stop(): void;
}

/** Rejects when a runtime layer cannot be used. */
export async function makeServerParts(input: ServerPartsInput): Promise<ServerParts> {
  const { options, clock, configuration, pool, ending } = input;
  const base = await makeBaseParts(input);
  const upstream = makeUpstreamParts(input, base);
  const telling = makeTellingParts(input, base, upstream.upstreams);
  const { listeners, serverStats, overload, drains, eventLogs } = base;
  const { stats, recent, controls } = telling;
  const startsDraining = isFlagged(configuration.resolved.flagsPath);
  const commands = new ServerCommands({ pool, drains, eventLogs, ending, startsDraining });
  const taps = new TapSessions({
    clock,
    notify: (notice) => pool.notify(notice),
    log: getLogger('tap').warning,
  });
  let loopDelay: LoopDelay | undefined;
  return {
    ...base,
    ...upstream,
    ...telling,
    configuration,
    commands,
    taps,
    listenersBound: () => {
      base.certificates.publish();
      serverStats.bound(configuration.resolved.clusters.length, listeners.size);
    },
    workersStarted: () => {
      base.gauges.defineAll();
      serverStats.listenersCreated(listeners.size * options.concurrency);
      serverStats.setListenerCount(listeners.size);
      serverStats.initialized();
      overload.start();
      stats.start();
      recent.start();
      for (const control of controls) control.start();
      loopDelay = new LoopDelay(clock, stats.store);
    },
    stop: () => {
      loopDelay?.stop();
      for (const part of [taps, overload, stats, recent, commands]) part.stop();
      for (const part of [...controls, base.runtime, upstream.dynamic, upstream.upstreams]) {
        part.close();
      }
    },
  };
}

/** Whether the folder of flags has the file `drain`. */
function isFlagged(flagsPath: string | undefined): boolean {
  if (flagsPath === undefined) return false;
  const log = getLogger('main');
  log.info(`server flags path: ${flagsPath}`);
  const isDraining = existsSync(join(flagsPath, 'drain'));
  if (isDraining) log.info('starting server in drain mode');
  return isDraining;
}
