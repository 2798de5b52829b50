/** Processing modes of envoy.filters.http.ext_proc as numbers, and what goes with what. */
import type { ProcessingMode as ModeMessage } from '../../../../../shared/api/generated/envoy/extensions/filters/http/ext_proc/v3/processing_mode.ts';
import {
  BodyMode,
  SendMode,
  type ProcessingMode,
} from '../../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { Scope } from '../../../scope.ts';

/** In the order of the API's enums. */
const SEND_MODES: readonly unknown[] = ['DEFAULT', 'SEND', 'SKIP'];
const BODY_MODES: readonly unknown[] = [
  'NONE',
  'STREAMED',
  'BUFFERED',
  'BUFFERED_PARTIAL',
  'FULL_DUPLEX_STREAMED',
  'GRPC',
];

export function resolveMode(message: ModeMessage): ProcessingMode {
  return {
    requestHeaders: numberOf(message.request_header_mode, SEND_MODES),
    responseHeaders: numberOf(message.response_header_mode, SEND_MODES),
    requestBody: numberOf(message.request_body_mode, BODY_MODES),
    responseBody: numberOf(message.response_body_mode, BODY_MODES),
    requestTrailers: numberOf(message.request_trailer_mode, SEND_MODES),
    responseTrailers: numberOf(message.response_trailer_mode, SEND_MODES),
  };
}

function numberOf(value: string | number | undefined, names: readonly unknown[]): number {
  return typeof value === 'string' ? Math.max(0, names.indexOf(value)) : (value ?? 0);
}

export function checkModes(mode: ProcessingMode, isHttp: boolean, scope: Scope): void {
  const place = scope.at('processing_mode');
  if (isHttp && sendsMoreThanHeaders(mode)) {
    const text =
      'If the ext_proc filter is configured with http_service instead of gRPC service, then the processing modes of this filter can not be configured to send body or trailer.';
    place.error('conflict', text);
    return;
  }
  const bodies = [
    ['request', mode.requestBody, mode.requestTrailers],
    ['response', mode.responseBody, mode.responseTrailers],
  ] as const;
  for (const [side, body, trailers] of bodies) {
    if (body !== BodyMode.fullDuplex || trailers === SendMode.send) continue;
    const text = `If the ext_proc filter has the ${side}_body_mode set to FULL_DUPLEX_STREAMED, then the ${side}_trailer_mode has to be set to SEND`;
    place.at(`${side}_trailer_mode`).error('conflict', text);
  }
}

function sendsMoreThanHeaders(mode: ProcessingMode): boolean {
  return (
    mode.requestBody !== BodyMode.none ||
    mode.responseBody !== BodyMode.none ||
    mode.requestTrailers === SendMode.send ||
    mode.responseTrailers === SendMode.send
  );
}
