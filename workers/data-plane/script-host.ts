/** The modules of scripts of one worker, with what the process has for them. */
import { ScriptMarks } from '../../shared/limits/script-page.ts';
import { type AccessLogEnv, AccessLogs } from '../access-log/access-logs.ts';
import { moduleContext } from '../filters/http/script/module-context.ts';
import { CallBudget } from '../filters/http/script/script-fetch.ts';
import { FaultLog } from '../filters/http/script/script-instance.ts';
import { ScriptStats } from '../filters/http/script/script-stats.ts';
import { ScriptModules } from '../filters/http/script/script-modules.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { LoggerEnv } from '../access-log/logger.ts';
import type { HostModules } from '../scripts/host-modules.ts';
import type { StartTasks } from '../filters/start-tasks.ts';
import type { ServiceClient } from '../services/service-client.ts';

export type { ScriptModules };

type HostParts = Pick<LoggerEnv, 'loop' | 'log' | 'stats'>;

/** Clusters, whose balancers may be modules, are there before these. */
interface LaterParts {
  readonly services: ServiceClient;
  /** Listeners open once a module that joined is ready. */
  readonly startTasks: StartTasks;
}

/** Access logs, some of which are modules. */
export function makeAccessLogs(
  env: Omit<AccessLogEnv, 'scripts'> & { readonly scripts: ScriptModules } & LaterParts,
): AccessLogs {
  return new AccessLogs({ ...env, scripts: hostModules(env.scripts, env, () => env) });
}

/** Modules as loggers and balancers have them, which know no filters. */
export function hostModules(
  scripts: ScriptModules,
  { loop, log, stats }: HostParts,
  later: () => LaterParts,
): HostModules {
  return {
    get marks() {
      return scripts.marks;
    },
    join: (module, user) => {
      const joined = scripts.join(module, user);
      later().startTasks.add((done) => void joined.ready.then(done), true);
      return joined;
    },
    surroundings: (name, prefix) => {
      const around = { loop, services: later().services, log, scripts };
      const own = new ScriptStats(stats, prefix);
      const faults = new FaultLog(around, name);
      return {
        context: moduleContext(around, own, { name, budget: new CallBudget() }),
        writeStack: (error) => faults.write(error),
        release: () => own.release(),
      };
    },
  };
}

export function makeScripts({ pages, heritage, clock, notify }: DataPlaneEnv): ScriptModules {
  const { concurrency, workerIndex } = heritage;
  return new ScriptModules({
    // Tests of the data plane in one process have no pages.
    marks: () =>
      pages === undefined
        ? ScriptMarks.apart()
        : ScriptMarks.map(pages.scriptFd, concurrency, workerIndex),
    every: (periodMs, act) => void clock.every(periodMs, act, { unref: true }),
    notify: (notice) => notify(notice),
  });
}
