/** What `create` of a module is given, whatever kind of module it is. */
import type { ModuleContext } from '../../../../shared/scripts/context.ts';
import type { FilterContext } from '../../filter-context.ts';
import { type CallBudget, ScriptCalls } from './script-fetch.ts';
import type { ScriptStats } from './script-stats.ts';

/** The limit of one line of a module's log. */
const LOG_CHARACTERS_MAX = 16 * 1024;

export type ModuleSurroundings = Pick<FilterContext, 'loop' | 'services' | 'log'> & {
  readonly scripts: Pick<FilterContext['scripts'], 'maps'>;
};

export function moduleContext(
  around: ModuleSurroundings,
  stats: ScriptStats,
  { name, budget }: { readonly name: string; readonly budget: CallBudget },
): ModuleContext {
  const calls = new ScriptCalls(around, budget);
  const log = (level: Parameters<FilterContext['log']>[0], text: unknown): void =>
    around.log(level, 'filter', `script ${name}: ${String(text).slice(0, LOG_CHARACTERS_MAX)}`);
  return {
    name,
    log: {
      debug: (text) => log('debug', text),
      info: (text) => log('info', text),
      warning: (text) => log('warning', text),
      error: (text) => log('error', text),
    },
    counter: (stat) => stats.counter(stat),
    gauge: (stat) => stats.gauge(stat),
    histogram: (stat) => stats.histogram(stat),
    shared: (map, options) => around.scripts.maps.open(map, options),
    fetch: calls.fetch,
  };
}
