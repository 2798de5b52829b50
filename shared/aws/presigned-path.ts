/** Signatures of AWS that stand in the query of a request. */
import { type CanonicalRequest, uriEncode } from './canonical-request.ts';
import {
  ALGORITHM_NAMES,
  type AwsCredentials,
  credentialScope,
  type Signer,
  type SigningScope,
} from './signature.ts';

export interface Presigning {
  readonly signer: Signer;
  readonly credentials: AwsCredentials;
  readonly scope: SigningScope;
  readonly expiresS: number;
}

/** `canonical` says what is signed of the request with a path. */
export function presignedPath(
  { signer, credentials, scope, expiresS }: Presigning,
  path: string,
  canonical: (path: string) => CanonicalRequest,
): string {
  const { sessionToken, accessKeyId } = credentials;
  const { signedHeaders } = canonical(path);
  const own: readonly (readonly [string, string])[] = [
    ['X-Amz-Algorithm', ALGORITHM_NAMES[scope.algorithm]],
    ['X-Amz-Credential', `${accessKeyId}/${credentialScope(scope)}`],
    ['X-Amz-Date', scope.date],
    ['X-Amz-Expires', String(expiresS)],
    ...(scope.algorithm === 'v4a' ? ([['X-Amz-Region-Set', scope.region]] as const) : []),
    ...(sessionToken === '' ? [] : ([['X-Amz-Security-Token', sessionToken]] as const)),
    ['X-Amz-SignedHeaders', signedHeaders],
  ];
  const unsigned = withParameters(path, own);
  const signature = signer.signature(credentials, scope, canonical(unsigned).text);
  return withParameters(unsigned, [['X-Amz-Signature', signature]]);
}

/** The parameters of the query with these among them, in the order of their names. */
function withParameters(
  path: string,
  added: readonly (readonly [name: string, value: string])[],
): string {
  const question = path.indexOf('?');
  const plain = question === -1 ? path : path.slice(0, question);
  const query = question === -1 ? '' : path.slice(question + 1);
  const present = query
    .split('&')
    .filter((each) => each !== '')
    .map((each): readonly [string, string] => {
      const equals = each.indexOf('=');
      return equals === -1 ? [each, ''] : [each.slice(0, equals), each.slice(equals + 1)];
    });
  const all = [...present, ...added.map(([name, value]) => [name, uriEncode(value)] as const)];
  all.sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  return `${plain}?${all.map(([name, value]) => `${name}=${value}`).join('&')}`;
}
