/** What an HTTP status means to gRPC where nothing else says it. */

/** `UNKNOWN` of gRPC. */
const UNKNOWN = 2;

const STATUS_OF_HTTP: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  429: 14,
  502: 14,
  503: 14,
  504: 14,
};

/** A number of gRPC. */
export function grpcStatusOfHttp(status: number): number {
  return STATUS_OF_HTTP[status] ?? UNKNOWN;
}
