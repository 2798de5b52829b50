/** What a status of gRPC means in terms of HTTP. */

/** By status, 0 to 16. */
const HTTP_STATUSES: readonly number[] = [
  200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

/** Undefined for a number that gRPC does not know. */
export function httpStatusOfGrpcNumber(status: number): number | undefined {
  return HTTP_STATUSES[status];
}
