/** A context of plain values for tests of endpoints; each test overrides what it is about. */
import type { AdminContext } from '../../../../supervisor/admin/admin-context.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import { LoopTurns } from '../../../../supervisor/loop/loop-turns.ts';

export interface FakeContext {
  readonly context: AdminContext;
  readonly log: string[];
  readonly commands: unknown[];
}

/** Counts nothing; indices are all 0. */
/** Levels that nobody sets for a time. */
export const UNTIMED: Pick<AdminContext['logging'], 'snapshot' | 'timed' | 'watchRequests'> = {
  watchRequests: () => undefined,
  snapshot: () => ({ default: 'info', components: {}, files: [] }),
  timed: { begin: () => undefined, keep: () => undefined, leftMs: undefined },
};

const silentWriter: StatWriter = {
  defineBlock: () => 0,
  releaseBlock: () => undefined,
  releaseNamed: () => undefined,
  defineCounter: () => 0,
  defineGauge: () => 0,
  defineHistogram: () => 0,
  increment: () => undefined,
  add: () => undefined,
  subtract: () => undefined,
  setGauge: () => undefined,
  record: () => undefined,
  valueOf: () => 0,
};

export function fakeContext(overrides: Partial<AdminContext> = {}): FakeContext {
  const log: string[] = [];
  const commands: unknown[] = [];
  const accept = (command: unknown) => {
    commands.push(command);
    return { ok: true } as const;
  };
  const base: AdminContext = {
    clock: systemClock,
    hosts: { put: () => undefined, takeBack: () => false, list: () => [] },
    connections: { list: () => [], close: async () => [] },
    recent: {
      intervals: () => [],
      *activeHosts() {},
      *openByWorker() {
        yield undefined;
        return new Map();
      },
      sickClusters: () => [],
      refusals: async () => [],
      exemplars: async () => [],
    },
    explain: async () => ({ end: { why: 'nobody serves' } }),
    scripts: { list: async () => [], reload: async () => ({ isDone: true, modules: [] }) },
    *skippedFilters() {
      yield '';
      return [];
    },
    turns: new LoopTurns(),
    server: {
      state: () => 'LIVE',
      version: 'revision/0.1.0/Clean/RELEASE/OpenSSL',
      hotRestartVersion: '11.104',
      restartEpoch: 0,
      startedAtNs: systemClock.monotonicNs(),
      firstEpochStartUnixSeconds: Math.floor(systemClock.wallMs() / 1000),
      commandLineOptions: () => ({ base_id: '0', concurrency: 1 }),
      node: () => ({ id: 'n', cluster: 'c', user_agent_name: 'sluice' }),
      contention: () => undefined,
      workers: () => [{ index: 0, pid: 7, state: 'running', restarts: 0 }],
    },
    config: {
      history: { *newest() {}, forgotten: 0, lastId: 0 },
      changes: () => 0,
      bootstrap: () => ({ message: {}, lastUpdatedMs: 0 }),
      clusters: () => ({ versionInfo: '', static: [], dynamicActive: [], dynamicWarming: [] }),
      listeners: () => ({ versionInfo: '', static: [], dynamic: [] }),
      routes: () => ({
        isUsed: true,
        static: [],
        dynamic: [],
        inlineScopes: [],
        dynamicScopes: [],
      }),
      extensions: () => ({ isUsed: false, filters: [] }),
      secrets: () => ({ static: [], dynamicActive: [], dynamicWarming: [] }),
      endpoints: () => ({ static: [], dynamic: [] }),
      unreadyTargets: () => [],
    },
    clusters: {
      refresh: async () => await Promise.resolve(),
      names: () => [],
      status: () => undefined,
      certificates: () => [],
    },
    listeners: { list: () => [] },
    stats: {
      read: async (path) => await Promise.resolve({ status: 200, body: `page ${path}\n` }),
      recentLookups: () => ({ status: 200, body: 'OK\n' }),
      resetCounters: async () => {
        accept('reset_counters');
        await Promise.resolve();
      },
    },
    statWriter: silentWriter,
    logging: {
      levels: () => [],
      setAll: () => undefined,
      set: () => false,
      setGroup: () => false,
      fineGrain: false,
      ...UNTIMED,
    },
    runtime: {
      snapshot: () => new Map(),
      layers: () => [],
      entries: () => [],
      modifyAdminLayer: async () => await Promise.resolve(undefined),
    },
    commands: {
      setHealthCheckFailed: (failed) => accept({ failed }),
      drainListeners: (options) => accept({ drain: options }),
      undrainListeners: () => accept('undrain'),
      drainStatus: async () => await Promise.resolve({ isComplete: true, listeners: [] }),
      reopenLogs: () => accept('reopen_logs'),
      shutdown: () => accept('shutdown'),
    },
    tap: {
      configIds: () => new Set(),
      isAttached: () => false,
      read: async () => await Promise.resolve('no tap'),
      begin: () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => await Promise.resolve({ done: true, value: undefined }),
        }),
      }),
    },
    log: (level, text) => log.push(`${level}: ${text}`),
  };
  return { context: { ...base, ...overrides }, log, commands };
}
