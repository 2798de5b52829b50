/** What tracers may use of their worker. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { CollectorEnv } from '../telemetry/collector.ts';

export interface TracerEnv extends CollectorEnv {
  readonly loop: WorkerLoop;
  readonly runtime: Runtime;
  readonly stats: StatWriter;
  readonly node: { readonly id: string; readonly cluster: string; readonly zone: string };
  /** This machine's. */
  readonly localAddress: string;
}
