/** The modules of scripts of one worker, with what the process has for them. */
import { ScriptMarks } from '../../shared/limits/script-page.ts';
import { type AccessLogEnv, AccessLogs } from '../access-log/access-logs.ts';
import type { LoggerEnv } from '../access-log/logger.ts';
import type { LoggerModules } from '../access-log/loggers/script/script-loggers.ts';
import { moduleContext } from '../filters/http/script/module-context.ts';
import { CallBudget } from '../filters/http/script/script-fetch.ts';
import { FaultLog } from '../filters/http/script/script-instance.ts';
import { ScriptStats } from '../filters/http/script/script-stats.ts';
import { ScriptModules } from '../filters/http/script/script-modules.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';

export type { ScriptModules };

/** Access logs, some of which are modules. */
export function makeAccessLogs(
  env: Omit<AccessLogEnv, 'scripts'> & { readonly scripts: ScriptModules },
): AccessLogs {
  return new AccessLogs({ ...env, scripts: loggerModules(env.scripts, env) });
}

/** Modules as access loggers have them, which know no filters. */
function loggerModules(
  scripts: ScriptModules,
  { loop, services, stats, log }: LoggerParts,
): LoggerModules {
  const around = { loop, services, log, scripts };
  return {
    get marks() {
      return scripts.marks;
    },
    join: (module, user) => scripts.join(module, user),
    surroundings: (name, prefix) => {
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

type LoggerParts = Pick<LoggerEnv, 'loop' | 'services' | 'stats' | 'log'>;

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
