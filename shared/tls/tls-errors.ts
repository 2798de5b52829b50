/** Failures of handshakes in the words that users of Envoy know from its logs. */

/** The peer's certificate was refused after the handshake. */
export class PeerRefusedError extends Error {
  readonly code = 'ERR_PEER_REFUSED';

  /** `detail` is such as `verify cert failed: ...`. */
  constructor(detail: string) {
    super(failureText('CERTIFICATE_VERIFY_FAILED', detail));
    this.name = 'PeerRefusedError';
  }
}

/** Why a connection cannot be made before its secrets have come. */
export const SECRET_MISSING = 'TLS_error:Secret is not supplied by SDS';

export class SecretMissingError extends Error {
  readonly code = 'ERR_SECRET_MISSING';

  constructor() {
    super(SECRET_MISSING);
    this.name = 'SecretMissingError';
  }
}

/** Reason codes of Envoy's TLS library; alerts are 1000 and their number. */
const REASONS: Readonly<Record<string, number>> = {
  BAD_DECRYPT: 109,
  CERTIFICATE_VERIFY_FAILED: 125,
  DECRYPTION_FAILED_OR_BAD_RECORD_MAC: 139,
  DECODE_ERROR: 137,
  HTTPS_PROXY_REQUEST: 157,
  HTTP_REQUEST: 156,
  NO_APPLICATION_PROTOCOL: 307,
  NO_SHARED_CIPHER: 184,
  NO_COMMON_SIGNATURE_ALGORITHMS: 253,
  NO_SHARED_GROUP: 266,
  PEER_DID_NOT_RETURN_A_CERTIFICATE: 192,
  UNEXPECTED_MESSAGE: 223,
  UNKNOWN_PROTOCOL: 239,
  UNSUPPORTED_PROTOCOL: 240,
  WRONG_VERSION_NUMBER: 247,
  SSLV3_ALERT_HANDSHAKE_FAILURE: 1040,
  SSLV3_ALERT_BAD_CERTIFICATE: 1042,
  SSLV3_ALERT_CERTIFICATE_REVOKED: 1044,
  SSLV3_ALERT_CERTIFICATE_EXPIRED: 1045,
  SSLV3_ALERT_CERTIFICATE_UNKNOWN: 1046,
  TLSV1_ALERT_UNKNOWN_CA: 1048,
  TLSV1_ALERT_ACCESS_DENIED: 1049,
  TLSV1_ALERT_DECODE_ERROR: 1050,
  TLSV1_ALERT_PROTOCOL_VERSION: 1070,
  TLSV1_ALERT_INTERNAL_ERROR: 1080,
  TLSV1_ALERT_CERTIFICATE_REQUIRED: 1116,
  TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 1120,
};

/** How this runtime names what Envoy's library names otherwise. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  LENGTH_MISMATCH: 'DECODE_ERROR',
  NO_SUITABLE_KEY_SHARE: 'NO_SHARED_GROUP',
  NO_SUITABLE_SIGNATURE_ALGORITHM: 'NO_COMMON_SIGNATURE_ALGORITHMS',
  RECORD_LENGTH_MISMATCH: 'DECODE_ERROR',
  SSLV3_ALERT_UNKNOWN_CA: 'TLSV1_ALERT_UNKNOWN_CA',
  TLSV13_ALERT_CERTIFICATE_REQUIRED: 'TLSV1_ALERT_CERTIFICATE_REQUIRED',
};

/** What Envoy adds to a reason. */
const DETAILS: Readonly<Record<string, string>> = {
  PEER_DID_NOT_RETURN_A_CERTIFICATE: 'peer did not provide required client certificate',
};

/** The library number 16 in the upper byte. */
const SSL_LIBRARY = 0x1000_0000;

/** `TLS_error:|<number>:...:TLS_error_end`, or undefined when the error is not of TLS. */
export function tlsErrorText(error: NodeJS.ErrnoException): string | undefined {
  if (error instanceof PeerRefusedError || error instanceof SecretMissingError) {
    return error.message;
  }
  const { code = '' } = error;
  if (!code.startsWith('ERR_SSL_')) return undefined;
  const name = code.slice('ERR_SSL_'.length);
  return failureText(OTHER_NAMES[name] ?? name, DETAILS[name] ?? '');
}

function failureText(reason: string, detail: string): string {
  const number = SSL_LIBRARY + (REASONS[reason] ?? 0);
  const end = detail === '' ? '' : `:${detail}`;
  return `TLS_error:|${number}:SSL routines:OPENSSL_internal:${reason}${end}:TLS_error_end`;
}
