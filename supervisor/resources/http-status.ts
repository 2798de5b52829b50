/** envoy.type.v3.StatusCode as a number. */

/** Undefined for a name below 400. */
export function statusNumber(code: string | number | undefined): number | undefined {
  return typeof code === 'string' ? STATUS_NUMBERS.get(code) : code;
}

/** The names of errors; what is below 400 is nothing that a request is refused with. */
const STATUS_NUMBERS: ReadonlyMap<string, number> = new Map([
  ['BadRequest', 400],
  ['Unauthorized', 401],
  ['PaymentRequired', 402],
  ['Forbidden', 403],
  ['NotFound', 404],
  ['MethodNotAllowed', 405],
  ['NotAcceptable', 406],
  ['ProxyAuthenticationRequired', 407],
  ['RequestTimeout', 408],
  ['Conflict', 409],
  ['Gone', 410],
  ['LengthRequired', 411],
  ['PreconditionFailed', 412],
  ['PayloadTooLarge', 413],
  ['URITooLong', 414],
  ['UnsupportedMediaType', 415],
  ['RangeNotSatisfiable', 416],
  ['ExpectationFailed', 417],
  ['MisdirectedRequest', 421],
  ['UnprocessableEntity', 422],
  ['Locked', 423],
  ['FailedDependency', 424],
  ['UpgradeRequired', 426],
  ['PreconditionRequired', 428],
  ['TooManyRequests', 429],
  ['RequestHeaderFieldsTooLarge', 431],
  ['InternalServerError', 500],
  ['NotImplemented', 501],
  ['BadGateway', 502],
  ['ServiceUnavailable', 503],
  ['GatewayTimeout', 504],
  ['HTTPVersionNotSupported', 505],
  ['VariantAlsoNegotiates', 506],
  ['InsufficientStorage', 507],
  ['LoopDetected', 508],
  ['NotExtended', 510],
  ['NetworkAuthenticationRequired', 511],
]);
