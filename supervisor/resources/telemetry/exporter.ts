/** Resolves where the OpenTelemetry protocol is spoken to, by HTTP or gRPC, and who speaks. */
import type { GrpcService } from '../../../shared/api/generated/envoy/config/core/v3/grpc_service.ts';
import type { HttpService } from '../../../shared/api/generated/envoy/config/core/v3/http_service.ts';
import { readBuildStamp, versionText } from '../../../shared/process/build-stamp.ts';
import { environmentVariable } from '../../../shared/process/environment.ts';
import type { Exporter } from '../../../shared/resources/telemetry/collector.ts';
import { resolveGrpcService } from '../grpc-service.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';
import { resolveHttpService } from './http-service.ts';

interface ExporterMessage {
  readonly http_service?: HttpService;
  readonly grpc_service?: GrpcService;
}

/** Undefined where there is none, or after a reported problem. */
export function resolveExporter(message: ExporterMessage, scope: Scope): Exporter | undefined {
  const { http_service: http, grpc_service: grpc } = message;
  if (http !== undefined) {
    return { kind: 'http', ...resolveHttpService(http, scope.at('http_service')) };
  }
  if (grpc === undefined) return undefined;
  const target = resolveGrpcService(grpc, scope.at('grpc_service'));
  const timeoutMs = durationMsOr(grpc.timeout, 0);
  return target && { kind: 'grpc', target, timeoutMs };
}

/** This server's version, as collectors are told it. */
export function serverVersion(): string {
  return versionText(readBuildStamp(), environmentVariable('SLUICE_ENVOY_VERSION'));
}

export function exporterUserAgent(): string {
  return `OTel-OTLP-Exporter-Envoy/${serverVersion()}`;
}
