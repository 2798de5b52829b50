/** Resolves envoy.config.trace.v3.SkyWalkingConfig. */
import type {
  ClientConfig,
  SkyWalkingConfig,
} from '../../../shared/api/generated/envoy/config/trace/v3/skywalking.ts';
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
const SERVICE_NAME = 'EnvoyProxy';
const SEGMENTS_MAX = 1024;

export const SKYWALKING_TRACER = extension(
  'envoy.tracers.skywalking',
  'envoy.config.trace.v3.SkyWalkingConfig',
  (message: SkyWalkingConfig, scope): SkyWalkingTracerConfig | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const { client_config: client = {}, grpc_service: service = {} } = message;
    refuseOtherFields(client, CLIENT_FIELDS, scope.at('client_config'));
    const target = resolveGrpcService(service, scope.at('grpc_service'));
    if (target === undefined) return undefined;
    const { nodeName } = scope.context;
    const {
      service_name: name = '',
      instance_name: instance = '',
      backend_token: token = '',
    } = client;
    const metadata =
      token === ''
        ? target.metadata
        : [...target.metadata, { key: 'authentication', value: token }];
    return {
      kind: 'skywalking',
      target: { ...target, metadata },
      serviceName: name !== '' ? name : nodeName?.cluster || SERVICE_NAME,
      instanceName: instance !== '' ? instance : nodeName?.id || SERVICE_NAME,
      segmentsMax: client.max_cache_size ?? SEGMENTS_MAX,
    };
  },
);
