/** Why a message is refused: one constant per cause, with the answer that a client gets for it. */

export interface ParseError {
  /** Response code details and, for the upstream's side, the log's word. */
  readonly details: string;
  readonly status: number;
  /** The answer's body. */
  readonly body: string;
}

function refusal(details: string, status: number, body: string): ParseError {
  return { details, status, body };
}

const BAD_REQUEST = 'Bad Request';

export const parseErrors = {
  codec: refusal('http1.codec_error', 400, BAD_REQUEST),
  invalidCharacters: refusal('http1.invalid_characters', 400, BAD_REQUEST),
  invalidAuthority: refusal('http.invalid_authority', 400, BAD_REQUEST),
  invalidUrl: refusal('http1.invalid_url', 400, BAD_REQUEST),
  invalidScheme: refusal('http1.invalid_scheme', 400, BAD_REQUEST),
  connectionHeader: refusal('http1.connection_header_rejected', 400, BAD_REQUEST),
  lengthAndChunked: refusal('http1.content_length_and_chunked_not_allowed', 400, BAD_REQUEST),
  transferEncoding: refusal('http1.invalid_transfer_encoding', 501, 'Not Implemented'),
  bodyDisallowed: refusal('http1.body_disallowed', 400, BAD_REQUEST),
  headersTooLarge: refusal('http1.headers_too_large', 431, 'Request Header Fields Too Large'),
  tooManyHeaders: refusal('http1.too_many_headers', 431, 'Request Header Fields Too Large'),
  trailersTooLarge: refusal('http1.trailers_too_large', 431, 'Request Header Fields Too Large'),
  overloaded: refusal('overload', 500, 'Internal Server Error'),
  lowVersion: refusal('low_version', 426, 'Upgrade Required'),
  noVersion: refusal('low_version', 426, 'Upgrade Required'),
} as const satisfies Record<string, ParseError>;
