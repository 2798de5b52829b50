/** The modules of scripts of one worker, with what the process has for them. */
import { ScriptMarks } from '../../shared/limits/script-page.ts';
import { ScriptModules } from '../filters/http/script/script-modules.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';

export type { ScriptModules };

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
