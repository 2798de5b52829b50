/** The seam between access logs and the kinds of loggers: what each kind provides in a worker. */
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { SharedPages } from '../loop/shared-count.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { GrpcServices } from '../services/grpc-services.ts';
import type { ServiceClient } from '../services/service-client.ts';
import type { HostModules } from '../scripts/host-modules.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** What loggers may use of their worker. */
export type LoggerEnv = Pick<
  DataPlaneEnv,
  'clock' | 'exceptions' | 'heritage' | 'log' | 'notify'
> & {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly pages: SharedPages;
  /** Requests and gRPC calls to services. */
  readonly services: ServiceClient;
  readonly grpcServices: GrpcServices;
  /** Modules of the operator. */
  readonly scripts: HostModules;
};

/** One configured logger. */
export interface Logger {
  /** Takes what its filter has let through; never waits. */
  write(info: StreamInfo): void;
  /** Once, when the configuration that names it goes. */
  release(): void;
}

/** All loggers of one kind in a worker: what they share is kept here. */
export interface Loggers<Config> {
  /** Throws when it cannot be opened. */
  open(config: Config): Logger;
  /** Files were moved away: they are opened again. */
  reopen?(): void;
  /** Resolves when everything is written that can be. */
  close(): Promise<void>;
}
