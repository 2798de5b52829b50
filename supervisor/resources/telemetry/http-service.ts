/** Resolves envoy.config.core.v3.HttpService: a collector that is sent to by HTTP. */
import type { HttpService } from '../../../shared/api/generated/envoy/config/core/v3/http_service.ts';
import type { CollectorService } from '../../../shared/resources/telemetry/collector.ts';
import { FORMATTERS } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHttpTarget } from '../http-target.ts';
import { resolveHeaderValue } from '../routes/header-changes.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<HttpService>(['http_uri', 'request_headers_to_add', 'formatters']);

export function resolveHttpService(message: HttpService, scope: Scope): CollectorService {
  refuseOtherFields(message, FIELDS, scope);
  for (const [index, formatter] of (message.formatters ?? []).entries()) {
    FORMATTERS.resolve(formatter, scope.at('formatters', index));
  }
  const headers = (message.request_headers_to_add ?? []).map((header, index) =>
    resolveHeaderValue(header, scope.at('request_headers_to_add', index)),
  );
  const target = resolveHttpTarget(message.http_uri ?? {}, undefined, scope.at('http_uri'));
  return { target, headers };
}
