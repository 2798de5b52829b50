/** Resolves envoy.config.trace.v3.SkyWalkingConfig. */
import type {
  ClientConfig,
  SkyWalkingConfig,
} from '../../../shared/api/generated/envoy/config/trace/v3/skywalking.ts';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import type { SkyWalkingTracerConfig } from '../../../shared/resources/tracing/skywalking.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveGrpcService } from '../grpc-service.ts';

const FIELDS = knownFields<SkyWalkingConfig>(['grpc_service', 'client_config']);
const CLIENT_FIELDS = knownFields<ClientConfig>([
  'service_name',
  'instance_name',
  'backend_token',
  'max_cache_size',
]);
const DEFAULT_NAME = 'EnvoyProxy';
const SEGMENTS_MAX = 1024;

export const SKYWALKING_TRACER = extension(
  'envoy.tracers.skywalking',
  'envoy.config.trace.v3.SkyWalkingConfig',
  (message: SkyWalkingConfig, scope): SkyWalkingTracerConfig | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const { client_config: client = {}, grpc_service: service = {} } = message;
    refuseOtherFields(client, CLIENT_FIELDS, scope.at('client_config'));
    const target = resolveGrpcService(service, scope.at('grpc_service'));
    const { nodeName } = scope.context;
    return (
      target && {
        kind: 'skywalking',
        target: withToken(target, client.backend_token),
        serviceName: firstOf(client.service_name, nodeName?.cluster),
        instanceName: firstOf(client.instance_name, nodeName?.id),
        segmentsMax: client.max_cache_size ?? SEGMENTS_MAX,
      }
    );
  },
);

function withToken(target: GrpcTarget, token = ''): GrpcTarget {
  if (token === '') return target;
  return { ...target, metadata: [...target.metadata, { key: 'authentication', value: token }] };
}

/** The first that is not empty. */
function firstOf(...names: readonly (string | undefined)[]): string {
  return names.find((name) => name !== undefined && name !== '') ?? DEFAULT_NAME;
}
