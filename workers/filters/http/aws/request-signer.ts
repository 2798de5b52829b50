/** Signs requests on their way for AWS, by headers or in the query, as Envoy does. */
import {
  amzDate,
  authorization,
  Signer,
  type AwsCredentials,
  type SigningScope,
} from '../../../../shared/aws/signature.ts';
import {
  canonicalRequest,
  pathStyleOf,
  type HeaderPair,
} from '../../../../shared/aws/canonical-request.ts';
import { presignedPath } from '../../../../shared/aws/presigned-path.ts';
import { readCredentials } from '../../../../shared/aws/credentials-text.ts';
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import type { AwsSigningOptions } from '../../../../shared/resources/filters/http/aws/request-signing.ts';
import type { StringMatcher } from '../../../../shared/resources/routes/matchers.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { secretText } from '../../common/generic-secret.ts';
import type { FilterContext } from '../../filter-context.ts';

/** Proxies on the way change them: never signed. */
const CHANGED_ON_THE_WAY = new Set(['x-forwarded-for', 'x-forwarded-proto', 'x-amzn-trace-id']);
const CONTENT_HASH = 'x-amz-content-sha256';
const TOKEN = 'x-amz-security-token';
const OWN_HEADERS = ['authorization', TOKEN, 'x-amz-date', 'x-amz-region-set'];
/** The host is named without the port that its scheme has anyway. */
const DEFAULT_PORT = /:(?:80|443)$/;

export class RequestSigner {
  readonly #options: AwsSigningOptions;
  readonly #context: FilterContext;
  readonly #signer = new Signer();
  readonly #isSigned: (name: string) => boolean;
  #text = '';
  #credentials: AwsCredentials | undefined = undefined;

  constructor(options: AwsSigningOptions, context: FilterContext) {
    this.#options = options;
    this.#context = context;
    this.#isSigned = signedNames(options.includedHeaders, options.excludedHeaders);
  }

  /** The body follows, or does not belong to what is signed. Without credentials nothing happens. */
  sign(headers: HeaderMap, payloadHash: string): void {
    const credentials = this.#present();
    if (credentials === undefined) return;
    const { algorithm, service, region, queryExpiresS } = this.#options;
    const date = amzDate(this.#context.loop.clock.wallMs);
    const scope = { algorithm, service, region, date };
    if (queryExpiresS === undefined) this.#signHeaders(headers, payloadHash, credentials, scope);
    else this.#signQuery(headers, payloadHash, credentials, scope);
  }

  /** What it is kept by is the text, which a change of the secret changes. */
  #present(): AwsCredentials | undefined {
    const text = secretText(this.#options.credentials, this.#context.secrets);
    if (text !== this.#text) {
      this.#text = text;
      this.#credentials = readCredentials(text);
    }
    return this.#credentials;
  }

  #signHeaders(
    headers: HeaderMap,
    payloadHash: string,
    credentials: AwsCredentials,
    scope: SigningScope,
  ): void {
    for (const name of OWN_HEADERS) headers.remove(name);
    if (credentials.sessionToken !== '') headers.set(TOKEN, credentials.sessionToken);
    headers.set('x-amz-date', scope.date);
    headers.set(CONTENT_HASH, payloadHash);
    if (scope.algorithm === 'v4a') headers.set('x-amz-region-set', scope.region);
    const canonical = this.#canonical(headers, headers.path, payloadHash);
    headers.set('authorization', authorization(this.#signer, credentials, scope, canonical));
  }

  #signQuery(
    headers: HeaderMap,
    payloadHash: string,
    credentials: AwsCredentials,
    scope: SigningScope,
  ): void {
    headers.path = presignedPath(
      { signer: this.#signer, credentials, scope, expiresS: this.#options.queryExpiresS ?? 0 },
      headers.path,
      (path) => this.#canonical(headers, path, payloadHash),
    );
  }

  #canonical(
    headers: HeaderMap,
    path: string,
    payloadHash: string,
  ): ReturnType<typeof canonicalRequest> {
    const signed: HeaderPair[] = [['host', headers.authority.replace(DEFAULT_PORT, '')]];
    headers.forEach((name, value) => {
      if (!name.startsWith(':') && this.#isSigned(name)) signed.push([name, value]);
    });
    const request = { method: headers.method, path, headers: signed };
    return canonicalRequest(request, payloadHash, pathStyleOf(this.#options.service));
  }
}

/** With a list of included headers those alone, and what AWS cannot do without. */
function signedNames(
  included: readonly StringMatcher[],
  excluded: readonly StringMatcher[],
): (name: string) => boolean {
  const takes = included.map(compileStringMatcher);
  const leaves = excluded.map(compileStringMatcher);
  if (takes.length > 0) {
    return (name) =>
      name === 'content-type' ||
      name.startsWith('x-amz-') ||
      takes.some((takesIt) => takesIt(name));
  }
  return (name) => !CHANGED_ON_THE_WAY.has(name) && !leaves.some((leavesIt) => leavesIt(name));
}
