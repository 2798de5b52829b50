/** Makes the gRPC services that configurations name, over what the worker has for them. */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { ChannelService } from './channel-service.ts';
import { ClusterService } from './cluster-service.ts';
import type { GrpcService, GrpcServices } from './grpc-services.ts';
import type { HttpServices } from './http-services.ts';

interface ServicesContext {
  readonly http: HttpServices;
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
}

export function makeGrpcServices({ http, loop, stats }: ServicesContext): GrpcServices {
  return {
    service: (target: GrpcTarget): GrpcService =>
      target.kind === 'cluster'
        ? new ClusterService(target, http)
        : new ChannelService(target, loop, stats),
  };
}
