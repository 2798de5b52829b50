/**
 * Says by which way plain connections go: over the runtime's own handles, or over node:net, which
 * serves alike and costs a quarter more. Nobody should have to guess which one a process took.
 */
import { runtimeHandles } from './runtime-handles.ts';

interface Told {
  readonly stats: {
    defineGauge(name: string): number;
    setGauge(index: number, value: number): void;
  };
  readonly log: (level: 'debug' | 'warning', component: string, message: string) => void;
}

/** `sluice.runtime.plain_handles` counts the workers that have them. */
export function reportIoPath({ stats, log }: Told): void {
  const hasHandles = runtimeHandles !== undefined;
  stats.setGauge(stats.defineGauge('sluice.runtime.plain_handles'), hasHandles ? 1 : 0);
  const runtime = `Node.js ${process.version}`;
  if (hasHandles) log('debug', 'main', `${runtime}: plain connections use the runtime's handles`);
  else log('warning', 'main', `${runtime}: plain connections use node:net, which is slower`);
}
