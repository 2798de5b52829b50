/** What may be wrong with a token or with keys: Envoy's numbers and words. */

export const JWT_STATUS = {
  ok: [0, 'OK'],
  missing: [1, 'Jwt is missing'],
  notYetValid: [2, 'Jwt not yet valid'],
  expired: [3, 'Jwt is expired'],
  badFormat: [4, 'Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections'],
  headerBadBase64: [5, 'Jwt header is an invalid Base64url encoded'],
  headerBadJson: [6, 'Jwt header is an invalid JSON'],
  badAlg: [7, 'Jwt header [alg] field is required and must be a string'],
  unknownAlg: [8, 'Jwt header [alg] is not supported'],
  badKid: [9, 'Jwt header [kid] field is not a string'],
  payloadBadBase64: [10, 'Jwt payload is an invalid Base64url encoded'],
  payloadBadJson: [11, 'Jwt payload is an invalid JSON'],
  issNotString: [12, 'Jwt payload [iss] field is not a string'],
  subNotString: [13, 'Jwt payload [sub] field is not a string'],
  iatNotInteger: [14, 'Jwt payload [iat] field is not an integer'],
  iatOutOfRange: [15, 'Jwt payload [iat] field is not a positive 64 bit integer'],
  nbfNotInteger: [16, 'Jwt payload [nbf] field is not an integer'],
  nbfOutOfRange: [17, 'Jwt payload [nbf] field is not a positive 64 bit integer'],
  expNotInteger: [18, 'Jwt payload [exp] field is not an integer'],
  expOutOfRange: [19, 'Jwt payload [exp] field is not a positive 64 bit integer'],
  jtiNotString: [20, 'Jwt payload [jti] field is not a string'],
  audNotString: [21, 'Jwt payload [aud] field is not a string or string list'],
  signatureBadBase64: [22, 'Jwt signature is an invalid Base64url encoded'],
  signatureWrongLength: [23, 'Jwt ED25519 signature is wrong length'],
  unknownIssuer: [24, 'Jwt issuer is not configured'],
  wrongAudience: [25, 'Audiences in Jwt are not allowed'],
  wrongSignature: [26, 'Jwt verification fails'],
  noMatchingKey: [32, "Jwks doesn't have key to match kid or alg from Jwt"],
  noValidKeys: [31, "Jwks doesn't have any valid public key"],
  fetchFailed: [60, 'Jwks remote fetch is failed'],
} as const;

export type JwtStatus = keyof typeof JWT_STATUS;

export function statusText(status: JwtStatus): string {
  return JWT_STATUS[status][1];
}
