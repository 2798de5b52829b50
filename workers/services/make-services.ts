/** Makes the gRPC services that configurations name, over what the worker has for them. */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { ChannelService } from './channel-service.ts';
import { ClusterService } from './cluster-service.ts';
import type { GrpcService, GrpcServices } from './grpc-services.ts';
import type { ServiceClient } from './service-client.ts';

interface ServicesContext {
  readonly services: ServiceClient;
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
}

export function makeGrpcServices({ services, loop, stats }: ServicesContext): GrpcServices {
  return {
    service: (target: GrpcTarget): GrpcService =>
      target.kind === 'cluster'
        ? new ClusterService(target, services)
        : new ChannelService(target, loop, stats),
  };
}
